/* The parent of node i is (i - 1) / 2. */
#include "held_out.h"

int main(void) {
  int heap[64], n = between(1, PICK(64, 65));
  for (int k = 0; k < n; k++) heap[k] = any();
  int i = n - 1;
  while (i > 0) {
    int parent = (i - 1) / 2;
    if (heap[parent] >= heap[i]) break;
    int t = heap[i]; heap[i] = heap[parent]; heap[parent] = t;
    assert(parent < i);
    i = parent;
  }
  return 0;
}

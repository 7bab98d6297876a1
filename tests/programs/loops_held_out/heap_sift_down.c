/* Children of node i are 2*i+1 and 2*i+2. */
#include "held_out.h"

int main(void) {
  int heap[63], n = between(1, 63), i = 0;
  for (int k = 0; k < n; k++) heap[k] = any();
  for (;;) {
    int child = 2 * i + 1;
    if (child >= n) break;
    if (child + PICK(1, 0) < n && heap[child + 1] > heap[child]) child++;
    if (heap[i] >= heap[child]) break;
    int t = heap[i]; heap[i] = heap[child]; heap[child] = t;
    i = child;
  }
  assert(i < n);
  return 0;
}

/* Binary search over a closed range. */
#include "held_out.h"

int main(void) {
  int a[100], wanted = between(0, 50);
  for (int i = 0; i < 100; i++) a[i] = between(0, 50);
  int low = 0, high = 99, found = -1;
  while (low <= high) {
    int middle = low + (high - low) / 2;
    if (a[middle] == wanted) { found = middle; break; }
    if (a[middle] < wanted) low = middle + 1; else high = middle - 1;
  }
  assert(found >= -1 && found PICK(<= 99, <= 98));
  return 0;
}

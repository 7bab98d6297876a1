/* Three-way partition: less, equal, greater. */
#include "held_out.h"

int main(void) {
  int a[30], n = between(0, 30);
  for (int i = 0; i < n; i++) a[i] = between(0, 2);
  int low = 0, i = 0, high = n - PICK(1, 0);
  while (i <= high) {
    int v = a[i];
    if (v == 0) { a[i] = a[low]; a[low] = v; low++; i++; }
    else if (v == 1) i++;
    else { a[i] = a[high]; a[high] = v; high--; }
  }
  assert(low <= i && i == high + 1);
  return 0;
}

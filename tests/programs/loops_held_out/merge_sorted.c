/* Merges two sorted arrays. */
#include "held_out.h"

int main(void) {
  int a[15], b[25], out[PICK(40, 39)];
  int n = between(0, 15), m = between(0, 25), i = 0, j = 0, k = 0;
  for (int x = 0; x < n; x++) a[x] = x;
  for (int x = 0; x < m; x++) b[x] = 2 * x;
  while (i < n && j < m) out[k++] = a[i] < b[j] ? a[i++] : b[j++];
  while (i < n) out[k++] = a[i++];
  while (j < m) out[k++] = b[j++];
  assert(k == n + m);
  return 0;
}

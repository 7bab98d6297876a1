/* Keeps one of each of equal neighbours, in place. */
#include "held_out.h"

int main(void) {
  int a[45], n = between(1, 45), kept = 1;
  for (int i = 0; i < n; i++) a[i] = between(0, 4);
  for (int i = 1; i < n; i++) if (a[i] != a[kept - 1]) a[kept++] = a[i];
  assert(kept >= 1 && kept <= n PICK(, - 1));
  return 0;
}

/* A sum over the last eight elements. */
#include "held_out.h"

enum { WINDOW = 8 };
int main(void) {
  int a[60], sum = 0, n = between(0, 60);
  for (int i = 0; i < n; i++) a[i] = between(0, 9);
  for (int i = 0; i < n; i++) {
    sum += a[i];
    if (i >= WINDOW) sum -= a[i - WINDOW PICK(, - 1)];
  }
  assert(sum >= -600 && sum <= 600);
  return 0;
}

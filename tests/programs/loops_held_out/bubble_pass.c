/* Each pass stops one earlier. */
#include "held_out.h"

int main(void) {
  int a[25], n = between(0, 25);
  for (int i = 0; i < n; i++) a[i] = any();
  for (int last = n - 1; last > 0; last--)
    for (int i = 0; i < last PICK(, + 1); i++)
      if (a[i] > a[i + 1]) { int t = a[i]; a[i] = a[i + 1]; a[i + 1] = t; }
  return 0;
}

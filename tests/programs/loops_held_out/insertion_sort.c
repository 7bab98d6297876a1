/* The inner loop runs down to the place before the first. */
#include "held_out.h"

int main(void) {
  int a[20], n = between(0, 20);
  for (int i = 0; i < n; i++) a[i] = any();
  for (int i = 1; i < n; i++) {
    int value = a[i], j = i - 1;
    while (j PICK(>= 0, >= -1) && a[j] > value) { a[j + 1] = a[j]; j--; }
    a[j + 1] = value;
    assert(j + 1 <= i);
  }
  return 0;
}

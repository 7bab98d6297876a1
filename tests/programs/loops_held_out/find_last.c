/* A search from the end that may not find. */
#include "held_out.h"

int main(void) {
  int a[35], n = between(0, 35), wanted = any(), i;
  for (i = 0; i < n; i++) a[i] = between(0, 3);
  for (i = n - 1; i >= 0; i--) if (a[i] == wanted) break;
  if (i PICK(>= 0, >= -1)) a[i] = -1;
  assert(i >= -1);
  return 0;
}

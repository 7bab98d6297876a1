/* Copies at most size - 1 characters and ends the string. */
#include "held_out.h"

static int copy(char *to, int size, const char *from) {
  int i = 0;
  while (i < size - PICK(1, 0) && from[i] != 0) { to[i] = from[i]; i++; }
  to[i] = 0;
  return i;
}
int main(void) {
  char small[8], large[40];
  int n = between(0, 39);
  for (int k = 0; k < n; k++) large[k] = 'y';
  large[n] = 0;
  int copied = copy(small, 8, large);
  assert(copied <= 7);
  return 0;
}

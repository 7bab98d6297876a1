/* Takes blanks from the end of a line. */
#include "held_out.h"

int main(void) {
  char line[72];
  int n = between(0, 72);
  for (int k = 0; k < n; k++) line[k] = any() & 1 ? ' ' : '.';
  while (n PICK(> 0, >= 0) && line[n - 1] == ' ') n--;
  assert(n >= 0);
  return 0;
}

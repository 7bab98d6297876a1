/* Run-length coding into twice the room. */
#include "held_out.h"

int main(void) {
  unsigned char in[50], out[100];
  int n = between(0, 50), used = 0, i = 0;
  for (int k = 0; k < n; k++) in[k] = between(0, PICK(255, 3));
  while (i < n) {
    int run = 1;
    while (i + run < n && run < PICK(255, 9) && in[i + run] == in[i]) run++;
    out[used++] = run;
    out[used++] = in[i];
    i += run;
  }
  assert(used <= 2 * n PICK(, - 2));
  return 0;
}

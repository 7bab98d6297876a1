/* Euclid's algorithm ends without a division by zero. */
#include "held_out.h"

int main(void) {
  int a = between(1, 10000), b = between(PICK(1, 0), 10000);
  while (a % b != 0) { int rest = a % b; a = b; b = rest; }
  assert(b >= 1);
  return 0;
}

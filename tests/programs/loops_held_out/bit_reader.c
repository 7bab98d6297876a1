/* Bits from bytes: a place of a byte and one inside of it. */
#include "held_out.h"

int main(void) {
  unsigned char bytes[32];
  int bit = 0, n = between(0, 32 * 8 PICK(, + 8)), ones = 0;
  for (int i = 0; i < 32; i++) bytes[i] = between(0, 255);
  while (bit < n) { ones += bytes[bit >> 3] >> (bit & 7) & 1; bit++; }
  assert(ones <= bit && bit == n);
  return 0;
}

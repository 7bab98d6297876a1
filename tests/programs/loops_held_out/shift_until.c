/* How far a one is shifted. */
#include "held_out.h"

int main(void) {
  int wanted = between(1, 1 << 20), shift = 0;
  while ((1 << shift) < wanted && shift < PICK(31, 32) - 1) shift++;
  assert(shift <= PICK(30, 19));
  return 1 << shift ? 0 : 1;
}

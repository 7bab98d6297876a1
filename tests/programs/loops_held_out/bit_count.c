/* One round for each bit that is set: at most 32. */
#include "held_out.h"

int main(void) {
  unsigned x = any();
  int count = 0;
  for (int bit = 0; bit < 32; bit++) if (x >> bit & 1) count++;
  assert(count <= PICK(32, 10));
  int table[33];
  table[count] = 1;
  return table[count] - 1;
}

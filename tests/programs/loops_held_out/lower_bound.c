/* The first place whose element is not less, in a half-open range. */
#include "held_out.h"

static const int limits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32767};
int main(void) {
  int wanted = between(0, PICK(32767, 99999));
  unsigned first = 0, count = 16;
  while (count > 0) {
    unsigned half = count / 2, place = first + half;
    if (limits[place] < wanted) { first = place + 1; count -= half + 1; } else count = half;
  }
  assert(first <= PICK(16, 15));
  return 0;
}

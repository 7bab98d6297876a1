/* Two-bit counters of a branch predictor. */
#include "held_out.h"

int main(void) {
  unsigned char counters[128] = {0};
  for (int step = 0; step < 1000; step++) {
    int place = between(0, 127), taken = any() & 1;
    if (taken) { if (counters[place] < PICK(3, 4)) counters[place]++; }
    else if (counters[place] > 0) counters[place]--;
    assert(counters[place] <= 3);
  }
  return 0;
}

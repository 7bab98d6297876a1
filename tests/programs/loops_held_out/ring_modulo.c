/* A queue in a ring, indices by remainder. */
#include "held_out.h"

enum { SIZE = 10 };
int main(void) {
  int ring[SIZE] = {0}, head = 0, tail = 0, used = 0;
  for (int step = 0; step < 1000; step++) {
    if (any() & 1) {
      if (used < SIZE) { ring[tail] = step; tail = (tail + 1) PICK(% SIZE, % (SIZE + 1)); used++; }
    } else if (used > 0) { int v = ring[head]; head = (head + 1) % SIZE; used--; assert(v >= 0); }
    assert(0 <= used && used <= SIZE);
  }
  return 0;
}

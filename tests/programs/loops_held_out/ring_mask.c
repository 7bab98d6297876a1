/* A queue with counters that run freely, masked when used. */
#include "held_out.h"

enum { SIZE = 16 };
int main(void) {
  unsigned char ring[SIZE] = {0};
  unsigned head = 0, tail = 0;
  for (int step = 0; step < 500; step++) {
    if (any() & 1) { if (tail - head < SIZE) ring[tail++ & PICK((SIZE - 1), SIZE)] = 1; }
    else if (tail != head) ring[head++ & (SIZE - 1)] = 0;
    assert(tail - head <= SIZE);
  }
  return 0;
}

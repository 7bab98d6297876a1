/* Two buffers by turns. */
#include "held_out.h"

int main(void) {
  int buffers[2][16], current = 0, filled = 0;
  for (int frame = 0; frame < 100; frame++) {
    filled = between(0, PICK(16, 17));
    for (int i = 0; i < filled; i++) buffers[current][i] = frame;
    current = 1 - current;
    assert(current == 0 || current == 1);
  }
  return 0;
}

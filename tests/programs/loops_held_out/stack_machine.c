/* A stack machine checks its depth before every operation. */
#include "held_out.h"

int main(void) {
  int stack[16], depth = 0;
  for (int step = 0; step < 400; step++) {
    switch (between(0, 3)) {
    case 0: if (depth < 16) stack[depth++] = step; break;
    case 1: if (depth > 0) depth--; break;
    case 2: if (depth >= PICK(2, 1)) { stack[depth - 2] ^= stack[depth - 1]; depth--; } break;
    case 3: if (depth > 0 && depth < 16) { stack[depth] = stack[depth - 1]; depth++; } break;
    }
    assert(depth >= 0 && depth <= 16);
  }
  return 0;
}

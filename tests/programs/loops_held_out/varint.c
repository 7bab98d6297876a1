/* Seven bits a byte, at most five bytes. */
#include "held_out.h"

int main(void) {
  unsigned char in[5];
  unsigned value = 0;
  int shift = 0, used = 0;
  for (int i = 0; i < 5; i++) in[i] = between(0, 255);
  while (used < PICK(5, 6)) {
    unsigned char byte = in[used++];
    value |= (unsigned)(byte & 127) << shift;
    if (byte < 128) break;
    shift += 7;
  }
  assert(used >= 1 && used <= 5 && shift <= 35);
  return value == 0;
}

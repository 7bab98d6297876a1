/* The length of each sequence comes from its first byte, and is checked. */
#include "held_out.h"

int main(void) {
  unsigned char in[80];
  int n = between(0, 80), i = 0, count = 0;
  for (int k = 0; k < n; k++) in[k] = between(0, 255);
  while (i < n) {
    unsigned char c = in[i];
    int length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    if (length > n - i PICK(, + 1)) break;
    unsigned point = c;
    for (int k = 1; k < length; k++) point = point << 6 | (in[i + k] & 63u);
    i += length;
    count += point != 0;
  }
  assert(count <= i && i <= n);
  return 0;
}

/* Bytes as hexadecimal digits. */
#include "held_out.h"

int main(void) {
  static const char digits[] = "0123456789abcdef";
  unsigned char in[16];
  char text[33];
  int n = between(0, 16), place = 0;
  for (int i = 0; i < n; i++) in[i] = between(0, 255);
  for (int i = 0; i < n; i++) {
    text[place++] = digits[in[i] >> PICK(4, 3)];
    text[place++] = digits[in[i] & 15];
  }
  text[place] = 0;
  assert(place == 2 * n);
  return 0;
}

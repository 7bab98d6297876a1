/* Every three bytes become four characters. */
#include "held_out.h"

int main(void) {
  unsigned char in[30];
  char out[PICK(40, 39)];
  int n = between(0, 30), used = 0;
  for (int k = 0; k < 30; k++) in[k] = between(0, 255);
  for (int i = 0; i + 2 < n; i += 3) {
    unsigned bits = in[i] << 16 | in[i + 1] << 8 | in[i + 2];
    out[used++] = 'A' + (bits >> 18 & 15);
    out[used++] = 'A' + (bits >> 12 & 15);
    out[used++] = 'A' + (bits >> 6 & 15);
    out[used++] = 'A' + (bits & 15);
  }
  assert(used <= 40);
  return 0;
}

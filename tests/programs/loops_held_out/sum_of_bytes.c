/* A checksum of at most 255 for each byte. */
#include "held_out.h"

int main(void) {
  unsigned char bytes[100];
  int n = between(0, 100), sum = 0;
  for (int i = 0; i < n; i++) bytes[i] = between(0, 255);
  for (int i = 0; i < n; i++) sum += bytes[i];
  assert(sum >= 0 && sum <= PICK(255, 100) * n);
  return 0;
}

/* Offsets by record size. */
#include "held_out.h"

enum { RECORD = 12 };
int main(void) {
  unsigned char file[RECORD * 20];
  int n = between(0, PICK(20, 21)), offset = 0;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < RECORD; k++) file[offset + k] = k;
    offset += RECORD;
  }
  assert(offset == n * RECORD);
  return 0;
}

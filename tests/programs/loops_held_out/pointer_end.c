/* From the first element to the end pointer. */
#include "held_out.h"

int main(void) {
  short samples[24];
  short *end = samples + between(0, 24);
  int n = 0;
  for (short *p = samples; p PICK(< end, <= end); p++) { *p = 0; n++; }
  assert(n <= 24 && n == end - samples);
  return 0;
}

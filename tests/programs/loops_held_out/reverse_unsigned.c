/* Down to zero with an unsigned counter. */
#include "held_out.h"

int main(void) {
  int a[12];
  for (unsigned i = 12; i-- > 0;) a[i PICK(, + 1)] = i;
  unsigned i = between(0, 12);
  while (i != 0) { i--; a[i]--; assert(i < 12); }
  return 0;
}

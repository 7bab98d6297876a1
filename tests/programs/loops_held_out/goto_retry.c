/* A loop made of labels. */
#include "held_out.h"

int main(void) {
  int attempts = 0, waits[4], total = 0;
again:
  if (attempts PICK(>=, >) 4) goto fail;
  waits[attempts] = attempts;
  total += waits[attempts];
  attempts++;
  if (any() & 1) goto again;
  assert(attempts >= 1 && attempts <= 4);
  return 0;
fail:
  assert(attempts == 4);
  return 1;
}

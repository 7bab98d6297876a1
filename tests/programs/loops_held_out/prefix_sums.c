/* Offsets of buckets, of counts that add up. */
#include "held_out.h"

int main(void) {
  int counts[11] = {0}, starts[12], total = 0, n = between(0, 100);
  for (int i = 0; i < n; i++) { int k = between(0, PICK(10, 11)); counts[k] = counts[k] + 1; }
  starts[0] = 0;
  for (int i = 0; i < 11; i++) starts[i + 1] = starts[i] + counts[i];
  for (int i = 0; i < 11; i++) total += counts[i] > 0;
  assert(total <= 11);
  return starts[0];
}

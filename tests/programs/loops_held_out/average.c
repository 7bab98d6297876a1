/* A mean of what was counted, if anything was. */
#include "held_out.h"

int main(void) {
  int sum = 0, count = 0, n = between(0, 50);
  for (int i = 0; i < n; i++) { int v = any(); if (v > 0 && v < 1000) { sum += v; count++; } }
  int mean = PICK(count ?, count >= 0 ?) sum / count : 0;
  assert(mean >= 0 && mean < 1000);
  return 0;
}

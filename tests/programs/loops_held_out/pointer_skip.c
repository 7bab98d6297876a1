/* Skips blanks, then digits, never beyond the end. */
#include "held_out.h"

int main(void) {
  char line[48];
  int n = between(0, 48);
  for (int i = 0; i < n; i++) line[i] = i < n / 2 ? ' ' : between(48, 57);
  char *p = line, *end = line + n;
  while (p < end && *p == ' ') p++;
  char *start = p;
  int value = 0;
  while (p < end && *p >= '0' && *p <= '9' && value < PICK(100000, 1000000000)) { value = value * 10 + (*p - '0'); p++; }
  assert(start <= p && p - line <= n);
  return 0;
}

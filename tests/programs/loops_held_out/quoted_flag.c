/* A flag says whether a field has begun. */
#include "held_out.h"

int main(void) {
  int started[20], n = 0, in_field = 0;
  for (int i = 0; i < 200; i++) {
    int blank = any() & 1;
    if (!blank && !in_field) { if (n PICK(==, >) 20) break; started[n++] = i; in_field = 1; }
    else if (blank) in_field = 0;
    assert(!in_field || n >= 1);
    if (in_field) started[n - 1]++;
  }
  return 0;
}

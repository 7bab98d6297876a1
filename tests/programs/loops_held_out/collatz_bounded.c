/* A walk whose values stay below a limit that is tested. */
#include "held_out.h"

int main(void) {
  int n = between(1, 100000), steps = 0;
  while (n != 1 && steps < 1000) {
    if (n % 2 == 0) n /= 2;
    else { if (n > PICK((INT_MAX - 1) / 3, INT_MAX / 2)) break; n = 3 * n + 1; }
    steps++;
    assert(n PICK(>= 1, >= 2));
  }
  return 0;
}

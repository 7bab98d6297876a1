/* Three retries, then an error. */
#include "held_out.h"

int main(void) {
  int errors = 0, done = 0, log[4] = {0};
  while (!done && errors < PICK(4, 5)) {
    if (any() == 0) done = 1;
    else { log[errors]++; errors++; }
  }
  assert(done || errors == 4);
  return 0;
}

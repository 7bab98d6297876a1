/* Days of the week from any day number. */
#include "held_out.h"

static int counts[7];
int main(void) {
  int first = any();
  for (int i = 0; i < 100; i++) {
    int day = (first % 7 PICK(+ 7, ) + i) % 7;
    counts[day]++;
    assert(day < 7);
  }
  return 0;
}

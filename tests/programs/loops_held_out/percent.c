/* Progress in percent of a total that is not zero. */
#include "held_out.h"

int main(void) {
  int total = between(PICK(1, 0), 10000);
  for (int done = 0; done <= total; done += 7) {
    int percent = done * 100 / total;
    assert(percent >= 0 && percent <= 100);
  }
  return 0;
}

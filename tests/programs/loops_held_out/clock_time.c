/* Seconds, minutes and hours that carry over. */
#include "held_out.h"

int main(void) {
  int seconds = 0, minutes = 0, hours = 0;
  int days[24] = {0};
  for (long tick = 0; tick < 200000; tick++) {
    if (++seconds PICK(>= 60, > 60)) { seconds = 0; if (++minutes >= 60) { minutes = 0; if (++hours >= 24) hours = 0; } }
    days[hours]++;
    assert(seconds < 60 && minutes < 60 && hours < 24);
  }
  return 0;
}

/* Ages grow to a limit, the one that is used begins again. */
#include "held_out.h"

int main(void) {
  int ages[8] = {0};
  for (int step = 0; step < 300; step++) {
    int used = between(0, 7);
    for (int i = 0; i < 8; i++) {
      if (i == used) ages[i] = 0;
      else if (ages[i] < 7 PICK(, + 1)) ages[i]++;
      assert(ages[i] <= 7);
    }
  }
  return 0;
}

/* Months are taken off as long as the day is beyond them. */
#include "held_out.h"

static const int month_days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
int main(void) {
  int day = between(0, PICK(364, 365)), month = 0;
  while (PICK(month < 11 &&, ) day >= month_days[month]) { day -= month_days[month]; month++; }
  assert(month < 12 && day >= 0);
  return 0;
}

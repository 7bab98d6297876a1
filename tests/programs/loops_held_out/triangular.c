/* The inner loop's bound is the outer loop's counter. */
#include "held_out.h"

int main(void) {
  int triangle[10 * 11 / 2], n = between(1, 10), place = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i PICK(, + 1); j++) { if (place < 55) triangle[place] = i - j; place++; assert(i - j >= 0); }
  return triangle[0];
}

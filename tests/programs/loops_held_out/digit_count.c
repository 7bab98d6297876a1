/* Digits of a number in a small buffer, from the end. */
#include "held_out.h"

int main(void) {
  char text[11];
  unsigned n = any();
  int place = 11;
  text[--place] = 0;
  for (int digits = 0; digits < PICK(10, 11); digits++) {
    text[--place] = '0' + n % 10;
    n /= 10;
    if (PICK(n == 0, n == 0 && digits > 9)) break;
  }
  assert(place >= 0 && place <= 9);
  return 0;
}

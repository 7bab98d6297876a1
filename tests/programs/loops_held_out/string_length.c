/* Counts the characters of a string of bounded length. */
#include "held_out.h"

int main(void) {
  char text[32];
  int n = between(0, PICK(31, 32)), i = 0;
  for (i = 0; i < n; i++) text[i] = 'x';
  text[n] = 0;
  int length = 0;
  while (text[length] != 0) length++;
  assert(length <= 31);
  return 0;
}

/* Reverses a part of a buffer from both ends. */
#include "held_out.h"

int main(void) {
  char text[64];
  int length = between(0, 64);
  for (int k = 0; k < length; k++) text[k] = 'a' + k % 26;
  int left = 0, right = length PICK(- 1, );
  while (left < right) {
    char c = text[left];
    text[left++] = text[right];
    text[right--] = c;
  }
  assert(left >= right);
  return 0;
}

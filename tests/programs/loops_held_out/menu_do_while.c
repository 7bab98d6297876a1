/* Attempts until the answer is in range. */
#include "held_out.h"

int main(void) {
  int answers[5] = {0}, answer, tries = 0;
  do { answer = any() % 16; tries++; } while ((answer < 0 || answer PICK(>=, >) 5) && tries < 100);
  if (tries < 100) answers[answer] = 1;
  assert(tries >= 1 && tries <= 100);
  return 0;
}

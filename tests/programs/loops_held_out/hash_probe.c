/* Open addressing: probes go round by a mask, and end. */
#include "held_out.h"

enum { SLOTS = 64 };
int main(void) {
  int keys[SLOTS] = {0}, stored = 0;
  for (int k = 0; k < 50; k++) {
    int key = between(1, 100000);
    unsigned slot = (unsigned)key * 2654435761u & PICK((SLOTS - 1), (2 * SLOTS - 1));
    int tries = 0;
    while (tries < SLOTS && keys[slot] != 0 && keys[slot] != key) { slot = (slot + 1) & (SLOTS - 1); tries++; }
    if (tries == SLOTS) break;
    if (keys[slot] == 0) stored++;
    keys[slot] = key;
  }
  assert(stored <= 50);
  return 0;
}

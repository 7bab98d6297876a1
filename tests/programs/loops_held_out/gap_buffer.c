/* An editor's buffer: text before and behind a gap. */
#include "held_out.h"

enum { ROOM = 128 };
int main(void) {
  char buffer[ROOM];
  int gap = 0, behind = ROOM;
  for (int step = 0; step < 300; step++) {
    int command = between(0, 3);
    if (command == 0 && gap < behind) buffer[gap++] = 'x';
    else if (command == 1 && gap > 0) { gap--; behind--; buffer[behind] = buffer[gap]; }
    else if (command == 2 && behind < ROOM) { buffer[gap] = buffer[behind]; gap++; behind++; }
    else if (command == 3 && gap PICK(> 0, >= 0)) gap--;
    assert(0 <= gap && gap <= behind && behind <= ROOM);
  }
  return 0;
}

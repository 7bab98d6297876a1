/* A scanner of comments: four states. */
#include "held_out.h"

enum { CODE, SLASH, INSIDE, STAR };
int main(void) {
  int state = CODE, names[4] = {0}, opened = 0, closed = 0;
  for (int i = 0; i < 5000; i++) {
    int c = between(40, 50);
    if (state == CODE) state = c == '/' ? SLASH : CODE;
    else if (state == SLASH) { if (c == '*') { state = INSIDE; opened++; } else state = c == '/' ? SLASH : CODE; }
    else if (state == INSIDE) state = c == '*' ? STAR : INSIDE;
    else if (c == '/') { state = PICK(CODE, STAR); closed++; } else state = c == '*' ? STAR : INSIDE;
    names[state]++;
  }
  assert(closed <= opened);
  return 0;
}

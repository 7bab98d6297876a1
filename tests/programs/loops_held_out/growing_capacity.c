/* Doubles the room when it is full; what is used fits. */
#include "held_out.h"

int main(void) {
  int capacity = 4, used = 0, *items = malloc(4 * sizeof *items);
  if (!items) return 1;
  for (int step = 0; step < 100; step++) {
    if (used PICK(==, >) capacity) {
      int *more = realloc(items, 2 * capacity * sizeof *items);
      if (!more) break;
      items = more;
      capacity *= 2;
    }
    items[used++] = step;
    assert(used <= capacity && capacity <= 256);
  }
  free(items);
  return 0;
}

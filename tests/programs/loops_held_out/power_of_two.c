/* The least power of two that is not less. */
#include "held_out.h"

int main(void) {
  unsigned wanted = between(1, 1000), size = 1;
  while (size < wanted) size *= 2;
  assert(size >= wanted && size < PICK(2000, 1000));
  return 0;
}

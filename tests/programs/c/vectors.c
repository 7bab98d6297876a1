/* Values wider than a register: vectors, complex numbers, 128-bit integers next to pointers. */
#include <stdio.h>
#include <string.h>

#include "alias.h"

typedef long pair __attribute__((vector_size(16)));
struct both {
  int *p, *q;
};

static struct both swapped(struct both given) {
  pair packed;
  memcpy(&packed, &given, sizeof packed);
  pair turned = {packed[1], packed[0]};
  struct both result;
  memcpy(&result, &turned, sizeof result);
  return result;
}

int main(void) {
  int one = 1, two = 2, three = 3;
  struct both given = {&one, &two}, turned = swapped(given);
  MAYALIAS(turned.p, &two);
  MAYALIAS(turned.q, &one);
  NOALIAS(turned.p, &three);
  unsigned __int128 wide;
  memcpy(&wide, &turned, sizeof wide);
  struct both again;
  memcpy(&again, &wide, sizeof again);
  MAYALIAS(again.q, &one);
  printf("%d %d\n", *turned.p, *again.q);
  return *turned.p == 2 && *again.q == 1 ? 0 : 1;
}

/* Structs copied by assignment, memcpy and memmove: fields keep apart. */
#include <stdio.h>
#include <string.h>

#include "alias.h"

struct inner {
  int *p;
  char tag;
};
struct outer {
  int *q;
  struct inner in[2];
  int *r;
};

int main(void) {
  int a = 1, b = 2, c = 3, d = 4;
  struct outer from = {&a, {{&b, 'x'}, {&b, 'y'}}, &c}, assigned, copied, moved[2];
  assigned = from;
  memcpy(&copied, &assigned, sizeof copied);
  memmove(&moved[1], &copied, sizeof copied);
  struct inner part = moved[1].in[1];
  MAYALIAS(assigned.q, &a);
  NOALIAS(assigned.q, &b);
  NOALIAS(copied.q, copied.r);
  MAYALIAS(copied.r, &c);
  NOALIAS(copied.in[1].p, &c);
  MAYALIAS(part.p, &b);
  NOALIAS(part.p, &d);
  *moved[1].r += *part.p;
  printf("%d %c\n", c, part.tag);
  return c == 5 && part.tag == 'y' ? 0 : 1;
}

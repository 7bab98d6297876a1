/* Structs passed and returned by value: in registers, behind pointers, nested. */
#include <stdio.h>

#include "alias.h"

struct small {
  int *p, *q;
};
struct large {
  int *p;
  long fill[5];
  struct small pair;
};

static struct small swapped(struct small s) { return (struct small){s.q, s.p}; }
static struct large changed(struct large l, int *with) {
  l.pair = swapped(l.pair);
  l.p = with;
  return l;
}
static int sum(struct large l) {
  struct large *own = &l;
  return *own->p + *own->pair.p;
}

int main(void) {
  int a = 1, b = 2, c = 3, d = 4;
  struct large one = {&a, {0}, {&b, &c}};
  struct large two = changed(one, &d);
  MAYALIAS(two.pair.p, &c);
  MAYALIAS(two.p, &d);
  NOALIAS(one.p, &d);
  NOALIAS(two.pair.p, &a);
  printf("%d\n", sum(two));
  return sum(two) == 7 && sum(one) == 3 ? 0 : 1;
}

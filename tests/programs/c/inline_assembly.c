/* Assembly that the analysis cannot read: pointers go in, and pointers come out. */
#include <stdio.h>

#include "alias.h"

static int *hidden(int *p) {
  __asm__ volatile("" : "+r"(p) : : "memory");
  return p;
}
static void stored(int **where) { __asm__ volatile("" : : "r"(where) : "memory"); }

int main(void) {
  int one = 1, two = 2, *kept = &two;
  int *seen = hidden(&one);
  MAYALIAS(seen, &one);
  stored(&kept);
  MAYALIAS(kept, &two);
  *seen += *kept;
  printf("%d\n", one);
  return one == 3 ? 0 : 1;
}

/* Results through pointers to pointers, several levels deep, and through selected targets. */
#include <stdio.h>

#include "alias.h"

static int a = 1, b = 2, c = 3;

static void choose(int which, int **low, int **high) {
  *low = which ? &a : &b;
  *high = &c;
}
static void deeper(int ***there, int **with) { *there = with; }
static void through(int ***there, int *value) { **there = value; }

int main(void) {
  int *low = NULL, *high = NULL, *other = &a, **level, own = 4;
  choose(1, &low, &high);
  MAYALIAS(low, &a);
  MAYALIAS(low, &b);
  NOALIAS(low, high);
  NOALIAS(high, &a);
  deeper(&level, &other);
  through(&level, &own);
  MAYALIAS(other, &own);
  NOALIAS(level, &low);
  int *first = &a;
  first = &b;
  EXPECTEDFAIL_NOALIAS(other, &a); /* overwritten, but memory has no order here */
  NOALIAS(first, &a);              /* a register has: each value has one definition */
  printf("%d %d %d\n", *low, *high, *other);
  return low == &a && high == &c && other == &own ? 0 : 1;
}

/* Storage of frames whose size is known at run time: alloca, arrays of variable length. */
#include <alloca.h>
#include <stdio.h>
#include <string.h>

#include "alias.h"

struct chain {
  struct chain *before;
  int *number;
};

static int depth_sum(int n, struct chain *before) {
  int own = n;
  struct chain *link = alloca(sizeof *link);
  *link = (struct chain){before, &own};
  if (n) return depth_sum(n - 1, link);
  int sum = 0;
  for (struct chain *c = link; c; c = c->before) sum += *c->number;
  return sum;
}
static int spread(int n) {
  int total = 0;
  for (int round = 1; round <= n; round++) {
    int numbers[round], *pointers[round];
    for (int i = 0; i < round; i++) numbers[i] = i, pointers[round - 1 - i] = &numbers[i];
    NOALIAS(numbers, pointers);
    MAYALIAS(pointers[0], &numbers[round - 1]);
    total += *pointers[0];
  }
  return total;
}

int main(void) {
  int sum = depth_sum(4, NULL), total = spread(5);
  printf("%d %d\n", sum, total);
  return sum == 10 && total == 10 ? 0 : 1;
}

/* Functions handed to functions, with the data that they are to work on. */
#include <stdio.h>

#include "alias.h"

typedef void (*visitor)(int *number, void *data);

static void add(int *number, void *data) { *(int *)data += *number; }
static void largest(int *number, void *data) {
  int **best = data;
  if (!*best || *number > **best) *best = number;
}
static void each(int *numbers, int n, visitor visit, void *data) {
  for (int i = 0; i < n; i++) visit(&numbers[i], data);
}

int main(void) {
  int numbers[] = {3, 9, 4}, sum = 0, *best = NULL, unrelated = 0;
  each(numbers, 3, add, &sum);
  each(numbers, 3, largest, &best);
  MAYALIAS(best, &numbers[1]);
  NOALIAS(best, &unrelated);
  printf("%d %d\n", sum, *best);
  return sum == 16 && *best == 9 ? 0 : 1;
}

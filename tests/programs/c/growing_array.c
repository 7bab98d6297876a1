/* An array of pointers that realloc moves. */
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

struct vector {
  int **items;
  size_t n, room;
};

static void append(struct vector *v, int *item) {
  if (v->n == v->room) {
    v->room = v->room ? 2 * v->room : 2;
    int **grown = realloc(v->items, v->room * sizeof *grown);
    if (!grown) exit(1);
    v->items = grown;
  }
  v->items[v->n++] = item;
}

int main(void) {
  struct vector v = {NULL, 0, 0};
  int numbers[9], sum = 0, apart = 0;
  for (int i = 0; i < 9; i++) numbers[i] = i, append(&v, &numbers[i]);
  for (size_t i = 0; i < v.n; i++) sum += *v.items[i];
  MAYALIAS(v.items[3], &numbers[3]);
  NOALIAS(v.items[3], &apart);
  NOALIAS(v.items, v.items[0]);
  free(v.items);
  printf("%d\n", sum);
  return sum == 36 ? 0 : 1;
}

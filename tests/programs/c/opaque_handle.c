/* Handles: a pointer behind an incomplete type, and an index into a table. */
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

typedef struct handle *handle;
struct state {
  int *counter;
  int step;
};
static struct state *states[4];
static int n_states;

static handle open_state(int *counter, int step) {
  struct state *made = malloc(sizeof *made);
  if (!made) exit(1);
  *made = (struct state){counter, step};
  return (handle)made;
}
static void advance(handle h) {
  struct state *state = (struct state *)h;
  *state->counter += state->step;
}
static int keep(handle h) { return states[n_states] = (struct state *)h, n_states++; }

int main(void) {
  int left = 0, right = 0;
  handle a = open_state(&left, 2), b = open_state(&right, 3);
  int kept = keep(b);
  advance(a);
  advance((handle)states[kept]);
  MAYALIAS(states[kept], b);
  NOALIAS(a, &left);
  NOALIAS(states[kept]->counter, states);
  printf("%d %d\n", left, right);
  free(a);
  free(b);
  return left == 2 && right == 3 ? 0 : 1;
}

/* A pool of equal blocks whose free ones are linked through their own bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

union block {
  union block *next_free;
  struct {
    int *number;
    union block *peer;
  } used;
};
static union block blocks[4], *free_blocks;

static void setup(void) {
  for (int i = 0; i < 4; i++) {
    blocks[i].next_free = free_blocks;
    free_blocks = &blocks[i];
  }
}
static union block *take(int *number, union block *peer) {
  union block *b = free_blocks;
  free_blocks = b->next_free;
  b->used.number = number;
  b->used.peer = peer;
  return b;
}
static void give(union block *b) {
  b->next_free = free_blocks;
  free_blocks = b;
}

int main(void) {
  int x = 5, y = 6;
  setup();
  union block *a = take(&x, NULL), *b = take(&y, a);
  MAYALIAS(b->used.peer, a);
  MAYALIAS(b->used.number, &y);
  EXPECTEDFAIL_NOALIAS(a, &x); /* the first bytes are a link or a number: a union has no tag here */
  int sum = *b->used.number + *b->used.peer->used.number;
  give(a);
  give(b);
  MAYALIAS(free_blocks, b);
  printf("%d\n", sum);
  return sum == 11 && free_blocks == b ? 0 : 1;
}

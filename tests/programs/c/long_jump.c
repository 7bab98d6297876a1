/* setjmp and longjmp: what a frame stored is seen after the jump. */
#include <setjmp.h>
#include <stdio.h>

#include "alias.h"

struct handler {
  jmp_buf where;
  int *volatile fault;
  struct handler *outer;
};
static struct handler *current;
static int first, second;

static void fail(int *fault) {
  current->fault = fault;
  longjmp(current->where, 1);
}
static void work(int depth) {
  if (depth) work(depth - 1);
  fail(&second);
}

int main(void) {
  struct handler outer = {.outer = NULL}, inner = {.outer = &outer};
  int *volatile seen = &first;
  current = &outer;
  if (setjmp(outer.where) == 0) {
    current = &inner;
    if (setjmp(inner.where) == 0) {
      work(3);
    } else {
      seen = inner.fault;
      current = inner.outer;
      fail(&first);
    }
  }
  MAYALIAS(seen, &second);
  MAYALIAS(outer.fault, &first);
  *seen = 5;
  printf("%d %d\n", first, second);
  return second == 5 && outer.fault == &first ? 0 : 1;
}

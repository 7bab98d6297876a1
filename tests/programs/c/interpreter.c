/* An interpreter that jumps through a table of labels. */
#include <stdio.h>

#include "alias.h"

enum { PUSH, ADD, SWAP, OUT, HALT };

static int run(const unsigned char *code, int *result) {
  static const void *const labels[] = {&&push, &&add, &&swap, &&out, &&halt};
  int stack[8], *top = stack;
#define NEXT goto *labels[*code++]
  NEXT;
push:
  *top++ = *code++;
  NEXT;
add:
  top--;
  top[-1] += top[0];
  NEXT;
swap: {
  int *below = top - 2, kept = *below;
  *below = top[-1];
  top[-1] = kept;
  NEXT;
}
out:
  NOALIAS(result, top);
  *result++ = *--top;
  NEXT;
halt:
  return (int)(top - stack);
}

int main(void) {
  const unsigned char code[] = {PUSH, 2, PUSH, 3, ADD, PUSH, 9, SWAP, OUT, OUT, HALT};
  int results[2] = {0, 0};
  int left = run(code, results);
  printf("%d %d %d\n", results[0], results[1], left);
  return results[0] == 5 && results[1] == 9 && !left ? 0 : 1;
}

/* Variables that outlive their function's call, and their addresses. */
#include <stdio.h>

#include "alias.h"

static int *counter(void) {
  static int count;
  count++;
  return &count;
}
static char *label(int n) {
  static char buffers[2][8];
  static int turn;
  char *buffer = buffers[turn++ & 1];
  snprintf(buffer, sizeof buffers[0], "n%d", n);
  return buffer;
}
static int **memory(int *given) {
  static int *kept, **where = &kept;
  if (given) *where = given;
  return where;
}

int main(void) {
  int local = 3, *first = counter(), *second = counter();
  MAYALIAS(first, second);
  NOALIAS(first, &local);
  memory(&local);
  MAYALIAS(*memory(NULL), &local);
  NOALIAS(memory(NULL), &local);
  char *a = label(1), *b = label(2);
  printf("%s %s %d %d\n", a, b, *first, **memory(NULL));
  return *first == 2 && a[1] == '1' && b[1] == '2' ? 0 : 1;
}

/* Pointers behind the dots: va_arg, va_copy, and a list handed on. */
#include <stdarg.h>
#include <stdio.h>

#include "alias.h"

static int last(int n, va_list list) {
  int *found = NULL;
  while (n--) found = va_arg(list, int *);
  return found ? *found : 0;
}
static int sum(int n, ...) {
  va_list list, again;
  va_start(list, n);
  va_copy(again, list);
  int total = 100 * last(n, again);
  for (int i = 0; i < n; i++) {
    int *next = va_arg(list, int *);
    total += (*next)++;
  }
  va_end(again);
  va_end(list);
  return total;
}
static int *pick(int which, ...) {
  va_list list;
  va_start(list, which);
  int *found = va_arg(list, int *);
  while (which--) found = va_arg(list, int *);
  va_end(list);
  return found;
}

int main(void) {
  int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, unused = 0;
  int total = sum(7, &a, &b, &c, &d, &e, &f, &g);
  int *picked = pick(1, &a, &b);
  MAYALIAS(picked, &b);
  NOALIAS(picked, &unused);
  printf("%d %d\n", total, *picked);
  return total == 728 && picked == &b ? 0 : 1;
}

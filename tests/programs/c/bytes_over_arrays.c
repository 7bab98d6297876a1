/* A struct copied byte by byte that starts with an array of bytes: the walk goes on behind it. */
#include <stddef.h>
#include <stdio.h>

#include "alias.h"

struct named {
  char name[8];
  int *number;
  struct named *next;
};

static void copy(void *to, const void *from, size_t n) {
  char *t = to;
  const char *f = from;
  for (size_t i = 0; i < n; i++) t[i] = f[i];
}
static int length(const char *text) {
  int n = 0;
  while (text[n]) n++;
  return n;
}

int main(void) {
  int one = 1, two = 2;
  struct named last = {"last", &two, NULL}, first = {"first", &one, &last}, copied;
  copy(&copied, &first, sizeof copied);
  MAYALIAS(copied.number, &one);
  MAYALIAS(copied.next, &last);
  int letters = length(copied.name) + length(copied.next->name);
  printf("%s %d %d\n", copied.name, *copied.number, letters);
  return *copied.number == 1 && *copied.next->number == 2 && letters == 9 ? 0 : 1;
}

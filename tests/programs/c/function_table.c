/* Tables of functions, in a constant array and in a struct of operations. */
#include <stdio.h>
#include <string.h>

#include "alias.h"

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }

static const struct {
  const char *name;
  int (*apply)(int, int);
} table[] = {{"add", add}, {"sub", sub}, {"mul", mul}};

struct operations {
  int (*open)(int *);
  int (*close)(int *);
};
static int opened(int *state) { return ++*state; }
static int closed(int *state) { return --*state; }
static const struct operations file = {opened, closed};

static int by_name(const char *name, int a, int b) {
  for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
    if (!strcmp(table[i].name, name)) return table[i].apply(a, b);
  return -1;
}

int main(void) {
  int state = 0;
  const struct operations *use = &file;
  int (*open)(int *) = use->open, (*close)(int *) = use->close;
  MAYALIAS((void *)open, (void *)opened);
  NOALIAS((void *)open, (void *)close);
  int n = open(&state) + by_name("mul", 6, 7) + by_name("sub", 3, 1) + close(&state);
  printf("%d\n", n);
  return n == 45 ? 0 : 1;
}

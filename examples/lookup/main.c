#include "table.h"
#include <stdio.h>
#include <stdlib.h>

static int apples = 3, pears = 5;

static int stock_of(const char *name) {
  struct entry *found = find(name);
  return *found->stock;
}

static void sell(const char *name, int count) {
  struct entry *found = find(name);
  if (found && found->stock)
    *found->stock -= count;
}

int main(int argc, char **argv) {
  add("apples", &apples);
  add("pears", argc > 2 ? &pears : NULL);
  if (argc < 2)
    return 1;
  sell(argv[1], 1);
  printf("%d left\n", stock_of(argv[1]));
  return 0;
}

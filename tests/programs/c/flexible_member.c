/* A struct whose last member is an array of a length known at run time only. */
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

struct entry {
  int *value;
  const char *name;
};
struct table {
  int n;
  int *total;
  struct entry entries[];
};

int main(void) {
  int values[3] = {4, 5, 6}, total = 0;
  struct table *t = malloc(sizeof *t + 3 * sizeof *t->entries);
  if (!t) return 1;
  t->n = 3;
  t->total = &total;
  for (int i = 0; i < t->n; i++) t->entries[i] = (struct entry){&values[i], "value"};
  for (struct entry *e = t->entries; e < t->entries + t->n; e++) *t->total += *e->value;
  MAYALIAS(t->entries[2].value, &values[2]);
  MAYALIAS(t->total, &total);
  printf("%d %s\n", total, t->entries[1].name);
  free(t);
  return total == 15 ? 0 : 1;
}

#include "table.h"
#include <stdlib.h>
#include <string.h>

static struct entry *first;

void add(const char *name, int *stock) {
  struct entry *made = malloc(sizeof *made);
  if (!made)
    return;
  made->name = name;
  made->stock = stock;
  made->next = first;
  first = made;
}

struct entry *find(const char *name) {
  for (struct entry *at = first; at; at = at->next)
    if (strcmp(at->name, name) == 0)
      return at;
  return NULL;
}

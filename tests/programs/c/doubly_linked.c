/* A ring with a sentinel: pointers in both directions, and to pointers. */
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

struct item {
  struct item *next, *previous;
  const char *name;
};

static struct item ring = {&ring, &ring, "ring"};

static void insert(const char *name) {
  struct item *made = malloc(sizeof *made);
  if (!made) exit(1);
  made->name = name;
  made->next = &ring;
  made->previous = ring.previous;
  ring.previous->next = made;
  ring.previous = made;
}

static void drop(struct item *item) {
  struct item **there = &item->previous->next, **back = &item->next->previous;
  NOALIAS(there, back);
  *there = item->next;
  *back = item->previous;
  free(item);
}

int main(void) {
  insert("one");
  insert("two");
  insert("three");
  MAYALIAS(ring.next, ring.previous);
  NOALIAS(ring.next, ring.next->name);
  drop(ring.next->next);
  int n = 0;
  for (struct item *i = ring.next; i != &ring; i = i->next) n += printf("%s\n", i->name);
  while (ring.next != &ring) drop(ring.next);
  return n == 10 ? 0 : 1;
}

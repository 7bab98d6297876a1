// A visitor passes two arguments to functions of which some take one: not C by the letter, but done.
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

typedef struct node {
  void *data;
  struct node *next;
} node;

typedef void (*visitor)(void *data, void *context);

static void *last;

static void visit(node *list, visitor each, void *context) {
  for (node *next; list; list = next) {
    next = list->next;
    each(list->data, context);
  }
}

static void keep(void *data) { last = data; }

static void count(void *data, void *context) { *(int *)context += *(int *)data; }

static void three(void *data, void *context, void *more) { last = more; }

void (*never)(void *, void *, void *) = three;

int main(void) {
  int one = 1, two = 2, sum = 0;
  node second = {&two, NULL}, first = {&one, &second};
  visitor each[2] = {(visitor)keep, count};
  for (int k = 0; k < 2; k++) visit(&first, each[k], &sum);
  MAYALIAS(last, &two);
  NOALIAS(last, &sum);
  printf("%d %d\n", sum, *(int *)last);
  return 0;
}

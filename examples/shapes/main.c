/* Print some shapes and the largest of them. */
#include "shape.h"

#include <stdio.h>

static const struct shape *largest(const struct shape *list) {
  const struct shape *best = list;
  for (; list; list = list->next)
    if (area(list) > area(best)) best = list;
  return best;
}

int main(void) {
  struct shape *list = NULL;
  list = push(list, CIRCLE, 2, 2);
  list = push(list, RECTANGLE, 3, 4);
  list = push(list, RECTANGLE, 1, 5);
  for (const struct shape *shape = list; shape; shape = shape->next)
    printf("%-9s %5.2f\n", name(shape), area(shape));
  if (list) printf("largest: a %s\n", name(largest(list)));
  release(list);
  return 0;
}

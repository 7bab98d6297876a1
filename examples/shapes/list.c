/* A list of shapes, newest first. */
#include "shape.h"

#include <stdlib.h>

struct shape *push(struct shape *list, enum kind kind, double width, double height) {
  struct shape *shape = malloc(sizeof *shape);
  if (!shape) return list;
  *shape = (struct shape){kind, width, height, list};
  return shape;
}

void release(struct shape *list) {
  while (list) {
    struct shape *next = list->next;
    free(list);
    list = next;
  }
}

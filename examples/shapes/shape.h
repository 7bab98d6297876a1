/* Shapes: what they share, and a list of them. */
#ifndef SHAPE_H
#define SHAPE_H

enum kind { CIRCLE, RECTANGLE, N_KINDS };

struct shape {
  enum kind kind;
  double width, height; /* of a circle: both its diameter */
  struct shape *next;
};

/* list.c */
struct shape *push(struct shape *list, enum kind kind, double width, double height);
void release(struct shape *list);

/* area.c */
double area(const struct shape *shape);
const char *name(const struct shape *shape);

#endif

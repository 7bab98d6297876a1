/* A generator that keeps its place between calls: a switch into the middle of a loop. */
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

struct tree {
  int value;
  struct tree *left, *right;
};
struct walk {
  int line;
  struct tree *at, *path[8];
  int depth;
};

static struct tree *resume(struct walk *w) {
  switch (w->line) {
    case 0:
      while (w->at || w->depth) {
        while (w->at) w->path[w->depth++] = w->at, w->at = w->at->left;
        w->at = w->path[--w->depth];
        w->line = 1;
        return w->at;
        case 1: w->at = w->at->right;
      }
  }
  w->line = 2;
  return NULL;
}

int main(void) {
  struct tree a = {1, NULL, NULL}, c = {3, NULL, NULL}, b = {2, &a, &c}, lone = {9, NULL, NULL};
  struct walk walk = {0, &b, {NULL}, 0};
  int order = 0;
  for (struct tree *t; (t = resume(&walk));) {
    MAYALIAS(t, &c);
    NOALIAS(t, &lone);
    order = 10 * order + t->value;
  }
  printf("%d\n", order);
  return order == 123 ? 0 : 1;
}

/* Functions that no table describes: their data comes back through the program's own functions. */
#define _GNU_SOURCE
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

struct word {
  const char *text;
  int count;
};
static int visited;

static int compare(const void *left, const void *right) {
  const struct word *a = left, *b = right;
  return a->count - b->count;
}
static void visit(const void *node, VISIT when, int depth) {
  (void)depth;
  struct word *word = *(struct word *const *)node;
  if (when == postorder || when == leaf) visited = 10 * visited + word->count;
}
static void ignore(void *node) { (void)node; }

int main(void) {
  struct word words[3] = {{"b", 2}, {"a", 1}, {"c", 3}}, *found;
  void *tree = NULL;
  for (int i = 0; i < 3; i++)
    if (!tsearch(&words[i], &tree, compare)) return 1;
  struct word key = {NULL, 3};
  void *node = tfind(&key, &tree, compare);
  found = node ? *(struct word **)node : NULL;
  MAYALIAS(found, &words[2]);
  twalk(tree, visit);
  tdestroy(tree, ignore);
  printf("%d %s\n", visited, found ? found->text : "");
  return visited == 123 && found == &words[2] ? 0 : 1;
}

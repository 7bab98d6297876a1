/* qsort and bsearch call back with pointers into the array. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alias.h"

struct word {
  const char *text;
  int count;
};

static int by_text(const void *left, const void *right) {
  const struct word *a = left, *b = right;
  return strcmp(a->text, b->text);
}
static int by_pointee(const void *left, const void *right) {
  const struct word *const *a = left, *const *b = right;
  return (*b)->count - (*a)->count;
}

int main(void) {
  struct word words[] = {{"pear", 3}, {"apple", 1}, {"fig", 7}}, *order[3], key = {"fig", 0};
  for (int i = 0; i < 3; i++) order[i] = &words[i];
  qsort(order, 3, sizeof *order, by_pointee);
  MAYALIAS(order[0], &words[2]);
  const char *most = order[0]->text;
  qsort(words, 3, sizeof *words, by_text);
  struct word *found = bsearch(&key, words, 3, sizeof *words, by_text);
  MAYALIAS(found, &words[1]);
  NOALIAS(found, &key);
  NOALIAS(found, order);
  printf("%s %s %d\n", most, words[0].text, found ? found->count : -1);
  return found == &words[1] && !strcmp(words[0].text, "apple") ? 0 : 1;
}

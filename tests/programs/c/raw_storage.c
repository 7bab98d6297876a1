/* Storage whose type no use tells: rows of structs as large as another struct, words from end to start. */
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

struct item {
  int *first;
  int *second;
};
struct table { /* as large as four items, and starts with an array */
  int *columns[4];
  int *names[4];
};

static struct item *row;
static int x, y;

static struct item *at(int i) {
  if (!row) row = calloc(4, sizeof *row);
  return row + i;
}

static int *back(int n_words, int step) {
  char *bytes = malloc((size_t)n_words * sizeof(int *));
  *(int **)(bytes + 16) = &x;
  *(int **)(bytes + 200) = &y;
  int **word = (int **)(bytes + 200);
  int *found = word[-step];
  word -= step;
  int *same = *word;
  free(bytes);
  return found == same ? found : 0;
}

int main(void) {
  struct table table = {{&x}, {&y}};
  for (int i = 0; i < 4; i++) {
    at(i)->first = i % 2 ? &x : table.columns[0];
    at(i)->second = &y;
  }
  int n = 0;
  for (int i = 0; i < 4; i++) n += at(i)->first == &x && at(i)->second == &y;
  int *found = back(40, 23);
  MAYALIAS(found, &x);
  MAYALIAS(at(n / 2)->second, table.names[0]);
  printf("%d %d\n", n, found == &x);
  return n == 4 && found == &x ? 0 : 1;
}

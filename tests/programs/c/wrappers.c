/* Allocation behind functions of the program: each call makes storage of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alias.h"

static void *checked(size_t n_bytes) {
  void *made = malloc(n_bytes);
  if (!made) abort();
  return made;
}
static void *zeroed(size_t n_bytes) { return memset(checked(n_bytes), 0, n_bytes); }
static char *copied(const char *text) { return strcpy(checked(strlen(text) + 1), text); }

struct pair {
  int *number;
  char *text;
};

int main(void) {
  struct pair *pair = zeroed(sizeof *pair);
  pair->number = zeroed(sizeof *pair->number);
  pair->text = copied("ten");
  *pair->number = 10;
  MAYALIAS(pair, pair);
  printf("%d %s\n", *pair->number, pair->text);
  int ok = *pair->number == 10 && strlen(pair->text) == 3;
  free(pair->text);
  free(pair->number);
  free(pair);
  return ok ? 0 : 1;
}

/* An allocator of the program's own: objects of several types cut from one array of bytes. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "alias.h"

static _Alignas(16) char arena[4096];
static size_t used;

static void *take(size_t n_bytes) {
  void *found = arena + used;
  used += (n_bytes + 15) & ~(size_t)15;
  return used <= sizeof arena ? found : NULL;
}

struct pair {
  int *left, *right;
};

int main(void) {
  struct pair *pair = take(sizeof *pair);
  int *numbers = take(3 * sizeof *numbers), other = 7;
  char **names = take(2 * sizeof *names);
  if (!pair || !numbers || !names) return 1;
  numbers[0] = 3, numbers[2] = 5;
  pair->left = &numbers[0];
  pair->right = &other;
  names[0] = "zero";
  names[1] = (char *)pair;
  MAYALIAS(pair->right, &other);
  MAYALIAS(pair->left, numbers);
  NOALIAS(numbers, &other);
  struct pair *again = (struct pair *)names[1];
  printf("%d %s\n", *again->left + *again->right, names[0]);
  return *again->left + *again->right == 10 ? 0 : 1;
}

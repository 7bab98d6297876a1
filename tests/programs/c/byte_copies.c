/* Pointers copied byte by byte, word by word, and by a loop over a struct. */
#include <stdio.h>
#include <string.h>

#include "alias.h"

struct box {
  int *p;
  long n;
  int *q;
};

static void copy(void *to, const void *from, size_t n) {
  char *t = to;
  const char *f = from;
  while (n--) *t++ = *f++;
}
static void swap(void *left, void *right, size_t n) {
  char *a = left, *b = right;
  for (size_t i = 0; i < n; i++) {
    char kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

int main(void) {
  int one = 1, two = 2, *p = NULL, *q = &two;
  copy(&p, &(int *){&one}, sizeof p);
  MAYALIAS(p, &one);
  swap(&p, &q, sizeof p);
  MAYALIAS(p, &two);
  struct box from = {&one, 7, &two}, to;
  copy(&to, &from, sizeof to);
  MAYALIAS(to.q, &two);
  MAYALIAS(to.p, &one);
  printf("%d %d %d %ld\n", *p, *q, *to.q, to.n);
  return *p == 2 && *q == 1 && *to.q == 2 && to.n == 7 ? 0 : 1;
}

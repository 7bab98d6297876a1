/* Bit fields next to pointers: reading and writing bits leaves pointers alone. */
#include <stdio.h>

#include "alias.h"

struct flags {
  unsigned kind : 3, used : 1, size : 28;
  int *data;
  unsigned long low : 40, high : 24;
  struct flags *next;
};

int main(void) {
  int one = 1, two = 2;
  struct flags b = {2, 0, 100, &two, 5, 6, NULL}, a = {1, 1, 50, &one, 7, 8, &b};
  a.size += 1;
  a.high = 3;
  b.used = a.used;
  struct flags c = *a.next;
  c.kind = 5;
  MAYALIAS(c.data, &two);
  NOALIAS(a.data, &two);
  NOALIAS(a.next, a.data);
  printf("%u %u %d %d\n", (unsigned)a.size, (unsigned)c.kind, *a.data, *c.data);
  return a.size == 51 && b.used && c.data == &two ? 0 : 1;
}

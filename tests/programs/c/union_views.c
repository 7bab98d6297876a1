/* One piece of memory under two types: a pointer written as one is read as the other. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "alias.h"

union view {
  struct {
    int *low, *high;
  } pointers;
  uintptr_t words[2];
  unsigned char bytes[16];
};

int main(void) {
  int a = 1, b = 2;
  union view one = {.pointers = {&a, &b}}, two;
  two.words[0] = one.words[1];
  two.words[1] = one.words[0];
  MAYALIAS(two.pointers.low, &b);
  MAYALIAS(two.pointers.high, &a);
  *two.pointers.low += 10;
  union view three;
  for (unsigned i = 0; i < sizeof three; i++) three.bytes[i] = two.bytes[i];
  MAYALIAS(three.pointers.low, &b);
  *three.pointers.high += 100;
  printf("%d %d\n", a, b);
  return a == 101 && b == 12 ? 0 : 1;
}

/* Pointers as integers and back: kept, offset, and with marks in their low bits. */
#include <stdint.h>
#include <stdio.h>

#include "alias.h"

struct node {
  int value;
  uintptr_t link; /* the next one; the lowest bit is a colour */
};
static struct node *next(const struct node *n) { return (struct node *)(n->link & ~(uintptr_t)1); }
static int colour(const struct node *n) { return (int)(n->link & 1); }

int main(void) {
  struct node c = {3, 0}, b = {2, (uintptr_t)&c | 1}, a = {1, (uintptr_t)&b};
  int sum = 0, red = 0;
  for (struct node *n = &a; n; n = next(n)) sum += n->value, red += colour(n);
  MAYALIAS(next(&a), &b);
  int numbers[4] = {5, 6, 7, 8};
  uintptr_t address = (uintptr_t)numbers;
  address += 2 * sizeof *numbers;
  int *third = (int *)address;
  MAYALIAS(third, &numbers[2]);
  NOALIAS(third, &sum);
  intptr_t kept = (intptr_t)third;
  printf("%d %d %d\n", sum, red, *(int *)kept);
  return sum == 6 && red == 1 && *third == 7 ? 0 : 1;
}

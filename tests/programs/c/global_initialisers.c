/* Addresses in the initialisers of globals: fields, elements, ends, functions, each other. */
#include <stdio.h>

#include "alias.h"

struct node {
  const struct node *other;
  int *number;
  void (*act)(int *);
};
static int numbers[4] = {1, 2, 3, 4};
static void twice(int *n) { *n *= 2; }
static void clear(int *n) { *n = 0; }
extern const struct node second;
static const struct node first = {&second, &numbers[2], twice};
const struct node second = {&first, numbers, clear};
static int *const bounds[] = {numbers, numbers + 4};
static int **const inside = (int **)&first.number;
static const char *const tail = &"a word"[2];
static struct {
  struct {
    int x, y;
  } point;
  int *to_y;
} self = {{1, 2}, &self.point.y};

int main(void) {
  int sum = 0;
  for (int *n = bounds[0]; n != bounds[1]; n++) sum += *n;
  const struct node *node = &first;
  for (int i = 0; i < 2; i++, node = node->other) node->act(node->number);
  MAYALIAS(first.other, &second);
  MAYALIAS(*inside, &numbers[2]);
  NOALIAS(first.number, second.number);
  MAYALIAS(self.to_y, &self.point.y);
  NOALIAS(self.to_y, &self.point.x);
  printf("%d %d %d %s %d\n", sum, numbers[0], numbers[2], tail, *self.to_y);
  return sum == 10 && numbers[0] == 0 && numbers[2] == 6 ? 0 : 1;
}

/* A container of void pointers that is used with two types. */
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

struct stack {
  void **items;
  int n;
};
static void push(struct stack *s, void *item) {
  void **grown = realloc(s->items, (size_t)(s->n + 1) * sizeof *grown);
  if (!grown) exit(1);
  s->items = grown;
  s->items[s->n++] = item;
}
static void *pop(struct stack *s) { return s->n ? s->items[--s->n] : NULL; }

int main(void) {
  struct stack numbers = {NULL, 0}, words = {NULL, 0};
  int one = 1, two = 2, never = 3;
  push(&numbers, &one);
  push(&numbers, &two);
  push(&words, "a");
  push(&words, "b");
  int *top = pop(&numbers);
  char *word = pop(&words);
  MAYALIAS(top, &two);
  NOALIAS(top, &never);
  EXPECTEDFAIL_NOALIAS(top, word); /* one push for both: no contexts */
  printf("%d %s\n", *top, word);
  free(numbers.items);
  free(words.items);
  return top == &two && *word == 'b' ? 0 : 1;
}

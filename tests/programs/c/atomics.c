/* A stack without locks: pointers exchanged, compared and swapped atomically. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "alias.h"

struct node {
  struct node *next;
  int value;
};
static _Atomic(struct node *) top;
static _Atomic(uintptr_t) owner;

static void push(struct node *n) {
  n->next = atomic_load(&top);
  while (!atomic_compare_exchange_weak(&top, &n->next, n)) continue;
}
static struct node *pop(void) {
  struct node *n = atomic_load(&top);
  while (n && !atomic_compare_exchange_weak(&top, &n, n->next)) continue;
  return n;
}

int main(void) {
  struct node one = {NULL, 1}, two = {NULL, 2}, never = {NULL, 3};
  push(&one);
  push(&two);
  struct node *first = pop();
  MAYALIAS(first, &two);
  EXPECTEDFAIL_NOALIAS(first, &never); /* pushed later, but memory has no order here */
  struct node *old = atomic_exchange(&top, &never);
  MAYALIAS(old, &one);
  atomic_store(&owner, (uintptr_t)old);
  uintptr_t seen = atomic_fetch_add(&owner, 0);
  MAYALIAS((struct node *)seen, &one);
  printf("%d %d\n", first->value, ((struct node *)seen)->value);
  return first == &two && old == &one ? 0 : 1;
}

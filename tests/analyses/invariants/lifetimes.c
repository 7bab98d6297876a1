/* Storage that ends: what a whole program may still use. Each `fails` happens in some run. */
#include <stdlib.h>
#include <string.h>
int any(void);
struct node { int value; struct node *next; };
static struct node *list, *other;
static int *kept, **where;

static void *made(unsigned long n) {
  void *p = malloc(n);
  if (!p) exit(1);
  return p;
}
static struct node *pushed(int value) {
  struct node *one = made(sizeof *one);
  one->value = value; /* safe */
  one->next = list; /* safe */
  list = one;
  return one;
}
static void dropped(void) {
  struct node *first = list;
  if (!first) return;
  list = first->next; /* may */
  free(first); /* safe */
}
static int once(void) {
  int *p = made(8), x;
  p[0] = any(); /* safe */
  p[1] = 2; /* safe */
  x = p[0] / 2 + p[1]; /* safe */
  free(p); /* safe */
  return x;
}
static int after(void) {
  int *p = made(4);
  *p = any(); /* safe */
  free(p); /* safe */
  return *p; /* fails */
}
static void twice(void) {
  int *p = made(4);
  if (any()) free(p); /* safe */
  free(p); /* fails */
}
static void inside(void) {
  char *p = made(4);
  free(p + (any() & 1)); /* fails */
}
static void of_local(void) {
  int x = 1, *p = any() ? &x : malloc(4);
  free(p); /* fails */
}
static int alias(void) {
  struct node *p = made(sizeof *p), *q = any() ? p : made(sizeof *q);
  p->value = q->value = 1; /* safe */
  free(q); /* safe */
  return p->value; /* fails */
}
static int moved(int n) {
  int *p = made(4), *q;
  *p = 3; /* safe */
  q = realloc(p, 8);
  if (!q) { free(p); return 0; } /* may */
  n = q[0] / 2; /* safe */
  free(q); /* safe */
  return n;
}
static int stale(void) {
  int *p = made(4), *q;
  *p = 3; /* safe */
  q = realloc(p, 64);
  if (!q) return 0;
  q[0] = 1; /* safe */
  return *p; /* fails */
}
static int *address(int *p) { return p; }
static int *dangling(void) {
  int x = any();
  return address(&x);
}
static int returned(void) {
  int *p = dangling();
  return *p; /* fails */
}
static void keeps(void) {
  int x = 4;
  where = &kept;
  kept = &x;
}
static int escaped(void) {
  keeps();
  return **where; /* fails */
}
static int looped(void) {
  int sum = 0;
  for (int i = 0; i < 3; i++) {
    int *p = made(4);
    *p = i; /* safe */
    sum += *p; /* safe */
    free(p); /* safe */
  }
  return sum;
}
static int late(void) {
  int *p = made(4), sum = 0;
  *p = 1; /* safe */
  for (int i = 0; i < 3; i++) {
    sum = *p & 3; /* fails */
    if (any()) free(p); /* safe */
  }
  return sum;
}
static int walk(void) {
  int sum = 0;
  for (struct node *one = other; one; one = one->next) /* safe */
    sum ^= one->value; /* safe */
  return sum;
}
static void destroy(struct node *one) { free(one); } /* safe */
static int by_callee(void) {
  struct node *one = made(sizeof *one);
  one->value = 1; /* safe */
  destroy(one);
  return one->value; /* fails */
}
static int read_first(const int *p) { return *p; } /* safe */
static int good_callee(void) {
  int *p = made(4), x;
  *p = any(); /* safe */
  x = read_first(p);
  free(p); /* safe */
  return x;
}
static int chosen(void (*end)(void *)) {
  int *p = made(4);
  *p = 1; /* safe */
  end(p);
  return *p; /* fails */
}
static int copied(void) {
  struct node a, *p = made(sizeof *p);
  memset(p, 0, sizeof *p); /* safe */
  free(p); /* safe */
  memcpy(&a, p, sizeof a); /* fails */
  return a.value;
}
int main(void) {
  other = calloc(1, sizeof *other);
  switch (any()) {
  case 0: return once();
  case 1: return after();
  case 2: twice(); return 0;
  case 3: inside(); return 0;
  case 4: of_local(); return 0;
  case 5: return alias();
  case 6: return moved(1);
  case 7: return stale();
  case 8: return returned();
  case 9: return escaped();
  case 10: return looped();
  case 11: return late();
  case 12: return walk();
  case 13: return by_callee();
  case 14: return good_callee();
  case 15: return chosen(free);
  case 16: return copied();
  case 17: pushed(1); pushed(2); dropped(); dropped(); dropped(); return 0;
  case 18: pushed(1); dropped(); if (any()) return list->value; return 0; /* may */
  }
  return 0;
}

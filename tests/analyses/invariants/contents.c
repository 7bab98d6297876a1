/* Storage that nobody has written: what a whole program may read. Each `fails` happens in some run. */
#include <stdlib.h>
#include <string.h>
int any(void);
void outside(void *p);
struct part { int first; char small; struct part *next; };
struct pair { struct part one, two; };
static struct part *list, *bare;

static void *same(void *p) { return p; } /* a local that is passed on stays in memory */
static void fill(struct part *p) {
  p->first = 1;
  p->next = 0;
}
static void fill_some(struct part *p) {
  if (any()) p->first = 1;
}
static void fill_both(struct pair *p) {
  fill(&p->one);
  fill(&p->two);
}
static int first_of(const struct part *p) { return p->first; } /* safe */
static int first_of_other(const struct part *p) { return p->first; } /* fails */
static int small_of(const struct part *p) { return p->small; } /* fails */
static int by_callee(void) {
  struct part x, y;
  fill(&x);
  fill_some(&y);
  return first_of(&x) / 2 + first_of_other(&y) / 2 + small_of(&x);
}
static int nested(void) {
  struct pair x;
  fill_both(&x);
  return first_of(&x.two) / 2 + x.one.first / 2; /* safe */
}
static int some_paths(void) {
  int n[1];
  same(n);
  if (any()) n[0] = 2;
  return n[0]; /* fails */
}
static int all_paths(void) {
  int n[1];
  same(n);
  if (any()) n[0] = 2;
  else n[0] = 3;
  return n[0]; /* safe */
}
static int second_read(void) {
  int n[2];
  same(n);
  n[0] = any() & 7;
  return (n[1] & 7) + /* fails */
         (n[1] & 1) + /* safe */
         n[0]; /* safe */
}
static struct part *pushed(int n) {
  struct part *p = malloc(sizeof *p);
  if (!p) exit(1);
  p->first = n;
  p->next = list;
  list = p;
  return p;
}
static int walk(void) {
  int sum = 0;
  for (struct part *p = list; p; p = p->next) /* safe */
    sum ^= p->first; /* safe */
  return sum;
}
static int walk_small(void) {
  int sum = 0;
  for (struct part *p = list; p; p = p->next) /* safe */
    sum ^= p->small; /* fails */
  return sum;
}
static void *cleared(unsigned long n) {
  void *p = malloc(n);
  if (!p) exit(1);
  memset(p, 0, n);
  return p;
}
static void *raw(unsigned long n) {
  void *p = malloc(n);
  if (!p) exit(1);
  return p;
}
static int by_wrapper(void) {
  struct part *p = cleared(sizeof *p), *q = raw(sizeof *q);
  q->first = 4;
  return p->small + /* safe */
         q->first + /* safe */
         q->small; /* fails */
}
static int copied(void) {
  struct part x, y;
  same(&x);
  same(&y);
  x.first = 4;
  y = x;
  return y.first + /* safe */
         y.small; /* fails */
}
static int moved(void) {
  int a[2], b[2];
  same(a);
  same(b);
  a[1] = 5;
  memcpy(b, a, sizeof b);
  return b[1] + /* safe */
         (b[0] & 1); /* fails */
}
static int zeros(void) {
  struct part *p = calloc(1, sizeof *p);
  int n[8];
  if (!p) return 0;
  memset(n, 0, sizeof n);
  return p->small + n[any() & 7]; /* safe */
}
static int by_index(void) {
  int n[4];
  n[any() & 3] = 1;
  return n[any() & 3]; /* fails */
}
static int early(void) {
  bare = raw(sizeof *bare);
  bare->first = 1;
  return bare->small; /* fails */
}
static int anew(void) {
  int sum = 0;
  for (int i = 0; i < 2; i++) {
    int *p = raw(8);
    if (i == 0) p[0] = 1;
    sum = p[0] & 1; /* fails */
  }
  return sum;
}
static int chosen(void) {
  int a[1], b[1], *p = any() ? a : b;
  a[0] = 1;
  return p[0]; /* fails */
}
static int chosen_late(void) {
  int a[1], b[1], *p;
  a[0] = 1;
  b[0] = 2;
  p = any() ? a : b;
  return p[0]; /* safe */
}
static int by_value(struct pair given) { return given.two.small; } /* fails */
static int passed(void) {
  struct pair x;
  fill_both(&x);
  return by_value(x);
}
static int given_away(void) {
  struct part x;
  outside(&x);
  return x.first; /* safe */
}
static int last_byte(void) {
  char text[400];
  same(text);
  memset(text, 0, 300);
  return text[299] + /* safe */
         text[20] + /* safe */
         text[399]; /* fails */
}
int main(void) {
  switch (any()) {
  case 0: return by_callee();
  case 1: return nested();
  case 2: return some_paths();
  case 3: return all_paths();
  case 4: return second_read();
  case 5: pushed(1); pushed(2); return walk();
  case 6: pushed(1); return walk_small();
  case 7: return by_wrapper();
  case 8: return copied();
  case 9: return moved();
  case 10: return zeros();
  case 11: return by_index();
  case 12: return early();
  case 13: return anew();
  case 14: return chosen();
  case 15: return chosen_late();
  case 16: return passed();
  case 17: return given_away();
  case 18: return last_byte();
  }
  return 0;
}

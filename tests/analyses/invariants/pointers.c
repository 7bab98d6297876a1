/* Each function stands alone: what is read twice, and how far unknown objects go. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
extern void others(void);
static int counts[26];

void read_thrice(const char *text, int i) {
  if (text[i] >= 'a' && text[i] <= 'z') counts[text[i] - 'a'] = 1;  // expect: safe bounds, may fail bounds
}

int read_next(struct node *n) {
  if (!n || !n->next) return 0;
  return n->next->value;  // expect: safe null
}

int others_may_write(struct node *n) {
  if (!n || !n->next) return 0;
  others();
  return n->next->value;  // expect: may fail null, safe null
}

void written_between(struct node *n, struct node *m) {
  if (n->value > 3) {
    m->value = 0;
    assert(n->value > 3);  // expect: may fail assert
  }
}

void written_and_read(struct node *n, struct node *m, int x) {
  m->value = 7;
  n->value = x;
  if (x > 3) assert(n->value > 3);  // expect: safe assert
  assert(m->value == 7);            // expect: may fail assert
}

void read_in_a_loop(int *p, int n) {
  int first = *p;
  for (int i = 0; i < n; i++) {
    assert(*p == first);  // expect: may fail assert
    *p = i;
    assert(*p == i);      // expect: safe assert
  }
}

void read_on_both_ways(struct node *n, int x) {
  int seen = n->value;
  if (x) assert(n->value == seen);  // expect: safe assert
  assert(n->value == seen);         // expect: safe assert
  if (x > 3) n->value = 1;
  assert(n->value == seen);         // expect: may fail assert
}

int another_each_time(struct node *n) {
  int sum = 0;
  for (; n; n = n->next) {
    int one = n->value;
    assert(n->value == one);  // expect: safe assert
    sum ^= one;
  }
  return sum;
}

void loud(volatile int *p) {
  int one = *p;
  assert(*p == one);  // expect: may fail assert
}

void once_inside(struct node *n) {
  n->next = 0;  // expect: may fail bounds
  n->value = 1; // expect: safe bounds
  n[1].value = 1;  // expect: may fail bounds
  n[1].value = 2;  // expect: safe bounds
  n[0].next = 0;   // expect: safe bounds
  n[-1].value = 3; // expect: may fail bounds
}

void freed_between(struct node *n, void *p) {
  n->value = 1;  // expect: may fail bounds
  free(p);
  n->value = 2;  // expect: may fail bounds
}

void another_object(struct node *n) {
  n->next->value = 1;
  n->next = n->next->next;
  n->next->value = 2;  // expect: may fail bounds, safe bounds
}

void streams(void) {
  fputs("text", stderr);  // expect: safe null
  fputs("text", stdout);  // expect: may fail null
  stdout = 0;
}

int as_many_as_are_asked_for(int n) {
  if (n < 1 || n > 100) return 0;
  int a[n];
  for (int i = 0; i < n; i++) a[i] = i;  // expect: safe bounds
  int first = a[0];                      // expect: safe bounds, safe uninitialised
  a[n] = 0;                              // expect: fails always bounds
  return first;
}

// Functions called with other numbers of arguments than they take, each by another way to get there.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *got[16];
static int n_got;
static int a, b, c;

static void note(void *p) { got[n_got++] = p; }

// Given straight to who calls it with two; another call passes the same function one argument.
typedef void (*visitor)(void *, void *);
typedef void (*destructor)(void *);
static void straight(void *p) { note(p); }
static void both(void *p, void *q) { note(q); }
static void visit(visitor each, void *p, void *q) { each(p, q); }
static void destroy(destructor one, void *p) { one(p); }
static void pass_on(visitor each, void *p) { visit(each, p, p); }

// Through a field of a struct, with a neighbour that fits.
struct command {
  const char *name;
  int (*run)(int, char **);
};
static int help(void) { note(&a); return 1; }
static int list(int n, char **words) { note(words); return n; }
static struct command commands[] = {{"help", (int (*)(int, char **))help}, {"list", list}};
static int also_help(int (*f)(void)) { return f(); }

// Through memory without a type.
struct entry {
  char key[8];
  void *value;
};
static struct entry table[4];
static void put(int i, const char *key, void *value) {
  strcpy(table[i].key, key);
  table[i].value = value;
}
static void *get(const char *key) {
  for (int i = 0; i < 4; i++)
    if (!strcmp(table[i].key, key)) return table[i].value;
  return NULL;
}
static void hidden(void *p) { note(p); }

// Through a union, and copied as bytes.
union hook {
  void (*one)(void *);
  void (*three)(void *, void *, void *);
};
static void small(void *p) { note(p); }
static void copied(void *p) { note(p); }

// More parameters than are passed: the last is not looked at.
static void larger(void *p, int unused) { note(p); }

// By a declaration without parameters.
static void old(p, q) void *p, *q; { note(q); }

// By value: a struct of two words is two arguments.
struct pair { void *first, *second; };
static void take_pair(struct pair p) { note(p.second); }
static void take_two(void *p, void *q) { note(q); }

int main(int argc, char **argv) {
  visit((visitor)straight, &a, &b);
  destroy(straight, &b);
  visit(both, &a, &c);
  pass_on((visitor)free, malloc(8));
  destroy(free, malloc(8));
  for (int i = 0; i < 2; i++) commands[i].run(argc, argv);
  also_help(help);
  put(0, "hidden", (void *)hidden);
  ((visitor)get("hidden"))(&c, &a);
  union hook hook = {.one = small};
  hook.three(&a, &b, &c);
  void (*one)(void *) = copied;
  void (*two)(void *, void *);
  memcpy(&two, &one, sizeof two);
  two(&b, &a);
  ((destructor)(long)larger)(&c);
  void (*without)() = (void (*)())old;
  without(&a, &b);
  struct pair pair = {&a, &b};
  void (*volatile by_value)(struct pair) = (void (*)(struct pair))take_two;
  by_value(pair);
  by_value = take_pair;
  by_value(pair);
  printf("%d %d\n", n_got, got[0] == &a);
  return 0;
}

/* A union whose tag says which member is in use: a pointer, a number, or a function. */
#include <stdio.h>

#include "alias.h"

enum tag { NUMBER, TEXT, ACTION };
struct value {
  enum tag tag;
  union {
    long number;
    const char *text;
    int (*action)(struct value *);
  } as;
  struct value *next;
};

static int size(struct value *v) { return v->next ? 1 + size(v->next) : 1; }
static const char hello[] = "hello";

static int shown(struct value *v) {
  switch (v->tag) {
    case NUMBER: return printf("%ld\n", v->as.number);
    case TEXT: return printf("%s\n", v->as.text);
    default: return printf("%d\n", v->as.action(v));
  }
}

int main(void) {
  struct value number = {NUMBER, {.number = 42}, NULL};
  struct value text = {TEXT, {.text = hello}, &number};
  struct value action = {ACTION, {.action = size}, &text};
  int n = 0;
  MAYALIAS(text.as.text, hello);
  NOALIAS(&text.as, &text.next);
  for (struct value *v = &action; v; v = v->next) n += shown(v);
  return n == 2 + 6 + 3 ? 0 : 1;
}

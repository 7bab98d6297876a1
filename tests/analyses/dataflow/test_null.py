"""What is a null dereference, and what only looks like one: a line for each class of reports."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene

HEAD = "#include <stdlib.h>\nstruct s { int n; struct s *next; };\n"
# The lines with a comment are reported, with the rule it names; no others are.
PROGRAMS = {
    "used under a condition that may go together with the one that sets it": """
int main(int k, char **v) {
  int *p = NULL;
  if (k > 1) p = &k;
  if (v[k - 1]) k = *p; /* possible-null */
  return k;
}""",
    "used whatever is asked between": """
int main(int k, char **v) {
  int *p = NULL;
  if (k > 1) p = &k;
  if (v[k - 1]) k = 3;
  return *p; /* null-dereference */
}""",
    "passed as null, and used under a condition on what else is passed": """
static int f(int *p, int n) {
  if (n) return *p; /* possible-null */
  return 0;
}
int main(int k, char **v) { return f(&k, 1) + f(NULL, 0); }""",
    "a copy of no bytes": """
#include <string.h>
int main(int k, char **v) {
  char to[9], *from = NULL;
  if (k > 1) from = v[1];
  memcpy(to, from, (k - 1) & 7); /* possible-null */
  from = NULL;
  if (k > 2) from = v[2];
  memcpy(to, from, 8); /* null-dereference */
  return to[0];
}""",
    "what is stored is tested before it is read": """
static int *kept;
static void other(void) { if (kept) kept = NULL; }
int main(int k, char **v) {
  int *made = malloc(sizeof *made);
  kept = made;
  if (!made) return 1;
  for (int i = 0; i < k; i++) *kept = i;
  other();
  return k;
}""",
    "nothing is ever stored in a field of what calloc gives": """
struct queue { struct s *head, *tail; };
int main(int k, char **v) {
  struct queue *q = calloc(1, sizeof *q);
  if (!q) return 1;
  struct s *last = malloc(sizeof *last);
  q->tail = last;
  if (k > 2) return q->tail->n; /* null-dereference */
  int n = q->head->n; /* null-dereference */
  free(q);
  return n;
}""",
    "of two accesses in one block the first one tells, be it a store": """
int main(int k, char **v) {
  int *p = k > 1 ? &k : NULL;
  if (!p) k = 7;
  p[0] = k; /* null-dereference */
  return p[0];
}""",
    "what one call passes does not come out of another": """
static int *same(int *p) { return p; }
int main(int k, char **v) {
  int *a = same(NULL);
  int *b = same(&k);
  *b = 1;
  return a ? 1 : *a; /* null-dereference */
}""",
    "a callback and its data": """
static int run(int (*f)(struct s *), struct s *p) { return f(p); }
static int start(struct s *p) { return p ? 1 : 0; }
static int work(struct s *p) {
  return p->n; /* possible-null */
}
int main(int k, char **v) { struct s x = {k, 0}; return run(start, NULL) + run(work, &x); }""",
    "an address computed before the test": """
int main(int k, char **v) {
  struct s x = {k, 0}, *p = k > 2 ? &x : NULL;
  int *at = &p->n, sum = 0;
  for (int i = 0; i < k; i++)
    if (p) sum += *at;
  return sum;
}""",
    "the first access tells": """
int main(int k, char **v) {
  struct s x = {k, 0}, *p = k > 2 ? &x : NULL;
  int *at = &p->n;
  int sum = p->n; /* null-dereference */
  if (k > 7) sum += *at;
  return sum;
}""",
    "a status that is tested": """
static int make(struct s **to) { *to = malloc(sizeof **to); return *to ? 0 : -1; }
static int tested(void) { struct s *p; if (make(&p) < 0) return 0; return p->n = 1; }
static int taken(void) { struct s *p; make(&p); return p->n = 1; } /* possible-null */
int main(int k, char **v) { return tested() + taken(); }""",
    "a status in memory": """
struct context { int failed; };
static struct s *make(struct context *c) {
  struct s *p = malloc(sizeof *p);
  if (!p) c->failed = 1;
  return p;
}
static int tested(struct context *c) {
  struct s *p = make(c);
  if (c->failed) return 0;
  return p->n = 1;
}
static int taken(struct context *c) { return make(c)->n = 1; } /* null-dereference */
int main(int k, char **v) { struct context c = {0}; return tested(&c) + taken(&c); }""",
    "a null that is replaced": """
int main(int k, char **v) {
  struct s other = {1, 0}, *p = k > 2 ? &other : NULL, *q = p ? p : &other;
  return q->n;
}""",
    "one condition twice": """
int main(int k, char **v) {
  struct s x = {k, 0}, *p = NULL;
  if (k > 3) p = &x;
  int n = rand();
  if (k > 3) n += p->n;
  if (k > 2) n += p->n; /* possible-null */
  return n;
}""",
    "null at another time": """
static struct s *current;
static void forget(void) { current = NULL; }
static int use(void) { return current->n; } /* possible-null */
int main(int k, char **v) {
  struct s x = {k, 0};
  current = &x;
  int n = use();
  forget();
  return n;
}""",
    "a result that nobody tests": """
static struct s first;
static struct s *find(int k) { return k < 100 ? &first : NULL; }
int main(int k, char **v) {
  int n = find(rand())->n; /* possible-null */
  n += find(rand())->n; /* possible-null */
  n += find(rand())->n; /* possible-null */
  n += find(rand())->n; /* possible-null */
  return n;
}""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_what_is_reported(text: str, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(HEAD + text)
    lines = source.read_text().splitlines()
    expected = {
        (number, line.split("/* ")[1].split(" ")[0])
        for number, line in enumerate(lines, 1)
        if "/* " in line
    }
    found = kleene.load(source).dataflow("null", device="cpu").findings()
    reported = {(one.span.line, one.rule.id.split("/")[1]) for one in found if one.span}
    assert reported == expected

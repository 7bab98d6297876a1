"""What random programs are made of: members of structs, and functions to handle each struct."""

from __future__ import annotations

from dataclasses import dataclass

PRELUDE = """\
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINER(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
static int budget = 300, number, numbers[4];
static void copy_bytes(void *to, const void *from, size_t n) {
  char *t = to;
  const char *f = from;
  while (n--) *t++ = *f++;
}
typedef unsigned __attribute__((may_alias)) word;
static void copy_words(void *to, const void *from, size_t n) {
  word *t = to;
  const word *f = from;
  for (size_t i = 0; i < n / sizeof *t; i++) t[i] = f[i];
}
static void *same(void *p) { return p; }
static _Alignas(16) char arena[1 << 14];
static size_t n_arena;
static void *take(size_t n) {
  if (n_arena + n > sizeof arena) return NULL;
  void *found = &arena[n_arena];
  n_arena += (n + 15) & ~(size_t)15;
  return found;
}
static int *pick_number(int n, ...) {
  va_list list;
  va_start(list, n);
  int *found = va_arg(list, int *);
  if (n & 1) found = va_arg(list, int *);
  va_end(list);
  return found;
}
"""


@dataclass(frozen=True)
class Member:
    """A field: what it is, and the struct that it is about."""

    name: str
    kind: str
    target: int

    def text(self) -> str:
        """Return its declaration."""
        t = f"struct S{self.target}"
        return {
            "int": f"int {self.name};",
            "short": f"short {self.name};",
            "number": f"int *{self.name};",
            "numbers": f"int {self.name}[4];",
            "pointer": f"{t} *{self.name};",
            "pointers": f"{t} *{self.name}[4];",
            "nested": f"{t} {self.name};",
            "nesteds": f"{t} {self.name}[2];",
            "function": f"{t} *(*{self.name})(struct S0 *, int *, int);",
            "union": f"int {self.name}_tag; union {{ {t} *p; int *q; }} {self.name};",
            "packed": f"struct __attribute__((packed)) {{ char c; {t} *p; }} {self.name};",
            "matrix": f"{t} *{self.name}[2][3];",
            "cells": f"struct {{ short n; {t} *p; int *q; }} {self.name}[3];",
            "bits": f"unsigned {self.name}_low : 5, {self.name}_high : 20; {t} *{self.name};",
        }[self.kind]

    def element(self, index: str) -> str:
        """Return the pointer to its struct in it, an lvalue; which one, `index` says."""
        return {
            "pointer": self.name,
            "pointers": f"{self.name}[{index} & 3]",
            "packed": f"{self.name}.p",
            "matrix": f"{self.name}[{index} & 1][{index} % 3]",
            "cells": f"{self.name}[{index} % 3].p",
            "bits": self.name,
        }[self.kind]


HOLDERS = ("pointer", "pointers", "packed", "matrix", "cells", "bits")


def tools(s: int, initial: str) -> str:
    """Return the variables and functions of struct `s`, whose root has an initial value."""
    t = f"struct S{s}"
    return f"""\
static {t} global{s}, array{s}[4], *root{s}{initial};
static {t} **kept{s}, *row{s};
static int n_kept{s};
struct F{s} {{ int n; {t} *items[]; }};
struct R{s} {{ {t} *p; int *q; }};
static {t} *make{s}(void) {{
  {t} *made = calloc(1, sizeof *made);
  if (!made) exit(1);
  return made;
}}
static void set{s}({t} **where, {t} *what) {{ *where = what; }}
static {t} *keep{s}({t} *given) {{
  {t} **grown = realloc(kept{s}, (size_t)(n_kept{s} + 1) * sizeof *grown);
  if (!grown) exit(1);
  kept{s} = grown;
  kept{s}[n_kept{s}++] = given;
  return kept{s}[n_kept{s} / 2];
}}
static {t} *pick{s}(int n, ...) {{
  va_list list;
  va_start(list, n);
  {t} *found = va_arg(list, {t} *);
  if (n & 1) found = va_arg(list, {t} *);
  va_end(list);
  return found;
}}
static {t} *listed{s}(int n, {t} *p, {t} *q) {{
  struct F{s} *list = malloc(sizeof *list + (size_t)(n + 2) * sizeof *list->items);
  if (!list) exit(1);
  list->n = n + 2;
  for (int i = 0; i < list->n; i++) list->items[i] = i & 1 ? p : q;
  {t} *found = list->items[list->n / 2];
  free(list);
  return found;
}}
static {t} *in_row{s}(int n) {{
  if (!row{s}) row{s} = calloc(4, sizeof *row{s});
  if (!row{s}) exit(1);
  return row{s} + (n & 3);
}}
static struct R{s} both{s}({t} *p, int *q) {{ return (struct R{s}){{p, q}}; }}
static {t} changed{s}({t} given, {t} other) {{ return number & 1 ? given : other; }}
static int order{s}(const void *a, const void *b) {{
  {t} *const *left = a, *const *right = b;
  return (!*left) - (!*right);
}}"""

"""Which stores and calls does each load read from? Programs in C that say it line by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.analyses.points_to import PointsToResult
from kleene.ir.codes import Opcode
from kleene.transforms.memory_ssa import MemorySSA
from tests.transforms.memory_ssa.test_names import ENTRY, definitions_of


def solved(folder: Path, text: str) -> tuple[PointsToResult, MemorySSA]:
    path = folder / "program.c"
    path.write_text(text)
    result = kleene.load(path, flags=["-O0"]).points_to(device="cpu")
    return result, result.memory_ssa()


def lines_read(result: PointsToResult, found: MemorySSA, line: int) -> set[int]:
    """Return the lines of the definitions that the last load of a line may read; 0 for entries."""
    program = result.program
    spans, table = program.spans, program.instructions
    here = [
        row
        for row in np.flatnonzero(table.opcode == Opcode.LOAD).tolist()
        if table.span[row] >= 0 and spans.line[table.span[row]] == line
    ]
    rows: set[int] = set()
    for name in found.read_by(here[-1]).tolist():
        rows |= definitions_of(found, name)
    return {0 if row == ENTRY else int(spans.line[table.span[row]]) for row in rows}


GLOBALS = """\
int a, b, *p;
static void set(void) { a = 7; }
static void other(void) { b = 7; }
int direct(int c) {
  a = 1;
  if (c)
    a = 2;
  return a;
}
int through(int c) {
  p = c ? &a : &b;
  a = 1;
  *p = 2;
  return a;
}
int called(void) {
  a = 1;
  other();
  set();
  return a;
}
int untouched(void) {
  a = 1;
  other();
  return a;
}
int main(int c, char **v) { return direct(c) + through(c) + called() + untouched(); }
"""


@pytest.mark.parametrize(
    ("line", "expected"), [(8, {5, 7}), (14, {12, 13}), (20, {17, 19}), (25, {23})]
)
def test_globals(tmp_path: Path, line: int, expected: set[int]) -> None:
    assert lines_read(*solved(tmp_path, GLOBALS), line) == expected


LOCALS = """\
#include <stdlib.h>
#include <setjmp.h>
struct pair { int x, y; };
static jmp_buf env;
static void fill(struct pair *p) {
  p->x = 5;
}
static int field(void) {
  struct pair s;
  s.x = 1;
  s.y = 2;
  fill(&s);
  return s.y;
}
static int recursive(int *outer, int n) {
  int mine = n;
  int *q = outer ? outer : &mine;
  *q = 1;
  if (n)
    recursive(&mine, n - 1);
  return mine;
}
static int heap(int n) {
  int *p = malloc(4), *q = malloc(4);
  *p = 1;
  *q = 2;
  return *p;
}
static int jumped(void) {
  static int x;
  int *at = &x;
  *at = 1;
  if (setjmp(env))
    return *at;
  *at = 2;
  longjmp(env, 1);
}
int main(void) { return field() + recursive(0, 3) + heap(2) + jumped(); }
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (13, {11}),  # the call writes the other field
        (21, {16, 18, 20}),  # q may be another activation's variable: no strong update
        (27, {0, 25}),  # a summary of all that the site allocates
        (34, {32, 33}),  # what was stored after setjmp is there at its second return
    ],
)
def test_locals_and_the_heap(tmp_path: Path, line: int, expected: set[int]) -> None:
    found = lines_read(*solved(tmp_path, LOCALS), line)
    assert expected <= found
    if line != 21:
        assert found == expected


THREADS = """\
#include <pthread.h>
static pthread_mutex_t lock;
static int shared;
static void *worker(void *unused) {
  pthread_mutex_lock(&lock);
  shared = 2;
  pthread_mutex_unlock(&lock);
  return unused;
}
int main(void) {
  pthread_t id;
  pthread_create(&id, 0, worker, 0);
  shared = 1;
  pthread_mutex_lock(&lock);
  int seen = shared;
  pthread_mutex_unlock(&lock);
  return seen;
}
"""


def test_other_threads_write_where_code_outside_is_called(tmp_path: Path) -> None:
    assert lines_read(*solved(tmp_path, THREADS), 15) == {13, 14}

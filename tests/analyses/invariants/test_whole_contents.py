"""When others may read what a whole program has not written yet: examples, and random programs."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kleene import load
from kleene.analyses.invariants import Verdict
from kleene.analyses.invariants.whole import interpret
from tests.seeds import IS_DEEP, seeds

from .test_whole_storage import verdicts
from .test_whole_truth import WholeOracle
from .unwritten import program

N_RUNS = 200 if IS_DEEP else 40

# `made` hands the address on before it writes; LEAVES stands between, and READ is the line asked.
LATE = """
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <pthread.h>
struct part {{ int a, b; }};
static struct part *known;
static int seen;
int any(void);
static jmp_buf place;
static int read(void) {{ return known ?
  known->a : 0; }}
static void handler(int n) {{ seen = n + read(); }}
static void last(void) {{ seen = read(); }}
static void *body(void *p) {{ seen = read(); return p; }}
static int compare(const void *a, const void *b) {{ return read() + (a < b); }}
static void quiet(void) {{ seen++; }}
static void jump(void) {{ if (any()) longjmp(place, 1); }}
static void stop(void) {{ if (any()) exit(1); }}
static int made(void) {{
  struct part *p = malloc(sizeof *p);
  if (!p) return 0;
  known = p;
  {between}
  p->a = 1;
  return 1;
}}
int main(void) {{
  int n[2] = {{0, 0}};
  pthread_t thread;
  {first}
  if (made()) return read();
  return n[0];
}}
"""
SAFE = {
    "nothing": ("", ""),
    "a call that does not read it": ("", "quiet();"),
    "a function of the library": ("", "srand(2);"),
    "an exit that runs nothing": ("", "stop();"),
    "a loop": ("", "for (int i = 0; i < any(); i++) quiet();"),
    "its end": ("", "if (any()) { known = 0; free(p); return 0; }"),
}
OPEN = {
    "a call that reads it": ("", "seen = read();"),
    "a call that reads it by another": ("", "last();"),
    "a call of it by the library": ("", "qsort(&seen, 1, 4, compare);"),
    "a return": ("", "if (any()) return 1;"),
    "an exit that runs a function": ("atexit(last);", "stop();"),
    "a handler": ("signal(2, handler);", ""),
    "a thread": ("pthread_create(&thread, 0, body, 0);", ""),
    "a jump": ("if (setjmp(place)) return read();", "jump();"),
    "an own read": ("", "seen = known->a;"),
    "the next one": ("", "if (any()) { p = malloc(sizeof *p); if (!p) exit(0); }"),
}


@pytest.mark.parametrize("name", [*SAFE, *OPEN])
def test_who_may_read_before_it_is_written(name: str, tmp_path: Path) -> None:
    first, between = (SAFE | OPEN)[name]
    file = tmp_path / "late.c"
    file.write_text(LATE.format(first=first, between=between))
    found = verdicts(load(file).invariants(whole_program=True, domain="interval"), "uninitialised")
    line = 24 if name == "an own read" else 12
    assert found[line] == {Verdict.SAFE if name in SAFE else Verdict.MAY_FAIL}


OUTCOMES = """
#include <stdlib.h>
struct part { int a, b; };
int any(void);
static int status(struct part *p) {
  if (any()) return -1;
  p->a = 1;
  if (any()) return 0;
  p->b = 2;
  return any() ? 3 : 1;
}
static struct part *made(int *n) {
  struct part *p = calloc(1, sizeof *p);
  if (!p) return 0;
  *n = 2;
  return p;
}
static int other(struct part *p) { return status(p); }
static int is_zero(struct part *p) { if (status(p) == 0) return p->a; return 0; } /* safe */
static int is_zero_b(struct part *p) { if (status(p) == 0) return p->b; return 0; } /* open */
static int is_more(struct part *p) { if (status(p) > 0) return p->b; return 0; } /* safe */
static int is_not_less(struct part *p) { int n = status(p); return n < 0 ? 0 : p->a; } /* safe */
static int is_less(struct part *p) { if (status(p) < 0) return p->a; return 0; } /* open */
static int is_not_one(struct part *p) { if (status(p) != 1) return p->a; return 0; } /* open */
static int is_one(struct part *p) { if (status(p) == 1) return p->b; return 0; } /* safe */
static int is_minus(struct part *p) { if (status(p) == -1) return 0; return p->a; } /* open */
static int any_result(struct part *p) { status(p); return p->a; } /* open */
static int by_other(struct part *p) { if (other(p) > 0) return p->b; return 0; } /* open */
static int cleared(struct part *p) {
  struct part none;
  int n = status(p);
  *p = none;
  if (n > 0) return p->b; /* open */
  return 0;
}
int main(void) {
  struct part x;
  int n;
  switch (any()) {
  case 0: return is_zero(&x);
  case 1: return is_zero_b(&x);
  case 2: return is_more(&x);
  case 3: return is_not_less(&x);
  case 4: return is_less(&x);
  case 5: return is_not_one(&x);
  case 6: return is_one(&x);
  case 7: return is_minus(&x);
  case 8: return any_result(&x);
  case 9: return by_other(&x);
  case 10: return cleared(&x);
  case 11: if (made(&n)) return n; return 0; /* safe */
  case 12: if (!made(&n)) return n; return 0; /* open */
  }
  return 0;
}
"""


def test_the_sign_of_a_result_tells_what_was_written(tmp_path: Path) -> None:
    file = tmp_path / "outcomes.c"
    file.write_text(OUTCOMES)
    result = load(file).invariants(whole_program=True, domain="interval")
    found = verdicts(result, "uninitialised")
    for number, line in enumerate(OUTCOMES.splitlines(), 1):
        if "/* safe */" in line:
            assert found[number] == {Verdict.SAFE}, line
        if "/* open */" in line:
            assert Verdict.MAY_FAIL in found[number], line


COPIES = """
#include <stdlib.h>
#include <string.h>
struct part { int a, b; long c[3]; }; /* one that is not returned in registers */
int any(void);
static struct part kept, *known;
static void *same(void *p) { return p; } /* a local that is passed on stays in memory */
static void copy(struct part *to, struct part *from) { *to = *from; } /* open */
static struct part returned(int c) { struct part x; x.a = c; struct part y = x; return y; }
static int local(void) {
  struct part x, y = {1, 2};
  same(&x);
  same(&y);
  x.a = 3;
  y = x;
  int n = y.a; /* safe */
  return n + y.b; /* open */
}
static int into_global(void) {
  struct part x;
  same(&x);
  x.a = 3;
  kept = x; /* open */
  return kept.b; /* safe */
}
static int into_heap(void) {
  struct part x;
  same(&x);
  memset(&x, 0, sizeof x);
  known = calloc(1, sizeof *known);
  if (!known) return 0;
  *known = x; /* safe */
  return known->b; /* safe */
}
static int by_call(void) {
  struct part x, y = {1, 2};
  x.a = 3;
  copy(&y, &x);
  return y.b; /* safe */
}
static int by_result(void) {
  struct part x = {1, 2};
  same(&x);
  x = returned(3);
  return x.b; /* open */
}
static int by_size(void) {
  long *p = calloc(8, 8), *q = malloc(64);
  if (!p || !q) return 0;
  memset(q, 0, 8);
  return q[0] + /* safe */
         q[7] != 0; /* open */
}
int main(void) {
  switch (any()) {
  case 0: return local();
  case 1: return into_global();
  case 2: return into_heap();
  case 3: return by_call();
  case 4: return by_result();
  case 5: return by_size();
  }
  return 0;
}
"""


def test_copies_of_what_has_no_value(tmp_path: Path) -> None:
    """In locals of the function it is followed; elsewhere, the copy itself is a check."""
    file = tmp_path / "copies.c"
    file.write_text(COPIES)
    result = load(file).invariants(whole_program=True, domain="interval")
    found = verdicts(result, "uninitialised")
    for number, line in enumerate(COPIES.splitlines(), 1):
        if "/* safe */" in line:
            assert found.get(number, {Verdict.SAFE}) == {Verdict.SAFE}, line
        if "/* open */" in line:
            assert Verdict.MAY_FAIL in found[number], line


@pytest.mark.parametrize("seed", seeds(6, 400))
def test_no_run_reads_nothing_where_it_was_called_safe(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text(program(seed))
    loaded = load(file)
    oracle = WholeOracle(loaded, interpret(loaded))
    main = next(one.row for one in loaded.functions if one.name == "main")
    for run in range(N_RUNS):
        source = random.Random(run)

        def choose(width: int, source: random.Random = source) -> int:
            return source.randrange(4 if width == 32 else 1 << min(width, 8))

        oracle.execute(main, run, choose)
    assert oracle.n_values

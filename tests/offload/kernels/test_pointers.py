"""Pointers are told apart by points-to sets, and only where all callers are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load
from kleene.frontends.c.loops import read
from kleene.frontends.c.source import Source

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from kleene.offload.kernels import Kernels, KernelsResult

CODE = """\
#include <stdlib.h>
double g[100], other[100];
struct v { int n; double *a, *b; struct v *next; } kept;
static void add(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i] + 1; }
static void halves(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i] + 1; }
static void both(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i] + 1; }
static void global(int n, double *a) { for (int i = 0; i < n; i++) a[i] = g[i]; }
static void global_itself(int n, double *a) { for (int i = 0; i < n; i++) a[i] = g[i]; }
static void fields(struct v *x) { for (int i = 0; i < x->n; i++) x->a[i] = x->b[i]; }
static void fields_of_one(struct v *x) { for (int i = 0; i < x->n; i++) x->a[i] = x->b[i]; }
static void behind(struct v *x, double *y) {
  for (int i = 0; i < 5; i++) x->next->a[i] = y[i];
}
static void in_global(double *y) { for (int i = 0; i < 5; i++) kept.a[i] = y[i]; }
static void of_elements(struct v *x, double *y) {
  for (int i = 0; i < 5; i++) x[2].a[i] = y[i];
}
static void of_crossed(struct v *x, double *y) {
  for (int i = 0; i < 5; i++) x->a[i] = y[i];
}
void USE(void) {
  double x[10], y[10], *h = malloc(80), *k = malloc(80);
  add(10, x, y); add(10, h, y);
  halves(5, x, x + 5);
  both(5, x, y); both(5, y, h); both(5, h, x);
  global(3, x); global(3, other);
  global_itself(3, x); global_itself(3, g);
  struct v one = {10, h, k}, two = {5, k, k}, three = {5, x, y, &one};
  struct v rows[4] = {{5, h, x}, {5, h, x}, {5, h, x}, {5, h, x}};
  fields(&one);
  fields_of_one(&one); fields_of_one(&two);
  behind(&three, k); behind(&three, x);
  kept.a = h; in_global(x);
  of_elements(rows, y);
  struct v crossed = {5, h, y};
  *(double **)((char *)&crossed + 8) = y;
  of_crossed(&crossed, y);
  free(h);
}
"""
OUTSIDE = """\
void f(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i]; }
void f_loaded(struct v *x) { for (int i = 0; i < x->n; i++) x->a[i] = x->b[i]; }
void f_static(int n, double *a) { static double s[9]; for (int i = 0; i < n; i++) a[i] = s[i]; }
"""


def pairs(found: KernelsResult) -> dict[str, tuple[int, int]]:
    """Return for each function how many pairs are to be checked, and how many are apart."""
    return {one.function: (len(one.no_overlap), len(one.apart)) for one in found.loops}


def test_callers_in_the_program_tell_pointers_apart(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(CODE.replace("void USE(void)", "int main(void)"))
    without = pairs(Kernels().verdicts_on(read([Source(str(file), "c")])))
    assert all(apart == 0 < n_checked for n_checked, apart in without.values())
    assert pairs(load(file).kernels(points_to=True)) == {
        "add": (0, 1),
        "halves": (1, 0),  # one array, though at different offsets
        "both": (1, 0),
        "global": (0, 1),
        "global_itself": (1, 0),
        "fields": (0, 2),  # x->a with x->b, and with x, which stays as it is
        "fields_of_one": (1, 1),
        "behind": (0, 3),
        "in_global": (0, 2),
        "of_elements": (0, 2),
        "of_crossed": (1, 1),  # it was stored as bytes
    }


def test_callers_outside_tell_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(CODE + OUTSIDE)
    found = pairs(load(file).kernels(points_to=True))
    assert found["f"] == (1, 0)
    assert found["f_loaded"] == (2, 0)
    assert found["add"] == (0, 1)  # static: its callers are known
    assert found["halves"] == (1, 0)

"""Pointers are told apart by points-to sets, and only where all callers are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load

pytest.importorskip("islpy", reason="verdicts need the package islpy")

CODE = """\
#include <stdlib.h>
double g[100], other[100];
static void add(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i] + 1; }
static void halves(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i] + 1; }
static void both(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i] + 1; }
static void global(int n, double *a) { for (int i = 0; i < n; i++) a[i] = g[i]; }
static void global_itself(int n, double *a) { for (int i = 0; i < n; i++) a[i] = g[i]; }
void USE(void) {
  double x[10], y[10], *h = malloc(80);
  add(10, x, y); add(10, h, y);
  halves(5, x, x + 5);
  both(5, x, y); both(5, y, h); both(5, h, x);
  global(3, x); global(3, other);
  global_itself(3, x); global_itself(3, g);
  free(h);
}
"""
OUTSIDE = """\
void f(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i]; }
int *kept;
void g(int n, double *a) { static double own[9]; for (int i = 0; i < n; i++) a[i] = own[i]; }
"""


def pairs(file: Path, code: str, *, points_to: bool) -> dict[str, tuple[int, int]]:
    """Return for each function how many pairs are to be checked, and how many are apart."""
    file.write_text(code)
    found = load(file).kernels(points_to=points_to)
    return {one.function: (len(one.no_overlap), len(one.apart)) for one in found.loops}


def test_callers_in_the_program_tell_pointers_apart(tmp_path: Path) -> None:
    code = CODE.replace("void USE(void)", "int main(void)")
    without = pairs(tmp_path / "a.c", code, points_to=False)
    assert set(without.values()) == {(1, 0)}
    assert pairs(tmp_path / "a.c", code, points_to=True) == {
        "add": (0, 1),
        "halves": (1, 0),  # one array, though at different offsets
        "both": (1, 0),
        "global": (0, 1),
        "global_itself": (1, 0),
    }


def test_callers_outside_tell_nothing(tmp_path: Path) -> None:
    found = pairs(tmp_path / "a.c", OUTSIDE, points_to=True)
    assert found["f"] == (1, 0)
    in_library = pairs(tmp_path / "a.c", CODE, points_to=True)
    assert in_library["add"] == (0, 1)  # static: its callers are known
    assert in_library["halves"] == (1, 0)

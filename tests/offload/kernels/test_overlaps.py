"""Where the run-time check holds, pointers into one array do not make iterations depend."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.offload.kernels.loop_programs import unit

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from kleene.ir.loops.tree import Function
from kleene.offload.kernels.overlaps import OverlapCheck
from kleene.offload.kernels.verdicts import LoopVerdict, verdicts_of
from kleene.transforms.loops import tables
from tests.offload.kernels.interpreter import FalseParallelError
from tests.offload.kernels.oracle import Tally, check

CHECKS = {
    "a[i] = b[i + 1];": "a + n <= b + 1 || b + (n + 1) <= a",
    "a[2 * i] = b[n - i];": "a + (2*n - 1) <= b + 1 || b + (n + 1) <= a",
    "for (int j = 0; j < 3; j++) a[3 * i + j] = b[i + j];": "a + 3*n <= b || b + (n + 2) <= a",
    "if (i > 3) a[i] = b[m];": "a + n <= b + m || b + (m + 1) <= a + 4",
    "a[i] = b[0] + b[n] + b[3];": "a + n <= b || b + (max(3, n) + 1) <= a",
}


def judged(tmp_path: Path, body: str) -> tuple[dict[str, Function], LoopVerdict]:
    file = tmp_path / "a.c"
    file.write_text(
        f"void f(int n, int m, double *a, double *b) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    )
    found = unit(file)
    (table,) = tables(found)
    return {one.name: one for one in found.functions}, verdicts_of(table)[0]


def holds(one: OverlapCheck, values: dict[str, int], distance: int) -> bool:
    """Return whether the check holds if `b` is `distance` elements of 8 bytes behind `a`."""
    ends = [
        ((base + int(s.first.evaluate(values))), base + int(s.end.evaluate(values)))
        for base, s in ((0, one.first), (8 * distance, one.second))
    ]
    (low, end), (other_low, other_end) = ends
    return end <= other_low or other_end <= low


@pytest.mark.parametrize("body", CHECKS)
def test_checks_are_enough(tmp_path: Path, body: str) -> None:
    functions, loop = judged(tmp_path, body)
    assert loop.no_overlap == [("a", "b")]
    (found,) = loop.overlap_checks
    assert found is not None
    assert found.text == CHECKS[body]
    alone = replace(loop, no_overlap=[])
    n_kept, n_refused, n_wrong = 0, 0, 0
    for n, m in [(6, 2), (9, 7)]:
        for distance in range(-24, 25):
            run = [({"n": n, "m": m}, distance)]
            if holds(found, {"n": n, "m": m}, distance):
                check(functions, alone, run, Tally())
                n_kept += 1
            else:
                n_refused += 1
                try:
                    check(functions, alone, run, Tally())
                except FalseParallelError:
                    n_wrong += 1
    assert n_kept > 20
    assert n_refused >= n_wrong > 0


def test_what_is_not_affine_has_no_check(tmp_path: Path) -> None:
    code = """
    struct v { int n; double *data; };
    double total;
    void f(struct v *x, double *y, int *t) {
      for (int i = 0; i < x->n; i++) x->data[i] = y[i];
      for (int i = 0; i < 9; i++) y[i] = x->data[t[i]];
      for (int i = 0; i < 9; i++) total += y[i];
    }"""
    file = tmp_path / "a.c"
    file.write_text(code)
    (table,) = tables(unit(file))
    found = [
        dict(zip(loop.no_overlap, [one and one.text for one in loop.overlap_checks], strict=True))
        for loop in verdicts_of(table)
    ]
    assert found[0]["x->data", "y"] == "x->data + x->n <= y || y + x->n <= x->data"
    assert found[1]["x->data", "y"] is None
    assert found[1]["t", "y"] == "(char *)t + 36 <= (char *)y || (char *)y + 72 <= (char *)t"
    assert found[2]["total", "y"] == "&total + 1 <= y || y + 9 <= &total"


@pytest.mark.parametrize(
    ("parameter", "target", "check"),
    [
        ("struct p *a", "a[i].y", "(char *)a + 16*n <= (char *)b + 24 || B <= (char *)a + 56"),
        (
            "double (*a)[4]",
            "a[i][1]",
            "(char *)a + (32*n - 16) <= (char *)b + 24 || B <= (char *)a + 104",
        ),
        ("void *a", "((double *)a)[i]", "(char *)a + 8*n <= (char *)b + 24 || B <= (char *)a + 24"),
        (
            "double *a",
            "((float *)a)[i]",
            "(char *)a + 4*n <= (char *)b + 24 || B <= (char *)a + 12",
        ),
    ],
)
def test_pointers_to_other_types_are_moved_by_bytes(
    tmp_path: Path, parameter: str, target: str, check: str
) -> None:
    """`a + 7` would be 7 structs further on, where the loop begins at byte 56."""
    file = tmp_path / "a.c"
    file.write_text(
        f"struct p {{ double x, y; }}; void f(int n, {parameter}, double *b) {{"
        f" for (int i = 3; i < n; i++) {target} = b[i]; }}"
    )
    (table,) = tables(unit(file))
    (found,) = verdicts_of(table)[0].overlap_checks
    assert found is not None
    assert found.text == check.replace("B", "(char *)b + 8*n")

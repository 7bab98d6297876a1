"""Verdicts on loops: those that comments want, witnesses, culprits, checks and assumptions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.kernels.loop_programs import PROGRAMS, loop_tables, wanted

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from kleene.offload.kernels import dependences as module
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict, verdicts_of

FILES = [*sorted(PROGRAMS.glob("loops/*.c")), *sorted(PROGRAMS.glob("polybench/*.c"))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_loop_has_the_verdict_of_its_comment(file: Path) -> None:
    found = [one for table in loop_tables(file) for one in verdicts_of(table)]
    comments = wanted(file)
    assert [one.place.line for one in found] == list(comments)
    for one in found:
        comment = comments[one.place.line]
        where = f"{file.name}:{one.place.line}"
        assert one.verdict == comment.verdict, f"{where}: {one.culprits}"
        assert {name for pair in one.no_overlap for name in pair} == comment.pointers, where
        assert (one.witness is not None) == (one.verdict is Verdict.SEQ), where
        assert bool(one.culprits) == (one.verdict is Verdict.MAY) or one.witness, where


def judged(tmp_path: Path, code: str) -> list[LoopVerdict]:
    file = tmp_path / "a.c"
    file.write_text(code)
    return [one for table in loop_tables(file) for one in verdicts_of(table)]


def test_a_witness_names_two_iterations_and_the_element(tmp_path: Path) -> None:
    code = (
        "double a[9][9]; void f(int n) { for (int i = 2; i < n; i++)\n"
        "  for (int j = 0; j < 5; j++) a[i][j] = a[i - 2][j + 1]; }"
    )
    outer, _ = judged(tmp_path, code)
    witness = outer.witness
    assert witness is not None
    (write_i, write_j), (read_i, read_j) = (
        tuple(value for _, value in one.variables) for one in (witness.write, witness.read)
    )
    assert [name for name, _ in witness.read.variables] == ["i", "j"]
    assert (write_i, write_j) == (read_i - 2, read_j + 1)
    assert witness.write.element == witness.read.element == f"a[{write_i}][{write_j}]"
    assert dict(witness.parameters)["n"] > read_i >= 4
    assert (witness.write.place.column, witness.read.place.column) == (31, 41)


def test_private_copies_say_what_they_begin_and_end_with(tmp_path: Path) -> None:
    code = """
    double a[99], b[99];
    double f(int n, double t, double u) {
      for (int i = 0; i < n; i++) {
        t = a[i];
        if (t > 0) u = t;
        b[i] = t;
      }
      return t + u;
    }"""
    (loop,) = judged(tmp_path, code)
    found = {one.name: (one.is_first, one.last) for one in loop.privates}
    assert found == {
        "t": (False, "last iteration"),
        "u": (False, "last writing iteration"),
    }


def test_reductions_say_their_operation_and_that_floats_round(tmp_path: Path) -> None:
    code = """
    int f(int n, const int *restrict a, double *restrict h) {
      int s = 0, p = 1, x = 0;
      for (int i = 0; i < n; i++) { s -= a[i]; p *= a[i]; x ^= a[i]; h[a[i]] += 0.5; }
      return s + p + x;
    }"""
    (loop,) = judged(tmp_path, code)
    found = {(one.operator, one.name, one.is_array, one.is_floating) for one in loop.reductions}
    assert found == {
        ("+", "s", False, False),
        ("*", "p", False, False),
        ("^", "x", False, False),
        ("+", "h", True, True),
    }


NO_UPDATES = [
    "s = a[i] - s;",
    "s += a[i]; s *= 2;",
    "s += a[i]; if (s > 10) a[0] = 1;",
    "s = s + s;",
    "s += a[i] * s;",
    "s = (char)(s + a[i]);",
    "if (s < 10) s += a[i];",
    "s /= a[i];",
    "s = a[i] > s ? s + 1 : a[i];",
]


@pytest.mark.parametrize("body", NO_UPDATES)
def test_what_only_looks_like_a_reduction_is_none(tmp_path: Path, body: str) -> None:
    code = f"""
    int f(int n, int *restrict a) {{
      int s = 0, k = 0;
      for (int i = 1; i < n; i++) {{ {body} }}
      return s + k;
    }}"""
    (loop,) = judged(tmp_path, code)
    assert not any(one.name == "s" for one in loop.reductions)
    assert loop.verdict in (Verdict.SEQ, Verdict.MAY)


def test_a_budget_that_is_spent_gives_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_OPERATIONS", 20)
    code = "double a[99]; void f(int n) { for (int i = 1; i < n; i++) a[i] = a[i - 1]; }"
    (loop,) = judged(tmp_path, code)
    assert loop.verdict is Verdict.MAY
    assert loop.culprits[0].code == "BUDGET"


def test_pointers_that_may_overlap_are_never_taken_not_to(tmp_path: Path) -> None:
    code = """
    struct v { int n; double *data; };
    int total;
    void f(struct v *x, double *y, int *count) {
      for (int i = 0; i < x->n; i++) x->data[i] = y[i];
      for (int i = 0; i < *count; i++) total = count[i];
      for (int i = 0; i < 9; i++) { double z[9]; z[i] = y[i]; y[i] = z[i]; }
    }"""
    first, second, third = judged(tmp_path, code)
    assert first.no_overlap == [("x", "x->data"), ("x->data", "y")]
    assert second.no_overlap == [("count", "total")]
    assert third.no_overlap == []


def test_unions_and_bit_fields_share_storage(tmp_path: Path) -> None:
    code = """
    union u { int i[4]; char c[16]; } x;
    struct b { unsigned low : 4, high : 4; } y[9];
    void f(void) {
      for (int i = 0; i < 4; i++) x.c[i] = x.i[i];
      for (int i = 1; i < 9; i++) y[0].low = y[0].high;
    }"""
    first, second = judged(tmp_path, code)
    assert first.verdict is Verdict.MAY
    assert second.verdict is Verdict.MAY


def test_a_pointer_that_walks_over_rows_is_not_compared_by_rows(tmp_path: Path) -> None:
    code = """
    double a[4][4];
    void f(void) {
      double *p = a[0];
      for (int i = 0; i < 4; i++) { p[4 * i] = 1; a[i][0] = a[3 - i][0]; }
      for (int i = 0; i < 4; i++) p[4 * i] = a[(i + 1) % 4][0];
    }"""
    assert [one.verdict for one in judged(tmp_path, code)] == [Verdict.MAY, Verdict.MAY]

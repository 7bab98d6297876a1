"""Loops that cannot be analysed are refused with a reason and a place; the others are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.kernels.loop_programs import loop_tables

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from kleene.offload.kernels.verdicts import Verdict, verdicts_of

C = """\
#include <assert.h>
#include <setjmp.h>
#include <stdio.h>
double a[99], b[99];
volatile int flag;
jmp_buf out;
int unknown(int);
int down(int n) { return n < 1 ? 0 : down(n - 1); }
int counted(void) { static int c; return c++; }
void f(int n, int (*g)(int)) {
  for (int i = 0; i < n; i++) { a[i] = down(i); }           // RECURSION
  for (int i = 0; i < n; i++) { if (a[i] > 0) goto end; }   // GOTO
  for (int i = 0; i < n; i++) { a[i] = flag; }              // VOLATILE
  for (int i = 0; i < n; i++) { printf("%d", i); }          // IO
  for (int i = 0; i < n; i++) { a[i] = g(i); }              // FUNCTION_POINTER
  for (int i = 0; i < n; i++) { __asm__("nop"); }           // INLINE_ASSEMBLY
  for (int i = 0; i < n; i++) { if (setjmp(out)) a[i] = 1; } // SETJMP
  for (int i = 0; i < n; i++) { a[i] = unknown(i); }        // CALL_NOT_ALLOWED
  for (int i = 0; i < n; i++) { a[i] = counted(); }         // STATIC_IN_CALLEE
  for (int i = 0; i < n; i++) { if (a[i] > 0) break; }      // EARLY_EXIT
  for (int i = 0; a[i] > 0; i++) { b[i] = 0; }              // NOT_NORMALIZABLE
  for (int i = 0; i < n; i++) { switch (i) { case 1: a[i] = 1; case 2:; } } // IRREGULAR_CONTROL
  for (int i = 0; i < n; i++) { a[i] = ({ int k = i; k; }); } // UNSUPPORTED
  for (int i = 0; i < n; i++) { assert(i < n); b[i] = a[i]; } //
end:;
}
"""
CPP = """\
template <class T> void fill(T *p, int n) { for (int i = 0; i < n; i++) p[i] = 0; } // UNSUPPORTED
void use(double *p, int n) {
  fill(p, n);
  for (int i = 0; i < n; i++) p[i] = 1; //
}
"""


@pytest.mark.parametrize(("name", "code"), [("a.c", C), ("a.cpp", CPP)])
def test_each_reason_has_its_code_and_place(tmp_path: Path, name: str, code: str) -> None:
    file = tmp_path / name
    file.write_text(code)
    loops = [one for table in loop_tables(file) for one in verdicts_of(table)]
    lines = code.splitlines()
    assert len(loops) == sum(" // " in f"{line} " for line in lines)
    for one in loops:
        wanted = lines[one.place.line - 1].partition("//")[2].strip()
        found = {culprit.code: culprit.place.line for culprit in one.culprits}
        if not wanted:
            assert one.verdict is Verdict.PAR, found
            continue
        assert one.verdict in (Verdict.MAY, Verdict.SEQ)
        assert wanted in found, (wanted, found)
        assert found[wanted] in (one.place.line, 8, 9)  # in a function that it calls


def test_assertions_are_assumed_to_hold(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(
        "#include <assert.h>\ndouble a[99];\n"
        "void f(int n) { for (int i = 0; i < n; i++) { assert(a[i] > 0); a[i] = 1; } }"
    )
    ((loop,),) = [verdicts_of(table) for table in loop_tables(file)]
    assert loop.verdict is Verdict.PAR
    assert "assertions hold" in loop.assumptions


def test_a_file_without_loops_has_none(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("int f(int n) { return n; }")
    assert loop_tables(file) == []


def test_bounds_in_other_fields_than_those_written(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(
        "struct s { int n; double v[40]; union { int m; int k; } u; };\n"
        "void f(struct s *x) {\n"
        "  for (int i = 0; i < x->n; i++) x->v[i] = 1;\n"
        "  for (int i = 0; i < x->n; i++) { x->v[i] = 1; x->n = 3; }\n"
        "  for (int i = 0; i < x->u.m; i++) x->u.k = 1;\n"
        "  for (int i = 0; i < x->n; i++) *x = (struct s){0};\n"
        "}"
    )
    (table,) = loop_tables(file)
    found = [one.verdict.value for one in verdicts_of(table)]
    assert found == ["PAR", "MAY", "MAY", "MAY"]

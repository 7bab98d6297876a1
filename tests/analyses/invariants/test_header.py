"""The header kleene.h: conditions of any type that `if` takes, in any compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kleene import load

from .test_checks import wrong_verdicts

HEADERS = Path(sys.modules["kleene"].__path__[0]) / "frontends" / "c" / "include"
CONDITIONS = """
#include "kleene.h"
void wide(long big, double half, char *p) {
  kleene_assume(big == (long)1 << 32 && half > 0.25 && half < 0.75 && p);
  kleene_check(big);  /* its lower 32 bits are 0  // expect: safe assert */
  kleene_check(half);  /* as an int it is 0  // expect: safe assert */
  kleene_check(p);  /* // expect: safe assert */
  kleene_check(!p);  /* // expect: fails always assert */
}
void one_of_two(int a, int b) {
  kleene_assume(a > 0 || b > 3);
  kleene_check(a <= 0 ? b > 3 : 1);  /* // expect: safe assert */
  kleene_check(a > 0 && b > 3);  /* // expect: may fail assert */
}
"""
IN_C_PLUS_PLUS = """
#include "kleene.h"
struct box { int x; explicit operator bool() const { return x != 0; } };
void boxed(int n) {
  box one{n};
  kleene_assume(n > 2);
  kleene_check(one);  // expect: safe assert
}
"""
# As a C++ program declares these, unless it says `extern "C"`.
WITHOUT_HEADER = """
int __VERIFIER_nondet_int();
void __VERIFIER_assume(bool);
void __VERIFIER_assert(bool);
void kleene_check(bool);
void reach_error() {}
void mine__VERIFIER_assert(bool);
void f() {
  int x = __VERIFIER_nondet_int();
  __VERIFIER_assume(x > 2);
  __VERIFIER_assert(x > 1);  // expect: safe assert
  __VERIFIER_assert(x > 3);  // expect: may fail assert
  kleene_check(x > 2);  // expect: safe assert
  if (x <= 2) reach_error();  // expect: safe assert
}
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [("c.c", CONDITIONS), ("c.cpp", IN_C_PLUS_PLUS), ("without.cpp", WITHOUT_HEADER)],
)
def test_conditions_are_what_an_if_takes(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    assert not wrong_verdicts(load(file).invariants(), file)


@pytest.mark.parametrize("standard", ["c89", "c99", "c17", "c++17"])
def test_other_compilers_take_it(tmp_path: Path, standard: str) -> None:
    pytest.importorskip("ziglang", reason="the package ziglang compiles")
    file = tmp_path / ("program.cpp" if "+" in standard else "program.c")
    file.write_text(CONDITIONS if "+" not in standard else IN_C_PLUS_PLUS)
    cc = [sys.executable, "-m", "ziglang", "c++" if "+" in standard else "cc"]
    strict = [f"-std={standard}", "-pedantic-errors", "-Wall", "-Wextra", "-Werror"]
    cc += [*strict, "-I", os.fspath(HEADERS), "-c", file.name]
    done = subprocess.run(
        cc, check=False, timeout=300, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr

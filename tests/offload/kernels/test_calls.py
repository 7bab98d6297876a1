"""Calls are followed into the function that the program calls, in whatever file that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.frontends.c.loops import read
from kleene.frontends.c.source import Source

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from kleene.offload.kernels import Kernels
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict

HEAD = "void f(int n, int *restrict a) { for (int i = 1; i < n; i++) "


def judged(tmp_path: Path, *codes: str, language: str = "c") -> dict[str, LoopVerdict]:
    sources = []
    for number, code in enumerate(codes):
        file = tmp_path / f"{number}.{language}"
        file.write_text(code)
        sources.append(Source(str(file), "c" if language == "c" else "c++"))
    return {one.function: one for one in Kernels().verdicts_on(read(sources)).loops}


def codes(verdict: LoopVerdict) -> set[str]:
    return {one.code for one in verdict.culprits}


def test_functions_of_other_files_are_followed(tmp_path: Path) -> None:
    code = "int twice(int x); " + HEAD + "a[i] = twice(i); }"
    assert codes(judged(tmp_path, code)["f"]) == {"CALL_NOT_ALLOWED", "UNKNOWN_POINTER"}
    other = "int twice(int x) { return 2 * x; }"
    assert judged(tmp_path, code, other)["f"].verdict is Verdict.PAR
    with_effect = "int kept; int twice(int x) { kept = 2 * kept + x; return kept; }"
    assert judged(tmp_path, code, with_effect)["f"].verdict is Verdict.SEQ


@pytest.mark.parametrize(
    "others",
    [
        ["static int twice(int x) { return 2 * x; }"],
        ["int twice(int x) { return 2 * x; }", "int twice(int x) { return x + x; }"],
        ["long twice(long x) { return 2 * x; }"],
    ],
    ids=["static", "twice", "of another type"],
)
def test_functions_that_may_be_others_are_not_followed(tmp_path: Path, others: list[str]) -> None:
    code = "int twice(int x); " + HEAD + "a[i] = twice(i); }"
    assert "CALL_NOT_ALLOWED" in codes(judged(tmp_path, code, *others)["f"])


def test_a_static_function_hides_that_of_another_file(tmp_path: Path) -> None:
    code = "static int next(int x) { return x + 1; } " + HEAD + "a[i] = next(i); }"
    other = "int kept; int next(int x) { kept = 2 * kept + x; return kept; }"
    assert judged(tmp_path, code, other)["f"].verdict is Verdict.PAR


def test_a_function_named_like_one_of_the_library_is_followed(tmp_path: Path) -> None:
    """`round` of the library has no effects; this one sums up."""
    code = "double kept; static double round(double x) { kept = x - 2 * kept; return kept; } "
    found = judged(tmp_path, code + HEAD + "a[i] = (int)round(i); }")
    assert found["f"].verdict is Verdict.SEQ


def test_a_variable_of_two_files_is_one(tmp_path: Path) -> None:
    code = "extern int total; int next(int x); "
    code += HEAD + "{ a[i] = next(i); total = i; } }"
    other = "int total; int next(int x) { return total + x; }"
    found = judged(tmp_path, code, other)["f"]
    assert found.verdict is Verdict.SEQ
    assert found.witness is not None
    assert found.witness.write.element == "total"


@pytest.mark.parametrize(
    "declared",
    [
        "int t[]; static int get(int i) { return t[i]; } int t[100];",
        "static int t[100]; static int get(int i) { return t[i]; } static int t[100];",
        "int t[100]; static int get(int i) { extern int t[100]; return t[i]; }",
    ],
    ids=["tentative", "static", "inside of a function"],
)
def test_declarations_of_one_variable_are_one(tmp_path: Path, declared: str) -> None:
    found = judged(tmp_path, declared + HEAD + "{ a[i] = get(i - 1); t[i] = i; } }")
    assert found["f"].verdict in (Verdict.SEQ, Verdict.MAY)


def test_static_variables_of_two_files_are_two(tmp_path: Path) -> None:
    code = "static int kept; int next(int x); " + HEAD + "{ kept = i; a[i] = next(i) + kept; } }"
    other = "static int kept; int next(int x) { return kept + x; }"
    found = judged(tmp_path, code, other)["f"]
    assert found.verdict is Verdict.PRIV
    assert [one.name for one in found.privates] == ["kept"]


def test_overloaded_functions_are_not_followed(tmp_path: Path) -> None:
    code = """
    int total;
    double f(double x);
    int f(int x) { return x + 1; }
    namespace a { int g(int x) { return x; } }
    namespace b { int g(int x) { total = 2 * total + x; return x; } }
    int h(int x) { return x; }
    void u(int n, double *__restrict p) { for (int i = 0; i < n; i++) p[i] = f(1.0); }
    void v(int n, int *__restrict p) { for (int i = 0; i < n; i++) p[i] = b::g(i); }
    void w(int n, int *__restrict p) { for (int i = 0; i < n; i++) p[i] = h(i); }
    """
    found = judged(tmp_path, code, language="cpp")
    assert [found[name].verdict.value for name in "uvw"] == ["MAY", "MAY", "PAR"]
    assert "CALL_NOT_ALLOWED" in codes(found["u"])
    assert "CALL_NOT_ALLOWED" in codes(found["v"])

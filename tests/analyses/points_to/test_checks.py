"""Alias assertions of a program: decided as the suites that use them mean it."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene
from tests.analyses.points_to.compiled import solved

HEADER = """
void MAYALIAS(void *, void *);
void NOALIAS(void *, void *);
void MUSTALIAS(void *, void *);
void PARTIALALIAS(void *, void *);
void EXPECTEDFAIL_MAYALIAS(void *, void *);
void EXPECTEDFAIL_NOALIAS(void *, void *);
"""
BODY = """
#include <stdlib.h>
struct pair { int left, right; } pair;
int a, b;
int main(int argc, char **argv) {
  int *p = &a, *q = argc > 1 ? &a : &b, *r = malloc(4), *s = r;
  MAYALIAS(p, q);
  NOALIAS(p, r);
  MUSTALIAS(p, &a);
  MUSTALIAS(r, s);
  MUSTALIAS(p, q);
  PARTIALALIAS(p, q);
  NOALIAS(&pair.left, &pair.right);
  EXPECTEDFAIL_NOALIAS(p, q);
  EXPECTEDFAIL_MAYALIAS(p, r);
  NOALIAS(p, q);
  MAYALIAS(p, r);
  EXPECTEDFAIL_NOALIAS(p, r);
  EXPECTEDFAIL_MAYALIAS(p, q);
  MAYALIAS(p, 0);
  return 0;
}
"""
EXPECTED = [
    ("MAYALIAS", "may", True),
    ("NOALIAS", "no", True),
    ("MUSTALIAS", "must", True),
    ("MUSTALIAS", "must", True),  # one value
    ("MUSTALIAS", "may", True),  # not refuted
    ("PARTIALALIAS", "may", True),
    ("NOALIAS", "no", True),
    ("EXPECTEDFAIL_NOALIAS", "may", True),
    ("EXPECTEDFAIL_MAYALIAS", "no", True),
    ("NOALIAS", "may", False),
    ("MAYALIAS", "no", False),
    ("EXPECTEDFAIL_NOALIAS", "no", False),
    ("EXPECTEDFAIL_MAYALIAS", "may", False),
    ("MAYALIAS", "no", False),  # null is no object
]


@pytest.mark.parametrize("name", ["t.c", "t.cpp"])
def test_every_kind_passes_and_fails_as_it_should(tmp_path: Path, name: str) -> None:
    body = BODY.replace("= malloc(4)", "= (int *)malloc(4)")
    found = solved(tmp_path, HEADER + body, name).checks()
    assert [(c.kind, c.answer, c.passed) for c in found] == EXPECTED
    first = found[0]
    assert (first.location, first.function) == (f"{name}:14:3", "main")
    assert (first.left, first.right) == ("&a", "main.q")
    assert str(first) == f"{name}:14:3: passed: MAYALIAS(&a, main.q): may alias"
    assert "FAILED" in str(found[9])
    assert first.as_json()["passed"] is True


def test_assertions_with_a_body_are_assertions_too(tmp_path: Path) -> None:
    bodies = '#include <stdio.h>\nvoid NOALIAS(void *p, void *q) { printf("\\n"); }\n'
    text = bodies + "int a, b; int main(void) { NOALIAS(&a, &b); return 0; }\n"
    assert [c.passed for c in solved(tmp_path, text).checks()] == [True]


def test_assertions_let_nothing_escape(tmp_path: Path) -> None:
    text = "int a, b; int main(void) { int *p = &a, *q = &b; NOALIAS(p, q); NOALIAS(&p, &q);"
    result = solved(tmp_path, HEADER + text + " return *p + *q; }\n")
    assert not result.escapes("a")
    assert [c.passed for c in result.checks()] == [True, True]


def test_a_program_without_assertions_has_none(tmp_path: Path) -> None:
    assert solved(tmp_path, "int main(void) { return 0; }\n").checks() == []


@pytest.mark.parametrize(
    "call", ["NOALIAS(&a)", "NOALIAS(&a, &b, &a)", "NOALIAS(a, &b)", "NOALIAS()"]
)
def test_wrong_arguments_are_an_error_at_their_place(tmp_path: Path, call: str) -> None:
    declared = "void NOALIAS();\n" if "(a," not in call else "void NOALIAS(int, void *);\n"
    text = f"{declared}int a, b;\nint main(void) {{\n  {call};\n  return 0;\n}}\n"
    file = tmp_path / "t.c"
    file.write_text(text)
    result = kleene.load(file, std="c11").points_to(device="cpu")
    with pytest.raises(kleene.SourceError) as error:
        result.checks()
    assert error.value.id == "points-to/bad-check"
    assert error.value.span is not None
    assert (error.value.span.line, error.value.span.column) == (4, 3)
    assert "void NOALIAS(void *, void *);" in error.value.notes[0]

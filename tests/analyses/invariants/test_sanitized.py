"""Idioms of C in variants, run with sanitizers: no failure is called safe, printed asserts hold."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from kleene import load
from kleene.analyses.invariants import Verdict
from tests.seeds import IS_DEEP

from .sanitized import (
    N_RUNS,
    build,
    failures,
    idioms,
    is_called_safe,
    variant,
    write,
    wrong,
)

SOME = list(idioms()) if IS_DEEP else ["mutual", "ring", "list_heap", "saturate", "cxx_virtual"]


@pytest.mark.tools
@pytest.mark.parametrize("name", SOME)
def test_nothing_that_fails_is_called_safe(sanitized: Path, name: str) -> None:
    assert not list(wrong(write(sanitized, name, 0, seed=1), N_RUNS if IS_DEEP else 40))


@pytest.mark.tools
def test_an_answer_that_calls_everything_safe_is_wrong(sanitized: Path) -> None:
    file = write(sanitized, "shown", 0, seed=0, text="int main(void) {\n  return 10 / IN;\n}\n")
    found = {one for one in failures(build(file), file.name, N_RUNS).values() if one}
    assert {(one.line, *one.kinds) for one in found} == {(20, "division")}
    checks = load(file).invariants().checks
    assert not any(is_called_safe(one, checks) for one in found)
    safe = [replace(one, verdict=Verdict.SAFE) for one in checks]
    assert all(is_called_safe(one, safe) for one in found)


def test_holes_are_filled() -> None:
    made = {variant("int a[«N:3|4»]; a[«N»] = «1|2»;", random.Random(k)) for k in range(40)}
    assert len(made) == 4
    assert "int a[3]; a[3] = 1;" in made
    for text in idioms().values():
        assert not set(variant(text, random.Random(1))) & set("«»")

"""Small programs in idioms that analysers get wrong, each with one defect: none is called safe."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from kleene import load
from kleene.analyses.invariants import Verdict
from kleene.ir import Program
from tests.seeds import IS_DEEP

FILE = Path(__file__).with_name("defects.txt")
# Functions by themselves have no check of what is freed where the object is not known.
NOT_ASKED = {("dblfree", False)}
ALL_DOMAINS = {"uninitflag"}  # what it knows at its checks has differences of bits


def programs() -> dict[str, str]:
    """Return the programs by name."""
    parts = FILE.read_text().split("\n//// ")[1:]
    return {name: text for name, _, text in (one.partition("\n") for one in parts)}


def cases() -> list[tuple[str, bool]]:
    """Return the programs, each for a whole program or for functions by themselves; deep: both."""
    return [
        (name, is_whole)
        for number, name in enumerate(programs())
        for is_whole in (False, True)
        if (name, is_whole) not in NOT_ASKED
        and (IS_DEEP or name in ALL_DOMAINS or is_whole == (number % 2 > 0))
    ]


@cache
def loaded(folder: Path, name: str) -> Program:
    """Return a program, compiled once for both modes."""
    file = folder / f"{name}.c"
    file.write_text(programs()[name])
    return load(file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the programs are written to."""
    return tmp_path_factory.mktemp("defects")


@pytest.mark.parametrize(("name", "is_whole"), cases())
def test_no_defect_is_called_safe(folder: Path, name: str, is_whole: bool) -> None:
    text = programs()[name].splitlines()
    (line,) = [number for number, one in enumerate(text, 1) if "// BUG" in one]
    domain = "predicates" if IS_DEEP or name in ALL_DOMAINS else "octagon"
    result = loaded(folder, name).invariants(whole_program=is_whole, domain=domain)
    found = [one.verdict for one in result.checks if one.span and one.span.line == line]
    assert {Verdict.MAY_FAIL, Verdict.FAILS} & set(found), found

"""C++ as people write it: what ran is in the answer, and known by name."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.analyses.points_to.cpp_calls import PROGRAMS, Calls, Library, calls_of, libstdcxx

ALL = sorted(path.stem for path in PROGRAMS.glob("*.cpp"))
LIBRARIES = {"libc++": Library(), "libstdc++": libstdcxx()}
SAMPLE = [("errors", "libc++"), ("shapes", "libc++"), ("errors", "libstdc++")]  # seconds each
IS_DEEP = bool(os.environ.get("KLEENE_DEEP"))
CASES = [(name, library) for name in ALL for library in LIBRARIES] if IS_DEEP else SAMPLE
of_every_program = pytest.mark.parametrize(("name", "library"), CASES)


@cache
def observed(name: str, library: str) -> Calls:
    found = LIBRARIES[library]
    if found is None:
        pytest.skip("no headers of libstdc++ are installed")
    with TemporaryDirectory() as folder:
        return calls_of(PROGRAMS / f"{name}.cpp", Path(folder), found)


def test_there_are_programs_of_some_size():
    assert len(ALL) >= 10
    for name in ALL:
        lines = (PROGRAMS / f"{name}.cpp").read_text().splitlines()
        assert 100 <= len(lines) <= 300, name


@of_every_program
def test_nothing_that_ran_is_missed(name: str, library: str):
    calls = observed(name, library)
    assert calls.status == 0, calls.output
    assert calls.output
    assert "\n".join(calls.missed) == ""
    assert calls.n_lost == 0


@of_every_program
def test_executed_targets_are_listed(name: str, library: str):
    assert observed(name, library).known_share >= 0.95


# How many targets are listed for each that ran, where they are more than 1.5. A pointer to a member
# may be any virtual one of its type. All handles of coroutines, all tasks of libstdc++, and all
# nodes of its hash tables pass through the same functions of the library.
MORE_LISTED = {
    **{("functions", "libc++"): 1.75, ("functions", "libstdc++"): 1.75},
    **{("coroutines", "libc++"): 5.0, ("coroutines", "libstdc++"): 4.5},
    **{("handlers", "libstdc++"): 2.5, ("visitors", "libstdc++"): 1.7},
}


@of_every_program
def test_few_others_are_listed(name: str, library: str):
    assert observed(name, library).targets_per_executed <= MORE_LISTED.get((name, library), 1.5)


@of_every_program
def test_few_pointers_are_unknown(name: str, library: str):
    assert observed(name, library).unknown_pointers <= 0.02

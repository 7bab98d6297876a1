"""Every pointer that our own programs really held lies in the computed sets."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kleene.analyses.points_to import PointsTo
from kleene.frontends.c.compiler import Options
from kleene.runtime.pointer_trace import About
from kleene.solvers import inclusion
from kleene.solvers.inclusion import reference
from tests.analyses.points_to.observing import (
    PROGRAMS,
    answer,
    assert_covers,
    load,
    misses,
    observe,
)

NAMES = sorted(path.name for path in PROGRAMS.iterdir() if path.suffix in (".c", ".cpp"))


def test_there_are_programs_for_every_rule():
    assert len(NAMES) >= 50


@pytest.mark.parametrize("name", NAMES)
def test_a_run_shows_nothing_that_the_answer_lacks(name: str, tmp_path: Path):
    loaded = load(PROGRAMS / name)
    system, solution = answer(loaded.program)
    run = observe(loaded, system, tmp_path)
    assert run.status == 0, run.complaints
    assert run.output, "a program says what it found"
    assert (run.facts["what"] == About.VALUE).sum() >= 5
    assert_covers(loaded, system, solution, run)
    # As a library, of whose callers nothing is known, the same code allows more and never less.
    assert_covers(loaded, *answer(loaded.program, library=True), run)


@pytest.mark.parametrize("name", NAMES if os.environ.get("KLEENE_DEEP") else NAMES[::4])
def test_optimised_code_is_covered_too(name: str, tmp_path: Path):
    loaded = load(PROGRAMS / name, options=Options(flags=("-O2",)))
    system, solution = answer(loaded.program)
    run = observe(loaded, system, tmp_path)
    assert run.status == 0, run.complaints
    assert_covers(loaded, system, solution, run)


@pytest.mark.parametrize("name", NAMES)
def test_alias_assertions_hold(name: str):
    result = PointsTo().run(load(PROGRAMS / name).program, device="cpu")
    assert [str(check) for check in result.checks() if not check.passed] == []


@pytest.mark.parametrize(
    "table",
    [
        ("address_node", "address_object"),
        ("copy_destination", "copy_source"),
        ("load_destination", "load_pointer"),
        ("store_pointer", "store_source"),
        ("offset_destination", "offset_source", "offset_amount"),
    ],
)
def test_a_rule_left_out_is_noticed(table: tuple[str, ...], tmp_path: Path):
    """The check has teeth: without any one kind of rule, this program shows misses."""
    loaded = load(PROGRAMS / "callbacks.c")
    system, _ = answer(loaded.program)
    run = observe(loaded, system, tmp_path)
    columns = {name: np.empty(0, np.int32) for name in table}
    poorer = replace(system, problem=replace(system.problem, **columns))
    assert misses(loaded, poorer, inclusion.solve(poorer.problem, device="cpu"), run)


def test_a_missing_call_is_noticed(tmp_path: Path):
    loaded = load(PROGRAMS / "callbacks.c")
    system, solution = answer(loaded.program)
    run = observe(loaded, system, tmp_path)
    without = replace(solution, call_edges=solution.call_edges[:0])
    found = misses(loaded, system, without, run)
    assert "callbacks.c:14" in found
    assert "call" in found
    assert "function add:add+0" in found


@pytest.mark.parametrize("name", ["byte_copies.c", "hash_table.c", "nested_arrays.c"])
def test_the_oracle_agrees_on_real_code(name: str):
    system, solution = answer(load(PROGRAMS / name).program)
    assert inclusion.difference(reference.solve(system.problem), solution) is None

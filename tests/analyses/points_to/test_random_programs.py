"""Random programs: what they do lies in the sets, and every solver finds the same sets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kleene.frontends.c.compiler import Options
from kleene.solvers import inclusion
from kleene.solvers.inclusion import reference
from tests.analyses.points_to.generator import Generator
from tests.analyses.points_to.observing import Loaded, answer, assert_covers, load, observe

N_SEEDS = 200 if os.environ.get("KLEENE_DEEP") else 32 if os.environ.get("CI") else 12


def _load(seed: int, folder: Path, *, options: Options | None = None, **sizes: int) -> Loaded:
    source = folder / "random.c"
    source.write_text(Generator(seed, **sizes).text())
    return load(source, options=options)


@pytest.mark.parametrize("seed", range(N_SEEDS))
def test_a_run_shows_nothing_that_the_answer_lacks(seed: int, tmp_path: Path):
    loaded = _load(seed, tmp_path)
    system, solution = answer(loaded.program)
    run = observe(loaded, system, tmp_path)
    assert run.status == 0, run.complaints
    assert len(run.facts) > 50
    assert_covers(loaded, system, solution, run)
    assert_covers(loaded, *answer(loaded.program, library=True), run)


@pytest.mark.parametrize("level", ["-O1", "-O2"])
@pytest.mark.parametrize("seed", range(N_SEEDS // 4))
def test_optimised_code_is_covered_too(seed: int, level: str, tmp_path: Path):
    loaded = _load(1000 + seed, tmp_path, options=Options(flags=(level,)))
    system, solution = answer(loaded.program)
    run = observe(loaded, system, tmp_path)
    assert run.status == 0, run.complaints
    assert_covers(loaded, system, solution, run)


@pytest.mark.parametrize("seed", range(N_SEEDS // 2))
def test_the_oracle_finds_the_same_sets(seed: int, tmp_path: Path):
    sizes = {"n_structs": 2, "n_functions": 3, "n_statements": 4}
    system, solution = answer(_load(seed, tmp_path, **sizes).program)
    assert inclusion.difference(reference.solve(system.problem), solution) is None


def test_a_seed_decides_the_program():
    assert Generator(7).text() == Generator(7).text()
    assert len({Generator(seed).text() for seed in range(20)}) == 20

"""No verdict of parallel on a random loop is false, and every witness really happens."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.offload.kernels.loop_programs import unit
from tests.offload.kernels.random_loops import program

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from kleene.offload.kernels.verdicts import Verdict, verdicts_of
from kleene.transforms.loops import tables
from tests.offload.kernels.oracle import PARALLEL, Tally, check, confirm
from tests.offload.kernels.transformed import check_change

SEEDS = range(60 if os.environ.get("KLEENE_DEEP") else 2)
RUNS = [
    ({"n": 4, "m": 3, "u": 5}, None),
    ({"n": 7, "m": 5, "u": 3}, None),
    ({"n": 3, "m": 8, "u": 6}, 1),
    ({"n": 5, "m": 2, "u": 6}, 0),
]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_verdicts_stand_the_run(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(program(seed, 14))
    found = unit(file)
    functions = {one.name: one for one in found.functions}
    tally, verdict_counts, n_changed = Tally(), Counter[str](), 0
    for table in tables(found):
        loops = verdicts_of(table)
        for one in loops:
            verdict_counts[one.verdict] += 1
            for change in one.transformations:
                n_changed += check_change(functions, one, change, loops, RUNS[:2])
            if one.verdict in PARALLEL:
                check(functions, one, RUNS, tally)
            elif one.verdict is Verdict.SEQ:
                assert confirm(functions, one) is not False, (one.place, one.witness)
    assert tally.n_reordered > 4
    assert n_changed > 4
    assert tally.n_undefined < tally.n_runs
    assert sum(verdict_counts[one] for one in PARALLEL) >= 4

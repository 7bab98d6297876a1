"""Every verdict of parallel is run in another order, every witness is shown to happen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.offload.kernels.loop_programs import PROGRAMS, unit

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from kleene.offload.kernels.verdicts import Verdict, verdicts_of
from kleene.transforms.loops import tables
from tests.offload.kernels.oracle import PARALLEL, Tally, check, confirm

FILES = [*sorted(PROGRAMS.glob("loops/*.c")), *sorted(PROGRAMS.glob("polybench/*.c"))]
SIZES = [{"n": 4, "m": 3, "tsteps": 2}]
if os.environ.get("KLEENE_DEEP"):
    SIZES += [{"n": 6, "m": 6}, {"n": 5, "m": 9, "tsteps": 3}, {"n": 1, "m": 2}, {"n": 0}]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_verdicts_stand_the_run(file: Path) -> None:
    program = unit(file)
    functions = {one.name: one for one in program.functions}
    tally = Tally()
    runs = [(sizes, shared) for sizes in SIZES for shared in (None, 0, 1)]
    for table in tables(program):
        for verdict in verdicts_of(table):
            if verdict.verdict in PARALLEL:
                check(functions, verdict, runs, tally)
            elif verdict.verdict is Verdict.SEQ:
                assert confirm(functions, verdict) is not False, verdict.place
    assert tally.n_iterations == 0 or tally.n_runs > tally.n_undefined

"""Random loops are run: no byte lies outside of the section that was reported for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.offload.kernels.loop_programs import unit
from tests.offload.kernels.random_loops import program
from tests.offload.kernels.watching import Sections, Tally, check_sections

pytest.importorskip("islpy", reason="sections need the package islpy")


from kleene.offload.kernels.dependences import facts_of
from kleene.transforms.loops import tables

N_PROGRAMS = 500 if os.environ.get("KLEENE_DEEP") else 20
N_IN_A_FILE = 20
RUNS = [
    {"n": 4, "m": 3, "u": 5},
    {"n": 7, "m": 5, "u": 3},
    {"n": 3, "m": 8, "u": 6},
    {"n": 1, "m": 0, "u": 0},
    {"n": -2, "m": 6, "u": 2},
]


@pytest.mark.parametrize("seed", range(N_PROGRAMS // N_IN_A_FILE))
def test_every_address_is_inside_of_its_section(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(program(1000 + seed, N_IN_A_FILE))
    found = unit(file)
    functions = {one.name: one for one in found.functions}
    tally = Tally()
    for table in tables(found):
        sections = Sections(facts_of(table, ()))
        for numbers in RUNS:
            check_sections(functions, table, sections, numbers, tally)
    assert tally.n_inside > 1000, tally
    assert tally.n_exact > 10, tally

"""Random nests: whatever becomes a kernel computes what the C does, and no two threads race."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

from kleene.kernels.launch import host
from tests.offload.kernels.loop_programs import unit
from tests.offload.plans.generated import Compared, arguments, plans_of
from tests.offload.plans.random_nests import program

SEEDS = range(300 if os.environ.get("KLEENE_DEEP") else 4)
SIZES = ({"n": 6, "m": 3}, {"n": 9, "m": 5}, {"n": 4, "m": 2})


def test_random_nests_are_computed_as_they_are_written(tmp_path: Path) -> None:
    if (reason := host.problem()) is not None:
        pytest.skip(reason)
    text = program(SEEDS)
    file = tmp_path / "nests.c"
    file.write_text(text)
    found = unit(file)
    plans = plans_of(found)
    assert len(plans) == len(SEEDS)
    assert sum(bool(one.steps) for one in plans.values()) >= len(SEEDS) // 5
    compared = Compared([text], plans, tmp_path)
    for function in found.functions:
        for seed, sizes in enumerate(SIZES):
            compared.check(function, arguments(function, sizes, seed), seed)


def test_points_of_a_split_in_any_order(tmp_path: Path) -> None:
    if (reason := host.problem()) is not None:
        pytest.skip(reason)
    text = program(range(1036, 1037))  # split at i5, i4 and i4 + 1, whichever comes first
    file = tmp_path / "split.c"
    file.write_text(text)
    found = unit(file)
    plans = plans_of(found)
    compared = Compared([text], plans, tmp_path)
    (function,) = found.functions
    assert sum("i6" in one.name for one in plans[function.name].kernels()) == 5
    compared.check(function, arguments(function, {"n": 6, "m": 5}))

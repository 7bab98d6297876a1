"""Random nests: whatever becomes a kernel computes what the C does, and no two threads race."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

from kleene.kernels.launch import host
from tests.offload.kernels.loop_programs import unit
from tests.offload.plans.generated import Compared, arguments, plans_of
from tests.offload.plans.random_nests import program, triangles

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
    assert sum(bool(one.steps) for one in plans.values()) >= len(SEEDS) * 3 // 4
    compared = Compared([text], plans, tmp_path)
    for function in found.functions:
        for seed, sizes in enumerate(SIZES):
            compared.assert_same(function, arguments(function, sizes, seed), seed)


def test_random_triangles_are_computed_as_they_are_written(tmp_path: Path) -> None:
    if (reason := host.problem()) is not None:
        pytest.skip(reason)
    text = triangles(SEEDS)
    file = tmp_path / "triangles.c"
    file.write_text(text)
    found = unit(file)
    plans = plans_of(found)
    compared = Compared([text], plans, tmp_path)
    for function in found.functions:
        for seed, n in enumerate((1, 6)):
            compared.assert_same(function, arguments(function, {"n": n}, seed), seed)


# 1036 is split at i5, i4 and i4 + 1, whichever comes first; fronts of 1233 have copies of an array;
# one thread executes a condition of 1254 with a scalar that is the host's otherwise.
@pytest.mark.parametrize("seed", [1036, 1233, 1254])
def test_nests_that_were_wrong_once(seed: int, tmp_path: Path) -> None:
    if (reason := host.problem()) is not None:
        pytest.skip(reason)
    text = program(range(seed, seed + 1))
    file = tmp_path / "split.c"
    file.write_text(text)
    found = unit(file)
    plans = plans_of(found)
    compared = Compared([text], plans, tmp_path)
    (function,) = found.functions
    compared.assert_same(function, arguments(function, {"n": 6, "m": 5}))

"""Threads: facts and counts are those of one thread, and shares read nothing of each other."""

import itertools
import os

import numpy as np
import pytest

from kleene.base.arrays import offsets_of
from kleene.kernels.compiled import interpreted
from kleene.solvers.dataflow import (
    ConstraintBuilder,
    Constraints,
    Operator,
    engine,
    reference,
    solve,
)
from kleene.solvers.dataflow import constraints as table
from kleene.solvers.dataflow.shares import parts_of
from tests.solvers.dataflow.systems import random_system

N_SEEDS = 1000 if os.environ.get("KLEENE_DEEP") else 20


def side_by_side(systems):
    """Return the constraints of all systems, with one name for each constant that several have."""
    starts = offsets_of([system.n_names for system in systems])
    columns = zip(systems, starts[:-1], strict=True)
    operands = np.concatenate([system.operands + start for system, start in columns])
    operator, width, attribute, lengths = (
        np.concatenate(column)
        for column in zip(
            *((s.operator, s.width, s.attribute, np.diff(s.offsets)) for s in systems), strict=True
        )
    )
    names = np.arange(len(operator))
    first_of = {}
    for name in np.flatnonzero(operator == Operator.CONSTANT).tolist():
        names[name] = first_of.setdefault((width[name], attribute[name]), name)
    return Constraints(
        operator, width, attribute, offsets_of(lengths), names[operands].astype(np.int32)
    )


def random_islands(seed):
    return side_by_side([random_system(8 * seed + nth) for nth in range(8)])


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_find_what_one_finds(threads, monkeypatch):
    monkeypatch.setattr(engine, "_WORTH_THREADS", 0)
    monkeypatch.setattr(table, "_WORTH_THREADS", 0)
    n_shared = 0
    for seed in range(N_SEEDS):
        constraints = random_islands(seed)
        n_shared += parts_of(constraints.schedule, 4 * threads) is not None
        with interpreted(False):
            found = solve(constraints, threads=threads)
            alone = solve(random_islands(seed), threads=1)
        assert np.array_equal(found.rows, alone.rows), seed
        assert found.n_evaluations == alone.n_evaluations, seed
    assert n_shared > 0.9 * N_SEEDS


def test_threads_find_what_the_reference_finds(monkeypatch):
    monkeypatch.setattr(engine, "_WORTH_THREADS", 0)
    for seed in range(3):
        constraints = random_islands(seed)
        expected = reference.solve(constraints)
        for is_plain in (True, False):
            with interpreted(is_plain):
                assert solve(constraints, threads=2).rows.tolist() == expected


def test_shares_hold_all_components_once_and_read_nothing_of_each_other():
    for seed in range(N_SEEDS):
        schedule = random_islands(seed).schedule
        parts = parts_of(schedule, 6)
        if parts is None:
            continue
        assert 2 < len(parts) <= 7
        assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(len(schedule.is_cyclic)))
        part_of = np.empty(len(schedule.order), np.int64)
        for part, components in enumerate(parts):
            assert (np.diff(components) > 0).all()
            for component in components.tolist():
                start, end = schedule.component_offsets[component : component + 2]
                part_of[start:end] = part
        reader = np.repeat(part_of, np.diff(schedule.offsets))
        read = part_of[schedule.operands]
        assert ((read == 0) | (read == reader)).all()
        assert (reader != 0).all()


def test_one_large_island_is_for_one_thread():
    build = ConstraintBuilder()
    names = build.names(100).tolist()
    build.define([names[0]], Operator.ANY, width=32)
    for before, name in itertools.pairwise(names):
        build.define([name], Operator.FREEZE, [before], width=32)
    joined = build.constraints()
    assert parts_of(joined.schedule, 8) is None
    largest = side_by_side([random_system(1), joined])
    assert parts_of(largest.schedule, 8) is None
    leaves, *equal = parts_of(side_by_side([joined, joined]).schedule, 8)
    assert (len(leaves), [len(part) for part in equal]) == (2, [99, 99])


def test_nothing_to_share():
    empty = ConstraintBuilder().constraints()
    assert parts_of(empty.schedule, 8) is None
    assert len(solve(empty, threads=4).rows) == 0
    build = ConstraintBuilder()
    build.define(build.names(3).tolist(), Operator.ANY, width=8)
    leaves = build.constraints()
    assert parts_of(leaves.schedule, 8) is None
    assert len(solve(leaves, threads=4).rows) == 3

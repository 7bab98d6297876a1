"""Facts by name are the facts point by point, for three analyses and random functions."""

from __future__ import annotations

import numpy as np

from kleene.transforms.splitting import split
from tests.seeds import seeds
from tests.transforms.splitting.clients import (
    MAYBE_NULL,
    NOT_NULL,
    Forward,
    dense_backward,
    sparse_backward,
)
from tests.transforms.splitting.functions import Function, random_function

SEEDS = seeds(60, deep=10_000)


def small_function(seed: int) -> Function:
    rng = np.random.default_rng(seed)
    return random_function(rng, int(rng.integers(2, 8)), 2)


def test_null_pointers() -> None:
    for seed in SEEDS:
        client = Forward(
            small_function(seed),
            defines=lambda row: MAYBE_NULL | NOT_NULL if row % 3 else NOT_NULL,
            after_use=lambda fact: NOT_NULL if fact else 0,
            along=lambda _, fact: fact,
        )
        names = split(client.flow, client.accesses, "null")
        dense, sparse = client.dense(), client.sparse(names)
        assert dense == {row: sparse[row] for row in dense}, seed


def test_sets_of_values_that_branches_filter() -> None:
    n_filtered = 0
    for seed in SEEDS:
        client = Forward(
            small_function(seed),
            defines=lambda row: 1 << row % 8,
            after_use=lambda fact: fact,
            along=lambda edge, fact: fact & (0b10110101 if edge % 2 else 0b01001110),
        )
        names = split(client.flow, client.accesses, "essa")
        dense, sparse = client.dense(), client.sparse(names)
        assert dense == {row: sparse[row] for row in dense}, seed
        n_filtered += sum(fact == 0 for fact in dense.values())
    assert n_filtered


def test_what_is_done_with_a_value_later() -> None:
    for seed in SEEDS:
        function = small_function(seed)
        names = split(function.flow, function.accesses(), "ssu")
        dense, sparse = dense_backward(function), sparse_backward(function, names)
        reached = {row for row, name in enumerate(names.name.tolist()) if name >= 0}
        assert {row: dense[row] for row in reached & set(dense)} == {
            row: sparse[row] for row in reached & set(dense)
        }, seed

"""Facts by name are the facts point by point: five analyses, each on random functions."""

from __future__ import annotations

import numpy as np

from kleene.transforms.splitting import split
from tests.seeds import seeds
from tests.transforms.splitting.clients import ANY, NONE, Classes, ConditionalConstants, Forward
from tests.transforms.splitting.functions import Code, Function, random_function

SEEDS = seeds(60, deep=10_000)
MAYBE_NULL = 1


def small_function(seed: int) -> Function:
    rng = np.random.default_rng(seed)
    return random_function(rng, int(rng.integers(2, 8)), 2)


def same_as_dense(client: Forward, strategy: str) -> dict[int, int]:
    """Return the facts of uses point by point; by name they are the same."""
    dense = client.dense()
    sparse = client.sparse(split(client.flow, client.accesses, strategy))
    assert dense == {row: sparse[row] for row in dense}
    return dense


def test_null_pointers() -> None:
    """A definition is null, is not, or has what is used; what was used is not null from there."""
    facts = []
    for seed in SEEDS:
        client = Forward(
            small_function(seed),
            generates=lambda row: MAYBE_NULL if row % 3 == 0 else 0,
            after_use=MAYBE_NULL,
        )
        facts += same_as_dense(client, "null").values()
    assert 0 < sum(fact == MAYBE_NULL for fact in facts) < len(facts)


def test_taint() -> None:
    """Definitions are sources, clean what they use, or pass it on; tests clean on one way out."""
    facts = []
    for seed in SEEDS:
        client = Forward(
            small_function(seed),
            generates=lambda row: 1 << row % 8 if row % 3 == 0 else 0,
            cleans=lambda row: 0b00001111 if row % 5 == 0 else 0,
            along=lambda edge: 0b11110000 if edge % 2 else 0,
        )
        facts += same_as_dense(client, "essa").values()
    assert 0 < sum(fact != 0 for fact in facts) < len(facts)
    assert len(set(facts)) > 8


def test_sets_of_values_that_branches_filter() -> None:
    n_filtered = 0
    for seed in SEEDS:
        client = Forward(
            small_function(seed),
            generates=lambda row: 1 << row % 8,
            cleans=lambda _: 255,
            along=lambda edge: 0b01001010 if edge % 2 else 0b10110001,
        )
        n_filtered += sum(fact == 0 for fact in same_as_dense(client, "essa").values())
    assert n_filtered


def test_classes_by_what_is_called_later() -> None:
    n_passed_on = 0
    for seed in SEEDS:
        client = Classes(small_function(seed))
        dense = client.dense()
        sparse = client.sparse(split(client.flow, client.accesses, "ssu"))
        assert {row: dense[row] for row in sparse} == sparse, seed
        passed = [row for row in sparse if client.passes_on(int(client.accesses.point[row]))]
        n_passed_on += sum(sparse[row] != 0 for row in passed)
    assert n_passed_on


def test_constants_along_edges_that_can_be_taken() -> None:
    n_constant = n_any = n_left_out = n_by_tests = 0
    for seed in SEEDS:
        function = small_function(seed)
        function.parameters = (0, 1)
        for block, tests in function.tests.items():
            del tests[1:]
            function.blocks[block] += [Code(uses=tuple(tests))] if tests else []
        client = ConditionalConstants(function)
        dense = client.dense()
        sparse = client.sparse(split(client.flow, client.accesses, "essa"))
        assert dense == sparse, seed
        n_by_tests += dense != client.sparse(split(client.flow, client.accesses, "ssa"))
        n_constant += sum(fact not in (NONE, ANY) for fact in dense.values())
        n_any += sum(fact == ANY for fact in dense.values())
        reached = client.flow.tree.pre[client.flow.node_of(client.accesses.point)] >= 0
        n_left_out += int((reached & (client.accesses.role == 1)).sum()) - len(dense)
    assert n_constant > n_any > 0
    assert n_left_out > 0
    assert n_by_tests > 0

"""Leaving split form: renamed back it is the function it was, and its moves compute the same."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from kleene.ir import dump, parse
from kleene.ir.tables import Instructions
from kleene.transforms.splitting import (
    STRATEGIES,
    NameKind,
    Points,
    Role,
    Splitting,
    moves,
    split,
    split_program,
)  # fmt: skip
from kleene.transforms.splitting.destruction import in_sequence
from tests.analyses.dataflow.dense import RandomFunction
from tests.seeds import seeds
from tests.transforms.splitting.functions import Code, Function, parsed, random_function
from tests.transforms.splitting.running import destroyed, original, propagated, run
from tests.transforms.splitting.test_split import random_points


def case(seed: int, *, swaps: bool = False) -> tuple[Function, Splitting]:
    """Return a random function, split by a random strategy, or at random points.

    Some of its blocks may swap two variables at their start: `t = a; a = b; b = t`.
    """
    rng = np.random.default_rng(seed)
    function = random_function(rng, int(rng.integers(2, 12)))
    if swaps:
        function.parameters = (0, 1, 2)
        for number in np.flatnonzero(rng.random(len(function.blocks)) < 0.5).tolist():
            a, b = rng.permutation(3)[:2].tolist()
            function.blocks[number][:0] = [Code((x,), (y,)) for x, y in ((a, 3), (b, a), (3, b))]
    strategy = str(rng.choice(sorted(STRATEGIES)))
    chosen = random_points(rng, function) if seed % 3 == 0 else strategy
    return function, split(function.flow, function.accesses(), chosen)


def renamed_back(function: Function, names: Splitting) -> Function:
    """Return the function with each name called by its variable, and without what then is v = v."""
    accesses, flow = function.accesses(), function.flow
    for name in np.flatnonzero(names.kind != NameKind.PROGRAM).tolist():
        given = {int(names.variable[o]) for o in names.operands_of(name) if o >= 0}
        assert given == {int(names.variable[name])}  # φ, σ and copies are v = v: left out
    defined, used, tested = {}, {}, {}
    for row, point in enumerate(accesses.point.tolist()):
        name, variable = int(names.name[row]), int(accesses.variable[row])
        table = {Role.DEFINITION: defined, Role.USE: used}.get(Role(accesses.role[row]), tested)
        table.setdefault(point, []).append(int(names.variable[name]) if name >= 0 else variable)
    blocks = [
        [Code(tuple(used.get(i, ())), tuple(defined.get(i, ()))) for i in range(first, end)]
        for first, end in zip(flow.first[:-1].tolist(), flow.first[1:].tolist(), strict=True)
    ]
    tests = {block: tested.get(flow.out_of(block), []) for block in function.tests}
    return Function(blocks, function.edges, tests, tuple(defined.get(flow.into(0), ())))


def test_a_function_renamed_back_is_what_it_was() -> None:
    n_new = 0
    for seed in seeds(100, deep=10_000):
        function, names = case(seed)
        assert renamed_back(function, names) == function, seed
        n_new += int((names.kind != NameKind.PROGRAM).sum())
    assert n_new


def test_a_program_renamed_back_is_what_it_was_to_the_bit() -> None:
    n_new = n_changed = 0
    for seed in seeds(20, deep=2_000):
        program = parse(RandomFunction(seed).text)
        strategy = sorted(STRATEGIES)[seed % len(STRATEGIES)]
        before = {name: np.copy(column) for name, column in columns(program.instructions)}
        found = split_program(program, strategy)
        back = found.value_of(found.operand).astype(found.operand.dtype)
        table = replace(program.instructions, operands=back)
        for name, column in columns(table):
            assert column.tobytes() == before[name].tobytes(), (seed, name)
        assert dump(replace(program, instructions=table)) == dump(program)
        n_new += found.n_new
        n_changed += int((found.operand != program.instructions.operands).sum())
    assert n_new
    assert n_changed


def columns(table: Instructions) -> list[tuple[str, np.ndarray]]:
    return [(field.name, getattr(table, field.name)) for field in fields(table)]


def test_moves_compute_what_names_did() -> None:
    n_read = n_moves = n_temporaries = 0
    for seed in seeds(100, deep=10_000):
        function, names = case(seed, swaps=seed % 2 == 1)
        shorter = propagated(function, names)
        for form in (names, shorter):
            left = moves(form)
            n_moves += len(left.point)
            n_temporaries += int((left.target == form.n_names).sum())
            program = destroyed(function, form, left)
            for path in range(4):
                expected = run(original(function), path, 40)
                assert run(program, path, 40) == expected, (seed, path)
                n_read += len(expected)
    assert n_read > 0
    assert n_moves > 0
    assert n_temporaries > 0


def test_two_variables_that_swap_in_a_loop() -> None:
    """`t = a; a = b; b = t`: without the copies, each φ reads what the other one defines."""
    function, _, _ = parsed("""
        0: a = -> 1
        1: b = -> 2
        2: a b -> 3 6
        3: t = a -> 4
        4: a = b -> 5
        5: b = t -> 2
        6: a b
    """)
    names = propagated(function, split(function.flow, function.accesses(), "ssa"))
    left = moves(names)
    assert (left.target == names.n_names).sum() == 1
    program = destroyed(function, names, left)
    lengths = set()
    for path in range(20):
        expected = run(original(function), path, 40)
        assert run(program, path, 40) == expected
        lengths.add(len(expected))
    assert len(lengths) > 2  # the loop was left after several numbers of rounds


@pytest.mark.parametrize(
    ("parallel", "n_temporary"),
    [
        ({1: 0, 2: 1, 3: 2}, 0),
        ({1: 2, 2: 1}, 1),
        ({1: 2, 2: 3, 3: 1, 4: 5, 5: 4, 6: 1}, 2),
        ({}, 0),
    ],
)
def test_moves_at_the_same_time_one_after_the_other(
    parallel: dict[int, int], n_temporary: int
) -> None:
    found = in_sequence(parallel, 9)
    assert sum(target == 9 for target, _ in found) == n_temporary
    assert after(found) == {target: 10 + source for target, source in parallel.items()}


def test_any_moves_at_the_same_time() -> None:
    for seed in seeds(200, deep=10_000):
        rng = np.random.default_rng(seed)
        targets = rng.permutation(8)[: rng.integers(0, 9)].tolist()
        parallel = {target: int(rng.integers(0, 8)) for target in targets}
        parallel = {target: source for target, source in parallel.items() if target != source}
        expected = {target: 10 + source for target, source in parallel.items()}
        assert after(in_sequence(parallel, 9)) == expected, seed


def after(found: list[tuple[int, int]]) -> dict[int, int]:
    """Return what targets hold in the end, if number n held 10 + n before."""
    held: dict[int, int] = {}
    for target, source in found:
        held[target] = held.get(source, 10 + source)
    held.pop(9, None)
    return held


def test_points_chosen_at_the_ends_of_edges_are_left_too() -> None:
    """A copy at the end of a critical edge comes before the φ behind it."""
    function, _, _ = parsed("0: v = -> 1 2\n1: -> 2\n2: v")
    flow = function.flow
    names = split(flow, function.accesses(), Points.of(down=[(0, flow.along(1))]))
    left = moves(names)
    end = flow.at_end_of(1)
    assert left.point.tolist().count(end) == 2
    first, second = np.flatnonzero(left.point == end).tolist()
    assert names.kind[left.target[first]] == NameKind.COPY
    assert left.source[second] == left.target[first]

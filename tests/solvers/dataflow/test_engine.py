"""Solving: equal to the reference, compiled or not; components, thresholds, sets, any lattice."""

import os
import random

import numpy as np
import pytest

from kleene.algebra import MachineInterval
from kleene.kernels.compiled import interpreted
from kleene.solvers.dataflow import (
    BitConstraints,
    ConstraintBuilder,
    Flag,
    Operator,
    Predicate,
    reference,
    solve,
    solve_bits,
    solve_lattice,
)  # fmt: skip
from tests.solvers.dataflow.systems import random_system

N_SYSTEMS = 10_000 if os.environ.get("KLEENE_DEEP") else 120


def counting_loop(limit=100, width=32, step=1):
    """Return the constraints of `i = 0; while (i < limit) i += step;` and names by what they are.

    i2 is i at the condition, i3 in the body before the step, i4 behind it, i5 behind the loop.
    """
    build = ConstraintBuilder()
    zero, end, one, start, i2, i3, i4, i5, condition, head, enter, leave = build.names(12)
    for name, number in ((zero, 0), (end, limit), (one, step)):
        build.define([name], Operator.CONSTANT, width=width, attribute=number)
    build.define([start], Operator.CONSTANT, attribute=1)
    build.define([i2], Operator.PHI, [zero, start, i4, enter], width=width)
    build.define([condition], Operator.COMPARE, [i2, end], attribute=Predicate.SLT)
    build.define([head], Operator.JOIN, [start, enter])
    build.define([enter], Operator.WHEN, [head, condition], attribute=1)
    build.define([leave], Operator.WHEN, [head, condition], attribute=0)
    build.define([i3], Operator.REFINE, [i2, end], width=width, attribute=Predicate.SLT)
    build.define([i4], Operator.ADD, [i3, one], width=width)
    build.define([i5], Operator.REFINE, [i2, end], width=width, attribute=Predicate.SGE)
    names = {"i2": i2, "i3": i3, "i4": i4, "i5": i5, "enter": enter, "leave": leave}
    return build.constraints(), {key: int(name) for key, name in names.items()}


def test_a_counting_loop_is_exact():
    constraints, at = counting_loop()
    facts = solve(constraints)
    assert [str(facts[at[k]]) for k in ("i2", "i3", "i4", "i5")] == [
        "0..100",
        "0..99",
        "1..100",
        "100",
    ]


@pytest.mark.parametrize("bounded", [False, True])
def test_a_name_of_a_value_forgets_with_the_value_what_rounding_added(bounded):
    """`c = i <= 12` is read again around the loop that bounds i: c/2 = φ(c, c/2).

    Going up, i is rounded to 15, so that c and c/2 may be 0; going down, i is 0..10 and c is 1. Of
    c/2 that follows only from c: by itself the φ keeps what it has.
    """
    build = ConstraintBuilder()
    zero, one, two, limit, end, start = build.names(6)
    for name, number in ((zero, 0), (one, 1), (two, 2), (limit, 20), (end, 12)):
        build.define([name], Operator.CONSTANT, width=32, attribute=number)
    build.define([start], Operator.CONSTANT, attribute=1)
    i, doubled, small, half, more, c, again, back = build.names(8)
    build.define([i], Operator.PHI, [zero, start, more, back], width=32)
    build.define([doubled], Operator.MULTIPLY, [i, two], width=32, attribute=Flag.NSW)
    build.define([small], Operator.REFINE, [doubled, limit], width=32, attribute=Predicate.SLT)
    build.define([half], Operator.SIGNED_DIVIDE, [small, two], width=32)
    build.define([more], Operator.ADD, [half, one], width=32, attribute=Flag.NSW)
    build.define([c], Operator.COMPARE, [i, end], attribute=Predicate.SLE)
    met = [c] if bounded else []
    operands = [c, start, again, back, *met]
    build.define([again], Operator.PHI, operands, offsets=[0, len(operands)])
    build.define([back], Operator.WHEN, [start, again], attribute=1)
    constraints = build.constraints()
    facts = solve(constraints)
    assert (str(facts[i]), str(facts[c])) == ("0..10", "1")
    assert str(facts[again]) == ("1" if bounded else "any")
    assert facts.rows.tolist() == reference.solve(constraints)


def test_a_loop_that_is_never_entered_is_not_reached():
    constraints, at = counting_loop(limit=0)
    facts = solve(constraints)
    assert not facts.has_value[at["enter"]]
    assert facts.has_value[at["leave"]]
    assert facts[at["i2"]].constant == 0
    assert not facts[at["i4"]].has_value


def test_a_long_loop_takes_few_evaluations():
    constraints, at = counting_loop(limit=2_000_000_000)
    facts = solve(constraints)
    assert facts[at["i3"]].high == 1_999_999_999
    assert sum(facts.n_evaluations) < 300


def test_even_steps_stay_even():
    constraints, at = counting_loop(limit=100, step=2)
    fact = solve(constraints)[at["i3"]]
    assert (fact.low, fact.high, fact.zeros & 1) == (0, 98, 1)
    assert str(fact) == "0..98, multiple of 2"


@pytest.mark.parametrize("seed", range(0, N_SYSTEMS, 40))
def test_equal_to_the_reference(seed):
    for number in range(seed, seed + 40):
        constraints = random_system(number)
        expected = np.array(reference.solve(constraints), np.int64)
        with interpreted(False):
            found = solve(constraints).rows
        assert np.array_equal(found, expected), number


def test_interpreted_is_equal_to_compiled():
    for number in range(10):
        constraints = random_system(number)
        with interpreted():
            plain = solve(constraints).rows
        with interpreted(False):
            assert np.array_equal(plain, solve(constraints).rows)


def test_going_up_does_not_depend_on_the_order():
    """Rounding is monotone, so that names in any other order have the same least solution."""
    for number in range(60):
        constraints = random_system(number)
        chance = random.Random(number)
        expected = solve(constraints, narrowing=0).rows
        facts = _in_any_order(constraints, chance)
        assert np.array_equal(np.array(facts), expected), number


def _in_any_order(c, chance):
    from kleene.solvers.dataflow import STRIDE, rows
    from kleene.solvers.dataflow.transfer import evaluate

    chosen, starts, signed, unsigned = (column.tolist() for column in c.thresholds)
    columns = [x.tolist() for x in (c.operator, c.width, c.attribute, c.offsets, c.operands)]
    facts = [0] * (c.n_names + 1) * STRIDE
    result, names, is_stable = c.n_names * STRIDE, list(range(c.n_names)), False
    while not is_stable:
        is_stable = True
        chance.shuffle(names)
        for name in names:
            evaluate(facts, result, name, *columns, [])
            if chosen[name] >= 0:
                ends = starts[chosen[name]], starts[chosen[name] + 1]
                rows.round_up(facts, result, columns[1][name], signed, unsigned, *ends)
            if rows.differ(facts, result, name * STRIDE):
                rows.copy(facts, name * STRIDE, result)
                is_stable = False
    return [facts[i : i + STRIDE] for i in range(0, result, STRIDE)]


def test_sets_of_bits():
    # 0 -> 1 <-> 2 -> 3; bit 0 comes from 0, bit 1 from 2, and 3 takes over bit 1 alone.
    table = {
        "gen": [1, 0, 2, 0],
        "kill": [0, 0, 0, 1],
        "offsets": [0, 0, 2, 3, 4],
        "operands": [0, 2, 1, 2],
    }
    assert solve_bits(BitConstraints(**table)).tolist() == [1, 3, 3, 2]
    assert solve_bits(BitConstraints(**table, is_union=False)).tolist() == [1, 1, 3, 2]


@pytest.mark.parametrize("is_union", [True, False])
def test_sets_of_bits_equal_to_plain_iteration(is_union):
    for seed in range(30):
        chance = np.random.default_rng(seed)
        n, n_words = int(chance.integers(1, 20)), int(chance.integers(1, 4))
        lengths = chance.integers(0, 3, n)
        offsets = np.append(0, np.cumsum(lengths))
        operands = chance.integers(0, n, offsets[-1])
        gen, kill = (
            chance.integers(0, 1 << 63, (n, n_words), dtype=np.uint64)
            & chance.integers(0, 1 << 63, (n, n_words), dtype=np.uint64)
            for _ in range(2)
        )
        found = solve_bits(BitConstraints(gen, kill, offsets, operands, is_union))
        facts = np.full((n, n_words), 0 if is_union else (1 << 64) - 1, np.uint64)
        while True:
            new = gen.copy()
            for name in range(n):
                mine = facts[operands[offsets[name] : offsets[name + 1]]]
                if len(mine):
                    both = np.bitwise_or if is_union else np.bitwise_and
                    new[name] |= both.reduce(mine, axis=0) & ~kill[name]
            if (new == facts).all():
                break
            facts = new
        assert (found == facts).all()


def test_any_lattice():
    """`i = 0; while (i < 100) i++`, by intervals that are objects: widened, then narrowed."""
    end, top = MachineInterval.constant(32, 100), MachineInterval.top(32)
    one, zero = MachineInterval.constant(32, 1), MachineInterval.constant(32, 0)

    def evaluate(name, facts):
        if name == 0:
            return zero.join(facts[2])
        if name == 1:
            return facts[0].assume("slt", end)[0]
        return facts[1].add(one) if name == 2 else facts[0].assume("sge", end)[0]

    bottom = top.meet(zero).meet(one)
    offsets, operands = np.array([0, 1, 2, 3, 4]), np.array([2, 0, 1, 0], np.int32)
    facts = solve_lattice(offsets, operands, evaluate, bottom)
    assert [(f.low, f.high) for f in facts] == [(0, 100), (0, 99), (1, 100), (100, 100)]

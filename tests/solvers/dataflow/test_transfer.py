"""The operators on values: all facts of few bits with all their values, random ones of many.

Of 4 bits all pairs of facts are looked at with `KLEENE_DEEP=1`, else every third.
"""

import os
import random
from itertools import product

import numpy as np
import pytest

from kleene.solvers.dataflow import (
    STRIDE,
    ConstraintBuilder,
    Flag,
    Operator,
    Predicate,
    packed,
    solve,
)  # fmt: skip
from tests.solvers.dataflow.families import (
    compared,
    family,
    members,
    random_fact,
    result,
    sets_of_results,
    signed,
)  # fmt: skip

IS_DEEP = bool(os.environ.get("KLEENE_DEEP"))
WIDTH = 4
ROWS = family(WIDTH, 60)[:: 1 if IS_DEEP else 3]
HELD = members(ROWS, WIDTH)
BINARY = [op for op in Operator if op >= Operator.ADD]
WRAPPING = (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.SHIFT_LEFT)
SHIFTS = (Operator.SHIFT_LEFT, Operator.SHIFT_RIGHT, Operator.SHIFT_RIGHT_SIGNED)


def on_pairs(operator, attribute=0, width=WIDTH, rows=ROWS, other=None, operand_width=WIDTH):
    """Return the rows that an operator gives for all pairs of rows."""
    build = ConstraintBuilder()
    other = rows if other is None else other
    a, b = build.names(len(rows)), build.names(len(other))
    build.define(a, Operator.GIVEN, width=operand_width, attribute=build.given(rows))
    build.define(b, Operator.GIVEN, width=operand_width, attribute=build.given(other))
    made = build.names(len(a) * len(b))
    pairs = np.stack([np.repeat(a, len(b)), np.tile(b, len(a))], axis=1)
    build.define(made, operator, pairs, width=width, attribute=attribute)
    return solve(build.constraints()).rows[made].reshape(len(a), len(b), STRIDE)


def on_each(operator, attribute=0, width=WIDTH):
    build = ConstraintBuilder()
    a, made = build.names(len(ROWS)), build.names(len(ROWS))
    build.define(a, Operator.GIVEN, width=WIDTH, attribute=build.given(ROWS))
    build.define(made, operator, a[:, None], width=width, attribute=attribute)
    return solve(build.constraints()).rows[made]


def flags_of(operator):
    if operator in WRAPPING:
        return range(8) if operator in SHIFTS else range(4)
    return (0, int(Flag.IN_RANGE)) if operator in SHIFTS else (0,)


@pytest.mark.parametrize("operator", BINARY, ids=lambda op: op.name.lower())
def test_every_result_of_few_bits_is_held(operator):
    patterns = range(1 << WIDTH)
    for flags in flags_of(operator):
        table = [[result(operator, x, y, WIDTH, flags) for y in patterns] for x in patterns]
        must = sets_of_results(HELD, HELD, table, WIDTH)
        found = on_pairs(operator, flags)
        may = members(found.reshape(-1, STRIDE), WIDTH).reshape(must.shape)
        if operator in SHIFTS and not flags & Flag.IN_RANGE:  # by too many bits: any value
            too_many = np.outer(HELD.any(axis=1), HELD[:, WIDTH:].any(axis=1))
            must = must | too_many[:, :, None]
        assert not (must & ~may).any()
        # Not only sound: most facts are the best that bounds and bits can say.
        slack = may.sum(axis=2).sum() / max(must.sum(), 1)
        assert slack < (2.4 if operator == Operator.MULTIPLY else 2.0), slack


@pytest.mark.parametrize("operator", BINARY, ids=lambda op: op.name.lower())
def test_operators_are_monotone(operator):
    holds = HELD.astype(np.int32)
    size = holds.sum(axis=1)
    larger = (holds @ holds.T == size[:, None]) & (size[:, None] < size[None, :])
    chance = np.random.default_rng(2)
    below, above = np.nonzero(larger)
    chosen = chance.choice(len(below), 200, replace=False)
    columns = chance.choice(len(ROWS), 30, replace=False)
    flags = max(flags_of(operator))
    for smaller, bigger in ((below[chosen], above[chosen]),):
        small = on_pairs(operator, flags, rows=ROWS[smaller], other=ROWS[columns])
        big = on_pairs(operator, flags, rows=ROWS[bigger], other=ROWS[columns])
        assert _is_below(small, big).all()
        small = on_pairs(operator, flags, rows=ROWS[columns], other=ROWS[smaller])
        big = on_pairs(operator, flags, rows=ROWS[columns], other=ROWS[bigger])
        assert _is_below(small, big).all()


def _is_below(a, b):
    """Return where every column of a says at least what that of b says."""
    nothing = a[..., 6] & 1 == 0
    return nothing | (
        (b[..., 6] & 1 != 0) & (a[..., 0] >= b[..., 0]) & (a[..., 1] <= b[..., 1])
        & (a[..., 2] >= b[..., 2]) & (a[..., 3] <= b[..., 3])
        & (b[..., 4] & ~a[..., 4] == 0) & (b[..., 5] & ~a[..., 5] == 0)
    )  # fmt: skip


@pytest.mark.parametrize("predicate", Predicate, ids=lambda p: p.name.lower())
def test_comparing_and_refining_few_bits(predicate):
    patterns = range(1 << WIDTH)
    table = [[int(compared(predicate, x, y, WIDTH)) for y in patterns] for x in patterns]
    must = sets_of_results(HELD, HELD, table, WIDTH)[:, :, :2]
    found = on_pairs(Operator.COMPARE, predicate, width=1).reshape(-1, STRIDE)
    may = members(found, 1).reshape(must.shape)
    same = np.eye(len(ROWS), dtype=bool)[:, :, None]
    assert not (must & ~may).any()
    if predicate >= Predicate.ULT:  # exact: an order is decided at the ends
        assert not (may & ~must & ~same)[HELD.any(axis=1)][:, HELD.any(axis=1)].any()
    kept = on_pairs(Operator.REFINE, predicate).reshape(-1, STRIDE)
    left = members(kept, WIDTH).reshape(len(ROWS), len(ROWS), -1)
    relation = np.array(table, bool)
    some = HELD.astype(np.float32) @ relation.T.astype(np.float32) > 0  # row b, pattern x
    needed = HELD[:, None, :] & some[None, :, :]
    assert not (needed & ~left).any()
    assert not (left & ~HELD[:, None, :]).any()


def test_casts_of_few_bits():
    narrow = on_each(Operator.TRUNCATE, width=3)
    may = members(narrow, 3)
    for pattern in range(16):
        assert not (HELD[:, pattern] & ~may[:, pattern & 7]).any()
    for operator in (Operator.ZERO_EXTEND, Operator.SIGN_EXTEND):
        wide = members(on_each(operator, width=6), 6)
        exact = np.zeros_like(wide)
        for pattern in range(16):
            number = pattern if operator == Operator.ZERO_EXTEND else signed(pattern, 4) & 63
            exact[:, number] = HELD[:, pattern]
        assert not (exact & ~wide).any()
        assert wide.sum() < 1.4 * exact.sum()
    positive = members(on_each(Operator.ZERO_EXTEND, Flag.NUW, width=6), 6)
    assert not positive[:, 8:].any()
    assert not (HELD[:, :8] & ~positive[:, :8]).any()


def test_joins_meets_and_bits_of_few_bits():
    joined = members(on_pairs(Operator.JOIN).reshape(-1, STRIDE), WIDTH)
    met = members(on_pairs(Operator.MEET).reshape(-1, STRIDE), WIDTH)
    either = HELD[:, None] | HELD[None]
    both = HELD[:, None] & HELD[None]
    assert not (either & ~joined.reshape(either.shape)).any()
    assert (met.reshape(both.shape) == both).all()
    low = members(on_each(Operator.LOW_BITS, width=6), 6)
    for pattern in range(64):
        assert not (HELD[:, pattern & 15] & ~low[:, pattern]).any()


@pytest.mark.parametrize("width", [8, 31, 32, 63, 64] if IS_DEEP else [8, 32, 64])
def test_results_of_many_bits_are_held(width):
    chance = random.Random(width)
    facts = [random_fact(chance, width) for _ in range(40 if IS_DEEP else 20)]
    rows = packed(facts)
    for operator in BINARY:
        amounts = [random_fact(chance, width) for _ in range(20)]
        if operator in SHIFTS:
            amounts = [random_fact(chance, 6) for _ in range(20)]
            amounts = [type(f)(width, 0, min(f.most, width - 1), 0, min(f.most, width - 1), 0, 0)
                       for f in amounts]  # fmt: skip
        for flags in (0, max(flags_of(operator))):
            found = on_pairs(operator, flags, width, rows, packed(amounts), operand_width=width)
            for (i, a), (j, b) in product(enumerate(facts), enumerate(amounts)):
                for _ in range(3):
                    x, y = _value(chance, a), _value(chance, b)
                    if x is None or y is None:
                        continue
                    r = result(operator, x, y, width, flags)
                    if r is not None:
                        assert _holds(found[i, j].tolist(), r, width), (operator, flags, a, b, x, y)


def _value(chance, fact):
    """Return a pattern that a fact holds: an end of its bounds, or one between."""
    tries = [fact.low, fact.high, fact.least, fact.most, chance.randint(fact.least, fact.most)]
    chance.shuffle(tries)
    return next((t & (1 << fact.width) - 1 for t in tries if fact.holds(t)), None)


def _holds(row, pattern, width):
    word = (1 << 64) - 1
    low, high, least, most, zeros, ones, state = row[:7]
    return bool(
        state & 1 and low <= signed(pattern, width) <= high
        and least & word <= pattern <= most & word
        and not pattern & zeros & word and not ~pattern & ones & word & ((1 << width) - 1)
    )  # fmt: skip

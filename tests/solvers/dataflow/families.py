"""Facts about values of few bits, and what operators do to the values themselves."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from kleene.base.arrays import I64, Bools
from kleene.solvers.dataflow import Flag, Operator, Predicate, ValueFact, packed


def family(width: int, n_random: int, seed: int = 1) -> I64:
    """Return rows of `width` bits: all bounds, signed and unsigned, all bits, and mixed ones."""
    half, full = 1 << (width - 1), (1 << width) - 1
    anything = ValueFact.any(width)

    def fact(low=-half, high=half - 1, least=0, most=full, zeros=0, ones=0):
        return ValueFact(width, low, high, least, most, zeros, ones)

    facts = [fact(low, high) for low in range(-half, half) for high in range(low, half)]
    facts += [fact(least=a, most=b) for a in range(full + 1) for b in range(a, full + 1)]
    facts += [fact(zeros=z, ones=o) for z in range(full + 1) for o in range(full + 1) if not z & o]
    chance = random.Random(seed)
    facts += [random_fact(chance, width) for _ in range(n_random)]
    facts.append(anything)
    return np.unique(packed(facts), axis=0)


def random_fact(chance: random.Random, width: int) -> ValueFact:
    """Return bounds and bits around two values."""
    full = (1 << width) - 1
    x = chance.getrandbits(width)
    y = (
        min(x + (1 << chance.randrange(width)), full)
        if chance.random() < 0.5
        else chance.getrandbits(width)
    )
    a, b = signed(x, width), signed(y, width)
    same = ~(x ^ y) & full & chance.getrandbits(width)
    return ValueFact(
        width, min(a, b), max(a, b), min(x, y), max(x, y), ~x & same, x & same
    )  # fmt: skip


def signed(pattern: int, width: int) -> int:
    """Return the signed number of a pattern."""
    pattern &= (1 << width) - 1
    return pattern - (pattern >> (width - 1) << width)


def members(rows: I64, width: int) -> Bools:
    """Return for each row and pattern whether the row holds it."""
    patterns = np.arange(1 << width)
    numbers = np.array([signed(p, width) for p in range(1 << width)])
    low, high, least, most, zeros, ones, state = (rows[:, k, None] for k in range(7))
    return (
        (state & 1 != 0) & (low <= numbers) & (numbers <= high) & (least <= patterns)
        & (patterns <= most) & (patterns & zeros == 0) & (~patterns & ones == 0)
    )  # fmt: skip


def _overflows(exact: int, x: int, width: int, flags: int, exact_unsigned: int) -> bool:
    half = 1 << (width - 1)
    return bool(
        (flags & Flag.NSW and not -half <= exact < half)
        or (flags & Flag.NUW and not 0 <= exact_unsigned < 2 * half)
    )


def result(operator: Operator, x: int, y: int, width: int, flags: int) -> int | None:
    """Return what an operator makes of two patterns; None for poison, or where it stops."""
    a, b, full = signed(x, width), signed(y, width), (1 << width) - 1
    simple: dict[Operator, Callable[[int, int], int]] = {
        Operator.ADD: lambda p, q: p + q,
        Operator.SUBTRACT: lambda p, q: p - q,
        Operator.MULTIPLY: lambda p, q: p * q,
        Operator.AND: lambda p, q: p & q,
        Operator.OR: lambda p, q: p | q,
        Operator.XOR: lambda p, q: p ^ q,
    }
    if operator in simple:
        exact, unsigned = simple[operator](a, b), simple[operator](x, y)
        return None if _overflows(exact, x, width, flags, unsigned) else exact & full
    if operator in (Operator.SHIFT_LEFT, Operator.SHIFT_RIGHT, Operator.SHIFT_RIGHT_SIGNED):
        if y >= width:
            return None
        if operator == Operator.SHIFT_LEFT:
            return None if _overflows(a << y, x, width, flags, x << y) else (x << y) & full
        return x >> y if operator == Operator.SHIFT_RIGHT else (a >> y) & full
    if operator == Operator.SIGNED_MIN:
        return min(a, b) & full
    if operator == Operator.SIGNED_MAX:
        return max(a, b) & full
    if operator == Operator.UNSIGNED_MIN:
        return min(x, y)
    if operator == Operator.UNSIGNED_MAX:
        return max(x, y)
    if y == 0:
        return None
    if operator == Operator.UNSIGNED_DIVIDE:
        return x // y
    if operator == Operator.UNSIGNED_REMAINDER:
        return x % y
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    if quotient == 1 << (width - 1):
        return None
    return (quotient if operator == Operator.SIGNED_DIVIDE else a - quotient * b) & full


def compared(predicate: Predicate, x: int, y: int, width: int) -> bool:
    """Return whether a predicate holds of two patterns."""
    a, b = (signed(x, width), signed(y, width)) if predicate.name[0] == "S" else (x, y)
    word = predicate.name[-2:]
    return {"EQ": a == b, "NE": a != b, "LT": a < b, "GE": a >= b, "GT": a > b, "LE": a <= b}[word]


def sets_of_results(rows: Bools, other: Bools, table: list[list[int | None]], width: int) -> Bools:
    """Return for each pair of rows which results their values have; `table` has results."""
    found = np.zeros((len(rows), len(other), 1 << width), bool)
    for r in range(1 << width):
        hits = np.array([[cell == r for cell in line] for line in table], np.float32)
        if hits.any():
            found[:, :, r] = rows.astype(np.float32) @ hits @ other.T.astype(np.float32) > 0
    return found

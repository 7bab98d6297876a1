"""What a comparison of two values tells: whether it may hold, and what is left where it does."""

from __future__ import annotations

from kleene.base.arrays import I32, I64
from kleene.solvers.dataflow.codes import (
    HAS_VALUE,
    HIGH,
    LEAST,
    LOW,
    MAY_BE_UNDEFINED,
    MOST,
    ONES,
    STATE,
    STRIDE,
    ZEROS,
    Predicate,
)
from kleene.solvers.dataflow.compiled import device_function
from kleene.solvers.dataflow.rows import (
    copy,
    holds,
    is_constant,
    meet,
    reduce,
    set_any,
    set_constant,
    set_nothing,
)
from kleene.solvers.dataflow.words import (
    as_signed,
    greater,
    is_below,
    lesser,
    low_bits,
    minus,
    plus,
)

_EQ, _NE = int(Predicate.EQ), int(Predicate.NE)
_ULT, _UGE, _UGT, _ULE = (
    int(p) for p in (Predicate.ULT, Predicate.UGE, Predicate.UGT, Predicate.ULE)
)
_SLT, _SGE, _SGT, _SLE = (
    int(p) for p in (Predicate.SLT, Predicate.SGE, Predicate.SGT, Predicate.SLE)
)


@device_function
def _may_be_equal(facts: I64, a: int, b: int) -> bool:
    return (
        facts[a + LOW] <= facts[b + HIGH]
        and facts[b + LOW] <= facts[a + HIGH]
        and not is_below(facts[b + MOST], facts[a + LEAST])
        and not is_below(facts[a + MOST], facts[b + LEAST])
        and facts[a + ZEROS] & facts[b + ONES] == 0
        and facts[a + ONES] & facts[b + ZEROS] == 0
    )


@device_function
def may_hold(facts: I64, predicate: int, a: int, b: int) -> bool:
    """Return whether `x P y` holds for some values x and y of two rows, as far as is known."""
    if predicate == _EQ:
        return _may_be_equal(facts, a, b)
    if predicate == _NE:
        same = facts[a + LOW] == facts[b + LOW]
        return not (is_constant(facts, a) and is_constant(facts, b) and same)
    if predicate == _ULT:
        return is_below(facts[a + LEAST], facts[b + MOST])
    if predicate == _UGE:
        return not is_below(facts[a + MOST], facts[b + LEAST])
    if predicate == _UGT:
        return is_below(facts[b + LEAST], facts[a + MOST])
    if predicate == _ULE:
        return not is_below(facts[b + MOST], facts[a + LEAST])
    if predicate == _SLT:
        return bool(facts[a + LOW] < facts[b + HIGH])
    if predicate == _SGE:
        return bool(facts[a + HIGH] >= facts[b + LOW])
    if predicate == _SGT:
        return bool(facts[a + HIGH] > facts[b + LOW])
    return bool(facts[a + LOW] <= facts[b + HIGH])


@device_function
def compare(facts: I64, row: int, predicate: int, a: int, b: int) -> None:
    """Set a row of one bit to whether `x P y` holds of the values of two rows: 1, 0 or either."""
    state = facts[a + STATE] | facts[b + STATE]
    if not facts[a + STATE] & facts[b + STATE] & HAS_VALUE:
        set_nothing(facts, row, state)
        return
    yes, no = may_hold(facts, predicate, a, b), may_hold(facts, predicate ^ 1, a, b)
    if a == b and not state & MAY_BE_UNDEFINED:  # a number compared with itself
        yes = predicate in (_EQ, _UGE, _ULE, _SGE, _SLE)
        no = not yes
    if yes and no:
        set_any(facts, row, 1, state)
    else:
        set_constant(facts, row, 1, 1 if yes else 0, state)


@device_function
def _without(facts: I64, row: int, number: int, width: int) -> None:
    """Take a number out of a row, where it is an end of bounds."""
    pattern = number & low_bits(width)
    signed = as_signed(pattern, width)
    if is_constant(facts, row) and facts[row + LOW] == signed:
        set_nothing(facts, row, facts[row + STATE])
        return
    if facts[row + LOW] == signed:
        facts[row + LOW] = signed + 1
    if facts[row + HIGH] == signed:
        facts[row + HIGH] = signed - 1
    if facts[row + LEAST] == pattern:
        facts[row + LEAST] = plus(pattern, 1)
    if facts[row + MOST] == pattern:
        facts[row + MOST] = minus(pattern, 1)


@device_function
def exclude(
    facts: I64, row: int, width: int, attribute: I64, operands: I32, start: int, end: int
) -> None:
    """Set a row to the first operand without the constants that follow, which ascend.

    Going up and down again takes out all that are next to an end of bounds, one after the other.
    """
    copy(facts, row, operands[start] * STRIDE)
    for place in range(start + 1, end):
        if facts[row + STATE] & HAS_VALUE:
            _without(facts, row, attribute[operands[place]], width)
    for place in range(end - 1, start, -1):
        if facts[row + STATE] & HAS_VALUE:
            _without(facts, row, attribute[operands[place]], width)
    reduce(facts, row, width)


@device_function
def refine(facts: I64, row: int, predicate: int, a: int, b: int, width: int) -> None:
    """Set a row to the values of `a` that are in the relation P to some value of `b`.

    x < y needs x < most of y: where that is the least number of all, there is no such x. Else
    most - 1 is a number of the width, and likewise for the others.
    """
    if not facts[a + STATE] & facts[b + STATE] & HAS_VALUE:
        set_nothing(facts, row, facts[a + STATE])
        return
    copy(facts, row, a)
    if not may_hold(facts, predicate, a, b):
        set_nothing(facts, row, facts[a + STATE])
        return
    if predicate == _EQ:
        state = facts[row + STATE]
        meet(facts, row, b, width)
        facts[row + STATE] |= state & MAY_BE_UNDEFINED
    elif predicate == _NE:
        if is_constant(facts, b):
            _without(facts, row, facts[b + LOW], width)
    elif predicate == _ULT:
        facts[row + MOST] = lesser(facts[row + MOST], minus(facts[b + MOST], 1))
    elif predicate == _ULE:
        facts[row + MOST] = lesser(facts[row + MOST], facts[b + MOST])
    elif predicate == _UGT:
        facts[row + LEAST] = greater(facts[row + LEAST], plus(facts[b + LEAST], 1))
    elif predicate == _UGE:
        facts[row + LEAST] = greater(facts[row + LEAST], facts[b + LEAST])
    elif predicate == _SLT:
        facts[row + HIGH] = min(facts[row + HIGH], facts[b + HIGH] - 1)
    elif predicate == _SLE:
        facts[row + HIGH] = min(facts[row + HIGH], facts[b + HIGH])
    elif predicate == _SGT:
        facts[row + LOW] = max(facts[row + LOW], facts[b + LOW] + 1)
    else:
        facts[row + LOW] = max(facts[row + LOW], facts[b + LOW])
    reduce(facts, row, width)


@device_function
def is_covered(
    facts: I64, a: int, width: int, attribute: I64, operands: I32, start: int, end: int
) -> bool:
    """Return whether every value of a row is among the constants of some operands, all distinct.

    A row holds at most MOST - LEAST + 1 values, and at most HIGH - LOW + 1.
    """
    n_held = 0
    for place in range(start, end):
        if holds(facts, a, attribute[operands[place]], width):
            n_held += 1
    unsigned = minus(facts[a + MOST], facts[a + LEAST]) & low_bits(width)
    signed = minus(facts[a + HIGH], facts[a + LOW]) & low_bits(width)
    return n_held > 0 and not is_below(n_held - 1, lesser(unsigned, signed))

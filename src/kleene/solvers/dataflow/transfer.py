"""What the operators do to facts about values: `rows` says what a fact is.

Every function here computes a row from others, writes it where it is told, and is monotone: from
operands that hold more values comes a row that holds at least as many.
Operations on numbers are in `arithmetic`, what is learnt from tests is in `comparisons`.
"""

from __future__ import annotations

from kleene.base.arrays import I32, I64, U8
from kleene.solvers.dataflow.arithmetic import binary
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
    Flag,
    Operator,
)
from kleene.solvers.dataflow.comparisons import compare, exclude, is_covered, refine
from kleene.solvers.dataflow.compiled import device_function
from kleene.solvers.dataflow.rows import (
    copy,
    holds,
    join,
    meet,
    reduce,
    set_any,
    set_constant,
    set_nothing,
)
from kleene.solvers.dataflow.words import (
    as_signed,
    lesser,
    low_bits,
    n_low_zeros,
    shifted_right,
)

_NUW, _NSW, _IN_RANGE = int(Flag.NUW), int(Flag.NSW), int(Flag.IN_RANGE)
_ANY = int(Operator.ANY)
_CONSTANT = int(Operator.CONSTANT)
_GIVEN = int(Operator.GIVEN)
_JOIN = int(Operator.JOIN)
_PHI = int(Operator.PHI)
_MEET = int(Operator.MEET)
_REFINE = int(Operator.REFINE)
_EXCLUDE = int(Operator.EXCLUDE)
_SELECT = int(Operator.SELECT)
_FREEZE = int(Operator.FREEZE)
_WHEN = int(Operator.WHEN)
_WHEN_OTHER = int(Operator.WHEN_OTHER)
_ADDRESS = int(Operator.ADDRESS)
_LOW_BITS = int(Operator.LOW_BITS)
_BITS_WHERE = int(Operator.BITS_WHERE)
_COMPARE = int(Operator.COMPARE)
_TRUNCATE = int(Operator.TRUNCATE)
_ZERO_EXTEND = int(Operator.ZERO_EXTEND)
_ADD = int(Operator.ADD)


@device_function
def _cast(facts: I64, row: int, operator: int, a: int, width: int, from_width: int,
          flags: int) -> None:  # fmt: skip
    if not facts[a + STATE] & HAS_VALUE:
        set_nothing(facts, row, facts[a + STATE])
        return
    set_any(facts, row, width, facts[a + STATE])
    zeros, ones = facts[a + ZEROS], facts[a + ONES]
    if operator == _TRUNCATE:
        facts[row + ZEROS], facts[row + ONES] = zeros & low_bits(width), ones & low_bits(width)
        least, most = facts[a + LEAST], facts[a + MOST]
        if width < 64 and shifted_right(least, width) == shifted_right(most, width):
            facts[row + LEAST], facts[row + MOST] = least & low_bits(width), most & low_bits(width)
        low, high = facts[a + LOW], facts[a + HIGH]
        if ~low_bits(width - 1) <= low and high <= low_bits(width - 1):
            facts[row + LOW], facts[row + HIGH] = low, high
    elif operator == _ZERO_EXTEND:
        above = low_bits(width) & ~low_bits(from_width)
        facts[row + LEAST], facts[row + MOST] = facts[a + LEAST], facts[a + MOST]
        if flags & _NUW:
            if facts[a + LOW] < 0:
                facts[row + STATE] |= MAY_BE_UNDEFINED
            facts[row + MOST] = lesser(facts[row + MOST], low_bits(from_width - 1))
        facts[row + ZEROS], facts[row + ONES] = zeros | above, ones
    else:
        facts[row + LOW], facts[row + HIGH] = facts[a + LOW], facts[a + HIGH]
        facts[row + ZEROS] = as_signed(zeros, from_width) & low_bits(width)
        facts[row + ONES] = as_signed(ones, from_width) & low_bits(width)
    reduce(facts, row, width)


@device_function
def _set_when(facts: I64, row: int, is_reached: bool) -> None:
    if is_reached:
        set_constant(facts, row, 1, 1, HAS_VALUE)
    else:
        set_nothing(facts, row, 0)


@device_function
def _address(facts: I64, row: int, a: int, width: int, attribute: int) -> None:
    """Set a row to an address plus a multiple of a power of two."""
    if not facts[a + STATE] & HAS_VALUE:
        set_nothing(facts, row, facts[a + STATE])
        return
    set_any(facts, row, width, facts[a + STATE])
    even = low_bits(min(n_low_zeros(~facts[a + ZEROS]), attribute & 63, width))
    facts[row + ZEROS] = even
    if attribute & 64 and facts[a + LEAST] != 0:
        facts[row + LEAST] = 1
    reduce(facts, row, width)


@device_function
def evaluate(
    facts: I64, row: int, name: int, operator: U8, width: U8, attribute: I64, offsets: I64,
    operands: I32, given: I64,
) -> None:  # fmt: skip
    """Write at `row` what the constraint of a name gives for the facts as they are."""
    code, start, end = operator[name], offsets[name], offsets[name + 1]
    wide, number = width[name], attribute[name]
    if code >= _ADD:
        a, b = operands[start] * STRIDE, operands[start + 1] * STRIDE
        binary(facts, row, code, a, b, wide, number)
    elif code == _JOIN:
        copy(facts, row, operands[start] * STRIDE)
        for place in range(start + 1, end):
            join(facts, row, operands[place] * STRIDE)
        if end > start + 1:
            reduce(facts, row, wide)
    elif code == _PHI:
        set_nothing(facts, row, 0)
        for place in range(start, end - 1, 2):
            if facts[operands[place + 1] * STRIDE + STATE] & HAS_VALUE:
                join(facts, row, operands[place] * STRIDE)
        reduce(facts, row, wide)
        if (end - start) & 1:
            meet(facts, row, operands[end - 1] * STRIDE, wide)
    elif code == _COMPARE:
        compare(facts, row, number, operands[start] * STRIDE, operands[start + 1] * STRIDE)
    elif code == _REFINE:
        refine(facts, row, number, operands[start] * STRIDE, operands[start + 1] * STRIDE, wide)
    elif code == _EXCLUDE:
        exclude(facts, row, wide, attribute, operands, start, end)
    elif code == _MEET:
        copy(facts, row, operands[start] * STRIDE)
        for place in range(start + 1, end):
            meet(facts, row, operands[place] * STRIDE, wide)
    elif code >= _TRUNCATE:
        a = operands[start]
        _cast(facts, row, code, a * STRIDE, wide, width[a], number)
    elif code == _SELECT:
        condition = operands[start] * STRIDE
        set_nothing(facts, row, facts[condition + STATE])
        if holds(facts, condition, 1, 1):
            join(facts, row, operands[start + 1] * STRIDE)
        if holds(facts, condition, 0, 1):
            join(facts, row, operands[start + 2] * STRIDE)
        reduce(facts, row, wide)
    elif code == _FREEZE:
        copy(facts, row, operands[start] * STRIDE)
        if facts[row + STATE] & MAY_BE_UNDEFINED:
            set_any(facts, row, wide, HAS_VALUE)
    elif code in (_WHEN, _WHEN_OTHER):
        value = operands[start + 1]
        is_reached = facts[operands[start] * STRIDE + STATE] & HAS_VALUE != 0
        if is_reached and code == _WHEN:
            is_reached = holds(facts, value * STRIDE, number, width[value])
        elif is_reached:
            is_reached = facts[value * STRIDE + STATE] & HAS_VALUE != 0 and not is_covered(
                facts, value * STRIDE, width[value], attribute, operands, start + 2, end
            )
        _set_when(facts, row, is_reached)
    elif code == _ADDRESS:
        _address(facts, row, operands[start] * STRIDE, wide, number)
    elif code in (_LOW_BITS, _BITS_WHERE):
        a = operands[start] * STRIDE
        where = low_bits(wide)
        if code == _BITS_WHERE:
            where = facts[operands[start + 1] * STRIDE + ONES]
        zeros, ones, state = facts[a + ZEROS], facts[a + ONES], facts[a + STATE]
        if state & HAS_VALUE:
            set_any(facts, row, wide, state)
            facts[row + ZEROS], facts[row + ONES] = zeros & where, ones & where
            reduce(facts, row, wide)
        else:
            set_nothing(facts, row, state)
    elif code == _CONSTANT:
        set_constant(facts, row, wide, number, HAS_VALUE)
    elif code == _GIVEN:
        for column in range(STATE + 1):
            facts[row + column] = given[number * STRIDE + column]
    elif code == _ANY:
        set_any(facts, row, wide, HAS_VALUE | MAY_BE_UNDEFINED)
    else:
        set_nothing(facts, row, 0)

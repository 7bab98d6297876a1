"""What operations on two numbers do to facts about them: bounds, signed and unsigned, and bits.

Of the bounds that an operation could have, a function here gives all that are simple, signed and
unsigned and by bits, and leaves it to `reduce` to make one of them. Bounds that leave the width
wrap around, and say nothing then unless both wrap equally often.
"""

from __future__ import annotations

from kleene.base.arrays import I64
from kleene.solvers.dataflow.codes import (
    HAS_VALUE,
    HIGH,
    LEAST,
    LOW,
    MAY_BE_UNDEFINED,
    MOST,
    ONES,
    STATE,
    ZEROS,
    Flag,
    Operator,
)
from kleene.solvers.dataflow.compiled import device_function
from kleene.solvers.dataflow.rows import (
    copy,
    is_constant,
    reduce,
    set_any,
    set_nothing,
)
from kleene.solvers.dataflow.words import (
    as_signed,
    greater,
    is_below,
    lesser,
    low_bits,
    minus,
    n_low_zeros,
    plus,
    quotient,
    remainder,
    shifted_left,
    shifted_right,
    times,
)

_NUW, _NSW, _IN_RANGE = int(Flag.NUW), int(Flag.NSW), int(Flag.IN_RANGE)
_ADD = int(Operator.ADD)
_SUBTRACT = int(Operator.SUBTRACT)
_MULTIPLY = int(Operator.MULTIPLY)
_UNSIGNED_DIVIDE = int(Operator.UNSIGNED_DIVIDE)
_SIGNED_DIVIDE = int(Operator.SIGNED_DIVIDE)
_UNSIGNED_REMAINDER = int(Operator.UNSIGNED_REMAINDER)
_SIGNED_REMAINDER = int(Operator.SIGNED_REMAINDER)
_SHIFT_LEFT = int(Operator.SHIFT_LEFT)
_SHIFT_RIGHT = int(Operator.SHIFT_RIGHT)
_SHIFT_RIGHT_SIGNED = int(Operator.SHIFT_RIGHT_SIGNED)
_AND = int(Operator.AND)
_OR = int(Operator.OR)
_XOR = int(Operator.XOR)
_SIGNED_MIN = int(Operator.SIGNED_MIN)
_SIGNED_MAX = int(Operator.SIGNED_MAX)
_UNSIGNED_MIN = int(Operator.UNSIGNED_MIN)


@device_function
def _sum(x: int, y: int, width: int) -> tuple[int, int]:
    """Return x + y of signed numbers, wrapped to the width, and by how many 2^width it was off."""
    total = plus(x, y)
    if width == 64:
        if x >= 0 and y >= 0 and total < 0:
            return total, 1
        return total, -1 if x < 0 and y < 0 and total >= 0 else 0
    off = 1 if total > low_bits(width - 1) else -1 if total < ~low_bits(width - 1) else 0
    return as_signed(total & low_bits(width), width), off


@device_function
def _difference(x: int, y: int, width: int) -> tuple[int, int]:
    """Return x - y of signed numbers, wrapped to the width, and by how many 2^width it was off."""
    total = minus(x, y)
    if width == 64:
        if x >= 0 and y < 0 and total < 0:
            return total, 1
        return total, -1 if x < 0 and y >= 0 and total >= 0 else 0
    off = 1 if total > low_bits(width - 1) else -1 if total < ~low_bits(width - 1) else 0
    return as_signed(total & low_bits(width), width), off


@device_function
def _magnitude(x: int) -> int:
    """Return |x| as a pattern of 64 bits."""
    return x if x >= 0 else minus(0, x)


@device_function
def _product(x: int, y: int, width: int) -> tuple[int, int]:
    """Return x * y of signed numbers if it fits the width, else its bound there and its sign.

    |x| * |y| fits if |x| <= limit / |y|, where limit is 2^(width-1), less 1 if the product is
    positive.
    """
    if x == 0 or y == 0:
        return 0, 0
    negative = (x < 0) != (y < 0)
    limit = low_bits(width - 1)
    bound = plus(limit, 1) if negative else limit  # a pattern: 2^63 of 64 bits
    if is_below(quotient(bound, _magnitude(y)), _magnitude(x)):
        return (~limit, -1) if negative else (limit, 1)
    return times(x, y), 0


@device_function
def _toward_zero(x: int, y: int, width: int) -> int:
    """Return x / y of signed numbers, rounded towards zero; the largest number for least / -1."""
    if y == -1:
        return low_bits(width - 1) if x == ~low_bits(width - 1) else -x
    found = x // y
    return found + 1 if found < 0 and found * y != x else found


@device_function
def _set_signed(facts: I64, row: int, low: int, off_low: int, high: int, off_high: int,
                width: int, no_wrap: bool) -> None:  # fmt: skip
    """Set the signed bounds of a row from those of a sum, each with how far it was off.

    Where both ends are off by the same 2^width they keep their order; where the program promises
    not to wrap, only what lies within remains, and the rest is poison.
    """
    least, most = ~low_bits(width - 1), low_bits(width - 1)
    if off_low == 0 and off_high == 0:
        facts[row + LOW], facts[row + HIGH] = low, high
    elif no_wrap:
        facts[row + STATE] |= MAY_BE_UNDEFINED
        if off_low > 0 or off_high < 0:
            set_nothing(facts, row, facts[row + STATE])
            return
        facts[row + LOW] = least if off_low < 0 else low
        facts[row + HIGH] = most if off_high > 0 else high
    elif off_low == off_high:
        facts[row + LOW], facts[row + HIGH] = low, high


@device_function
def _set_unsigned(facts: I64, row: int, least: int, off_least: bool, most: int, off_most: bool,
                  width: int, no_wrap: bool, is_low_off: bool) -> None:  # fmt: skip
    """Set the unsigned bounds of a row; `is_low_off` says that what is off is below 0."""
    if not facts[row + STATE] & HAS_VALUE:
        return
    if not off_least and not off_most:
        facts[row + LEAST], facts[row + MOST] = least, most
    elif no_wrap:
        facts[row + STATE] |= MAY_BE_UNDEFINED
        if off_least and off_most:
            set_nothing(facts, row, facts[row + STATE])
        elif is_low_off:
            facts[row + LEAST], facts[row + MOST] = 0, most
        else:
            facts[row + LEAST], facts[row + MOST] = least, low_bits(width)
    elif off_least and off_most:
        facts[row + LEAST], facts[row + MOST] = least, most


@device_function
def _add_bits(facts: I64, row: int, zeros_a: int, ones_a: int, zeros_b: int, ones_b: int,
              carry: int, width: int) -> None:  # fmt: skip
    """Set the bits of a row to those of a sum.

    The largest sum has every unknown bit 1, the smallest has it 0. A carry into a bit is known
    where it is the same in both: `sum ^ a ^ b` is the carry.
    """
    full = low_bits(width)
    largest = plus(plus(~zeros_a & full, ~zeros_b & full), carry)
    smallest = plus(plus(ones_a, ones_b), carry)
    carry_zero = ~(largest ^ ~zeros_a ^ ~zeros_b)
    carry_one = smallest ^ ones_a ^ ones_b
    known = (zeros_a | ones_a) & (zeros_b | ones_b) & (carry_zero | carry_one) & full
    facts[row + ZEROS], facts[row + ONES] = ~largest & known, smallest & known


@device_function
def _add(facts: I64, row: int, a: int, b: int, width: int, flags: int) -> None:
    low, off_low = _sum(facts[a + LOW], facts[b + LOW], width)
    high, off_high = _sum(facts[a + HIGH], facts[b + HIGH], width)
    _set_signed(facts, row, low, off_low, high, off_high, width, flags & _NSW != 0)
    full = low_bits(width)
    least = plus(facts[a + LEAST], facts[b + LEAST]) & full
    most = plus(facts[a + MOST], facts[b + MOST]) & full
    off_least, off_most = is_below(least, facts[a + LEAST]), is_below(most, facts[a + MOST])
    _set_unsigned(facts, row, least, off_least, most, off_most, width, flags & _NUW != 0, False)
    _add_bits(
        facts, row, facts[a + ZEROS], facts[a + ONES], facts[b + ZEROS], facts[b + ONES], 0, width
    )


@device_function
def _subtract(facts: I64, row: int, a: int, b: int, width: int, flags: int) -> None:
    low, off_low = _difference(facts[a + LOW], facts[b + HIGH], width)
    high, off_high = _difference(facts[a + HIGH], facts[b + LOW], width)
    _set_signed(facts, row, low, off_low, high, off_high, width, flags & _NSW != 0)
    full = low_bits(width)
    least = minus(facts[a + LEAST], facts[b + MOST]) & full
    most = minus(facts[a + MOST], facts[b + LEAST]) & full
    off_least = is_below(facts[a + LEAST], facts[b + MOST])
    off_most = is_below(facts[a + MOST], facts[b + LEAST])
    _set_unsigned(facts, row, least, off_least, most, off_most, width, flags & _NUW != 0, True)
    # a - b is a + ~b + 1.
    _add_bits(
        facts, row, facts[a + ZEROS], facts[a + ONES], facts[b + ONES], facts[b + ZEROS], 1, width
    )


@device_function
def _multiply(facts: I64, row: int, a: int, b: int, width: int, flags: int) -> None:
    """Signed bounds are among the four products of ends; bits, from the lowest known ones."""
    low, high, is_off = low_bits(width - 1), ~low_bits(width - 1), False
    for x in (facts[a + LOW], facts[a + HIGH]):
        for y in (facts[b + LOW], facts[b + HIGH]):
            found, off = _product(x, y, width)
            low, high, is_off = min(low, found), max(high, found), is_off or off != 0
    if not is_off or flags & _NSW:
        facts[row + LOW], facts[row + HIGH] = low, high
    full = low_bits(width)
    most_a, most_b = facts[a + MOST], facts[b + MOST]
    fits = most_b == 0 or not is_below(quotient(full, most_b), most_a)
    if fits or flags & _NUW:
        least_a, least_b = facts[a + LEAST], facts[b + LEAST]
        least_fits = least_b == 0 or not is_below(quotient(full, least_b), least_a)
        facts[row + LEAST] = times(least_a, least_b) if least_fits else full
        facts[row + MOST] = times(most_a, most_b) if fits else full
    if (is_off and flags & _NSW) or (not fits and flags & _NUW):
        facts[row + STATE] |= MAY_BE_UNDEFINED
    zeros_a, zeros_b = facts[a + ZEROS], facts[b + ZEROS]
    ones_a, ones_b = facts[a + ONES], facts[b + ONES]
    known_a, known_b = n_low_zeros(~(zeros_a | ones_a)), n_low_zeros(~(zeros_b | ones_b))
    even_a, even_b = n_low_zeros(~zeros_a), n_low_zeros(~zeros_b)
    n_known = min(known_a + even_b, known_b + even_a, width)
    known = low_bits(n_known)
    found = times(ones_a & low_bits(known_a), ones_b & low_bits(known_b))
    facts[row + ZEROS], facts[row + ONES] = ~found & known, found & known


@device_function
def _unsigned_divide(facts: I64, row: int, a: int, b: int) -> None:
    if facts[b + MOST] == 0:
        set_nothing(facts, row, 0)
        return
    facts[row + LEAST] = quotient(facts[a + LEAST], facts[b + MOST])
    facts[row + MOST] = quotient(facts[a + MOST], greater(facts[b + LEAST], 1))


@device_function
def _signed_divide(facts: I64, row: int, a: int, b: int, width: int) -> None:
    """Bounds are among the quotients of ends, for divisors below and above 0 apart."""
    low, high = low_bits(width - 1), ~low_bits(width - 1)
    for x in (facts[a + LOW], facts[a + HIGH]):
        if facts[b + HIGH] > 0:
            for y in (max(facts[b + LOW], 1), facts[b + HIGH]):
                found = _toward_zero(x, y, width)
                low, high = min(low, found), max(high, found)
        if facts[b + LOW] < 0:
            for y in (facts[b + LOW], min(facts[b + HIGH], -1)):
                found = _toward_zero(x, y, width)
                low, high = min(low, found), max(high, found)
    if low > high:
        set_nothing(facts, row, 0)
        return
    facts[row + LOW], facts[row + HIGH] = low, high


@device_function
def _unsigned_remainder(facts: I64, row: int, a: int, b: int) -> None:
    most_b = facts[b + MOST]
    if most_b == 0:
        set_nothing(facts, row, 0)
        return
    facts[row + LEAST], facts[row + MOST] = 0, lesser(facts[a + MOST], minus(most_b, 1))
    if is_below(facts[a + MOST], facts[b + LEAST]):
        copy(facts, row, a)
    elif is_constant(facts, b):
        divisor = facts[b + LEAST]
        if quotient(facts[a + LEAST], divisor) == quotient(facts[a + MOST], divisor):
            facts[row + LEAST] = remainder(facts[a + LEAST], divisor)
            facts[row + MOST] = remainder(facts[a + MOST], divisor)
        low = low_bits(n_low_zeros(divisor))  # a multiple of the divisor has zeros there
        facts[row + ZEROS], facts[row + ONES] = facts[a + ZEROS] & low, facts[a + ONES] & low


@device_function
def _signed_remainder(facts: I64, row: int, a: int, b: int) -> None:
    """The sign is the dividend's; the remainder is at most it, and below the divisor's size."""
    if facts[b + LOW] == 0 and facts[b + HIGH] == 0:
        set_nothing(facts, row, 0)
        return
    size = greater(_magnitude(facts[b + LOW]), _magnitude(facts[b + HIGH]))
    below = minus(size, 1)  # at most 2^(width-1) - 1
    facts[row + LOW] = max(min(facts[a + LOW], 0), -below)
    facts[row + HIGH] = min(max(facts[a + HIGH], 0), below)
    if facts[a + LOW] >= 0 and facts[b + LOW] > facts[a + HIGH]:
        copy(facts, row, a)


@device_function
def _shift(facts: I64, row: int, operator: int, a: int, b: int, width: int, flags: int) -> None:
    """Shift by each number of bits from `least` to `most`; by the width or more gives poison."""
    least, most = facts[b + LEAST], facts[b + MOST]
    if not is_below(least, width):
        facts[row + STATE] |= MAY_BE_UNDEFINED
        if flags & _IN_RANGE:
            set_nothing(facts, row, MAY_BE_UNDEFINED)
        return
    if not is_below(most, width):
        facts[row + STATE] |= MAY_BE_UNDEFINED
        if not flags & _IN_RANGE:
            return
        most = width - 1
    full = low_bits(width)
    if operator == _SHIFT_LEFT:
        _shift_left(facts, row, a, least, most, width, flags)
    elif operator == _SHIFT_RIGHT:
        facts[row + LEAST] = shifted_right(facts[a + LEAST], most)
        facts[row + MOST] = shifted_right(facts[a + MOST], least)
        if least == most:
            facts[row + ZEROS] = shifted_right(facts[a + ZEROS], least) | (
                full & ~shifted_right(full, least)
            )
            facts[row + ONES] = shifted_right(facts[a + ONES], least)
    else:
        facts[row + LOW] = min(facts[a + LOW] >> least, facts[a + LOW] >> most)
        facts[row + HIGH] = max(facts[a + HIGH] >> least, facts[a + HIGH] >> most)
        if least == most:
            facts[row + ZEROS] = (as_signed(facts[a + ZEROS], width) >> least) & full
            facts[row + ONES] = (as_signed(facts[a + ONES], width) >> least) & full


@device_function
def _shift_left(
    facts: I64, row: int, a: int, least: int, most: int, width: int, flags: int
) -> None:
    """A number fits after a shift by n if shifting back gives it again."""
    full = low_bits(width)
    fits = not is_below(shifted_right(full, most), facts[a + MOST])
    if fits or flags & _NUW:
        least_fits = not is_below(shifted_right(full, least), facts[a + LEAST])
        facts[row + LEAST] = shifted_left(facts[a + LEAST], least) if least_fits else full
        facts[row + MOST] = shifted_left(facts[a + MOST], most) if fits else full
    limit = low_bits(width - 1)
    low, high = facts[a + LOW], facts[a + HIGH]
    # The ends of low * 2^n: of a negative number the largest n, of a positive one the smallest.
    n_low, n_high = most if low < 0 else least, least if high < 0 else most
    low_fits = ~limit >> n_low <= low <= limit >> n_low
    high_fits = ~limit >> n_high <= high <= limit >> n_high
    if (low_fits and high_fits) or flags & _NSW:
        facts[row + LOW] = shifted_left(low, n_low) if low_fits else (~limit if low < 0 else limit)
        facts[row + HIGH] = (
            shifted_left(high, n_high) if high_fits else (~limit if high < 0 else limit)
        )
    if (not fits and flags & _NUW) or (not (low_fits and high_fits) and flags & _NSW):
        facts[row + STATE] |= MAY_BE_UNDEFINED
    if least == most:
        facts[row + ZEROS] = (shifted_left(facts[a + ZEROS], least) | low_bits(least)) & full
        facts[row + ONES] = shifted_left(facts[a + ONES], least) & full
    else:
        facts[row + ZEROS] = low_bits(min(n_low_zeros(~facts[a + ZEROS]) + least, width))


@device_function
def _bitwise(facts: I64, row: int, operator: int, a: int, b: int) -> None:
    zeros_a, ones_a = facts[a + ZEROS], facts[a + ONES]
    zeros_b, ones_b = facts[b + ZEROS], facts[b + ONES]
    if operator == _AND:
        facts[row + ZEROS], facts[row + ONES] = zeros_a | zeros_b, ones_a & ones_b
        facts[row + MOST] = lesser(facts[a + MOST], facts[b + MOST])
    elif operator == _OR:
        facts[row + ZEROS], facts[row + ONES] = zeros_a & zeros_b, ones_a | ones_b
        facts[row + LEAST] = greater(facts[a + LEAST], facts[b + LEAST])
    else:
        facts[row + ZEROS] = (zeros_a & zeros_b) | (ones_a & ones_b)
        facts[row + ONES] = (zeros_a & ones_b) | (ones_a & zeros_b)


@device_function
def _extreme(facts: I64, row: int, operator: int, a: int, b: int) -> None:
    """Set a row to the smaller or larger of two values: bounds by their order, bits of both."""
    if operator == _SIGNED_MIN:
        facts[row + LOW] = min(facts[a + LOW], facts[b + LOW])
        facts[row + HIGH] = min(facts[a + HIGH], facts[b + HIGH])
    elif operator == _SIGNED_MAX:
        facts[row + LOW] = max(facts[a + LOW], facts[b + LOW])
        facts[row + HIGH] = max(facts[a + HIGH], facts[b + HIGH])
    elif operator == _UNSIGNED_MIN:
        facts[row + LEAST] = lesser(facts[a + LEAST], facts[b + LEAST])
        facts[row + MOST] = lesser(facts[a + MOST], facts[b + MOST])
    else:
        facts[row + LEAST] = greater(facts[a + LEAST], facts[b + LEAST])
        facts[row + MOST] = greater(facts[a + MOST], facts[b + MOST])
    facts[row + ZEROS] = facts[a + ZEROS] & facts[b + ZEROS]
    facts[row + ONES] = facts[a + ONES] & facts[b + ONES]


@device_function
def binary(facts: I64, row: int, operator: int, a: int, b: int, width: int, flags: int) -> None:
    """Set a row to the results of an operation on two values of its width."""
    state = facts[a + STATE] | facts[b + STATE]
    if not facts[a + STATE] & facts[b + STATE] & HAS_VALUE:
        set_nothing(facts, row, state)
        return
    set_any(facts, row, width, state)
    if operator == _ADD:
        _add(facts, row, a, b, width, flags)
    elif operator == _SUBTRACT:
        _subtract(facts, row, a, b, width, flags)
    elif operator == _MULTIPLY:
        _multiply(facts, row, a, b, width, flags)
    elif operator == _UNSIGNED_DIVIDE:
        _unsigned_divide(facts, row, a, b)
    elif operator == _SIGNED_DIVIDE:
        _signed_divide(facts, row, a, b, width)
    elif operator == _UNSIGNED_REMAINDER:
        _unsigned_remainder(facts, row, a, b)
    elif operator == _SIGNED_REMAINDER:
        _signed_remainder(facts, row, a, b)
    elif operator <= _SHIFT_RIGHT_SIGNED:
        _shift(facts, row, operator, a, b, width, flags)
    elif operator <= _XOR:
        _bitwise(facts, row, operator, a, b)
    else:
        _extreme(facts, row, operator, a, b)
    facts[row + STATE] |= state & MAY_BE_UNDEFINED
    reduce(facts, row, width)

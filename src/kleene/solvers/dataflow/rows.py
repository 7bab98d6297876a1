"""Facts about values of one width, as rows of an array: what they mean, join, meet, reduction.

A row says of a value of w <= 64 bits, which is a bit pattern:

    LOW <= signed value <= HIGH        LEAST <= unsigned value <= MOST
    bits of ZEROS are 0, bits of ONES are 1
    STATE: HAS_VALUE, MAY_BE_UNDEFINED

All columns are kept together: "not 0" is LEAST 1, "not -1" is MOST 2^w - 2, "even" is a bit of
ZEROS. A row without HAS_VALUE is bottom (or only undefined), and has zeros elsewhere.

**Order.** A row is below another if it says at least as much in every column. Join and meet go by
column. `reduce` makes every column say what the others imply, as far as three steps lead; each step
is a meet with what other columns imply, which is monotone, so that reducing is monotone too. All
operators are monotone, and so the least solution of a system of constraints is one thing, however
it is computed.

Rows are named by where they begin: name n begins at `n * STRIDE`.
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
)
from kleene.solvers.dataflow.compiled import device_function
from kleene.solvers.dataflow.words import (
    as_signed,
    greater,
    highest,
    is_below,
    lesser,
    low_bits,
    next_match,
)


@device_function
def set_nothing(facts: I64, row: int, state: int) -> None:
    """Make a row say that there is no value; of `state`, MAY_BE_UNDEFINED is kept."""
    for column in range(STATE):
        facts[row + column] = 0
    facts[row + STATE] = state & MAY_BE_UNDEFINED


@device_function
def set_any(facts: I64, row: int, width: int, state: int) -> None:
    """Make a row hold every value."""
    facts[row + LOW], facts[row + HIGH] = ~low_bits(width - 1), low_bits(width - 1)
    facts[row + LEAST], facts[row + MOST] = 0, low_bits(width)
    facts[row + ZEROS], facts[row + ONES] = 0, 0
    facts[row + STATE] = state


@device_function
def set_constant(facts: I64, row: int, width: int, number: int, state: int) -> None:
    """Make a row hold one number."""
    pattern = number & low_bits(width)
    facts[row + LOW] = facts[row + HIGH] = as_signed(pattern, width)
    facts[row + LEAST] = facts[row + MOST] = pattern
    facts[row + ZEROS], facts[row + ONES] = ~pattern & low_bits(width), pattern
    facts[row + STATE] = state


@device_function
def copy(facts: I64, row: int, source: int) -> None:
    """Make a row equal to another."""
    for column in range(STATE + 1):
        facts[row + column] = facts[source + column]


@device_function
def differ(facts: I64, row: int, other: int) -> bool:
    """Return whether two rows differ."""
    for column in range(STATE + 1):  # noqa: SIM110 -- compiled code has no generators
        if facts[row + column] != facts[other + column]:
            return True
    return False


@device_function
def join(facts: I64, row: int, other: int) -> None:
    """Add to a row the values of another."""
    state = facts[row + STATE] | facts[other + STATE]
    if facts[other + STATE] & HAS_VALUE:
        if facts[row + STATE] & HAS_VALUE:
            facts[row + LOW] = min(facts[row + LOW], facts[other + LOW])
            facts[row + HIGH] = max(facts[row + HIGH], facts[other + HIGH])
            facts[row + LEAST] = lesser(facts[row + LEAST], facts[other + LEAST])
            facts[row + MOST] = greater(facts[row + MOST], facts[other + MOST])
            facts[row + ZEROS] &= facts[other + ZEROS]
            facts[row + ONES] &= facts[other + ONES]
        else:
            copy(facts, row, other)
    facts[row + STATE] = state


@device_function
def meet(facts: I64, row: int, other: int, width: int) -> None:
    """Keep of a row the values that another holds too."""
    state = facts[row + STATE] & facts[other + STATE]
    if not state & HAS_VALUE:
        set_nothing(facts, row, state)
        return
    facts[row + LOW] = max(facts[row + LOW], facts[other + LOW])
    facts[row + HIGH] = min(facts[row + HIGH], facts[other + HIGH])
    facts[row + LEAST] = greater(facts[row + LEAST], facts[other + LEAST])
    facts[row + MOST] = lesser(facts[row + MOST], facts[other + MOST])
    facts[row + ZEROS] |= facts[other + ZEROS]
    facts[row + ONES] |= facts[other + ONES]
    facts[row + STATE] = state
    reduce(facts, row, width)


@device_function
def holds(facts: I64, row: int, number: int, width: int) -> bool:
    """Return whether a row may hold a number."""
    pattern = number & low_bits(width)
    signed = as_signed(pattern, width)
    if not facts[row + STATE] & HAS_VALUE or not facts[row + LOW] <= signed <= facts[row + HIGH]:
        return False
    if is_below(pattern, facts[row + LEAST]) or is_below(facts[row + MOST], pattern):
        return False
    return not (pattern & facts[row + ZEROS]) | (~pattern & facts[row + ONES])


@device_function
def is_constant(facts: I64, row: int) -> bool:
    """Return whether a row holds one number, which then is LOW and LEAST."""
    return bool(facts[row + STATE] & HAS_VALUE) and bool(facts[row + LOW] == facts[row + HIGH])


@device_function
def _shrunk(least: int, most: int, zeros: int, ones: int, full: int) -> tuple[bool, int, int]:
    """Return the ends of a range of patterns moved inwards to ones whose bits agree.

    The greatest pattern up to `most` is the complement of the least one from `~most` on.
    """
    if is_below(most, least):
        return False, least, most
    found, least = next_match(least, zeros, ones, full)
    if not found or is_below(most, least):
        return False, least, most
    _, complement = next_match(~most & full, ones, zeros, full)  # found: `least` is one
    return True, least, ~complement & full


@device_function
def reduce(facts: I64, row: int, width: int) -> None:
    """Make every column of a row say what the others imply.

    The patterns are looked at in two parts, without and with the highest bit: in each, signed and
    unsigned order agree. Each part's range is cut to what all columns allow and moved inwards to
    patterns whose bits agree; bits above the highest in which its ends differ are then known.
    """
    if not facts[row + STATE] & HAS_VALUE:
        set_nothing(facts, row, facts[row + STATE])
        return
    full, half = low_bits(width), low_bits(width - 1)
    for _ in range(3):
        low, high = facts[row + LOW], facts[row + HIGH]
        least, most = facts[row + LEAST], facts[row + MOST]
        zeros, ones = facts[row + ZEROS], facts[row + ONES]
        if low > high or is_below(most, least) or zeros & ones:
            set_nothing(facts, row, facts[row + STATE])
            return
        has_plain, plain_low, plain_high = False, 0, 0
        if high >= 0:
            has_plain, plain_low, plain_high = _shrunk(
                greater(max(low, 0), least), lesser(min(high, half), most), zeros, ones, full
            )
        has_minus, minus_low, minus_high = False, 0, 0
        if low < 0:
            has_minus, minus_low, minus_high = _shrunk(
                greater(low & full, least), lesser(min(high, -1) & full, most), zeros, ones, full
            )
        if not has_plain and not has_minus:
            set_nothing(facts, row, facts[row + STATE])
            return
        new_zeros, new_ones = full, full
        if has_plain:
            known = full & ~low_bits(highest(plain_low ^ plain_high) + 1)
            new_zeros &= zeros | (known & ~plain_low)
            new_ones &= ones | (known & plain_low)
        if has_minus:
            known = full & ~low_bits(highest(minus_low ^ minus_high) + 1)
            new_zeros &= zeros | (known & ~minus_low)
            new_ones &= ones | (known & minus_low)
        facts[row + LOW] = as_signed(minus_low, width) if has_minus else plain_low
        facts[row + HIGH] = plain_high if has_plain else as_signed(minus_high, width)
        facts[row + LEAST] = plain_low if has_plain else minus_low
        facts[row + MOST] = minus_high if has_minus else plain_high
        facts[row + ZEROS], facts[row + ONES] = new_zeros, new_ones
        if (
            new_zeros == zeros
            and new_ones == ones
            and facts[row + LOW] == low
            and facts[row + HIGH] == high
            and facts[row + LEAST] == least
            and facts[row + MOST] == most
        ):
            return


@device_function
def round_up(
    facts: I64, row: int, width: int, signed: I64, unsigned: I64, start: int, end: int
) -> None:
    """Move the bounds of a row outwards to thresholds, so that they can move a few times only.

    Thresholds are `signed[start:end]` ascending, and `unsigned[start:end]` ascending as patterns.
    Of bits that are known from the highest one down, bounds follow again: these are forgotten up to
    the next of bit 1, 2, 4, 8, 16, 32. All of it is monotone and does nothing the second time, so
    that the least solution of constraints with rounding is one thing too.
    """
    if not facts[row + STATE] & HAS_VALUE or is_constant(facts, row):
        return
    place = start
    low, high = ~low_bits(width - 1), low_bits(width - 1)
    while place < end and signed[place] <= facts[row + LOW]:
        low = max(low, signed[place])
        place += 1
    while place < end and signed[place] < facts[row + HIGH]:
        place += 1
    if place < end:
        high = min(high, signed[place])
    place = start
    least, most = 0, low_bits(width)
    while place < end and not is_below(facts[row + LEAST], unsigned[place]):
        least = unsigned[place]
        place += 1
    while place < end and is_below(unsigned[place], facts[row + MOST]):
        place += 1
    if place < end:
        most = lesser(most, unsigned[place])
    unknown = ~(facts[row + ZEROS] | facts[row + ONES]) & low_bits(width)
    n_low = 1
    while n_low < 64 and n_low <= highest(unknown):
        n_low *= 2
    forgotten = low_bits(min(n_low, width)) & ~low_bits(highest(unknown) + 1)
    facts[row + LOW], facts[row + HIGH] = low, high
    facts[row + LEAST], facts[row + MOST] = least, most
    facts[row + ZEROS] &= ~forgotten
    facts[row + ONES] &= ~forgotten
    reduce(facts, row, width)

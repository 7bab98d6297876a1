"""The small integers of dataflow constraints: operators, flags, predicates, columns of facts."""

from __future__ import annotations

from enum import IntEnum, IntFlag, unique

# A fact about values has these columns, and takes `STRIDE` integers of 64 bits.
LOW, HIGH, LEAST, MOST, ZEROS, ONES, STATE = range(7)
STRIDE = 8

# STATE: whether there is a value at all, and whether it may be undefined (undef or poison).
HAS_VALUE, MAY_BE_UNDEFINED = 1, 2


@unique
class Operator(IntEnum):
    """How a name's fact follows from those of its operands.

    Operands are names; `a` stands for the attribute of the constraint. A name of width 1 that is 1
    or has no value at all says whether control reaches a block or edge.
    """

    NOTHING = 0  # no value: never computed, or not reached
    ANY = 1  # any value, maybe undefined
    CONSTANT = 2  # the number `a`, as bits
    GIVEN = 3  # row `a` of the given facts
    JOIN = 4  # [x, …] one of these; of one operand a copy
    PHI = 5  # [x, g, y, h, …] x if g has a value, y if h has, …; with an odd last one, met with it
    MEET = 6  # [x, …] all of these hold of one value
    REFINE = 7  # [x, y] x, given that `x P y` holds; P is the predicate `a`
    EXCLUDE = 8  # [x, c, d, …] x, given that it is none of the constants, which ascend
    SELECT = 9  # [c, x, y]
    FREEZE = 10  # [x] x, or any value where x is undefined
    WHEN = 11  # [g, x] 1 if g has a value and x may be `a`
    WHEN_OTHER = 12  # [g, x, c, d, …] 1 if g has a value and x may be none of the constants
    ADDRESS = 13  # [x] x plus a multiple of 2^(`a & 63`); with `a & 64` not 0 if x is not
    LOW_BITS = 14  # [x] any value with the low bits that are known of the narrower x
    BITS_WHERE = 15  # [x, m] any value with the bits of x that are set in m
    COMPARE = 16  # [x, y] 1 if `x P y`, else 0; P is the predicate `a`
    TRUNCATE = 17  # [x] the low bits
    ZERO_EXTEND = 18  # [x] unsigned; with NUW x is not negative
    SIGN_EXTEND = 19  # [x] signed
    ADD = 20  # [x, y] from here on `a` are flags
    SUBTRACT = 21
    MULTIPLY = 22
    UNSIGNED_DIVIDE = 23
    SIGNED_DIVIDE = 24
    UNSIGNED_REMAINDER = 25
    SIGNED_REMAINDER = 26
    SHIFT_LEFT = 27
    SHIFT_RIGHT = 28  # filled with zeros
    SHIFT_RIGHT_SIGNED = 29  # filled with the sign
    AND = 30
    OR = 31
    XOR = 32
    SIGNED_MIN = 33
    SIGNED_MAX = 34
    UNSIGNED_MIN = 35
    UNSIGNED_MAX = 36


class Flag(IntFlag):
    """What the program promises of an operation; a result that breaks it is poison.

    Poison counts as undefined, and not as a value: leave the flags out where a program may use it.
    """

    NUW = 1  # no unsigned overflow
    NSW = 2  # no signed overflow
    IN_RANGE = 4  # shifts: by less than the width


@unique
class Predicate(IntEnum):
    """What a COMPARE asks and a REFINE knows; `p ^ 1` is the opposite of p."""

    EQ = 0
    NE = 1
    ULT = 2
    UGE = 3
    UGT = 4
    ULE = 5
    SLT = 6
    SGE = 7
    SGT = 8
    SLE = 9


# x P y holds where y SWAPPED[P] x does.
SWAPPED = (0, 1, 4, 5, 2, 3, 8, 9, 6, 7)

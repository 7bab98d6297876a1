"""Machine words of up to 64 bits, as signed integers of 64 bits.

A *pattern* of width w has its w bits below and zeros above; of 64 bits it may thus be negative.
Nothing here overflows: Python's integers and those of compiled code have the same values.
"""

from __future__ import annotations

from typing import Any

from kleene.kernels.bits import lowest, wrapped
from kleene.kernels.compiled import intrinsic
from kleene.solvers.dataflow.compiled import device_function

_WORD = (1 << 64) - 1
_LEAST = -(1 << 63)


def _highest(_context: Any, _word: Any) -> Any:
    from llvmlite import ir
    from numba import types

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        zeros = builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))
        return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

    return types.int64(types.int64), build


def _quotient(_context: Any, _a: Any, _b: Any) -> Any:
    from numba import types

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.udiv(*arguments)

    return types.int64(types.int64, types.int64), build


def _remainder(_context: Any, _a: Any, _b: Any) -> Any:
    from numba import types

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.urem(*arguments)

    return types.int64(types.int64, types.int64), build


def _plus(_context: Any, _a: Any, _b: Any) -> Any:
    from numba import types

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.add(*arguments)

    return types.int64(types.int64, types.int64), build


def _minus(_context: Any, _a: Any, _b: Any) -> Any:
    from numba import types

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.sub(*arguments)

    return types.int64(types.int64, types.int64), build


def _times(_context: Any, _a: Any, _b: Any) -> Any:
    from numba import types

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.mul(*arguments)

    return types.int64(types.int64, types.int64), build


def _shifted_left(_context: Any, _a: Any, _n: Any) -> Any:
    from numba import types

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.shl(*arguments)

    return types.int64(types.int64, types.int64), build


# Numba lets LLVM assume that `+`, `-` and `*` do not overflow: these do, and wrap around.


@intrinsic(_plus)
def plus(a: int, b: int) -> int:
    """Return a + b, wrapped to 64 bits."""
    return wrapped(a + b)


@intrinsic(_minus)
def minus(a: int, b: int) -> int:
    """Return a - b, wrapped to 64 bits."""
    return wrapped(a - b)


@intrinsic(_times)
def times(a: int, b: int) -> int:
    """Return a * b, wrapped to 64 bits."""
    return wrapped(a * b)


@intrinsic(_shifted_left)
def shifted_left(a: int, n: int) -> int:
    """Return a shifted left by n < 64, wrapped to 64 bits."""
    return wrapped(a << n)


@intrinsic(_highest)
def highest(word: int) -> int:
    """Return the position of the highest bit that is set; -1 if there is none."""
    return (word & _WORD).bit_length() - 1


@intrinsic(_quotient)
def quotient(a: int, b: int) -> int:
    """Return a / b of two patterns, rounded down; b is not 0."""
    return wrapped((a & _WORD) // (b & _WORD))


@intrinsic(_remainder)
def remainder(a: int, b: int) -> int:
    """Return the remainder of two patterns; b is not 0."""
    return wrapped((a & _WORD) % (b & _WORD))


@device_function
def low_bits(n: int) -> int:
    """Return the pattern with the low n bits set, for 0 <= n <= 64."""
    return -1 if n >= 64 else minus(1 << n, 1)  # 1 << 63 is negative if compiled


@device_function
def bit(n: int) -> int:
    """Return the pattern with bit n set alone, for 0 <= n <= 63."""
    return low_bits(n + 1) & ~low_bits(n)


@device_function
def is_below(a: int, b: int) -> bool:
    """Return whether a < b for two patterns: flipping the highest bit makes them signed."""
    return (a ^ _LEAST) < (b ^ _LEAST)


@device_function
def lesser(a: int, b: int) -> int:
    """Return the smaller of two patterns."""
    return a if is_below(a, b) else b


@device_function
def greater(a: int, b: int) -> int:
    """Return the larger of two patterns."""
    return b if is_below(a, b) else a


@device_function
def as_signed(pattern: int, width: int) -> int:
    """Return the signed number that a pattern stands for."""
    return pattern | ~low_bits(width) if pattern & bit(width - 1) else pattern


@device_function
def shifted_right(pattern: int, n: int) -> int:
    """Return a pattern shifted right by n < 64, filled with zeros."""
    return pattern if n == 0 else (pattern >> n) & low_bits(64 - n)


@device_function
def n_low_zeros(pattern: int) -> int:
    """Return how many of the lowest bits are 0; 64 for 0."""
    return lowest(pattern)


@device_function
def next_match(start: int, zeros: int, ones: int, full: int) -> tuple[bool, int]:
    """Return the least pattern from `start` on whose bits agree, and whether there is one.

    `full` has all bits of the width; bits of `zeros` must be 0, bits of `ones` must be 1.

    Let h be the highest bit of `start` that disagrees. If it must be 1, setting it makes the number
    larger, so that lower bits become free: the least choice is `ones`. If it must be 0, some higher
    bit has to grow: the lowest one above h that is 0 and may be 1; then lower bits are free again.
    """
    wrong = ((start & zeros) | (~start & ones)) & full
    if wrong == 0:
        return True, start
    place = highest(wrong)
    if start & bit(place):
        free = ~start & ~zeros & full & ~low_bits(place + 1)
        if free == 0:
            return False, start
        place = lowest(free)
    return True, (start & ~low_bits(place + 1)) | bit(place) | (ones & low_bits(place))

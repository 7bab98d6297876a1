"""Counting and finding bits, which Python's integers know and Numba's do not."""

from __future__ import annotations

from typing import Any

from kleene.kernels.compiled import intrinsic


def _n_set(_context: Any, _word: Any) -> Any:
    from numba import types

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), build


def _lowest(_context: Any, _word: Any) -> Any:
    from llvmlite import ir
    from numba import types

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), build


@intrinsic(_n_set)
def n_set(word: int) -> int:
    """Return how many bits of a word are set."""
    return int(word).bit_count()


@intrinsic(_lowest)
def lowest(word: int) -> int:
    """Return the position of the lowest bit that is set; 64 if there is none."""
    bits = int(word)
    return (bits & -bits).bit_length() - 1 if bits else 64

"""Counting and finding bits, which Python's integers know and Numba's do not."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_intrinsic: Any = intrinsic  # it publishes no types


def _n_set(_context: Any, _word: Any) -> Any:
    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), build


def _lowest(_context: Any, _word: Any) -> Any:
    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), build


n_set = _intrinsic(_n_set)  # how many bits of a word are set
lowest = _intrinsic(_lowest)  # the place of the lowest bit that is set

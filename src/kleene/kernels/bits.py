"""Counting, finding and mixing bits, where Python's integers differ from those of machines."""

from __future__ import annotations

from typing import Any

from kleene.kernels.compiled import intrinsic

_ODD = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio
_WORD, _POSITIVE = (1 << 64) - 1, (1 << 63) - 1


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


def _wrapped(_context: Any, _value: Any) -> Any:
    from numba import types

    def build(_context: Any, _builder: Any, _signature: Any, arguments: Any) -> Any:
        return arguments[0]

    return types.int64(types.int64), build


def _funnel(_context: Any, _low: Any, _high: Any, _shift: Any) -> Any:
    from llvmlite import ir
    from numba import types

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        low, high, shift = arguments
        kind = ir.FunctionType(low.type, [low.type] * 3)
        fshr = builder.module.declare_intrinsic("llvm.fshr", [low.type], kind)
        return builder.call(fshr, [high, low, shift])

    return types.int64(types.uint64, types.uint64, types.int64), build


def _product(_context: Any, _a: Any, _b: Any) -> Any:
    from llvmlite import ir
    from numba import types

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.and_(builder.mul(*arguments), ir.Constant(ir.IntType(64), _POSITIVE))

    return types.int64(types.int64, types.int64), build


def _mix(_context: Any, _value: Any, _item: Any) -> Any:
    from llvmlite import ir
    from numba import types

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        def number(value: int) -> Any:
            return ir.Constant(ir.IntType(64), value)

        product = builder.mul(builder.xor(*arguments), number(_ODD))
        mixed = builder.xor(product, builder.lshr(product, number(32)))
        return builder.and_(mixed, number(_POSITIVE))

    return types.int64(types.int64, types.int64), build


@intrinsic(_n_set)
def n_set(word: int) -> int:
    """Return how many bits of a word are set."""
    return int(word).bit_count()


@intrinsic(_lowest)
def lowest(word: int) -> int:
    """Return the position of the lowest bit that is set; 64 if there is none."""
    bits = int(word)
    return (bits & -bits).bit_length() - 1 if bits else 64


@intrinsic(_wrapped)
def wrapped(value: int) -> int:
    """Return the low 64 bits of a number, as a signed one: what compiled code computes with."""
    bits = value & _WORD
    return bits - (bits >> 63 << 64)


@intrinsic(_funnel)
def funnel(low: int, high: int, shift: int) -> int:
    """Return the 64 bits from bit `shift` (0 to 63) on of two words, as a signed number."""
    bits = ((high << 64 | low) >> shift) & _WORD
    return bits - (bits >> 63 << 64)


@intrinsic(_product)
def product(a: int, b: int) -> int:
    """Return a * b mod 2^63."""
    return (int(a) * int(b)) & _POSITIVE


@intrinsic(_mix)
def mix(value: int, item: int) -> int:
    """Return a hash, from 0 to 2^63 - 1, of a hash and one more number: multiplied mod 2^64."""
    product = ((int(value) ^ int(item)) * _ODD) & _WORD
    return (product ^ (product >> 32)) & _POSITIVE

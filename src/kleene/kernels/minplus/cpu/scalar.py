"""One element inside compiled code: what differs between floats and integers, and bare pointers.

Pointers, because Numba tests every index of an array for a negative value. Each instruction of
compiled code has a plain Python twin, which runs where entry points are interpreted; sums of floats
are then rounded upwards one by one, as the reference does it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from kleene.kernels.compiled import intrinsic
from kleene.kernels.minplus import reference

_types: Any = types


def _pointer(_context: Any, array: Any, at: Any) -> Any:
    """Return where element `at` of the array is."""

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        return builder.gep(data, [arguments[1]])

    return _types.CPointer(array.dtype)(array, types.int64), build


def _keep(_context: Any, array: Any) -> Any:
    """Hold an array until here: Numba frees it after its last use, and sees no use of pointers."""

    def build(context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return context.get_dummy_value()

    return types.none(array), build


def _advance(_context: Any, pointer: Any, at: Any) -> Any:
    """Return the pointer `at` elements on."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return pointer(pointer, types.int64), build


def _is_float(_context: Any, pointer: Any) -> Any:
    """Return whether a pointer's elements are floats; LLVM drops the branch not taken."""

    def build(_context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return ir.Constant(ir.IntType(1), isinstance(pointer.dtype, types.Float))

    return types.boolean(pointer), build


def _greatest(kind: Any, value: Any) -> Any:
    """Return the infinity of an integer type."""
    return ir.Constant(value.type, 2 ** (kind.bitwidth - 1) - 1)


def _half_up(_context: Any, x: Any) -> Any:
    """Return x / 2 rounded upwards; half of infinity is infinite."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        (value,) = arguments
        if isinstance(x, types.Float):
            return builder.fmul(value, ir.Constant(value.type, 0.5))
        one, greatest = ir.Constant(value.type, 1), _greatest(x, value)
        half = builder.add(builder.ashr(value, one), builder.and_(value, one))
        return builder.select(builder.icmp_signed("==", value, greatest), value, half)

    return x(x), build


def _whole(_context: Any, x: Any) -> Any:
    """Return the greatest integer that is no more than x."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _floor(builder, x, arguments[0])

    return x(x), build


def _even(_context: Any, x: Any) -> Any:
    """Return the greatest even integer that is no more than x; infinity is even."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        (value,) = arguments
        if not isinstance(x, types.Float):
            rounded = builder.and_(value, ir.Constant(value.type, -2))
            is_infinite = builder.icmp_signed("==", value, _greatest(x, value))
            return builder.select(is_infinite, value, rounded)
        half = builder.fmul(value, ir.Constant(value.type, 0.5))
        return builder.fmul(_floor(builder, x, half), ir.Constant(value.type, 2.0))

    return x(x), build


def _floor(builder: Any, kind: Any, value: Any) -> Any:
    if not isinstance(kind, types.Float):
        return value
    floor = builder.module.declare_intrinsic("llvm.floor", [value.type])
    return builder.call(floor, [value])


def _add_up(_context: Any, a: Any, b: Any) -> Any:
    """Return a + b: floats in the thread's rounding, integers saturated, infinity kept."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        left, right = arguments
        if isinstance(a, types.Float):
            return builder.fadd(left, right)
        name = f"llvm.sadd.sat.i{a.bitwidth}"
        kind = ir.FunctionType(left.type, [left.type] * 2)
        module = builder.module
        add = module.globals.get(name) or ir.Function(module, kind, name)
        greatest = _greatest(a, left)
        least = ir.Constant(left.type, -(2 ** (a.bitwidth - 1)) + 2)
        total = builder.call(add, [left, right])
        total = builder.select(builder.icmp_signed("<", total, least), least, total)
        infinite = builder.or_(
            builder.icmp_signed("==", left, greatest), builder.icmp_signed("==", right, greatest)
        )
        return builder.select(infinite, greatest, total)

    return a(a, a), build


def _times_up(_context: Any, low: Any, high: Any, by: Any, up: Any, down: Any) -> Any:
    """Return c * v, the upper bound for low+by <= c <= high+by, v <= up, -v <= down; by is int64.

    It is reached at one end of c's interval; 0 times infinity is 0.
    """

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        least, most, moved, above, below = arguments
        if isinstance(low, types.Float):
            step = builder.sitofp(moved, least.type)
            # Rounding is upwards: the lower end is negated before and after.
            least = builder.fneg(builder.fsub(builder.fneg(least), step))
            most, zero = builder.fadd(most, step), ir.Constant(least.type, 0.0)
            is_less, negate = partial(builder.fcmp_ordered, "<"), builder.fneg
        else:
            step = builder.trunc(moved, least.type) if low.bitwidth < 64 else moved
            least, most = builder.add(least, step), builder.add(most, step)
            zero = ir.Constant(least.type, 0)
            is_less, negate = partial(builder.icmp_signed, "<"), builder.neg
        ends = []
        for factor in (least, most):
            is_negative = is_less(factor, zero)
            size = builder.select(is_negative, negate(factor), factor)
            ends.append(_product(builder, low, size, builder.select(is_negative, below, above)))
        return builder.select(is_less(ends[0], ends[1]), ends[1], ends[0])

    return low(low, high, by, up, down), build


def _product(builder: Any, kind: Any, factor: Any, bound: Any) -> Any:
    """Return factor * bound: floats in the thread's rounding, integers saturated; 0 * inf = 0."""
    if isinstance(kind, types.Float):
        zero = ir.Constant(factor.type, 0.0)
        is_zero = builder.fcmp_ordered("==", factor, zero)
        return builder.select(is_zero, zero, builder.fmul(factor, bound))
    zero, greatest = ir.Constant(factor.type, 0), _greatest(kind, factor)
    least = ir.Constant(factor.type, -(2 ** (kind.bitwidth - 1)) + 2)
    both = builder.smul_with_overflow(factor, bound)
    product, overflows = builder.extract_value(both, 0), builder.extract_value(both, 1)
    product = builder.select(builder.icmp_signed("<", product, least), least, product)
    extreme = builder.select(builder.icmp_signed(">", bound, zero), greatest, least)
    is_infinite = builder.icmp_signed("==", bound, greatest)
    product = builder.select(builder.or_(overflows, is_infinite), extreme, product)
    return builder.select(builder.icmp_signed("==", factor, zero), zero, product)


def _wide(_context: Any, x: Any) -> Any:
    """Return an integer as one of 64 bits, a float as it is."""
    kind = x if isinstance(x, types.Float) else types.int64

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[0], x, kind)

    return kind(x), build


class Pointer:
    """The elements of an array from one of them on: a bare pointer, where code is interpreted."""

    __slots__ = ("array", "at")

    def __init__(self, array: Any, at: int) -> None:
        self.array, self.at = array, at

    @property
    def dtype(self) -> Any:
        """The type of elements."""
        return self.array.dtype

    def __getitem__(self, k: int) -> Any:
        return self.array[self.at + k]

    def __setitem__(self, k: int, value: Any) -> None:
        self.array[self.at + k] = value

    def part(self, begin: int, length: int) -> Any:
        """Return the elements from `begin` on, to be read and written."""
        return self.array[self.at + begin : self.at + begin + length]


@intrinsic(_pointer)
def pointer(array: Any, at: int) -> Any:
    """Return where element `at` of the array is."""
    return Pointer(array, at)


@intrinsic(_keep)
def keep(array: Any) -> None:
    """Hold an array until here: Numba frees it after its last use, and sees no use of pointers."""


@intrinsic(_advance)
def advance(pointer: Any, at: int) -> Any:
    """Return the pointer `at` elements on."""
    return Pointer(pointer.array, pointer.at + at)


@intrinsic(_is_float)
def is_float(pointer: Any) -> bool:
    """Return whether a pointer's elements are floats; LLVM drops the branch not taken."""
    return bool(pointer.dtype.kind == "f")


@intrinsic(_half_up)
def half_up(x: Any) -> Any:
    """Return x / 2 rounded upwards; half of infinity is infinite."""
    return reference.half_up(np.asarray(x))[()]


@intrinsic(_whole)
def whole(x: Any) -> Any:
    """Return the greatest integer that is no more than x."""
    return np.floor(x) if x.dtype.kind == "f" else x


@intrinsic(_even)
def even(x: Any) -> Any:
    """Return the greatest even integer that is no more than x; infinity is even."""
    if x.dtype.kind == "f":
        return 2 * np.floor(x / 2)
    return x if x == np.iinfo(x.dtype).max else x & ~x.dtype.type(1)


@intrinsic(_add_up)
def add_up(a: Any, b: Any) -> Any:
    """Return a + b: floats rounded upwards, integers saturated, infinity kept."""
    return reference.add_up(np.asarray(a), np.asarray(b))[()]


@intrinsic(_times_up)
def times_up(low: Any, high: Any, by: int, up: Any, down: Any) -> Any:
    """Return c * v, the upper bound for low+by <= c <= high+by, v <= up, -v <= down; by is int64.

    It is reached at one end of c's interval; 0 times infinity is 0.
    """
    return reference.times_up(low, high, by, up, down)


@intrinsic(_wide)
def wide(x: Any) -> Any:
    """Return an integer as one of 64 bits, a float as it is: sums of two are then exact."""
    return x.item()

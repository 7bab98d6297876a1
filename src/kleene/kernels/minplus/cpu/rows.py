"""Rows of an octagon that is kept as blocks, on vectors: made, joined and compared.

Rows are short and of any length, where LLVM's own loops spend their time before and after vectors.
Sums are as `scalar` has them: floats in the thread's rounding, integers saturated, infinity kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kleene.kernels.minplus.cpu.vector import INDEX, Emit

_intrinsic: Any = intrinsic  # Numba publishes no types
_INT64, _NONE = types.int64, types.none


def _write_halves(
    _context: Any, into: Any, mine: Any, others: Any, more: Any, rest: Any, count: Any
) -> Any:
    """INTO[j] = the greater of (mine + OTHERS[j]) / 2 and (more + REST[j]) / 2."""

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        emit = Emit(context, builder, into.dtype)
        row, mine, others, more, rest, count = arguments
        one, other = emit.splat(mine), emit.splat(more)

        def put(at: Any, mask: Any) -> None:
            a = _add_up(emit, one, _load(emit, others, at, mask))
            b = _add_up(emit, other, _load(emit, rest, at, mask))
            _store(emit, _half_up(emit, _greater(emit, a, b)), row, at, mask)

        _for_vectors(emit, count, put)
        return context.get_dummy_value()

    return _NONE(into, mine, others, more, rest, _INT64), build


def _write_greater(_context: Any, into: Any, a: Any, b: Any, count: Any) -> Any:
    """INTO[j] = the greater of A[j] and B[j]."""

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        emit = Emit(context, builder, into.dtype)
        row, a_data, b_data, count = arguments

        def put(at: Any, mask: Any) -> None:
            x, y = _load(emit, a_data, at, mask), _load(emit, b_data, at, mask)
            _store(emit, _greater(emit, x, y), row, at, mask)

        _for_vectors(emit, count, put)
        return context.get_dummy_value()

    return _NONE(into, a, b, _INT64), build


def _copy_row(_context: Any, into: Any, source: Any, count: Any) -> Any:
    """INTO[j] = SOURCE[j]."""

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        emit = Emit(context, builder, into.dtype)
        row, data, count = arguments

        def put(at: Any, mask: Any) -> None:
            _store(emit, _load(emit, data, at, mask), row, at, mask)

        _for_vectors(emit, count, put)
        return context.get_dummy_value()

    return _NONE(into, source, _INT64), build


def _is_less(_context: Any, a: Any, b: Any, count: Any) -> Any:
    """Return whether some A[j] is less than B[j]."""

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        emit = Emit(context, builder, a.dtype)
        a_data, b_data, count = arguments
        flags = ir.VectorType(ir.IntType(1), emit.n_lanes)
        zeros = ir.Constant(emit.vector, None)

        def compare(q: Any, found: list[Any]) -> list[Any]:
            at = builder.mul(q, INDEX(emit.n_lanes))
            mask = emit.first_lanes(builder.sub(count, at))
            x, y = (emit.load_some(data, at, mask, zeros) for data in (a_data, b_data))
            return [builder.or_(found[0], emit.is_less(x, y))]

        rounded = builder.add(count, INDEX(emit.n_lanes - 1))
        n_vectors = builder.sdiv(rounded, INDEX(emit.n_lanes))
        (found,) = emit.loop(n_vectors, [ir.Constant(flags, None)], compare)
        return emit.call(f"llvm.vector.reduce.or.v{emit.n_lanes}i1", ir.IntType(1), [found])

    return types.boolean(a, b, _INT64), build


def _for_vectors(emit: Emit, count: Any, body: Callable[[Any, Any], None]) -> None:
    """Emit `body(at, mask)` for whole vectors, with no mask, and for those of `count` left."""
    builder, lanes = emit.builder, INDEX(emit.n_lanes)
    n_whole = builder.sdiv(count, lanes)
    first = builder.mul(n_whole, lanes)
    left = builder.sub(count, first)

    def one(q: Any, _none: list[Any]) -> list[Any]:
        body(builder.mul(q, lanes), None)
        return []

    with builder.if_then(builder.icmp_signed(">", n_whole, INDEX(0))):
        emit.loop(n_whole, [], one)
    with builder.if_then(builder.icmp_signed(">", left, INDEX(0))):
        body(first, emit.first_lanes(left))


def _load(emit: Emit, pointer: Any, at: Any, mask: Any) -> Any:
    if mask is None:
        return emit.load(pointer, at)
    return emit.load_some(pointer, at, mask, ir.Constant(emit.vector, None))


def _store(emit: Emit, value: Any, pointer: Any, at: Any, mask: Any) -> None:
    if mask is None:
        emit.store(value, pointer, at)
    else:
        emit.store_some(value, pointer, at, mask)


def _greater(emit: Emit, a: Any, b: Any) -> Any:
    return emit.builder.select(emit.is_less(b, a), a, b)


def _add_up(emit: Emit, a: Any, b: Any) -> Any:
    builder = emit.builder
    if emit.is_float:
        return builder.fadd(a, b)
    infinity, least = _all(emit, _infinity(emit)), _all(emit, 2 - _infinity(emit) - 1)
    total = emit.call(f"llvm.sadd.sat.{emit.name}", emit.vector, [a, b])
    total = builder.select(builder.icmp_signed("<", total, least), least, total)
    either = (builder.icmp_signed("==", x, infinity) for x in (a, b))
    return builder.select(builder.or_(*either), infinity, total)


def _half_up(emit: Emit, total: Any) -> Any:
    builder = emit.builder
    if emit.is_float:
        return builder.fmul(total, _all(emit, 0.5))
    one, infinity = _all(emit, 1), _all(emit, _infinity(emit))
    half = builder.add(builder.ashr(total, one), builder.and_(total, one))
    return builder.select(builder.icmp_signed("==", total, infinity), total, half)


def _infinity(emit: Emit) -> int:
    return (1 << (8 * emit.n_bytes - 1)) - 1


def _all(emit: Emit, value: float) -> Any:
    return ir.Constant(emit.vector, [value] * emit.n_lanes)


write_halves: Any = _intrinsic(_write_halves)
write_greater: Any = _intrinsic(_write_greater)
copy_row: Any = _intrinsic(_copy_row)
is_less: Any = _intrinsic(_is_less)

"""The loops on vectors: those of the closure, and those on rows of partitioned octagons.

Of the closure: everything that touches an octagon's elements more than once. Rows of a tile, of P
and of the pivots have BLOCK elements. A `flip` is a transposition that swaps the two of every pair
besides: what coherence makes of rows that are read as columns.

Of rows: they are short and of any length, where LLVM's own loops spend their time before and after
vectors. Sums are as `scalar` has them: floats in the thread's rounding, integers saturated,
infinity kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from kleene.kernels.compiled import intrinsic
from kleene.kernels.minplus import reference
from kleene.kernels.minplus.cpu.vector import INDEX, TILE_ROWS, TILE_VECTORS, Emit, lanes_of

BLOCK = 64  # pivots in a block
_INT64, _NONE = types.int64, types.none


def _micro(_context: Any, c: Any, c_stride: Any, p: Any, r: Any, n_k: Any) -> Any:
    """C[i, j] = min(C[i, j], P[i, k] + R[k, j]) over n_k values of k, for one tile of C."""

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        emit = Emit(context, builder, c.dtype)
        c_data, c_stride, p_data, r_data, n_k = arguments
        width = TILE_VECTORS * emit.n_lanes
        starts = [INDEX(v * emit.n_lanes) for v in range(TILE_VECTORS)]
        lines = [builder.mul(c_stride, INDEX(row)) for row in range(TILE_ROWS)]
        places = [builder.add(line, start) for line in lines for start in starts]

        def round_(k: Any, tile: list[Any]) -> list[Any]:
            line = builder.mul(k, INDEX(width))
            rights = [emit.load(r_data, builder.add(line, start)) for start in starts]
            # What the next tile needs, a little in each round: n = 1024 gains 15 to 20 %.
            for data, size in ((c_data, TILE_ROWS * width), (p_data, TILE_ROWS * BLOCK)):
                ahead = builder.sdiv(builder.mul(k, INDEX(size)), INDEX(BLOCK))
                emit.prefetch(data, builder.add(ahead, INDEX(size)), to_write=data is c_data)
            each = [(row, right) for row in range(TILE_ROWS) for right in rights]
            sums = [emit.add_element(p_data, row * BLOCK, k, right) for row, right in each]
            return [emit.least(total, old) for total, old in zip(sums, tile, strict=True)]

        tile = emit.loop(n_k, [emit.load(c_data, place) for place in places], round_)
        for value, place in zip(tile, places, strict=True):
            emit.store(value, c_data, place)
        return context.get_dummy_value()

    return _NONE(c, _INT64, p, r, _INT64), build


def _sweep(_context: Any, t: Any, r: Any, first: Any, n_rows: Any, n_vectors: Any) -> Any:
    """T[i, j] = min(T[i, j], T[i, k] + T[k, j]) below the diagonal, for `first` <= k < `first` + 2.

    The two rows of R are those of the pivots; a column of T is a row flipped.
    """

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        emit = Emit(context, builder, t.dtype)
        tile, rows, first, n_rows, n_vectors = arguments

        def column(q: Any, _none: list[Any]) -> list[Any]:
            j = builder.mul(q, INDEX(emit.n_lanes))
            old = [emit.load(rows, builder.add(j, INDEX(a * BLOCK))) for a in (0, 1)]
            # From one pivot over the other.
            over = [emit.add_element(rows, a * BLOCK + (a ^ 1), first, old[a ^ 1]) for a in (0, 1)]
            pivots = [emit.least(x, y) for x, y in zip(over, old, strict=True)]
            begin = builder.and_(j, INDEX(-2))
            count = builder.ashr(builder.sub(n_rows, begin), INDEX(1))

            def pair(s: Any, _none: list[Any]) -> list[Any]:
                i = builder.add(begin, builder.shl(s, INDEX(1)))
                for u in (0, 1):
                    at = builder.add(builder.mul(builder.add(i, INDEX(u)), INDEX(BLOCK)), j)
                    best = emit.load(tile, at)
                    for a in (0, 1):
                        place = (a ^ 1) * BLOCK + (u ^ 1)
                        best = emit.least(emit.add_element(rows, place, i, pivots[a]), best)
                    emit.store(best, tile, at)
                return []

            emit.loop(count, [], pair)
            return []

        emit.loop(n_vectors, [], column)
        return context.get_dummy_value()

    return _NONE(t, r, _INT64, _INT64, _INT64), build


def _copy(_context: Any, into: Any, source: Any, n_vectors: Any) -> Any:
    """Copy some vectors."""

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        emit = Emit(context, builder, into.dtype)

        def one(q: Any, _none: list[Any]) -> list[Any]:
            at = builder.mul(q, INDEX(emit.n_lanes))
            emit.store(emit.load(arguments[1], at), arguments[0], at)
            return []

        emit.loop(arguments[2], [], one)
        return context.get_dummy_value()

    return _NONE(into, source, _INT64), build


def _flip(_context: Any, into: Any, into_stride: Any, source: Any, stride: Any) -> Any:
    """INTO[a, b] = SOURCE[b^1, a^1] for a square of as many elements each way as a vector has."""

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        emit = Emit(context, builder, into.dtype)
        target, into_stride, data, stride = arguments
        order = [k ^ 1 for k in range(emit.n_lanes)]
        rows = [emit.load(data, builder.mul(stride, INDEX(k))) for k in order]
        for k, column in zip(order, emit.transpose(rows), strict=True):
            emit.store(column, target, builder.mul(into_stride, INDEX(k)))
        return context.get_dummy_value()

    return _NONE(into, _INT64, source, _INT64), build


def _take(
    _context: Any, t: Any, m: Any, count: Any, n_vectors: Any, outer: Any, inner: Any, tighten: Any
) -> Any:
    """Read `count` bounds of an octagon to vectors of T; what is left of those is infinite.

    `outer` is the octagon's infinity, `inner` that of T, whose type may be wider.
    """

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        emit, there = Emit(context, builder, t.dtype), Emit(context, builder, m.dtype)
        tile, octagon, count, n_vectors, outer, inner, tighten = arguments
        there.n_lanes, there.vector = emit.n_lanes, ir.VectorType(there.element, emit.n_lanes)
        outside, inside = there.splat(outer), emit.splat(inner)

        def one(q: Any, _none: list[Any]) -> list[Any]:
            at = builder.mul(q, INDEX(emit.n_lanes))
            value = there.load_some(octagon, at, emit.first_lanes(builder.sub(count, at)), outside)
            if emit.is_float:
                value = builder.select(tighten, emit.floor(value), value)
            else:
                wide = value if t == m else builder.sext(value, emit.vector)
                is_bound = builder.icmp_signed("!=", value, outside)
                value = builder.select(is_bound, wide, inside)
            emit.store(value, tile, at)
            return []

        emit.loop(n_vectors, [], one)
        return context.get_dummy_value()

    return _NONE(t, m, _INT64, _INT64, outer, inner, types.boolean), build


def _give(
    _context: Any,
    m: Any,
    t: Any,
    d: Any,
    mine: Any,
    count: Any,
    infinity: Any,
    least: Any,
    greatest: Any,
) -> Any:
    """Write `count` cells of T to an octagon, or (mine + D) / 2 where that is less.

    What exceeds `greatest` becomes the octagon's infinity, and what is below its `least` that.
    """

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        emit, there = Emit(context, builder, t.dtype), Emit(context, builder, m.dtype)
        octagon, tile, d_data, mine, count, infinity, least, greatest = arguments
        there.n_lanes, there.vector = emit.n_lanes, ir.VectorType(there.element, emit.n_lanes)
        least = least if t == m else builder.sext(least, emit.element)
        floor, ceiling = emit.splat(least), emit.splat(greatest)
        outside, mine = there.splat(infinity), emit.splat(mine)

        def one(q: Any, _none: list[Any]) -> list[Any]:
            at = builder.mul(q, INDEX(emit.n_lanes))
            combined = _half(emit, emit.add(mine, emit.load(d_data, at)))
            value = emit.least(combined, emit.load(tile, at))
            is_infinite = emit.is_less(ceiling, value)
            value = builder.select(emit.is_less(value, floor), floor, value)
            narrow = value if t == m else builder.trunc(value, there.vector)
            mask = emit.first_lanes(builder.sub(count, at))
            there.store_some(builder.select(is_infinite, outside, narrow), octagon, at, mask)
            return []

        rounded = builder.add(count, INDEX(emit.n_lanes - 1))
        emit.loop(builder.sdiv(rounded, INDEX(emit.n_lanes)), [], one)
        return context.get_dummy_value()

    return _NONE(m, t, d, mine, _INT64, infinity, least, greatest), build


def _half(emit: Emit, total: Any) -> Any:
    """Return half of each, rounded upwards."""
    if emit.is_float:
        return emit.builder.fmul(total, ir.Constant(emit.vector, [0.5] * emit.n_lanes))
    one = ir.Constant(emit.vector, [1] * emit.n_lanes)
    return emit.builder.add(emit.builder.ashr(total, one), emit.builder.and_(total, one))


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


# What plain Python runs instead


def _sums(a: Any, b: Any) -> Any:
    """Return sums of a tile's elements: floats rounded upwards, integers far from any overflow."""
    if a.dtype.kind == "f":
        return reference.add_up(a, b)
    with np.errstate(over="ignore"):  # what is above the diagonal holds anything
        return a + b


@intrinsic(_micro)
def micro(c: Any, c_stride: int, p: Any, r: Any, n_k: int) -> None:
    """C[i, j] = min(C[i, j], P[i, k] + R[k, j]) over n_k values of k, for one tile of C."""
    width = TILE_VECTORS * lanes_of(c)
    for row in range(TILE_ROWS):
        tile = c.part(row * c_stride, width)
        for k in range(n_k):
            np.minimum(tile, _sums(p[row * BLOCK + k], r.part(k * width, width)), out=tile)


@intrinsic(_sweep)
def sweep(t: Any, r: Any, first: int, n_rows: int, n_vectors: int) -> None:
    """T[i, j] = min(T[i, j], T[i, k] + T[k, j]) below the diagonal, for `first` <= k < `first` + 2.

    The two rows of R are those of the pivots; a column of T is a row flipped.
    """
    n_lanes = lanes_of(t)
    for j in range(0, n_vectors * n_lanes, n_lanes):
        old = [r.part(a * BLOCK + j, n_lanes) for a in (0, 1)]
        over = [_sums(r[a * BLOCK + (a ^ 1) + first], old[a ^ 1]) for a in (0, 1)]
        pivots = [np.minimum(x, y) for x, y in zip(over, old, strict=True)]
        for i in range(j & -2, n_rows):
            best = t.part(i * BLOCK + j, n_lanes)
            for a in (0, 1):
                np.minimum(best, _sums(r[(a ^ 1) * BLOCK + (i ^ 1)], pivots[a]), out=best)


@intrinsic(_copy)
def copy(into: Any, source: Any, n_vectors: int) -> None:
    """Copy some vectors."""
    length = n_vectors * lanes_of(into)
    into.part(0, length)[:] = source.part(0, length)


@intrinsic(_flip)
def flip(into: Any, into_stride: int, source: Any, stride: int) -> None:
    """INTO[a, b] = SOURCE[b^1, a^1] for a square of as many elements each way as a vector has."""
    n_lanes = lanes_of(into)
    rows = np.array([source.part((b ^ 1) * stride, n_lanes) for b in range(n_lanes)])
    for a in range(n_lanes):
        into.part(a * into_stride, n_lanes)[:] = rows[:, a ^ 1]


@intrinsic(_take)
def take(t: Any, m: Any, count: int, n_vectors: int, outer: Any, inner: Any, tighten: bool) -> None:
    """Read `count` bounds of an octagon to vectors of T; what is left of those is infinite.

    `outer` is the octagon's infinity, `inner` that of T, whose type may be wider.
    """
    row = t.part(0, n_vectors * lanes_of(t))
    given = m.part(0, max(0, min(count, len(row))))
    row[:] = inner
    row[: len(given)] = np.where(given == outer, inner, given)
    if tighten and row.dtype.kind == "f":
        np.floor(row, out=row)


@intrinsic(_give)
def give(
    m: Any, t: Any, d: Any, mine: Any, count: int, infinity: Any, least: Any, greatest: Any
) -> None:
    """Write `count` cells of T to an octagon, or (mine + D) / 2 where that is less.

    What exceeds `greatest` becomes the octagon's infinity, and what is below its `least` that.
    """
    total = _sums(mine, d.part(0, count))
    half = reference.half_up(total) if total.dtype.kind == "f" else (total >> 1) + (total & 1)
    value = np.minimum(half, t.part(0, count))
    m.part(0, count)[:] = np.where(value > greatest, infinity, np.maximum(value, least))


@intrinsic(_write_halves)
def write_halves(into: Any, mine: Any, others: Any, more: Any, rest: Any, count: int) -> None:
    """INTO[j] = the greater of (mine + OTHERS[j]) / 2 and (more + REST[j]) / 2."""
    a, b = (
        reference.add_up(mine, others.part(0, count)),
        reference.add_up(more, rest.part(0, count)),
    )
    into.part(0, count)[:] = reference.half_up(np.maximum(a, b))


@intrinsic(_write_greater)
def write_greater(into: Any, a: Any, b: Any, count: int) -> None:
    """INTO[j] = the greater of A[j] and B[j]."""
    into.part(0, count)[:] = np.maximum(a.part(0, count), b.part(0, count))


@intrinsic(_copy_row)
def copy_row(into: Any, source: Any, count: int) -> None:
    """INTO[j] = SOURCE[j]."""
    into.part(0, count)[:] = source.part(0, count)


@intrinsic(_is_less)
def is_less(a: Any, b: Any, count: int) -> bool:
    """Return whether some A[j] is less than B[j]."""
    return bool((a.part(0, count) < b.part(0, count)).any())

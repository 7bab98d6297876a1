"""What compiled code has instead of the functions of `scalar`, `vector` and `shares`.

Each function here writes the instructions for the one of that name there, which says what it means.
It is given `emit` and the arguments, as values of LLVM; kinds are Numba's types of those.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.np.arrayobj import load_item

from kleene.kernels.minplus.cpu.emit import INDEX, INT32, Emit, Kind, Value
from kleene.kernels.minplus.cpu.vector import BLOCK, TILE_ROWS, TILE_VECTORS, VECTOR_BYTES
from kleene.kernels.minplus.layout import (
    infinity,
    least_bound,
    lowest,
    tile_greatest,
    tile_infinity,
)

_TO_NEAREST, _UPWARDS = 1, 2  # as LLVM numbers the ways of rounding
llvm.initialize_native_asmparser()  # for the one instruction that `Emit` writes out

_load_item: Any = load_item  # Numba publishes few types
of: dict[str, Callable[..., Any]] = {}  # what Numba asks for signature and instructions, by name


def _writes(
    result: Callable[..., Kind], *, has_lanes: bool = False
) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Return a decorator of what writes instructions whose value is of `result(*kinds)`."""

    def named(write: Callable[..., Value]) -> Callable[..., Value]:
        def typed(_context: Any, *given: Kind) -> Any:
            kinds = tuple(map(types.unliteral, given))

            def build(context: Any, builder: Any, _signature: Any, values: Any) -> Value:
                made = write(Emit(context, builder, *kinds, has_lanes=has_lanes), *values)
                return context.get_dummy_value() if made is None else made

            return result(*kinds)(*kinds), build

        of[write.__name__.removeprefix("_")] = typed
        return write

    return named


def _element(kind: Kind, *_others: Kind) -> Kind:
    return getattr(kind, "dtype", kind)


_element_like = _writes(_element)
_integer = _writes(lambda *_: types.int64)
_truth = _writes(lambda *_: types.boolean)
_nothing = _writes(lambda *_: types.none)
_loop = _writes(lambda *_: types.none, has_lanes=True)


# One number


def _dtype(kind: Kind) -> np.dtype[Any]:
    return np.dtype(_element(kind).name)


@_element_like
def _infinity_of(emit: Emit, _like: Value) -> Value:
    return emit.all(infinity(_dtype(emit.kind)).item())


@_element_like
def _lowest_of(emit: Emit, _like: Value) -> Value:
    return emit.all(lowest(_dtype(emit.kind)).item())


@_element_like
def _tile_infinity_of(emit: Emit, _tile: Value) -> Value:
    return emit.all(tile_infinity(_dtype(emit.kind)).item())


@_truth
def _is_float(emit: Emit, _pointer: Value) -> Value:
    return ir.Constant(ir.IntType(1), emit.is_float)  # LLVM drops the branch not taken


@_element_like
def _each(emit: Emit, values: Value, t: Value) -> Value:
    if not isinstance(kind := emit.kinds[0], types.Array):
        return values
    data = emit.context.make_array(kind)(emit.context, emit.builder, values).data
    return _load_item(emit.context, emit.builder, kind, emit.builder.gep(data, [t]))


@_element_like
def _cast(emit: Emit, _like: Value, value: Value) -> Value:
    return emit.context.cast(emit.builder, value, emit.kinds[1], emit.kind)


@_writes(lambda x: x if isinstance(x, types.Float) else types.int64)
def _wide(emit: Emit, value: Value) -> Value:
    kind = emit.kind if emit.is_float else types.int64
    return emit.context.cast(emit.builder, value, emit.kind, kind)


for _name in ("add_up", "half_up", "even"):
    _element_like(getattr(Emit, _name))


@_element_like
def _whole(emit: Emit, value: Value) -> Value:
    return emit.floor(value)


@_element_like
def _times_up(emit: Emit, low: Value, high: Value, by: Value, up: Value, down: Value) -> Value:
    builder, zero = emit.builder, emit.all(0)
    if emit.is_float:
        step, negate = builder.sitofp(by, low.type), builder.fneg
        # Rounding is upwards: the lower end is negated before and after.
        low, high = negate(builder.fsub(negate(low), step)), builder.fadd(high, step)
    else:
        step, negate = builder.trunc(by, low.type) if emit.n_bytes < 8 else by, builder.neg
        low, high = builder.add(low, step), builder.add(high, step)
    ends = []
    for factor in (low, high):
        is_negative = emit.is_less(factor, zero)
        size = builder.select(is_negative, negate(factor), factor)
        ends.append(_product(emit, size, builder.select(is_negative, down, up)))
    return emit.greater(ends[1], ends[0])


def _product(emit: Emit, factor: Value, bound: Value) -> Value:
    """Return factor * bound: floats in the thread's rounding, integers saturated; 0 * inf = 0."""
    builder, zero = emit.builder, emit.all(0)
    if emit.is_float:
        is_zero = builder.fcmp_ordered("==", factor, zero)
        return builder.select(is_zero, zero, builder.fmul(factor, bound))
    greatest, least = emit.all(emit.infinity), emit.all(1 - emit.infinity)
    both = builder.smul_with_overflow(factor, bound)
    product, overflows = builder.extract_value(both, 0), builder.extract_value(both, 1)
    product = builder.select(builder.icmp_signed("<", product, least), least, product)
    extreme = builder.select(builder.icmp_signed(">", bound, zero), greatest, least)
    product = builder.select(builder.or_(overflows, emit.is_infinite(bound)), extreme, product)
    return builder.select(builder.icmp_signed("==", factor, zero), zero, product)


# How floats are rounded


def _set_rounding(emit: Emit, mode: int) -> None:
    builder = emit.builder
    kind = ir.FunctionType(ir.VoidType(), [INT32])
    function = builder.module.declare_intrinsic("llvm.set.rounding", (), kind)
    fence = ir.FunctionType(ir.VoidType(), [])
    # No load or store passes the fences, and no sum its load or store.
    builder.asm(fence, "", "~{memory}", [], side_effect=True)
    builder.call(function, [INT32(mode)])
    builder.asm(fence, "", "~{memory}", [], side_effect=True)


@_nothing
def _upwards(emit: Emit) -> None:
    _set_rounding(emit, _UPWARDS)


@_nothing
def _to_nearest(emit: Emit) -> None:
    _set_rounding(emit, _TO_NEAREST)


# Loops of the closure


@_integer
def _lanes_of(emit: Emit, _pointer: Value) -> Value:
    return INDEX(VECTOR_BYTES // emit.n_bytes)


@_loop
def _micro(emit: Emit, c: Value, c_stride: Value, p: Value, r: Value, n_k: Value) -> None:
    builder, width = emit.builder, TILE_VECTORS * emit.n_lanes
    starts = [INDEX(v * emit.n_lanes) for v in range(TILE_VECTORS)]
    lines = [builder.mul(c_stride, INDEX(row)) for row in range(TILE_ROWS)]
    places = [builder.add(line, start) for line in lines for start in starts]

    def round_(k: Value, tile: list[Value]) -> list[Value]:
        line = builder.mul(k, INDEX(width))
        rights = [emit.load(r, builder.add(line, start)) for start in starts]
        # What the next tile needs, a little in each round: n = 1024 gains 15 to 20 %.
        for data, size in ((c, TILE_ROWS * width), (p, TILE_ROWS * BLOCK)):
            ahead = builder.sdiv(builder.mul(k, INDEX(size)), INDEX(BLOCK))
            emit.prefetch(data, builder.add(ahead, INDEX(size)), to_write=data is c)
        each = [(row, right) for row in range(TILE_ROWS) for right in rights]
        sums = [emit.add_element(p, row * BLOCK, k, right) for row, right in each]
        return [emit.least(total, old) for total, old in zip(sums, tile, strict=True)]

    tile = emit.loop(n_k, [emit.load(c, place) for place in places], round_)
    for value, place in zip(tile, places, strict=True):
        emit.store(value, c, place)


@_loop
def _sweep(emit: Emit, t: Value, r: Value, first: Value, n_rows: Value, n_vectors: Value) -> None:
    builder = emit.builder

    def column(j: Value) -> None:
        old = [emit.load(r, builder.add(j, INDEX(a * BLOCK))) for a in (0, 1)]
        # From one pivot over the other.
        over = [emit.add_element(r, a * BLOCK + (a ^ 1), first, old[a ^ 1]) for a in (0, 1)]
        pivots = [emit.least(x, y) for x, y in zip(over, old, strict=True)]
        begin = builder.and_(j, INDEX(-2))
        count = builder.ashr(builder.sub(n_rows, begin), INDEX(1))

        def pair(s: Value, _none: list[Value]) -> list[Value]:
            i = builder.add(begin, builder.shl(s, INDEX(1)))
            for u in (0, 1):
                at = builder.add(builder.mul(builder.add(i, INDEX(u)), INDEX(BLOCK)), j)
                best = emit.load(t, at)
                for a in (0, 1):
                    place = (a ^ 1) * BLOCK + (u ^ 1)
                    best = emit.least(emit.add_element(r, place, i, pivots[a]), best)
                emit.store(best, t, at)
            return []

        emit.loop(count, [], pair)

    emit.for_vectors(n_vectors, column)


@_loop
def _copy(emit: Emit, into: Value, source: Value, n_vectors: Value) -> None:
    emit.for_vectors(n_vectors, lambda at: emit.store(emit.load(source, at), into, at))


@_loop
def _flip(emit: Emit, into: Value, into_stride: Value, source: Value, stride: Value) -> None:
    builder, order = emit.builder, [k ^ 1 for k in range(emit.n_lanes)]
    rows = [emit.load(source, builder.mul(stride, INDEX(k))) for k in order]
    for k, column in zip(order, emit.transpose(rows), strict=True):
        emit.store(column, into, builder.mul(into_stride, INDEX(k)))


@_loop
def _take(emit: Emit, t: Value, m: Value, count: Value, n_vectors: Value, tighten: Value) -> None:
    builder, there = emit.builder, emit.beside(emit.kinds[1])
    outside = there.all(infinity(_dtype(there.kind)).item())
    inside = emit.all(tile_infinity(_dtype(emit.kind)).item())

    def one(at: Value) -> None:
        mask = emit.first_lanes(builder.sub(count, at))
        value = there.load_some(m, at, mask, outside)
        if emit.is_float:
            value = builder.select(tighten, emit.floor(value), value)
        else:
            wide = value if emit.kind == there.kind else builder.sext(value, emit.vector)
            value = builder.select(builder.icmp_signed("!=", value, outside), wide, inside)
        emit.store(value, t, at)

    emit.for_vectors(n_vectors, one)


@_loop
def _give(emit: Emit, m: Value, t: Value, d: Value, mine: Value, count: Value) -> None:
    # The octagon's kind comes first; tiles, whose kind may be wider, say how many lanes there are.
    here = Emit(emit.context, emit.builder, emit.kinds[1])
    there, builder = here.beside(emit.kinds[0]), emit.builder
    inner, outer = _dtype(here.kind), _dtype(there.kind)
    floor, ceiling = (here.all(x.item()) for x in (least_bound(outer), tile_greatest(inner, outer)))
    outside, mine = there.all(infinity(outer).item()), here.splat(mine)

    def one(at: Value) -> None:
        combined = here.half(here.add(mine, here.load(d, at)))
        value = here.least(combined, here.load(t, at))
        is_infinite = here.is_less(ceiling, value)
        value = builder.select(here.is_less(value, floor), floor, value)
        narrow = value if inner == outer else builder.trunc(value, there.vector)
        mask = here.first_lanes(builder.sub(count, at))
        there.store(builder.select(is_infinite, outside, narrow), m, at, mask)

    here.for_vectors(here.n_vectors(count), one)


# Loops on rows of partitioned octagons: short ones of any length, where LLVM's own loops spend
# their time before and after vectors


@_loop
def _write_halves(
    emit: Emit, into: Value, mine: Value, others: Value, more: Value, rest: Value, count: Value
) -> None:
    one, other = emit.splat(mine), emit.splat(more)

    def put(at: Value, mask: Value) -> None:
        a = emit.add_up(one, emit.load(others, at, mask))
        b = emit.add_up(other, emit.load(rest, at, mask))
        emit.store(emit.half_up(emit.greater(a, b)), into, at, mask)

    emit.for_row(count, put)


@_loop
def _write_greater(emit: Emit, into: Value, a: Value, b: Value, count: Value) -> None:
    def put(at: Value, mask: Value) -> None:
        greater = emit.greater(emit.load(a, at, mask), emit.load(b, at, mask))
        emit.store(greater, into, at, mask)

    emit.for_row(count, put)


@_loop
def _copy_row(emit: Emit, into: Value, source: Value, count: Value) -> None:
    emit.for_row(count, lambda at, mask: emit.store(emit.load(source, at, mask), into, at, mask))


@_writes(lambda *_: types.boolean, has_lanes=True)
def _is_less(emit: Emit, a: Value, b: Value, count: Value) -> Value:
    builder, flags = emit.builder, ir.VectorType(ir.IntType(1), emit.n_lanes)

    def compare(q: Value, found: list[Value]) -> list[Value]:
        at = builder.mul(q, INDEX(emit.n_lanes))
        mask = emit.first_lanes(builder.sub(count, at))
        less = emit.is_less(emit.load(a, at, mask), emit.load(b, at, mask))
        return [builder.or_(found[0], less)]

    (found,) = emit.loop(emit.n_vectors(count), [ir.Constant(flags, None)], compare)
    return emit.call(f"llvm.vector.reduce.or.v{emit.n_lanes}i1", ir.IntType(1), [found])


# Counters that threads share


@_integer
def _add_to(emit: Emit, counter: Value, value: Value) -> Value:
    return emit.builder.atomic_rmw("add", counter, value, "seq_cst")


@_integer
def _seen(emit: Emit, counter: Value) -> Value:
    return emit.builder.load_atomic(counter, "acquire", align=8, typ=INDEX)


@_nothing
def _give_way(emit: Emit) -> None:
    if hasattr(os, "sched_yield"):
        emit.call("sched_yield", INT32, [])

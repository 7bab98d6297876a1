"""Vectors of this machine's width inside compiled code: the inner loops, as LLVM's own vectors.

LLVM does not vectorise min-plus loops by itself: Numba's loops reach 1 to 2 G sums a second, these
14 to 50. Floats are rounded upwards wherever `upwards` was called before, in the same thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_intrinsic: Any = intrinsic  # Numba publishes no types
_types: Any = types
_INDEX = ir.IntType(64)
_INT32 = ir.IntType(32)
_TO_NEAREST, _UPWARDS = 1, 2  # as LLVM numbers the ways of rounding


def _vector_bytes() -> int:
    """Return the width of this machine's vectors; any width is right, this one is fast."""
    features = llvm.get_host_cpu_features()
    if features.get("avx512f") and features.get("avx512bw"):
        return 64
    return 32 if features.get("avx2") else 16


VECTOR_BYTES = _vector_bytes()
HAS_FMA = VECTOR_BYTES > 16 and bool(llvm.get_host_cpu_features().get("fma"))
HAS_32_REGISTERS = VECTOR_BYTES == 64
BLOCK = 64  # pivots in a block, and the stride of whatever has one column for each


def tile_shape(n_bytes: int) -> tuple[int, int]:
    """Return the rows of a tile of registers and its vectors a row; no row exceeds a block."""
    if not HAS_32_REGISTERS:
        return 4, 2
    return (4, 4) if n_bytes > 2 else (8, 2)


def lanes(dtype: Any) -> int:
    """Return how many elements of a NumPy type a vector holds."""
    return VECTOR_BYTES // int(dtype.itemsize)


class Emit:
    """Emits code on vectors of one element type."""

    def __init__(self, context: Any, builder: ir.IRBuilder, kind: Any) -> None:
        self.builder = builder
        self.is_float = isinstance(kind, types.Float)
        self.element = context.get_value_type(kind)
        self.n_bytes = kind.bitwidth // 8
        self.n_lanes = VECTOR_BYTES // self.n_bytes
        self.tile_rows, self.tile_vectors = tile_shape(self.n_bytes)
        self.vector = ir.VectorType(self.element, self.n_lanes)
        ones = ir.Constant(self.vector, [1.0] * self.n_lanes) if self.is_float else None
        self.one = self._opaque(ones) if self.is_float and HAS_FMA else None

    def load(self, pointer: Any, at: Any) -> Any:
        """Return the vector at element `at`."""
        return self.builder.load(self._place(pointer, at), align=self.n_bytes)

    def store(self, value: Any, pointer: Any, at: Any) -> None:
        """Store a vector at element `at`."""
        self.builder.store(value, self._place(pointer, at), align=self.n_bytes)

    def _place(self, pointer: Any, at: Any) -> Any:
        place = self.builder.gep(pointer, [at], source_etype=self.element)
        return self.builder.bitcast(place, self.vector.as_pointer())

    def element_at(self, pointer: Any, at: Any) -> Any:
        """Return the element at `at`, in every lane."""
        place = self.builder.gep(pointer, [at], source_etype=self.element)
        value = self.splat(self.builder.load(place))
        # Loaded once, not again with every use: Zen 4 gains 6 % in float64.
        return value if self.one is None else self._opaque(value)

    def splat(self, value: Any) -> Any:
        """Return a vector with `value` in every lane."""
        one = self.builder.insert_element(ir.Constant(self.vector, ir.Undefined), value, _INT32(0))
        mask = ir.Constant(ir.VectorType(_INT32, self.n_lanes), [0] * self.n_lanes)
        return self.builder.shuffle_vector(one, ir.Constant(self.vector, ir.Undefined), mask)

    def add(self, a: Any, b: Any) -> Any:
        """Return the sums, lane by lane.

        Floats are added as 1 * a + b: that rounds once, as a + b does, and uses units that do not
        also have to find the minima. Zen 4: 28 instead of 14 G sums a second.
        """
        if self.one is not None:
            return self.builder.call(self._fma(), [self.one, a, b])
        return self.builder.fadd(a, b) if self.is_float else self.builder.add(a, b)

    def _fma(self) -> Any:
        """Return LLVM's fused multiply-add of these vectors."""
        name = f"llvm.fma.v{self.n_lanes}f{8 * self.n_bytes}"
        kind = ir.FunctionType(self.vector, [self.vector] * 3)
        known = self.builder.module.globals.get(name)
        return known or ir.Function(self.builder.module, kind, name)

    def _opaque(self, value: Any) -> Any:
        """Return the vector as one of which LLVM knows nothing."""
        kind = ir.FunctionType(self.vector, [self.vector])
        return self.builder.asm(kind, "", "=v,0", [value], side_effect=False)

    def least(self, a: Any, b: Any) -> Any:
        """Return the lesser, lane by lane."""
        compare = self.builder.fcmp_ordered if self.is_float else self.builder.icmp_signed
        return self.builder.select(compare("<", a, b), a, b)

    def loop(
        self, count: Any, start: list[Any], body: Callable[[Any, list[Any]], list[Any]]
    ) -> Any:
        """Return what `body(i, values)` makes of `start` in `count` rounds, at least one."""
        b = self.builder
        before, loop = b.block, b.append_basic_block("loop")
        after = b.append_basic_block("after")
        b.branch(loop)
        b.position_at_end(loop)
        i = b.phi(_INDEX)
        values = [b.phi(value.type) for value in start]
        results = body(i, list(values))
        following = b.add(i, _INDEX(1))
        end = b.block
        for phi, first, then in zip(
            [i, *values], [_INDEX(0), *start], [following, *results], strict=True
        ):
            phi.add_incoming(first, before)
            phi.add_incoming(then, end)
        b.cbranch(b.icmp_signed("<", following, count), loop, after)
        b.position_at_end(after)
        return results


def _micro(_context: Any, c: Any, c_stride: Any, p: Any, r: Any, n_k: Any) -> Any:
    """C[i, j] = min(C[i, j], P[i, k] + R[k, j]) over n_k values of k, for one tile of C."""
    index = types.int64
    signature = types.none(c, index, p, r, index)

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        emit = Emit(context, builder, c.dtype)
        c_data, c_stride, p_data, r_data, n_k = arguments
        width = emit.tile_vectors * emit.n_lanes
        starts = [_INDEX(v * emit.n_lanes) for v in range(emit.tile_vectors)]
        lines = [builder.mul(c_stride, _INDEX(row)) for row in range(emit.tile_rows)]
        places = [builder.add(line, start) for line in lines for start in starts]

        def round_(k: Any, tile: list[Any]) -> list[Any]:
            line = builder.mul(k, _INDEX(width))
            factors = [
                emit.element_at(p_data, builder.add(k, _INDEX(row * BLOCK)))
                for row in range(emit.tile_rows)
            ]
            rights = [emit.load(r_data, builder.add(line, start)) for start in starts]
            sums = (emit.add(factor, right) for factor in factors for right in rights)
            return [emit.least(total, old) for total, old in zip(sums, tile, strict=True)]

        tile = emit.loop(n_k, [emit.load(c_data, place) for place in places], round_)
        for value, place in zip(tile, places, strict=True):
            emit.store(value, c_data, place)
        return context.get_dummy_value()

    return signature, build


def _relax(_context: Any, t: Any, k: Any, n_rows: Any, n_vectors: Any) -> Any:
    """T[i, j] = min(T[i, j], T[i, k] + T[k, j]) for all rows i, in rows of BLOCK elements."""
    index = types.int64
    signature = types.none(t, index, index, index)

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        emit = Emit(context, builder, t.dtype)
        data, k, n_rows, n_vectors = arguments
        pivot = builder.mul(k, _INDEX(BLOCK))

        def column(q: Any, _none: list[Any]) -> list[Any]:
            j = builder.mul(q, _INDEX(emit.n_lanes))
            line = emit.load(data, builder.add(pivot, j))

            def row(i: Any, _none: list[Any]) -> list[Any]:
                start = builder.mul(i, _INDEX(BLOCK))
                factor = emit.element_at(data, builder.add(start, k))
                here = builder.add(start, j)
                best = emit.least(emit.add(factor, line), emit.load(data, here))
                emit.store(best, data, here)
                return []

            emit.loop(n_rows, [], row)
            return []

        emit.loop(n_vectors, [], column)
        return context.get_dummy_value()

    return signature, build


def _constant(of: Callable[[int], int]) -> Any:
    """Return an intrinsic that knows something of a pointer's elements by their size."""

    def typed(_context: Any, pointer: Any) -> Any:
        def build(_context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
            return _INDEX(of(pointer.dtype.bitwidth // 8))

        return types.int64(pointer), build

    return _intrinsic(typed)


def _upwards(_context: Any) -> Any:
    """Round floats upwards in this thread until `to_nearest` is called."""
    return types.none(), _set_rounding(_UPWARDS)


def _to_nearest(_context: Any) -> Any:
    return types.none(), _set_rounding(_TO_NEAREST)


def _set_rounding(mode: int) -> Any:
    def build(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [_INT32])
        function = builder.module.declare_intrinsic("llvm.set.rounding", (), kind)
        fence = ir.FunctionType(ir.VoidType(), [])
        # No load or store passes the fences, and no sum its load or store.
        builder.asm(fence, "", "~{memory}", [], side_effect=True)
        builder.call(function, [_INT32(mode)])
        builder.asm(fence, "", "~{memory}", [], side_effect=True)
        return context.get_dummy_value()

    return build


micro: Any = _intrinsic(_micro)
relax: Any = _intrinsic(_relax)
lanes_of: Any = _constant(lambda n_bytes: VECTOR_BYTES // n_bytes)  # elements in a vector
tile_rows_of: Any = _constant(lambda n_bytes: tile_shape(n_bytes)[0])
tile_vectors_of: Any = _constant(lambda n_bytes: tile_shape(n_bytes)[1])
upwards: Any = _intrinsic(_upwards)
to_nearest: Any = _intrinsic(_to_nearest)

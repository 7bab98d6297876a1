"""Vectors of this machine's width inside compiled code, as LLVM's own vectors.

LLVM does not vectorise min-plus loops by itself: Numba's loops reach 1 to 2 G sums a second, those
of `inner` 14 to 110. Floats are rounded upwards wherever `upwards` was called before, in the same
thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types

from kleene.kernels.compiled import intrinsic

INDEX = ir.IntType(64)
_INT32 = ir.IntType(32)
_TO_NEAREST, _UPWARDS = 1, 2  # as LLVM numbers the ways of rounding


def _vector_bytes() -> int:
    """Return the width of this machine's vectors; any width is right, this one is fast."""
    features = llvm.get_host_cpu_features()
    if features.get("avx512f") and features.get("avx512bw"):
        return 64
    return 32 if features.get("avx2") else 16


llvm.initialize_native_asmparser()  # for the one instruction that is written out below
VECTOR_BYTES = _vector_bytes()
HAS_FMA = VECTOR_BYTES > 16 and bool(llvm.get_host_cpu_features().get("fma"))
TILE_ROWS = 8 if VECTOR_BYTES == 64 else 4  # of registers: there are 32 of them, or 16
TILE_VECTORS = 2


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
        self.vector = ir.VectorType(self.element, self.n_lanes)
        ones = ir.Constant(self.vector, [1.0] * self.n_lanes) if self.is_float else None
        self.one = self.opaque(ones) if self.is_float and HAS_FMA else None

    @property
    def name(self) -> str:
        """How LLVM names such a vector."""
        return f"v{self.n_lanes}{'f' if self.is_float else 'i'}{8 * self.n_bytes}"

    def load(self, pointer: Any, at: Any) -> Any:
        """Return the vector at element `at`."""
        return self.builder.load(self._place(pointer, at), align=self.n_bytes)

    def store(self, value: Any, pointer: Any, at: Any) -> None:
        """Store a vector at element `at`."""
        self.builder.store(value, self._place(pointer, at), align=self.n_bytes)

    def _place(self, pointer: Any, at: Any) -> Any:
        place = self.builder.gep(pointer, [at], source_etype=self.element)
        return self.builder.bitcast(place, self.vector.as_pointer())

    def splat(self, value: Any) -> Any:
        """Return a vector with `value` in every lane."""
        vector = ir.VectorType(value.type, self.n_lanes)
        one = self.builder.insert_element(ir.Constant(vector, ir.Undefined), value, _INT32(0))
        mask = ir.Constant(ir.VectorType(_INT32, self.n_lanes), [0] * self.n_lanes)
        return self.builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), mask)

    def add(self, a: Any, b: Any) -> Any:
        """Return the sums, lane by lane.

        Floats are added as 1 * a + b: that rounds once, as a + b does, and uses units that do not
        also have to find the minima. Zen 4: 28 instead of 14 G sums a second.
        """
        if self.one is not None:
            return self.call(f"llvm.fma.{self.name}", self.vector, [self.one, a, b])
        return self.builder.fadd(a, b) if self.is_float else self.builder.add(a, b)

    def add_element(self, pointer: Any, offset: int, at: Any, b: Any) -> Any:
        """Return the sums of `b` and the element at `offset + at`, lane by lane.

        As 1 * x + b, with x spread to all lanes by the instruction that adds. LLVM would spread it
        by an instruction of its own, which Zen 4 does where it also finds the minima: 20 instead of
        29 G sums a second.
        """
        if self.one is None or VECTOR_BYTES < 64:
            here = self.builder.add(at, INDEX(offset))
            place = self.builder.gep(pointer, [here], source_etype=self.element)
            return self.add(self.splat(self.builder.load(place)), b)
        spread = f"{offset * self.n_bytes}($3,$4,{self.n_bytes}){{1to{self.n_lanes}}}"
        code = f"vfmadd231p{'d' if self.n_bytes == 8 else 's'} {spread}, $2, $0"
        kind = ir.FunctionType(self.vector, [self.vector, self.vector, pointer.type, INDEX])
        # With a side effect, or LLVM would move it past stores: it does not see the load.
        arguments = [b, self.one, pointer, at]
        return self.builder.asm(kind, code, "=v,0,v,r,r", arguments, side_effect=True)

    def opaque(self, value: Any) -> Any:
        """Return the vector as one of which LLVM knows nothing."""
        kind = ir.FunctionType(self.vector, [self.vector])
        return self.builder.asm(kind, "", "=v,0", [value], side_effect=False)

    def least(self, a: Any, b: Any) -> Any:
        """Return the lesser, lane by lane."""
        return self.builder.select(self.is_less(a, b), a, b)

    def is_less(self, a: Any, b: Any) -> Any:
        """Return where a is less than b."""
        compare = self.builder.fcmp_ordered if self.is_float else self.builder.icmp_signed
        return compare("<", a, b)

    def first_lanes(self, count: Any) -> Any:
        """Return a mask of the first `count` lanes: none if it is negative, at most all."""
        b, kind, all_ = self.builder, ir.IntType(8 * self.n_bytes), INDEX(self.n_lanes)
        inside = b.select(b.icmp_signed("<", count, INDEX(0)), INDEX(0), count)
        inside = b.select(b.icmp_signed("<", all_, inside), all_, inside)
        inside = inside if kind == INDEX else b.trunc(inside, kind)
        numbers = ir.Constant(ir.VectorType(kind, self.n_lanes), list(range(self.n_lanes)))
        return b.icmp_signed("<", numbers, self.splat(inside))

    def load_some(self, pointer: Any, at: Any, mask: Any, otherwise: Any) -> Any:
        """Return the vector at element `at` in the lanes of `mask`, and `otherwise` in others."""
        return self._masked("load", self.vector, pointer, at, mask, otherwise)

    def store_some(self, value: Any, pointer: Any, at: Any, mask: Any) -> None:
        """Store the lanes of `mask` at element `at`."""
        self._masked("store", ir.VoidType(), pointer, at, mask, value)

    def _masked(self, verb: str, result: Any, pointer: Any, at: Any, mask: Any, value: Any) -> Any:
        arguments = [self._place(pointer, at), _INT32(self.n_bytes), mask]
        arguments = [value, *arguments] if verb == "store" else [*arguments, value]
        return self.call(f"llvm.masked.{verb}.{self.name}.p0", result, arguments)

    def floor(self, a: Any) -> Any:
        """Return the greatest integers that are no more, lane by lane."""
        return self.call(f"llvm.floor.{self.name}", self.vector, [a]) if self.is_float else a

    def call(self, name: str, result: Any, arguments: list[Any]) -> Any:
        """Return what LLVM's function of that name makes of the arguments."""
        module = self.builder.module
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        function = module.globals.get(name) or ir.Function(module, kind, name)
        return self.builder.call(function, arguments)

    def prefetch(self, pointer: Any, at: Any, *, to_write: bool) -> None:
        """Ask for the cache line of element `at`, which need not exist."""
        place = self.builder.gep(pointer, [at], source_etype=self.element)
        flags = [_INT32(int(to_write)), _INT32(3), _INT32(1)]  # to be kept near; data
        self.call("llvm.prefetch.p0", ir.VoidType(), [place, *flags])

    def transpose(self, rows: list[Any]) -> list[Any]:
        """Return the columns of as many vectors as each has lanes."""
        half = self.n_lanes // 2
        kind = ir.VectorType(_INT32, self.n_lanes)
        for _ in range(self.n_lanes.bit_length() - 1):
            mixed = []
            for a, b in zip(rows[:half], rows[half:], strict=True):
                for start in (0, half):
                    pairs = [(k, k + self.n_lanes) for k in range(start, start + half)]
                    mask = ir.Constant(kind, [k for pair in pairs for k in pair])
                    mixed.append(self.builder.shuffle_vector(a, b, mask))
            rows = mixed
        return rows

    def loop(
        self, count: Any, start: list[Any], body: Callable[[Any, list[Any]], list[Any]]
    ) -> Any:
        """Return what `body(i, values)` makes of `start` in `count` rounds, at least one."""
        b = self.builder
        before, loop = b.block, b.append_basic_block("loop")
        after = b.append_basic_block("after")
        b.branch(loop)
        b.position_at_end(loop)
        i = b.phi(INDEX)
        values = [b.phi(value.type) for value in start]
        results = body(i, list(values))
        following = b.add(i, INDEX(1))
        end = b.block
        for phi, first, then in zip(
            [i, *values], [INDEX(0), *start], [following, *results], strict=True
        ):
            phi.add_incoming(first, before)
            phi.add_incoming(then, end)
        b.cbranch(b.icmp_signed("<", following, count), loop, after)
        b.position_at_end(after)
        return results


def _lanes_of(_context: Any, pointer: Any) -> Any:
    """Return the elements of a vector."""

    def build(_context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return INDEX(VECTOR_BYTES // (pointer.dtype.bitwidth // 8))

    return types.int64(pointer), build


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


@intrinsic(_lanes_of)
def lanes_of(pointer: Any) -> int:
    """Return the elements of a vector."""
    return lanes(pointer.dtype)


@intrinsic(_upwards)
def upwards() -> None:
    """Round floats upwards in this thread until `to_nearest` is called.

    Interpreted code does not rely on it: there each sum is rounded by itself.
    """


@intrinsic(_to_nearest)
def to_nearest() -> None:
    """Round floats to nearest in this thread."""

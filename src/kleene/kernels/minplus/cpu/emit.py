"""What writes LLVM's instructions on numbers of one type, one at a time or a vector of them.

LLVM does not vectorise min-plus loops by itself: Numba's loops reach 1 to 2 G sums a second, those
of `instructions` 14 to 110. Floats are rounded as the thread says: upwards, after `upwards()`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from kleene.kernels.minplus.cpu import vector

INDEX = ir.IntType(64)
INT32 = ir.IntType(32)
Value = Any  # of LLVM: llvmlite publishes no types
Kind = Any  # of Numba


class Emit:
    """Writes instructions on numbers of the type of the first kind: of its elements, if it has any.

    Without lanes it writes them on single numbers; `vector` is then the type of one.
    """

    def __init__(
        self, context: Any, builder: ir.IRBuilder, *kinds: Kind, has_lanes: bool = True
    ) -> None:
        self.context, self.builder, self.kinds = context, builder, kinds
        first = kinds[0] if kinds else types.int64
        self.kind = getattr(first, "dtype", first)
        self.is_float = isinstance(self.kind, types.Float)
        self.element = context.get_value_type(self.kind)
        self.n_bytes = getattr(self.kind, "bitwidth", 8) // 8  # a truth value has one
        self.n_lanes = vector.VECTOR_BYTES // self.n_bytes if has_lanes else 1
        self.vector = ir.VectorType(self.element, self.n_lanes) if has_lanes else self.element
        uses_fma = has_lanes and self.is_float and vector.HAS_FMA
        self.one = self.opaque(self.all(1.0)) if uses_fma else None

    def beside(self, kind: Kind) -> Emit:
        """Return what writes instructions on as many numbers of another type."""
        made = Emit(self.context, self.builder, kind)
        made.n_lanes, made.vector = self.n_lanes, ir.VectorType(made.element, self.n_lanes)
        return made

    @property
    def name(self) -> str:
        """How LLVM names such a vector, or number."""
        lanes = f"v{self.n_lanes}" if isinstance(self.vector, ir.VectorType) else ""
        return f"{lanes}{'f' if self.is_float else 'i'}{8 * self.n_bytes}"

    def all(self, value: float) -> Value:
        """Return a constant in every lane."""
        has_lanes = isinstance(self.vector, ir.VectorType)
        return ir.Constant(self.vector, [value] * self.n_lanes if has_lanes else value)

    @property
    def infinity(self) -> int:
        """What means "no bound" among integers."""
        return (1 << (8 * self.n_bytes - 1)) - 1

    # Memory

    def load(self, pointer: Value, at: Value, mask: Value = None) -> Value:
        """Return the vector at element `at`, or only the lanes of a mask; the others are 0."""
        if mask is not None:
            return self.load_some(pointer, at, mask, ir.Constant(self.vector, None))
        return self.builder.load(self._place(pointer, at), align=self.n_bytes)

    def store(self, value: Value, pointer: Value, at: Value, mask: Value = None) -> None:
        """Store a vector at element `at`, or only the lanes of a mask."""
        if mask is not None:
            self._masked("store", ir.VoidType(), pointer, at, mask, value)
        else:
            self.builder.store(value, self._place(pointer, at), align=self.n_bytes)

    def load_some(self, pointer: Value, at: Value, mask: Value, otherwise: Value) -> Value:
        """Return the vector at element `at` in the lanes of `mask`, and `otherwise` in others."""
        return self._masked("load", self.vector, pointer, at, mask, otherwise)

    def _masked(
        self, verb: str, result: Any, pointer: Value, at: Value, mask: Value, value: Value
    ) -> Value:
        arguments = [self._place(pointer, at), INT32(self.n_bytes), mask]
        arguments = [value, *arguments] if verb == "store" else [*arguments, value]
        return self.call(f"llvm.masked.{verb}.{self.name}.p0", result, arguments)

    def _place(self, pointer: Value, at: Value) -> Value:
        place = self.builder.gep(pointer, [at], source_etype=self.element)
        return self.builder.bitcast(place, self.vector.as_pointer())

    def first_lanes(self, count: Value) -> Value:
        """Return a mask of the first `count` lanes: none if it is negative, at most all."""
        b, kind, all_ = self.builder, ir.IntType(8 * self.n_bytes), INDEX(self.n_lanes)
        inside = b.select(b.icmp_signed("<", count, INDEX(0)), INDEX(0), count)
        inside = b.select(b.icmp_signed("<", all_, inside), all_, inside)
        inside = inside if kind == INDEX else b.trunc(inside, kind)
        numbers = ir.Constant(ir.VectorType(kind, self.n_lanes), list(range(self.n_lanes)))
        return b.icmp_signed("<", numbers, self.splat(inside))

    def prefetch(self, pointer: Value, at: Value, *, to_write: bool) -> None:
        """Ask for the cache line of element `at`, which need not exist."""
        place = self.builder.gep(pointer, [at], source_etype=self.element)
        flags = [INT32(int(to_write)), INT32(3), INT32(1)]  # to be kept near; data
        self.call("llvm.prefetch.p0", ir.VoidType(), [place, *flags])

    # Numbers

    def splat(self, value: Value) -> Value:
        """Return a vector with `value` in every lane."""
        vector_type = ir.VectorType(value.type, self.n_lanes)
        none = ir.Constant(vector_type, ir.Undefined)
        mask = ir.Constant(ir.VectorType(INT32, self.n_lanes), [0] * self.n_lanes)
        return self.builder.shuffle_vector(
            self.builder.insert_element(none, value, INT32(0)), none, mask
        )

    def add(self, a: Value, b: Value) -> Value:
        """Return the sums, lane by lane.

        Floats are added as 1 * a + b: that rounds once, as a + b does, and uses units that do not
        also have to find the minima. Zen 4: 28 instead of 14 G sums a second.
        """
        if self.one is not None:
            return self.call(f"llvm.fma.{self.name}", self.vector, [self.one, a, b])
        return self.builder.fadd(a, b) if self.is_float else self.builder.add(a, b)

    def add_element(self, pointer: Value, offset: int, at: Value, b: Value) -> Value:
        """Return the sums of `b` and the element at `offset + at`, lane by lane.

        As 1 * x + b, with x spread to all lanes by the instruction that adds. LLVM would spread it
        by an instruction of its own, which Zen 4 does where it also finds the minima: 20 instead of
        29 G sums a second.
        """
        if self.one is None or vector.VECTOR_BYTES < 64:
            here = self.builder.add(at, INDEX(offset))
            place = self.builder.gep(pointer, [here], source_etype=self.element)
            return self.add(self.splat(self.builder.load(place)), b)
        spread = f"{offset * self.n_bytes}($3,$4,{self.n_bytes}){{1to{self.n_lanes}}}"
        code = f"vfmadd231p{'d' if self.n_bytes == 8 else 's'} {spread}, $2, $0"
        kind = ir.FunctionType(self.vector, [self.vector, self.vector, pointer.type, INDEX])
        # With a side effect, or LLVM would move it past stores: it does not see the load.
        arguments = [b, self.one, pointer, at]
        return self.builder.asm(kind, code, "=v,0,v,r,r", arguments, side_effect=True)

    def add_up(self, a: Value, b: Value) -> Value:
        """Return a + b: floats in the thread's rounding, integers saturated, infinity kept."""
        builder = self.builder
        if self.is_float:
            return builder.fadd(a, b)
        infinity, least = self.all(self.infinity), self.all(1 - self.infinity)
        total = self.call(f"llvm.sadd.sat.{self.name}", self.vector, [a, b])
        total = builder.select(builder.icmp_signed("<", total, least), least, total)
        is_infinite = builder.or_(self.is_infinite(a), self.is_infinite(b))
        return builder.select(is_infinite, infinity, total)

    def half(self, total: Value) -> Value:
        """Return half of each, rounded upwards; integers are bounds."""
        if self.is_float:
            return self.builder.fmul(total, self.all(0.5))
        one = self.all(1)
        return self.builder.add(self.builder.ashr(total, one), self.builder.and_(total, one))

    def half_up(self, total: Value) -> Value:
        """Return half of each, rounded upwards; half of infinity is infinite."""
        half = self.half(total)
        return half if self.is_float else self._unless_infinite(total, half)

    def floor(self, a: Value) -> Value:
        """Return the greatest integers that are no more, lane by lane."""
        return self.call(f"llvm.floor.{self.name}", self.vector, [a]) if self.is_float else a

    def even(self, a: Value) -> Value:
        """Return the greatest even integer that is no more; infinity is even."""
        if self.is_float:
            half = self.floor(self.builder.fmul(a, self.all(0.5)))
            return self.builder.fmul(half, self.all(2.0))
        return self._unless_infinite(a, self.builder.and_(a, self.all(-2)))

    def is_infinite(self, a: Value) -> Value:
        """Return where integers mean "no bound"."""
        return self.builder.icmp_signed("==", a, self.all(self.infinity))

    def _unless_infinite(self, a: Value, otherwise: Value) -> Value:
        return self.builder.select(self.is_infinite(a), a, otherwise)

    def is_less(self, a: Value, b: Value) -> Value:
        """Return where a is less than b."""
        compare = self.builder.fcmp_ordered if self.is_float else self.builder.icmp_signed
        return compare("<", a, b)

    def least(self, a: Value, b: Value) -> Value:
        """Return the lesser, lane by lane."""
        return self.builder.select(self.is_less(a, b), a, b)

    def greater(self, a: Value, b: Value) -> Value:
        """Return the greater, lane by lane."""
        return self.builder.select(self.is_less(b, a), a, b)

    def opaque(self, value: Value) -> Value:
        """Return the vector as one of which LLVM knows nothing."""
        kind = ir.FunctionType(self.vector, [self.vector])
        return self.builder.asm(kind, "", "=v,0", [value], side_effect=False)

    def transpose(self, rows: list[Value]) -> list[Value]:
        """Return the columns of as many vectors as each has lanes."""
        half = self.n_lanes // 2
        kind = ir.VectorType(INT32, self.n_lanes)
        for _ in range(self.n_lanes.bit_length() - 1):
            mixed = []
            for a, b in zip(rows[:half], rows[half:], strict=True):
                for start in (0, half):
                    pairs = [(k, k + self.n_lanes) for k in range(start, start + half)]
                    mask = ir.Constant(kind, [k for pair in pairs for k in pair])
                    mixed.append(self.builder.shuffle_vector(a, b, mask))
            rows = mixed
        return rows

    # Control

    def call(self, name: str, result: Any, arguments: list[Value]) -> Value:
        """Return what LLVM's function of that name makes of the arguments."""
        module = self.builder.module
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        function = module.globals.get(name) or ir.Function(module, kind, name)
        return self.builder.call(function, arguments)

    def loop(
        self, count: Value, start: list[Value], body: Callable[[Value, list[Value]], list[Value]]
    ) -> list[Value]:
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

    def for_vectors(self, n_vectors: Value, body: Callable[[Value], None]) -> None:
        """Emit `body(at)` for each of some vectors, at least one."""

        def one(q: Value, _none: list[Value]) -> list[Value]:
            body(self.builder.mul(q, INDEX(self.n_lanes)))
            return []

        self.loop(n_vectors, [], one)

    def n_vectors(self, count: Value) -> Value:
        """Return how many vectors hold `count` elements."""
        rounded = self.builder.add(count, INDEX(self.n_lanes - 1))
        return self.builder.sdiv(rounded, INDEX(self.n_lanes))

    def for_row(self, count: Value, body: Callable[[Value, Value], None]) -> None:
        """Emit `body(at, mask)` for whole vectors, with no mask, and for those of `count` left."""
        builder, lanes = self.builder, INDEX(self.n_lanes)
        n_whole = builder.sdiv(count, lanes)
        first = builder.mul(n_whole, lanes)
        left = builder.sub(count, first)
        with builder.if_then(builder.icmp_signed(">", n_whole, INDEX(0))):
            self.for_vectors(n_whole, lambda at: body(at, None))
        with builder.if_then(builder.icmp_signed(">", left, INDEX(0))):
            body(first, self.first_lanes(left))

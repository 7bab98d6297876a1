"""How the threads of a warp access memory: lines and sectors of each access, for every mapping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations

from kleene.algebra.symbolic import Expression, Signs, Symbol, of
from kleene.base.errors import Span
from kleene.ir.loops.symbols import Choice, LoopSymbol, loops_of
from kleene.ir.loops.tables import Access, LoopRow, Root, all_symbols
from kleene.offload.kernels.dependences import Facts
from kleene.offload.kernels.parameters import Basis
from kleene.offload.kernels.sections import in_range, sign_in
from kleene.offload.kernels.trips import trips_if_any
from kleene.offload.memory.coalescing import WARP, ByteAccess, Coalescing, coalescing

_MAX_ALTERNATIVES = 8


@dataclass(frozen=True, slots=True)
class Axis:
    """A loop on the grid: its variable, the counter of its iterations, and how many there are."""

    variable: str
    counter: Symbol
    trips: Expression
    place: Span


@dataclass(frozen=True, slots=True)
class AccessPattern:
    """How a warp accesses memory by one load or store, in the kernel's best mapping.

    `stride` is the bytes from a thread to the next; None if it is not the same for all.
    `by_mapping` has the lines and sectors of a warp for each order of loops on x, y, z.
    """

    text: str
    root: str
    place: Span
    is_write: bool
    n_bytes: int | None
    offsets: tuple[Expression, ...]  # alternatives; none if the address is not known
    stride: Expression | None
    requests: Expression
    sectors: Expression
    factor: Expression
    basis: Basis
    assumptions: tuple[str, ...]
    by_mapping: tuple[tuple[tuple[str, ...], Expression, Expression], ...]
    counted: tuple[int, int] | None = None  # lines and sectors of the first warp, for numbers

    @property
    def kind(self) -> str:
        """`coalesced`, `broadcast`, `strided` or `irregular`."""
        if self.stride is None or not self.offsets:
            return "irregular"
        if self.stride == 0:
            return "broadcast"
        size = self.n_bytes or 0
        return "coalesced" if self.stride in (size, -size) else "strided"


class Patterns:
    """The accesses of a nest whose outermost loops `rows` are on the grid."""

    def __init__(self, facts: Facts, rows: list[LoopRow], axes: list[Axis]) -> None:
        self._facts = facts
        self._row = rows[0]
        self._rows = rows
        self._axes = axes
        orders = list(permutations(axes))
        self.costs = dict.fromkeys(orders, of(0))  # lines of a warp by mapping, in all
        self._found = [self._requests_of(access, orders) for access in self._accesses()]

    def best_order(self) -> tuple[Axis, ...]:
        """Return the mapping with the fewest requests: the default unless another is never worse.

        Where symbols leave it open, sizes of 1024 decide.
        """
        costs, default = self.costs, tuple(self._axes)
        symbols = {one for cost in costs.values() for one in cost.symbols()}
        signs = Signs({one: sign_in(self._facts, self._rows[-1].context, one) for one in symbols})
        best = default
        for order, cost in costs.items():
            if signs.at_most(cost, costs[best]) and cost != costs[best]:
                best = order
        if best != default:
            return best
        usual = dict.fromkeys(symbols, 1024)

        def typical(order: tuple[Axis, ...]) -> float:
            number = costs[order].substitute(usual).number
            return float("inf") if number is None else float(number)

        return min(costs, key=lambda order: (typical(order), order != default))

    def in_order(self, order: tuple[Axis, ...]) -> tuple[AccessPattern, ...]:
        """Return every access for one mapping of loops to x, y, z."""
        return tuple(self._pattern(order, *one) for one in self._found)

    def _accesses(self) -> list[Access]:
        """Return the accesses to storage but those of one address, which a register can hold."""
        found: dict[object, Access] = {}
        inside = self._facts.table.descendants(self._row.number)
        for one in self._facts.table.inside(self._row.number):
            is_scalar = one.path == () or self._row.number in one.root.declared_in
            changes = one.offset is None or (loops_of(one.offset) | one.root.loops) & inside
            if not is_scalar and changes:
                key = one.text, one.offset, one.is_write, one.place.line, one.root
                found.setdefault(key, one)
        return list(found.values())

    def _alternatives(self, access: Access) -> tuple[ByteAccess, ...]:
        """Return an access as byte offsets, one for each value of its choices."""
        facts = self._facts
        if access.offset is None or access.n_bytes is None or access.root.kind == "unknown":
            return ()
        if not all(facts.prove(access.context, in_range(one)) for one in access.obligations):
            return ()
        waiting, found = [access.offset], []
        while waiting:
            offset = waiting.pop()
            choice = next((one for one in offset.symbols() if isinstance(one, Choice)), None)
            if choice is None:
                found.append(offset)
            elif len(waiting) + len(found) >= _MAX_ALTERNATIVES:
                return ()
            else:
                waiting += [offset.substitute({choice: choice.then})]
                waiting += [offset.substitute({choice: choice.otherwise})]
        size, executions = access.n_bytes, self._executions(access)
        return tuple(ByteAccess(access.root.name, one, size, executions) for one in found)

    def _executions(self, access: Access) -> Expression:
        """Return how often a thread executes an access: the trips of the loops inside."""
        total = of(1)
        for number in access.loops:
            row = self._facts.rows[number]
            if row.number in self._facts.table.descendants(self._row.number) and (
                row not in self._rows
            ):
                total *= trips_if_any(row) or of(f"trips({row.variable or row.place.line})")
        return total

    def _signs(self, values: Iterable[Expression], access: Access) -> Signs:
        symbols = {one for value in values for one in all_symbols(value)}
        return Signs({one: sign_in(self._facts, access.context, one) for one in symbols})

    def _requests_of(
        self, access: Access, orders: list[tuple[Axis, ...]]
    ) -> tuple[Access, tuple[ByteAccess, ...], dict[tuple[Axis, ...], Coalescing]]:
        """Return the requests of an access for every mapping, and add them to the costs."""
        alternatives = self._alternatives(access)
        signs = self._signs([one.offset for one in alternatives], access)
        by_first = {
            axis: _requests(alternatives, axis.counter, signs, access) for axis in self._axes
        }
        for order in orders:
            self.costs[order] += by_first[order[0]].requests * self._executions(access)
        return access, alternatives, {order: by_first[order[0]] for order in orders}

    def _pattern(
        self,
        order: tuple[Axis, ...],
        access: Access,
        alternatives: tuple[ByteAccess, ...],
        by_order: Mapping[tuple[Axis, ...], Coalescing],
    ) -> AccessPattern:
        chosen = by_order[order]
        x = order[0].counter
        strides = {one.offset.coefficient(x) for one in alternatives}
        stride = strides.pop() if len(strides) == 1 else None
        if not _is_known(access.root, alternatives, x):
            stride = None
        if stride is not None and loops_of(stride) & {row.number for row in self._rows}:
            stride = None
        assumed = tuple(sorted(f"{one.name} > 0" for one in chosen.assumed))
        return AccessPattern(
            access.text,
            access.root.name,
            access.place,
            access.is_write,
            access.n_bytes,
            tuple(one.offset for one in alternatives),
            stride,
            chosen.requests,
            chosen.sectors,
            chosen.factor,
            Basis.ASSUMED if assumed else Basis.PROVED,
            assumed,
            tuple(
                (tuple(axis.variable for axis in one), found.requests, found.sectors)
                for one, found in by_order.items()
            ),
        )


def _requests(
    alternatives: tuple[ByteAccess, ...], x: Symbol, signs: Signs, access: Access
) -> Coalescing:
    if not alternatives or not _is_known(access.root, alternatives, x):
        return Coalescing(of(WARP), of(WARP * max(1, -(-(access.n_bytes or 1) // 32))), of(WARP))
    return coalescing(alternatives, x, signs)


def _is_known(root: Root, alternatives: Iterable[ByteAccess], x: Symbol) -> bool:
    """Return whether an address changes with a coordinate by the coordinate alone, not by loads."""
    assert isinstance(x, LoopSymbol)
    symbols = {one for access in alternatives for one in access.offset.symbols()}
    others = [one.loops for one in symbols if one != x and isinstance(one, LoopSymbol)]
    return not any(loops & x.loops for loops in (root.loops, *others))

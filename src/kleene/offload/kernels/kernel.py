"""A loop nest as a GPU kernel: which loops become its grid, what moves, how memory is accessed.

The nest begins with the outermost loop that may run in parallel. A loop inside joins the grid, up
to three in all, if it is alone at its level, parallel too, has a trip count that the loops around
do not change, and what stands between the loops may be computed again by every thread:

    for (i...) { s[i] += 1; for (j...) b[i*m + j] = s[i]; }     the increment would happen m times

Loops further inside stay loops of each thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import permutations

from kleene.algebra.symbolic import Expression, Range, Signs, Symbol, of
from kleene.base.errors import Span
from kleene.ir.loops.symbols import Choice, LoopSymbol, loops_of
from kleene.ir.loops.tables import Access, Compare, LoopRow, LoopTable, Root, all_symbols
from kleene.offload.kernels.dependences import Facts
from kleene.offload.kernels.parameters import Basis, Parameter, parameters_of
from kleene.offload.kernels.sections import in_range, sign_in
from kleene.offload.kernels.trips import trip_count, trips_if_any
from kleene.offload.kernels.verdicts import Culprit, LoopVerdict, Verdict
from kleene.offload.memory.coalescing import (
    WARP,
    ByteAccess,
    Coalescing,
    bank_conflicts,
    coalescing,
)
from kleene.offload.memory.tiles import Dimension, overlap, section, tiled

PARALLEL = frozenset({Verdict.PAR, Verdict.PRIV, Verdict.COPY, Verdict.RED})
_MAX_AXES = 3
_MAX_ALTERNATIVES = 8
_PADDED = WARP + 1  # elements of a row of a staged tile: a column then meets every bank once
SHARED_BYTES = 48 * 1024  # of a block, without asking for more
BLOCKS = {1: (256,), 2: (32, 8), 3: (32, 4, 2)}


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


@dataclass(frozen=True, slots=True)
class Sharing:
    """Storage that a block may keep in shared memory.

    `tile` has the elements of a block in each dimension, neighbours first; `overlaps` the elements
    (bytes of a linear section) that a thread and its neighbour along each loop both read.
    `conflicts` is how many times a warp must ask the banks to read a row of the tile.
    """

    root: str
    texts: tuple[str, ...]
    kind: str  # "tile", "section", or "staging": columns are read, rows are moved
    n_bytes: Expression | None
    tile: tuple[Expression, ...]
    overlaps: tuple[tuple[str, Expression | None], ...]
    conflicts: int
    element: int


@dataclass(frozen=True)
class Kernel:
    """What is known of one loop nest as a kernel. Expressions are in the program's own names."""

    function: str
    place: Span
    end_line: int
    axes: tuple[Axis, ...]  # outermost first
    mapping: tuple[str, ...]  # loops on x, y, z with the fewest requests
    costs: tuple[tuple[tuple[str, ...], Expression], ...]  # lines of a warp by mapping, in all
    block: tuple[int, ...]
    parameters: tuple[Parameter, ...]
    accesses: tuple[AccessPattern, ...]
    sharing: tuple[Sharing, ...]
    callees: tuple[str, ...]
    reasons: tuple[Culprit, ...]  # why no further loop is on the grid
    assumptions: tuple[str, ...] = ()
    names: Mapping[Symbol, Expression] = field(default_factory=dict)  # counters as people read them
    values: tuple[tuple[str, int], ...] = ()
    basis: Basis = Basis.PROVED

    def readable(self, value: Expression) -> Expression:
        """Return an expression with loop variables in place of counters."""
        return value.substitute(self.names)


def reasons_against(table: LoopTable, row: LoopRow, verdict: LoopVerdict) -> tuple[Culprit, ...]:
    """Return why a loop cannot become a kernel; nothing if it can."""
    found: list[Culprit] = []
    if verdict.verdict is Verdict.SEQ:
        element = verdict.witness.write.element if verdict.witness else "a value"
        detail = f"{element} flows from an iteration to a later one"
        found.append(Culprit("CARRIED_DEP", detail, verdict.place))
    found += verdict.culprits
    reduced = verdict.reduced
    for access in table.inside(row.number):
        symbol = access.root.symbol
        if not access.is_write or symbol is None or symbol.storage not in ("global", "static"):
            continue
        is_scalar = symbol.type.kind not in ("array", "record", "pointer")
        if access.root.kind == "variable" and is_scalar and symbol.name not in reduced:
            culprit = Culprit("WRITES_GLOBAL", f"{symbol.name} is a global variable", access.place)
            if culprit.detail not in [one.detail for one in found]:
                found.append(culprit)
    return tuple(found)


def kernels_of(
    facts: Facts, verdicts: Iterable[LoopVerdict], block: tuple[int, ...] | None = None
) -> list[Kernel]:
    """Return the kernels of a function: its outermost loops that may become one."""
    by_place = {one.place: one for one in verdicts}
    found: list[Kernel] = []
    taken: set[int] = set()
    for row in facts.table.loops:
        verdict = by_place.get(row.place)
        if row.parent in taken or row.is_inlined or verdict is None:
            taken |= {row.number} if row.parent in taken else set()
            continue
        if verdict.verdict in PARALLEL and not reasons_against(facts.table, row, verdict):
            taken.add(row.number)
            found.append(_Nest(facts, row, verdict, by_place).kernel(block))
    return found


class _Nest:
    """One nest on its way to a kernel."""

    def __init__(
        self,
        facts: Facts,
        row: LoopRow,
        verdict: LoopVerdict,
        verdicts: Mapping[Span, LoopVerdict],
    ) -> None:
        self._facts = facts
        self._row = row
        self._verdict = verdict
        self._verdicts = verdicts
        self._rows = [row]
        self._reasons: list[Culprit] = []
        while len(self._rows) < _MAX_AXES and self._extend():
            pass

    # The grid

    def _extend(self) -> bool:
        """Add the loop inside of the innermost one to the grid, or note why not."""
        outer = self._rows[-1]
        children = [one for one in self._facts.table.loops if one.parent == outer.number]
        if not children:
            return False
        reason = self._against(outer, children)
        if reason is not None:
            self._reasons.append(reason)
            return False
        self._rows.append(children[0])
        return True

    def _against(self, outer: LoopRow, children: list[LoopRow]) -> Culprit | None:
        first = children[0]
        if len(children) > 1:
            detail = f"{len(children)} loops are inside of the loop in line {outer.place.line}"
            return Culprit("MULTIPLE_INNER", detail, children[1].place)
        verdict = self._verdicts.get(first.place)
        if first.is_inlined or verdict is None:
            detail = "the loop is inside of a called function"
            return Culprit("INNER_NOT_IMMEDIATE", detail, first.place)
        own = first.context.index(Compare(">=", of(first.counter)))
        if own > len(outer.context):
            return Culprit("INNER_NOT_IMMEDIATE", "the loop is inside of a condition", first.place)
        if verdict.verdict not in (Verdict.PAR, Verdict.PRIV):
            detail = f"the loop of {first.variable or first.kind} is {verdict.verdict.value}"
            return Culprit("INNER_CARRIED_DEP", detail, first.place)
        trips = trip_count(first)
        if trips is None:
            return Culprit("NOT_NORMALIZABLE", "no trip count", first.place)
        if loops_of(trips) & {one.number for one in self._rows}:
            detail = f"its trip count {self._shown(trips)} changes in the loops around"
            return Culprit("INNER_BOUND_VARIES", detail, first.place)
        return self._against_between(outer, first)

    def _against_between(self, outer: LoopRow, inner: LoopRow) -> Culprit | None:
        """Return what of the code between two loops cannot be computed by every thread."""
        table = self._facts.table
        written_inside = {one.root for one in table.inside(inner.number) if one.is_write}
        private = {one.name for one in self._verdict.privates if not one.last}
        for access in table.inside(outer.number):
            symbol = access.root.symbol
            if inner.number in access.loops or (symbol is not None and symbol in inner.inductions):
                continue
            is_own = outer.number in access.root.declared_in or access.root.name in private
            if access.is_write and not is_own:
                detail = f"{access.text} is written outside of the inner loop"
                return Culprit("OUTER_WRITES", detail, access.place)
            if not access.is_write and access.root in written_inside:
                detail = f"{access.text} is read outside of the inner loop, which writes it"
                return Culprit("OUTER_READS", detail, access.place)
        return None

    # Names

    def _names(self) -> dict[Symbol, Expression]:
        """Return counters as loop variables: `i - first` for a step of 1, `#i` for others."""
        found: dict[Symbol, Expression] = {}
        for row in self._facts.table.loops:
            name = row.variable or f"line{row.place.line}"
            step = None if row.step is None else row.step.integer
            if row.start is not None and step in (1, -1):
                found[row.counter] = (of(name) - row.start) * step
            else:
                found[row.counter] = of(f"#{name}")
        for _ in found:  # first values of inner loops have counters of outer ones
            found = {one: value.substitute(found) for one, value in found.items()}
        return found

    def _shown(self, value: Expression) -> Expression:
        return value.substitute(self._names())

    # The model

    def kernel(self, block: tuple[int, ...] | None) -> Kernel:
        """Return the nest as a kernel."""
        self._facts.renew()
        axes = []
        for row in self._rows:
            trips = trip_count(row)
            variable = row.variable or f"line{row.place.line}"
            axes.append(Axis(variable, row.counter, trips or of(f"trips({variable})"), row.place))
        shape = block if block and len(block) == len(axes) else BLOCKS[len(axes)]
        patterns, costs = self._patterns(axes)
        order = self._best(axes, costs)
        accesses = tuple(self._pattern(axes, order, *one) for one in patterns)
        names = [one.variable for one in order]
        return Kernel(
            self._verdict.function,
            self._verdict.place,
            self._verdict.end_line,
            tuple(axes),
            tuple(names),
            tuple((tuple(a.variable for a in one), cost) for one, cost in costs.items()),
            shape,
            parameters_of(self._facts, self._row, self._verdict),
            accesses,
            tuple(self._sharing(axes, order, shape, accesses)),
            tuple(sorted(self._row.callees)),
            tuple(self._reasons),
            tuple(self._verdict.assumptions),
            self._names(),
        )

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

    def _patterns(
        self, axes: list[Axis]
    ) -> tuple[
        list[tuple[Access, tuple[ByteAccess, ...], dict[tuple[Axis, ...], Coalescing]]],
        dict[tuple[Axis, ...], Expression],
    ]:
        """Return the requests of every access for every mapping, and their sums."""
        orders = list(permutations(axes))
        costs = dict.fromkeys(orders, of(0))
        found = []
        for access in self._accesses():
            alternatives = self._alternatives(access)
            signs = self._signs([one.offset for one in alternatives], access)
            by_order: dict[tuple[Axis, ...], Coalescing] = {}
            by_first: dict[Axis, Coalescing] = {}
            for order in orders:
                if order[0] not in by_first:
                    by_first[order[0]] = _requests(alternatives, order[0].counter, signs, access)
                by_order[order] = by_first[order[0]]
                costs[order] += by_order[order].requests * self._executions(access)
            found.append((access, alternatives, by_order))
        return found, costs

    def _best(
        self, axes: list[Axis], costs: Mapping[tuple[Axis, ...], Expression]
    ) -> tuple[Axis, ...]:
        """Return the mapping with the fewest requests: the default unless another is never worse.

        Where symbols leave it open, sizes of 1024 decide.
        """
        symbols = {one for cost in costs.values() for one in cost.symbols()}
        signs = Signs({one: sign_in(self._facts, self._rows[-1].context, one) for one in symbols})
        best = tuple(axes)
        for order, cost in costs.items():
            if signs.at_most(cost, costs[best]) and cost != costs[best]:
                best = order
        if best != tuple(axes):
            return best
        usual = dict.fromkeys(symbols, 1024)

        def typical(order: tuple[Axis, ...]) -> float:
            number = costs[order].substitute(usual).number
            return float("inf") if number is None else float(number)

        return min(costs, key=lambda order: (typical(order), order != tuple(axes)))

    def _pattern(
        self,
        axes: list[Axis],
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

    # Shared memory

    def _sharing(
        self,
        axes: list[Axis],
        order: tuple[Axis, ...],
        block: tuple[int, ...],
        accesses: tuple[AccessPattern, ...],
    ) -> Iterable[Sharing]:
        extents = {one.counter: of(size) for one, size in zip(order, block, strict=True)}
        inner = self._inner_trips()
        written = {one.root for one in accesses if one.is_write}
        by_root: dict[str, list[AccessPattern]] = {}
        for one in accesses:
            by_root.setdefault(one.root, []).append(one)
        for root, patterns in by_root.items():
            if inner is not None and root not in written and all(p.offsets for p in patterns):
                yield from self._tiles(root, patterns, order, extents, inner)
            yield from self._staged(root, patterns, order)

    def _inner_trips(self) -> dict[Symbol, Expression] | None:
        """Return the trips of loops inside of a thread; None if one changes with the thread."""
        found: dict[Symbol, Expression] = {}
        inside = self._facts.table.descendants(self._row.number)
        for row in self._facts.table.loops:
            if row.number in inside and row not in self._rows:
                trips = trips_if_any(row)
                if trips is None or loops_of(trips) & inside:
                    return None
                found[row.counter] = trips
        return found

    def _tiles(
        self,
        root: str,
        patterns: list[AccessPattern],
        order: tuple[Axis, ...],
        block: Mapping[Symbol, Expression],
        inner: Mapping[Symbol, Expression],
    ) -> Iterable[Sharing]:
        """Yield tiles of what threads of a block read in common, those of alike accesses merged."""
        axes = [one.counter for one in order]
        signs = self._positive([*inner.values(), *(o for p in patterns for o in p.offsets)])
        groups: dict[object, list[tuple[AccessPattern, tuple[Dimension, ...], int, int]]] = {}
        for pattern in patterns:
            for offset in pattern.offsets:
                made = tiled(ByteAccess(root, offset, pattern.n_bytes or 1), axes, list(inner))
                if made is None:
                    yield from self._linear(pattern, offset, order, block, inner, signs)
                    continue
                key = tuple((one.stride, one.axis) for one in made.dimensions)
                groups.setdefault(key, []).append((pattern, made.dimensions, made.low, made.high))
        for members in groups.values():
            found = self._merged(root, members, order, block, inner, signs)
            if found is not None:
                yield found

    def _positive(self, values: Iterable[Expression]) -> Signs:
        symbols = {one for value in values for one in value.symbols()}
        context = self._rows[-1].context
        return Signs({one: sign_in(self._facts, context, one) for one in symbols})

    def _merged(
        self,
        root: str,
        members: list[tuple[AccessPattern, tuple[Dimension, ...], int, int]],
        order: tuple[Axis, ...],
        block: Mapping[Symbol, Expression],
        inner: Mapping[Symbol, Expression],
        signs: Signs,
    ) -> Sharing | None:
        """Return the smallest tile that holds the windows of some accesses, if any is shared."""
        _, dimensions, _, _ = members[0]
        widths: list[Expression] = []
        spans: list[Expression] = []
        for place, one in enumerate(dimensions):
            windows = [d[place].window(inner) for _, d, _, _ in members]
            low = signs.minimum(*(first for first, _ in windows))
            high = signs.maximum(*(last for _, last in windows))
            widths.append(high - low + 1)
            spans.append(high - low + (block[one.axis] if one.axis is not None else 1))
        overlaps: list[tuple[str, Expression | None]] = []
        for axis in order:
            total = of(1)
            for one, width in zip(dimensions, widths, strict=True):
                total *= width - 1 if one.axis == axis.counter else width
            overlaps.append((axis.variable, total))
        if not dimensions or all(total == 0 for _, total in overlaps):
            return None
        columns = dimensions[0]
        low_byte, high_byte = min(m[2] for m in members), max(m[3] for m in members)
        n_bytes = columns.stride * (spans[0] - 1) + high_byte - low_byte + 1
        for span in spans[1:]:
            n_bytes *= span
        element = columns.stride.integer or 0
        texts = tuple(dict.fromkeys(one.text for one, *_ in members))
        is_row = columns.axis == order[0].counter
        conflicts = _conflicts(element, 1) if is_row and element else 1
        return Sharing(
            root, texts, "tile", n_bytes, tuple(spans), tuple(overlaps), conflicts, element
        )

    def _linear(
        self,
        pattern: AccessPattern,
        offset: Expression,
        order: tuple[Axis, ...],
        block: Mapping[Symbol, Expression],
        inner: Mapping[Symbol, Expression],
        signs: Signs,
    ) -> Iterable[Sharing]:
        """Yield the section that neighbours share, if it is not a tile."""
        thread = section(offset, dict(inner), signs)
        if thread.low is None or thread.high is None:
            return
        whole = Range(thread.low, thread.high + (pattern.n_bytes or 1) - 1)
        overlaps: list[tuple[str, Expression | None]] = []
        for axis in order:
            both = overlap(whole, axis.counter, signs)
            is_none = both.kind == "unreachable"
            size = of(0) if is_none else _size(both)
            overlaps.append((axis.variable, size))
        if all(size == 0 for _, size in overlaps):
            return
        from kleene.offload.memory.tiles import block_section

        n_bytes = _size(block_section(whole, dict(block), signs))
        texts = (pattern.text,)
        yield Sharing(
            pattern.root, texts, "section", n_bytes, (), tuple(overlaps), 1, pattern.n_bytes or 0
        )

    def _staged(
        self, root: str, patterns: list[AccessPattern], order: tuple[Axis, ...]
    ) -> Iterable[Sharing]:
        """Yield the staging of a plane that is read or written by columns.

        Its rows are moved one after the other, 32 by 32 elements with one more in each row, so that
        the elements of a column lie in different banks.
        """
        if len(order) < 2:
            return
        for one in patterns:
            size = one.n_bytes
            other = [of(0)] * len(one.offsets)
            for axis in order[1:]:
                strides = [offset.coefficient(axis.counter) for offset in one.offsets]
                if size is not None and strides and all(stride == size for stride in strides):
                    other = [of(1)] * len(one.offsets)
            is_column = bool(other) and all(value == 1 for value in other)
            if one.kind == "strided" and is_column and size is not None:
                tile = (of(_PADDED), of(WARP))
                n_bytes = of(WARP * _PADDED * size)
                conflicts = _conflicts(size, _PADDED)
                yield Sharing(root, (one.text,), "staging", n_bytes, tile, (), conflicts, size)


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


def _conflicts(element: int, stride: int) -> int:
    """Return how many times a warp asks the banks for elements so many apart.

    Elements of 8 bytes are fetched for half of a warp at a time, of 16 for a quarter.
    """
    at_once = WARP if element <= 4 else max(1, WARP * 4 // element)
    return bank_conflicts(element * stride * thread for thread in range(at_once))


def _size(both: Range) -> Expression | None:
    return None if both.low is None or both.high is None else both.high - both.low + 1

"""What threads of a block read in common, and what is worth to be staged in shared memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kleene.algebra.symbolic import Expression, Range, Signs, Symbol, of
from kleene.ir.loops.symbols import loops_of
from kleene.ir.loops.tables import LoopRow
from kleene.offload.kernels.dependences import Facts
from kleene.offload.kernels.patterns import AccessPattern, Axis
from kleene.offload.kernels.sections import sign_in
from kleene.offload.kernels.trips import trips_if_any
from kleene.offload.memory.coalescing import WARP, ByteAccess, bank_conflicts
from kleene.offload.memory.tiles import Dimension, block_section, overlap, section, tiled

_PADDED = WARP + 1  # elements of a row of a staged tile: a column then meets every bank once


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


class SharedMemory:
    """The storage that blocks of a nest may keep; `rows` are its loops on the grid."""

    def __init__(
        self, facts: Facts, rows: list[LoopRow], order: tuple[Axis, ...], block: tuple[int, ...]
    ) -> None:
        self._facts = facts
        self._row = rows[0]
        self._rows = rows
        self._order = order
        extents = zip(order, block, strict=True)
        self._block: dict[Symbol, Expression] = {one.counter: of(n) for one, n in extents}

    def of(self, accesses: tuple[AccessPattern, ...]) -> Iterator[Sharing]:
        """Yield what blocks may keep of the storage that these accesses touch."""
        inner = self._inner_trips()
        written = {one.root for one in accesses if one.is_write}
        by_root: dict[str, list[AccessPattern]] = {}
        for one in accesses:
            by_root.setdefault(one.root, []).append(one)
        for root, patterns in by_root.items():
            if inner is not None and root not in written and all(p.offsets for p in patterns):
                yield from self._tiles(root, patterns, inner)
            yield from self._staged(root, patterns)

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
        inner: Mapping[Symbol, Expression],
    ) -> Iterator[Sharing]:
        """Yield tiles of what threads of a block read in common, those of alike accesses merged."""
        axes = [one.counter for one in self._order]
        signs = self._positive([*inner.values(), *(o for p in patterns for o in p.offsets)])
        groups: dict[object, list[tuple[AccessPattern, tuple[Dimension, ...], int, int]]] = {}
        for pattern in patterns:
            for offset in pattern.offsets:
                made = tiled(ByteAccess(root, offset, pattern.n_bytes or 1), axes, list(inner))
                if made is None:
                    yield from self._linear(pattern, offset, inner, signs)
                    continue
                key = tuple((one.stride, one.axis) for one in made.dimensions)
                groups.setdefault(key, []).append((pattern, made.dimensions, made.low, made.high))
        for members in groups.values():
            found = self._merged(root, members, inner, signs)
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
            spans.append(high - low + (self._block[one.axis] if one.axis is not None else 1))
        overlaps: list[tuple[str, Expression | None]] = []
        for axis in self._order:
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
        is_row = columns.axis == self._order[0].counter
        conflicts = _conflicts(element, 1) if is_row and element else 1
        return Sharing(
            root, texts, "tile", n_bytes, tuple(spans), tuple(overlaps), conflicts, element
        )

    def _linear(
        self,
        pattern: AccessPattern,
        offset: Expression,
        inner: Mapping[Symbol, Expression],
        signs: Signs,
    ) -> Iterator[Sharing]:
        """Yield the section that neighbours share, if it is not a tile."""
        thread = section(offset, dict(inner), signs)
        if thread.low is None or thread.high is None:
            return
        whole = Range(thread.low, thread.high + (pattern.n_bytes or 1) - 1)
        overlaps: list[tuple[str, Expression | None]] = []
        for axis in self._order:
            both = overlap(whole, axis.counter, signs)
            is_none = both.kind == "unreachable"
            size = of(0) if is_none else _size(both)
            overlaps.append((axis.variable, size))
        if all(size == 0 for _, size in overlaps):
            return
        n_bytes = _size(block_section(whole, self._block, signs))
        texts = (pattern.text,)
        yield Sharing(
            pattern.root, texts, "section", n_bytes, (), tuple(overlaps), 1, pattern.n_bytes or 0
        )

    def _staged(self, root: str, patterns: list[AccessPattern]) -> Iterator[Sharing]:
        """Yield the staging of a plane that is read or written by columns.

        Its rows are moved one after the other, 32 by 32 elements with one more in each row, so that
        the elements of a column lie in different banks.
        """
        if len(self._order) < 2:
            return
        for one in patterns:
            size = one.n_bytes
            other = [of(0)] * len(one.offsets)
            for axis in self._order[1:]:
                strides = [offset.coefficient(axis.counter) for offset in one.offsets]
                if size is not None and strides and all(stride == size for stride in strides):
                    other = [of(1)] * len(one.offsets)
            is_column = bool(other) and all(value == 1 for value in other)
            if one.kind == "strided" and is_column and size is not None:
                tile = (of(_PADDED), of(WARP))
                n_bytes = of(WARP * _PADDED * size)
                conflicts = _conflicts(size, _PADDED)
                yield Sharing(root, (one.text,), "staging", n_bytes, tile, (), conflicts, size)


def _conflicts(element: int, stride: int) -> int:
    """Return how many times a warp asks the banks for elements so many apart.

    Elements of 8 bytes are fetched for half of a warp at a time, of 16 for a quarter.
    """
    at_once = WARP if element <= 4 else max(1, WARP * 4 // element)
    return bank_conflicts(element * stride * thread for thread in range(at_once))


def _size(both: Range) -> Expression | None:
    return None if both.low is None or both.high is None else both.high - both.low + 1

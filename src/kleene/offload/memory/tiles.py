"""What threads of a block share: the bytes that each reads, and the tile that all read together.

A window of 5 by 5 around every pixel of a 16 by 16 block, rows `width` elements apart:

    linear      every byte from the first row's first to the last row's last: 19 * 3*width + …
    as a tile   20 rows of 20 pixels

The tile is found by reading the offset as digits: strides of which each divides the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kleene.algebra.symbolic import (
    ANYTHING,
    Arithmetic,
    Direction,
    Expression,
    Range,
    Sign,
    Signs,
    Symbol,
    of,
)
from kleene.base.expression import Atom, Number
from kleene.offload.delinearise import divided, parts_of, strides_of
from kleene.offload.memory.coalescing import ByteAccess


def section(offset: Expression, trips: Mapping[Symbol, Expression], signs: Signs) -> Range:
    """Return the range of offsets over loops that count from 0 to their trip count - 1.

    The loops run at least once. Each bound is taken at the end of each loop where the offset is
    least or greatest; where it is not monotone, the range has no bounds.
    """
    inside = signs.also(dict.fromkeys(trips, Sign.NOT_NEGATIVE))
    low = high = offset
    for variable, trip in trips.items():
        last = trip - 1
        match inside.monotonicity(offset, variable):
            case Direction.UNKNOWN:
                return ANYTHING
            case Direction.INCREASING:
                low, high = low.substitute({variable: 0}), high.substitute({variable: last})
            case Direction.DECREASING:
                low, high = low.substitute({variable: last}), high.substitute({variable: 0})
    return Range(low, high)


def overlap(thread: Range, axis: Symbol, signs: Signs) -> Range:
    """Return what a thread and its neighbour along `axis` both touch; UNREACHABLE if nothing."""
    if thread.low is None or thread.high is None:
        return ANYTHING
    step: dict[Atom, Expression | Number] = {axis: of(axis) + 1}
    neighbour = Range(thread.low.substitute(step), thread.high.substitute(step))
    return Arithmetic(signs).meet(thread, neighbour)


def block_section(thread: Range, block: Mapping[Symbol, Expression], signs: Signs) -> Range:
    """Return what a block touches: axes stand for its first thread, `block` has its extents.

    The corner of the block is chosen per axis and per bound, by the direction of that bound: one
    bound may grow along x and stay the same along y. A bound without direction is no bound.
    """
    return Range(
        _at_corner(thread.low, block, signs, is_low=True),
        _at_corner(thread.high, block, signs, is_low=False),
    )


def _at_corner(
    bound: Expression | None, block: Mapping[Symbol, Expression], signs: Signs, *, is_low: bool
) -> Expression | None:
    for axis, extent in block.items():
        if bound is None:
            return None
        direction = signs.monotonicity(bound, axis)
        if direction == Direction.UNKNOWN:
            return None
        if direction == (Direction.DECREASING if is_low else Direction.INCREASING):
            bound = bound.substitute({axis: of(axis) + extent - 1})
    return bound


@dataclass(frozen=True)
class Dimension:
    """One digit of an offset: `stride` bytes times (axis + inner loops + `first`).

    `inner` has the loops inside a thread with their integer factors: 2 for every second element.
    """

    stride: Expression
    axis: Symbol | None
    inner: tuple[tuple[Symbol, int], ...]
    first: Expression

    def window(self, trips: Mapping[Symbol, Expression]) -> tuple[Expression, Expression]:
        """Return the first and last element of a thread, from its own coordinate on."""
        low = high = of(0)
        for variable, factor in self.inner:
            reach = (trips[variable] - 1) * factor
            low, high = (low, high + reach) if factor > 0 else (low + reach, high)
        return self.first + low, self.first + high

    def span(self, trips: Mapping[Symbol, Expression], block: Mapping[Symbol, Expression]) -> Range:
        """Return the elements of a block, counted from its first thread's coordinate."""
        low, high = self.window(trips)
        if self.axis is not None and self.axis in block:
            high += block[self.axis] - 1
        return Range(low, high)

    def n_elements(
        self, trips: Mapping[Symbol, Expression], block: Mapping[Symbol, Expression]
    ) -> Expression:
        """Return how many elements a block needs in this dimension."""
        span = self.span(trips, block)
        assert span.low is not None
        assert span.high is not None
        return span.high - span.low + 1


@dataclass(frozen=True)
class Tile:
    """An access as an array of dimensions, the one with neighbouring elements first.

    `low` and `high` are bytes inside an element of the first dimension: of 3-byte pixels, one
    colour is 0, 0 and all three are 0, 2.
    """

    root: str
    dimensions: tuple[Dimension, ...]
    low: int
    high: int

    def overlap(self, axis: Symbol, trips: Mapping[Symbol, Expression]) -> Expression:
        """Return the elements that a thread and its neighbour along `axis` both touch."""
        total = of(1)
        for dimension in self.dimensions:
            low, high = dimension.window(trips)
            total *= high - low + (0 if dimension.axis == axis else 1)
        return total

    def n_bytes(
        self, trips: Mapping[Symbol, Expression], block: Mapping[Symbol, Expression]
    ) -> Expression:
        """Return the bytes of shared memory that a block needs."""
        columns, *rows = self.dimensions
        total = columns.stride * (columns.n_elements(trips, block) - 1) + self.high - self.low + 1
        for row in rows:
            total *= row.n_elements(trips, block)
        return total

    def columns(
        self, trips: Mapping[Symbol, Expression], block: Mapping[Symbol, Expression]
    ) -> Range:
        """Return the bytes of a row, counted from the block's first thread."""
        columns = self.dimensions[0]
        span = columns.span(trips, block)
        assert span.low is not None
        assert span.high is not None
        return Range(
            columns.stride * span.low + self.low,
            columns.stride * span.high + self.high,
        )


def tiled(access: ByteAccess, axes: Sequence[Symbol], inner: Iterable[Symbol]) -> Tile | None:
    """Return an access as a tile, or None if its strides do not divide each other.

    The offset must be linear in every loop variable, each coefficient free of the others. Loop
    variables whose coefficients differ by a number share a dimension; the dimensions are ordered by
    division, and what is left of the offset is split from the largest stride down. The addresses of
    a tile are those of the access for any strides: no row needs to fit into its width.
    """
    variables = [*axes, *inner]
    coefficients: dict[Symbol, Expression] = {}
    for variable in variables:
        factor = access.offset.coefficient(variable)
        if factor is None or factor.symbols() & set(variables):
            return None
        if factor != 0:
            coefficients[variable] = factor
    strides = strides_of(coefficients.values())
    if strides is None:
        return None
    firsts, rest = parts_of(access.offset.substitute(dict.fromkeys(variables, 0)), strides)
    dimensions: list[Dimension] = []
    for stride, first in zip(strides, firsts, strict=True):
        of_stride = {v: divided(f, stride) for v, f in coefficients.items()}
        here = [(v, q.number) for v, (q, left) in of_stride.items() if left == 0]
        members = [(v, n) for v, n in here if isinstance(n, int)]
        on_grid = [(v, n) for v, n in members if v in axes]
        if len(on_grid) > 1 or any(n != 1 for _, n in on_grid):
            return None
        loops = tuple((v, n) for v, n in members if v not in axes)
        dimensions.append(Dimension(stride, on_grid[0][0] if on_grid else None, loops, first))
    if not isinstance(rest.number, int):
        return None
    return Tile(
        access.root, tuple(reversed(dimensions)), rest.number, rest.number + access.size - 1
    )


def group(tiles: Iterable[Tile]) -> list[Tile]:
    """Return the tiles with those merged that differ in bytes of one element alone.

    Three colours of one pixel become one tile of pixels: a third of the shared memory.
    """
    merged: dict[tuple[str, tuple[Dimension, ...]], Tile] = {}
    for tile in tiles:
        key = tile.root, tile.dimensions
        old = merged.get(key, tile)
        merged[key] = replace(old, low=min(old.low, tile.low), high=max(old.high, tile.high))
    return list(merged.values())


def group_sections(sections: Iterable[tuple[str, Range]], reach: Number) -> list[tuple[str, Range]]:
    """Return sections of one root merged where both bounds differ by less than `reach` bytes.

    Every section is compared with those already merged, until no two merge any more.
    """
    merged: list[tuple[str, Range]] = []
    for root, one in sections:
        current = one
        waiting = merged
        merged = []
        for other_root, other in waiting:
            if root == other_root and _is_near(current, other, reach):
                current = Arithmetic().join(current, other)
            else:
                merged.append((other_root, other))
        merged.append((root, current))
    return merged


def _is_near(a: Range, b: Range, reach: Number) -> bool:
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return False
    differences = (a.low - b.low).number, (a.high - b.high).number
    return all(number is not None and -reach < number < reach for number in differences)

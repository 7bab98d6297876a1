"""Transactions of a warp: how many memory lines 32 threads ask for in one load or store.

An access has a byte offset in loop variables that count 0, 1, 2, …; some of them become coordinates
of the grid. Threads of a warp have neighbouring x coordinates, so the offset as a function of x
decides:

    4*N*x + 4*y     consecutive threads are N elements apart: up to 32 lines
    4*x + 4*N*y     32 neighbours fill one line of 128 bytes

`coalescing` gives the answer in symbols, for every run; `touched` counts, for numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

from kleene.algebra.symbolic import Direction, Expression, Sign, Signs, Symbol, of

WARP = 32
LINE = 128  # bytes of a cache line
SECTOR = 32  # bytes that memory moves at least
N_BANKS = 32
BANK_WIDTH = 4


@dataclass(frozen=True)
class ByteAccess:
    """A load or store: `size` bytes at `offset` bytes from what `root` points to.

    An access through one of several pointers, or at one of several offsets, is several of these.
    """

    root: str
    offset: Expression
    size: int
    executions: Expression = field(default_factory=lambda: of(1))  # of one thread


@dataclass(frozen=True)
class GridMapping:
    """Which loops become the coordinates x, y, z of the grid, and the block's size in each."""

    axes: tuple[Symbol, ...]
    block: tuple[int, ...]

    def coordinates(self, thread: int) -> dict[str, int]:
        """Return the loop variables of a thread of the first block, by its number in the block."""
        found = {}
        for axis, extent in zip(self.axes, self.block, strict=True):
            found[axis.name] = thread % extent
            thread //= extent
        return found


@dataclass(frozen=True)
class Coalescing:
    """The requests of one access by one warp.

    `requests` are lines, and `sectors` the pieces of 32 bytes that are moved, from an aligned
    start; `factor` is the number of lines without limits, the bytes from a thread to the one 32
    further over the bytes of a line. `assumed` names symbols whose sign was not known and taken to
    be positive: the answer holds only where they are.
    """

    requests: Expression
    sectors: Expression
    factor: Expression
    assumed: frozenset[Symbol] = frozenset()


def coalescing(alternatives: Sequence[ByteAccess], x: Symbol, signs: Signs) -> Coalescing:
    """Return the requests of a warp along `x`, the worst of an access's alternatives.

    Through different pointers nothing is known of the distance, and every thread may need a line of
    its own.
    """
    if len({access.root for access in alternatives}) > 1:
        most = max(_sectors_of(access.size) for access in alternatives)
        return Coalescing(of(WARP), of(WARP * most), of(WARP))
    found = [_coalescing(access, x, signs) for access in alternatives]
    return Coalescing(
        signs.maximum(*(one.requests for one in found)),
        signs.maximum(*(one.sectors for one in found)),
        max(found, key=lambda one: _rank(one.factor)).factor,
        frozenset().union(*(one.assumed for one in found)),
    )


def _rank(factor: Expression) -> tuple[bool, float]:
    """Return an order of factors: numbers by size, then symbols."""
    number = factor.number
    return number is None, float(number or 0)


def _coalescing(access: ByteAccess, x: Symbol, signs: Signs) -> Coalescing:
    offset = access.offset
    direction = signs.monotonicity(offset, x)
    assumed: frozenset[Symbol] = frozenset()
    if direction == Direction.UNKNOWN:
        culprits = frozenset(s for s in offset.symbols() if signs.of(of(s)) == Sign.ANY)
        hopeful = signs.also(dict.fromkeys(culprits, Sign.POSITIVE))
        direction = hopeful.monotonicity(offset, x)
        if direction == Direction.UNKNOWN:
            return _enumerated(access, x)
        signs, assumed = hopeful, culprits
    sign = -1 if direction == Direction.DECREASING else 1

    def distance(threads: int) -> Expression:
        return (offset.substitute({x: of(x) + threads}) - offset) * sign

    area = distance(WARP - 1) + access.size

    def needed(granule: int, of_thread: int) -> Expression:
        """Return the pieces of `granule` bytes: those of the area, or of 32 threads apart."""
        whole = signs.maximum(of_thread, (area + granule - 1) // granule)
        return signs.minimum(WARP * of_thread, whole)

    lines, sectors = needed(LINE, 1), needed(SECTOR, _sectors_of(access.size))
    return Coalescing(lines, sectors, distance(WARP).over(LINE), assumed)


def _sectors_of(size: int) -> int:
    """Return how many sectors an aligned element has."""
    return -(-size // SECTOR)


def _enumerated(access: ByteAccess, x: Symbol) -> Coalescing:
    """Count the lines of 32 threads one by one; symbolic offsets count as lines of their own."""
    offsets = {access.offset.substitute({x: place}) for place in range(WARP)}

    def n_pieces(granule: int) -> int:
        return len(
            {
                offset.number // granule if isinstance(offset.number, int) else offset
                for offset in offsets
            }
        )

    lines = of(n_pieces(LINE))
    return Coalescing(lines, of(n_pieces(SECTOR) * _sectors_of(access.size)), lines)


def touched(
    alternatives: Iterable[ByteAccess],
    mapping: GridMapping,
    values: Mapping[str, int],
    *,
    granule: int = LINE,
    warp: int = 0,
    base: int = 0,
) -> int:
    """Return how many lines (or sectors) a warp of the first block touches, counted exactly.

    `values` has the parameters and inner loop variables, `base` the address of the root modulo the
    granule. Threads 32·warp … 32·warp + 31 of the block belong to the warp; those beyond the end of
    the block do nothing.
    """
    n_threads = 1
    for extent in mapping.block:
        n_threads *= extent
    found: set[tuple[str, int]] = set()
    for access in alternatives:
        for thread in range(WARP * warp, min(WARP * (warp + 1), n_threads)):
            place = access.offset.evaluate({**values, **mapping.coordinates(thread)})
            assert isinstance(place, int), "offsets are whole bytes"
            first, last = base + place, base + place + access.size - 1
            found |= {(access.root, line) for line in range(first // granule, last // granule + 1)}
    return len(found)


def best_mapping(
    accesses: Sequence[Sequence[ByteAccess]], loops: Sequence[Symbol], signs: Signs
) -> tuple[tuple[Symbol, ...], dict[tuple[Symbol, ...], Expression]]:
    """Return the order of loops on the grid's axes with the fewest requests, and those of each.

    The order given stays unless another is proved to need no more; of those, the least.
    """
    cost: dict[tuple[Symbol, ...], Expression] = {}
    for order in permutations(loops):
        cost[order] = of(0)
        for access in accesses:
            requests = coalescing(access, order[0], signs).requests
            cost[order] += requests * access[0].executions
    best = tuple(loops)
    for order, needed in cost.items():
        if signs.compare(needed, cost[best]) in (Sign.NEGATIVE, Sign.NOT_POSITIVE):
            best = order
    return best, cost


def bank_conflicts(addresses: Iterable[int]) -> int:
    """Return how many times a warp must ask shared memory: 1 is without conflict.

    Of 32 banks each gives one 4-byte word at a time; threads that want the same word share it.
    """
    words = {address // BANK_WIDTH for address in addresses}
    per_bank = [0] * N_BANKS
    for word in words:
        per_bank[word % N_BANKS] += 1
    return max(per_bank)

"""Two states into one: join, meet, widening, narrowing; and whether one includes the other.

Blocks that two states share, being the same object, are not looked at. The others are regrouped, so
that every bound on two variables that can come out of the operation lies inside a group; then the
operation is the dense one on each group, and the result is split again.

Blocks that both states share, being the same object, are not looked at. Join and widening find
bounds between variables of different blocks as well. Let the bound of an end (x, or -x) grow from
the one state to the other, and that of another end shrink: then the bound on their sum grows by
less than the sum of both bounds, and is a relation. {x=0, y=0} and {x=1, y=1} join to x=y in this
way. All variables with a growing end and all with a shrinking one are a group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from kleene.algebra import dbm
from kleene.algebra.linear import Bound
from kleene.algebra.memory import Cells, beside
from kleene.algebra.partition import (
    Block,
    Blocks,
    Groups,
    Kinds,
    Table,
    are_same,
    distinct,
    same_scale,
    table_of,
)
from kleene.algebra.state import ALL, BEST, DIFFERENCES, NONE, OVER, Relations, State
from kleene.algebra.transfer import Draft
from kleene.kernels.minplus import n_variables
from kleene.kernels.minplus.cpu import entry_points
from kleene.kernels.minplus.cpu.components import ALONE, BLOCKS, MOVING


class Pair(NamedTuple):
    """The variables that both states bound and that are not in a shared block."""

    a: Table
    b: Table
    shared: Blocks
    dtype: np.dtype[Any] | None  # of all elements, or None where compiled code cannot read them

    def names_of(self, at: Sequence[int]) -> tuple[str, ...]:
        """Return the names of a group."""
        names = self.a.names
        return names if len(at) == len(names) else tuple(names[k] for k in at)

    def groups(self, relations: Relations, relate: bool) -> list[Sequence[int]]:
        """Return the groups, each the numbers of its variables; without `relate` only by blocks."""
        a, b = self.a, self.b
        n = len(a.names)
        if relations is NONE or not n:
            return [[k] for k in range(n)]
        if len(a.parts) == len(b.parts) == 1:
            return [range(n)]
        if not relate:
            return a.groups(b, np.zeros(0, np.int64))
        return a.groups(b, self._moves() if self.dtype is None else None)

    def _moves(self) -> Any:
        """Return whether the bound of each end grows (1), shrinks (-1) or neither (0)."""
        ones, others = (_ends(table) for table in (self.a, self.b))
        found = [
            0 if x is None or y is None else (x < y) - (y < x)
            for x, y in zip(ones, others, strict=True)
        ]
        return np.array(found)


def pair_of(blocks: Blocks, a: Table, b: State) -> Pair:
    """Return the pair of the blocks of table `a` and those of `b`."""
    other = b.table(a.dtype)
    shared = Blocks()
    if not are_same(a.names, other.names) or not a.blocks.isdisjoint(other.parts):
        shared = Blocks(block for block in blocks if b.blocks.get(block.names[0]) is block)
        names = tuple(sorted(x for x in blocks.names() if x in b.blocks and x not in shared))
        a, other = table_of(blocks, names), table_of(b.blocks, names)
    if a.dtype is not other.dtype:
        a = a.widened(other.dtype)
        other = other.widened(a.dtype)
    return Pair(a, other, shared, a.dtype if other.dtype is not None else None)


def _ends(table: Table) -> list[Any]:
    """Return the bounds of 2x and -2x for each variable x, None where there is none."""
    found = {
        name: [
            None if x is None else x / Fraction(part.scale) for x in part.ends()[2 * k : 2 * k + 2]
        ]
        for part in table.parts
        for k, name in enumerate(part.names)
    }
    return [x for name in table.names for x in found[name]]


def includes(a: State, b: State) -> bool:
    """Return whether every point of `b` is in `a`."""
    if a.is_empty or b.is_empty:
        return b.is_empty
    for block in a.blocks.parts:
        if block is None or _covers(block, b):
            continue
        return False
    return True


def _covers(block: Block, b: State) -> bool:
    """Return whether all bounds of a block hold in `b`."""
    other = b.blocks.get(block.names[0])
    if other is block:
        return True
    if other is not None and _is_alike(block, other):
        return entry_points.includes_one(block.cells, other.cells)
    table = b.table(block.cells.dtype if block.is_plain else None)
    table = table if are_same(table.names, block.names) else table_of(b.blocks, block.names)
    if table.dtype is not None and block.is_plain and block.scale == 1:
        return table.widened(block.cells.dtype).is_within(block.cells)
    m, other_m, _ = same_scale((block.cells, block.scale), b.assembled(block.names))
    return dbm.includes(m, other_m)


def _is_alike(a: Block, b: Block) -> bool:
    """Return whether two blocks have the same variables and compiled code takes them together."""
    if not are_same(a.names, b.names) or not a.is_plain or not b.is_plain:
        return False
    return a.outer is b.outer and a.scale == b.scale  # `outer` is one object for each type


def join(draft: Draft, a: State, b: State, *, relate: bool = True) -> None:
    """Make `draft`, which is `a` or a copy of it, the least state around both."""
    if b.is_empty:
        return
    if a.is_empty:
        draft.blocks, draft.is_empty = b.blocks.copy(), False
        return
    draft.note(BEST, "the least value around both")
    if not relate and a.relations is not NONE:
        draft.note(OVER, "bounds between blocks were not looked for")
    if _raised(draft, b):
        return
    pair = pair_of(a.blocks, a.table(b.table().dtype), b)
    found = _joined(a, b, pair, relate)
    draft.blocks = pair.shared
    for names, m, scale, kinds in found:
        if a.relations is DIFFERENCES:
            _drop_sums(m, kinds.tighten)
        draft.store(names, m, scale, kinds)


def _raised(draft: Draft, b: State) -> bool:
    """Return whether the join could be made in place: a draft's own only block, and one of `b`."""
    block = draft.blocks.parts[0] if len(draft.blocks.parts) == 1 else None
    if block is None or block.owner is not draft.owner:
        return False
    other = b.blocks.get(block.names[0])
    if other is None or not _is_alike(block, other) or draft.relations is not ALL:
        return False
    np.maximum(block.cells, other.cells, out=block.cells)
    block.greatest = None
    draft.loosen(block)
    return True


def _joined(
    a: State, b: State, pair: Pair, relate: bool
) -> list[tuple[tuple[str, ...], Cells, int, Kinds]]:
    """Return groups of variables with their joined cells, scale and kinds."""
    if pair.dtype is not None:
        related = ALONE if a.relations is NONE else MOVING if relate else BLOCKS
        found, kinds = pair.a.joined(pair.b, related), pair.a.kinds
        return [(names, m, 1, kinds) for names, m in found]
    by_group = map(pair.names_of, pair.groups(a.relations, relate))
    return [(names, *_joined_apart(a, b, names)) for names in by_group]


def _joined_apart(a: State, b: State, names: tuple[str, ...]) -> tuple[Cells, int, Kinds]:
    """Return the joined cells of some variables where compiled code cannot read the blocks."""
    by = _evenly(a, names, a.relations is DIFFERENCES)
    m, other, scale = same_scale(a.assembled(names), b.assembled(names), by)
    return dbm.join(m, other), scale, a.kinds_of(names)


def meet(draft: Draft, b: State) -> None:
    """Keep the points of `b`."""
    if draft.is_empty or b.is_empty:
        return draft.clear()
    for names in _touching(draft.blocks, b.blocks):
        m, other, scale = same_scale(
            draft.assembled(names), b.assembled(names), _evenly(draft, names)
        )
        _close_into(draft, names, dbm.meet(m, other), scale)


def narrow(draft: Draft, b: State) -> None:
    """Take the bounds of `b` where `draft` has none."""
    draft.note(OVER, "narrowing")
    if draft.is_empty or b.is_empty:
        return draft.clear()
    for names in _touching(draft.blocks, b.blocks):
        m, other, scale = same_scale(
            draft.assembled(names), b.assembled(names), _evenly(draft, names)
        )
        _close_into(draft, names, dbm.narrow(m, other), scale)


def widen(draft: Draft, a: State, b: State, thresholds: Iterable[Bound]) -> None:
    """Make `draft`, a copy of `a`, hold `b` too, so that a chain of widenings ends.

    What is kept for the next one is not closed, only strengthened: that never lowers the bound on
    one variable, so each of those is given up once, and then the sums of two at most once more.
    """
    draft.note(OVER, "widening")
    if b.is_empty:
        draft.raw = a.raw
        return
    if a.is_empty:
        draft.blocks, draft.is_empty = b.blocks.copy(), False
        return
    steps = [step for step in sorted(set(thresholds)) if isinstance(step, Fraction)]
    before = a.blocks if a.raw is None else a.raw
    pair = pair_of(before, table_of(before), b)
    draft.raw, draft.blocks = pair.shared, pair.shared.copy()
    for at in pair.groups(a.relations, True):
        names = pair.names_of(at)
        tighten = draft.kinds_of(names).tighten
        by = _evenly(a, names) * (1 if tighten or a.is_float else lcm(*_denominators(steps)))
        m, other, scale = same_scale(a.assembled(names, raw=True), b.assembled(names), by)
        raw = _widened(draft, m, other, [step * scale for step in steps], tighten)
        for group in dbm.components(raw, len(names)):
            part, inner = tuple(names[k] for k in group), dbm.select(raw, group)
            draft.raw.put(Block(part, inner, scale, draft.kinds_of(part)))
            _close_into(draft, part, inner, scale)


def _denominators(steps: list[Fraction]) -> list[int]:
    return [step.denominator for step in steps]


def _widened(draft: Draft, m: Cells, other: Cells, steps: list[Fraction], tighten: bool) -> Cells:
    """Return the widened cells, strengthened."""
    values = [draft.cell_of(step, tighten) for step in steps]
    if values and not draft.is_float:
        n, greatest = n_variables(len(m)), 2 * max(map(abs, values))
        m, other = dbm.common(dbm.with_room(m, n, greatest), dbm.with_room(other, n, greatest))
    raw = dbm.widen(m, other, values)
    if draft.relations is DIFFERENCES:
        raw[beside(raw, _sums(n_variables(len(raw))))] = dbm.infinity(raw.dtype)
    dbm.strengthen(raw, tighten)
    return raw


def _close_into(draft: Draft, names: tuple[str, ...], m: Cells, scale: int) -> None:
    """Close cells and store them for these variables."""
    if draft.is_empty:
        return
    kinds = draft.kinds_of(names)
    m = dbm.with_room(m, len(names))
    if dbm.close(m, kinds.tighten):
        draft.store(names, m, scale, kinds)
    else:
        draft.clear()


def _evenly(state: State, names: Iterable[str], is_halved: bool = True) -> int:
    """Return 2 if cells must be even for their halves to be exact, else 1."""
    return 2 if is_halved and not (state.is_float or state.are_integers(names)) else 1


def _touching(a: Blocks, b: Blocks) -> list[tuple[str, ...]]:
    """Return the variables of blocks that are not shared, grouped by the blocks of both."""
    groups = Groups()
    for block in distinct((*a, *b)):
        if not a.get(block.names[0]) is b.get(block.names[0]) is block:
            groups.unite(block.names)
    parts: dict[Any, list[str]] = {}
    for name in groups.parent:
        parts.setdefault(groups.find(name), []).append(name)
    return [tuple(sorted(names)) for names in parts.values()]


@lru_cache(64)
def _sums(n: int) -> Any:
    """Return where the bounds on sums of two variables lie."""
    i, j = dbm.stored(n)
    return np.flatnonzero(((i ^ j) & 1 == 1) & (i >> 1 != j >> 1))


def _drop_sums(m: Cells, tighten: bool) -> None:
    """Leave of the bounds on sums what those on single variables say."""
    m[beside(m, _sums(n_variables(len(m))))] = dbm.infinity(m.dtype)
    dbm.strengthen(m, tighten)

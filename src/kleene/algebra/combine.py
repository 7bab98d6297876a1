"""Two states into one: join, meet, widening, narrowing; and whether one includes the other.

Blocks that two states share, being the same object, are not looked at. The others are regrouped, so
that every bound on two variables that can come out of the operation lies inside a group; then the
operation is the dense one on each group, and the result is split again.

Join and widening find bounds between variables of different blocks as well. Let the bound of an end
(x, or -x) grow from the one state to the other, and that of another end shrink: then the bound on
their sum grows by less than the sum of both bounds, and is a relation. {x=0, y=0} and {x=1, y=1}
join to x=y in this way. All variables with a growing end and all with a shrinking one are a group.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any

import numpy as np

from kleene.algebra import cells as kernel
from kleene.algebra.block import Block, block_of, distinct, same_scale
from kleene.algebra.draft import Draft, Groups
from kleene.algebra.linear import Bound
from kleene.algebra.residence import Cells, beside
from kleene.algebra.state import Precision, Relations, State
from kleene.kernels.minplus import n_variables

Blocks = dict[str, Block]


def includes(a: State, b: State) -> bool:
    """Return whether every point of `b` is in `a`."""
    if a.is_empty or b.is_empty:
        return b.is_empty
    for block in distinct(a.blocks.values()):
        if b.blocks.get(block.names[0]) is not block:
            m, other, _ = same_scale((block.cells, block.scale), b.assembled(block.names))
            if not kernel.includes(m, other):
                return False
    return True


def join(draft: Draft, b: State, *, relate: bool = True) -> None:
    """Make `draft` the least state around both."""
    if b.is_empty:
        return
    if draft.is_empty:
        draft.blocks, draft.is_empty = b.blocks.copy(), False
        return
    draft.note(Precision.BEST, "the least value around both")
    if not relate and draft.relations is not Relations.NONE:
        draft.note(Precision.OVER, "bounds between blocks were not looked for")
    groups = _meeting(draft, draft.blocks, b.blocks, relate)
    found = [(names, *_joined(draft, b, names)) for names in groups]
    draft.blocks = _shared(draft.blocks, b.blocks)
    for names, m, scale in found:
        draft.store(names, m, scale)


def _joined(a: State, b: State, names: tuple[str, ...]) -> tuple[Cells, int]:
    is_zone = a.relations is Relations.DIFFERENCES
    m, other, scale = same_scale(a.assembled(names), b.assembled(names), _evenly(a, names, is_zone))
    out = kernel.join(m, other)
    if is_zone:
        _drop_sums(out, a.are_integers(names))
    return out, scale


def meet(draft: Draft, b: State) -> None:
    """Keep the points of `b`."""
    if draft.is_empty or b.is_empty:
        return draft.clear()
    for names in _touching(draft.blocks, b.blocks):
        m, other, scale = same_scale(
            draft.assembled(names), b.assembled(names), _evenly(draft, names)
        )
        _close_into(draft, names, kernel.meet(m, other), scale)


def narrow(draft: Draft, b: State) -> None:
    """Take the bounds of `b` where `draft` has none."""
    draft.note(Precision.OVER, "narrowing")
    if draft.is_empty or b.is_empty:
        return draft.clear()
    for names in _touching(draft.blocks, b.blocks):
        m, other, scale = same_scale(
            draft.assembled(names), b.assembled(names), _evenly(draft, names)
        )
        _close_into(draft, names, kernel.narrow(m, other), scale)


def widen(draft: Draft, a: State, b: State, thresholds: Iterable[Bound]) -> None:
    """Make `draft`, a copy of `a`, hold `b` too, so that a chain of widenings ends.

    What is kept for the next one is not closed, only strengthened: that never lowers the bound on
    one variable, so each of those is given up once, and then the sums of two at most once more.
    """
    draft.note(Precision.OVER, "widening")
    if b.is_empty:
        draft.raw = a.raw
        return
    if a.is_empty:
        draft.blocks, draft.is_empty = b.blocks.copy(), False
        return
    steps = [step for step in sorted(set(thresholds)) if isinstance(step, Fraction)]
    before = a.blocks if a.raw is None else a.raw
    draft.raw, draft.blocks = _shared(before, b.blocks), _shared(before, b.blocks)
    for names in _meeting(a, before, b.blocks, True):
        tighten = a.are_integers(names)
        by = _evenly(a, names) * (1 if tighten or a.is_float else lcm(*_denominators(steps)))
        m, other, scale = same_scale(a.assembled(names, raw=True), b.assembled(names), by)
        raw = _widened(draft, m, other, [step * scale for step in steps], tighten)
        for group in kernel.components(raw, len(names)):
            part, inner = tuple(names[k] for k in group), kernel.select(raw, group)
            draft.raw.update(dict.fromkeys(part, block_of(part, inner, scale, None)))
            _close_into(draft, part, inner, scale)


def _denominators(steps: list[Fraction]) -> list[int]:
    return [step.denominator for step in steps]


def _widened(draft: Draft, m: Cells, other: Cells, steps: list[Fraction], tighten: bool) -> Cells:
    """Return the widened cells, strengthened."""
    values = [draft.cell_of(step, tighten) for step in steps]
    if values and not draft.is_float:
        n, greatest = n_variables(len(m)), 2 * max(map(abs, values))
        m, other = kernel.common(
            kernel.with_room(m, n, greatest), kernel.with_room(other, n, greatest)
        )
    raw = kernel.widen(m, other, values)
    if draft.relations is Relations.DIFFERENCES:
        raw[beside(raw, _sums(n_variables(len(raw))))] = kernel.infinity(raw.dtype)
    kernel.strengthen(raw, tighten)
    return raw


def _close_into(draft: Draft, names: tuple[str, ...], m: Cells, scale: int) -> None:
    """Close cells and store them for these variables."""
    if draft.is_empty:
        return
    tighten = draft.are_integers(names)
    m = kernel.with_room(m, len(names))
    for name in names:
        draft.blocks.pop(name, None)
    if kernel.close(m, tighten):
        draft.store(names, m, scale)
    else:
        draft.clear()


def _evenly(state: State, names: Iterable[str], is_halved: bool = True) -> int:
    """Return 2 if cells must be even for their halves to be exact, else 1."""
    return 2 if is_halved and not (state.is_float or state.are_integers(names)) else 1


def _shared(a: Blocks, b: Blocks) -> Blocks:
    return {name: block for name, block in a.items() if b.get(name) is block}


def _touching(a: Blocks, b: Blocks) -> list[tuple[str, ...]]:
    """Return the variables of blocks that are not shared, grouped by the blocks of both."""
    groups = Groups()
    for block in distinct([*a.values(), *b.values()]):
        if not a.get(block.names[0]) is b.get(block.names[0]) is block:
            groups.unite(block.names)
    return _listed(groups)


def _meeting(state: State, a: Blocks, b: Blocks, relate: bool) -> list[tuple[str, ...]]:
    """Return the variables that both bound, grouped as a join or a widening relates them."""
    both = [x for x, block in a.items() if x in b and b[x] is not block]
    groups = Groups()
    if state.relations is Relations.NONE:
        return [(name,) for name in both]
    blocks = [distinct(one[name] for name in both) for one in (a, b)]
    if len(blocks[0]) == len(blocks[1]) == 1:
        return [tuple(both)]
    growing, shrinking = _moving(both, a, b) if relate else (set(), set())
    moving = growing | shrinking if growing and shrinking else set()
    if len(moving) == len(both):
        return [tuple(both)]
    kept = set(both)
    for block in (*blocks[0], *blocks[1]):
        groups.unite(name for name in block.names if name in kept)
    groups.unite(moving)
    return _listed(groups)


def _moving(names: list[str], a: Blocks, b: Blocks) -> tuple[set[str], set[str]]:
    """Return the variables with an end whose bound grows from a to b, and with one that shrinks."""
    growing: set[str] = set()
    shrinking: set[str] = set()
    for name in names:
        one, other = a[name], b[name]
        at, to = 2 * one.index[name], 2 * other.index[name]
        for end in (0, 1):
            x, y = one.ends()[at + end], other.ends()[to + end]
            if x is not None and y is not None:
                x, y = x * other.scale, y * one.scale
                if x < y:
                    growing.add(name)
                elif x > y:
                    shrinking.add(name)
    return growing, shrinking


def _listed(groups: Groups) -> list[tuple[str, ...]]:
    parts: dict[Any, list[str]] = {}
    for name in groups.parent:
        parts.setdefault(groups.find(name), []).append(name)
    return [tuple(names) for names in parts.values()]


@lru_cache(64)
def _sums(n: int) -> Any:
    """Return where the bounds on sums of two variables lie."""
    i, j = kernel.stored(n)
    return np.flatnonzero(((i ^ j) & 1 == 1) & (i >> 1 != j >> 1))


def _drop_sums(m: Cells, tighten: bool) -> None:
    """Leave of the bounds on sums what those on single variables say."""
    m[beside(m, _sums(n_variables(len(m))))] = kernel.infinity(m.dtype)
    kernel.strengthen(m, tighten)

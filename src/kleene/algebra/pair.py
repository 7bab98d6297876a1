"""Two states side by side: the variables that a join or a widening must look at, in groups.

Blocks that both states share, being the same object, are not looked at. Join and widening find
bounds between variables of different blocks as well. Let the bound of an end (x, or -x) grow from
the one state to the other, and that of another end shrink: then the bound on their sum grows by
less than the sum of both bounds, and is a relation. {x=0, y=0} and {x=1, y=1} join to x=y in this
way. All variables with a growing end and all with a shrinking one are a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from kleene.algebra.blocks import Blocks
from kleene.algebra.state import NONE, Relations, State
from kleene.algebra.table import Table, are_same, table_of


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

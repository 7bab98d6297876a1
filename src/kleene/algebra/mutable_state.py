"""The blocks of a draft: which are its own, how they are merged, split, stored and forgotten.

Blocks that the draft did not make are shared with the value it came from, and are copied before
they are changed: an operation costs what its blocks cost, plus copying a list of them when the
draft is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kleene.algebra import dbm
from kleene.algebra.memory import CPU, Cells, settled
from kleene.algebra.partition import Block, Blocks, Kinds, Table, distinct, table_of
from kleene.algebra.state import EXACT, NONE, OVER, Exactness, Precision, State
from kleene.kernels.minplus import size
from kleene.kernels.minplus.cpu import entry_points

_FEW = 16  # variables of a block that is not split to save cells: calls cost more than they do
_ROUNDED = Exactness(OVER, "float64 bounds are rounded upwards")


class Holder(State):
    """A state whose blocks can be changed, merged and split."""

    __slots__ = ("domain", "loose", "owner", "strict")

    def __init__(self, state: State, *, strict: bool = False) -> None:
        self.variables, self.blocks = state.variables, state.blocks.copy()
        self.relations, self.is_empty = state.relations, state.is_empty
        self.is_float, self.device = state.is_float, state.device
        self.raw, self.kept = None, None
        self.exactness = _ROUNDED if state.is_float else EXACT
        self.domain: Any = type(state)
        self.owner = object()
        self.loose: list[Block] = []  # own blocks in which variables have become unrelated
        self.strict = strict

    def table(self, at_least: Any = None) -> Table:
        """Return the blocks as compiled code reads them; they change, so it is not kept."""
        return table_of(self.blocks).widened(at_least)

    def loosen(self, block: Block) -> None:
        """Note that one more variable of an own block may be unrelated to the others."""
        block.loose += 1
        block.twice = None
        if not self.loose or self.loose[-1] is not block:
            self.loose.append(block)

    def tidy(self, *, exactly: bool = False) -> None:
        """Split the blocks in which many variables have become unrelated."""
        for block in self.loose:
            # To take out an eighth of many variables saves a quarter of the cells.
            share = 2 if len(block.names) <= _FEW else 8
            is_due = exactly or share * block.loose >= len(block.names)
            if is_due or block.is_mixed:
                self._split(block)
        self.loose = []

    def _split(self, block: Block) -> None:
        if self.blocks.get(block.names[0]) is block:
            self.store(block.names, block.cells, block.scale, block.kinds(), exactly=True)

    def note(self, precision: Precision, why: str) -> None:
        """Lower the exactness of what is being done: it is the best that there is, or not."""
        now = self.exactness
        if now is EXACT or (precision is OVER and now.precision is not OVER):
            self.exactness = Exactness(precision, why)

    def clear(self) -> None:
        """Become empty."""
        self.blocks, self.is_empty = Blocks(), True

    def copied(self, block: Block) -> Block:
        """Return a copy in the place of a block that is not the draft's own."""
        block = block.copy(self.owner)
        self.blocks.put(block)
        return block

    def together(self, names: tuple[str, ...]) -> Block:
        """Return one block that has all these variables, having merged theirs if need be."""
        parts = distinct(map(self.blocks.get, names))
        free = [name for name in names if name not in self.blocks]
        if len(parts) == 1 and not free:
            return parts[0]
        loose = [part for part in parts if part.loose]
        if not loose:
            return self._merged(parts, free)
        for part in loose:  # so that nothing is merged without need
            self._split(part)
        return self.together(names)

    def _merged(self, parts: list[Block], free: list[str]) -> Block:
        every = tuple(sorted((*(name for part in parts for name in part.names), *free)))
        kinds = self.kinds_of(every)
        if kinds.is_mixed:
            self.note(OVER, "related to reals, integers are treated as reals")
        cells, scale = self.assembled(every)
        block = Block(every, cells, scale, kinds, self.owner)
        self.blocks.put(block)
        return block

    def writable(self, block: Block, bound: int = 0, factor: int = 1) -> Cells:
        """Return the cells of a block times `factor`, to be changed, with room for a bound."""
        is_own = block.owner is self.owner
        n = len(block.names)
        return dbm.with_room(block.cells, n, bound, factor, in_place=is_own)

    def replace(self, block: Block, m: Cells, scale: int) -> None:
        """Store new cells for the variables of a block."""
        by = dbm.divisor(m, scale)
        if by > 1:
            m, scale = dbm.divided(m, by), scale // by
        m = settled(m, self.device)
        if block.owner is self.owner:
            block.put(m, scale)
        else:
            new = Block(block.names, m, scale, block.kinds(), self.owner)
            self.blocks.put(new)

    def store(
        self, names: tuple[str, ...], m: Cells, scale: int, kinds: Kinds, *, exactly: bool = False
    ) -> None:
        """Store closed cells of variables that are in no block, split where that saves enough."""
        n = len(names)
        if self.is_empty or not n:
            return None
        exactly = exactly or kinds.is_mixed or self.relations is NONE or n == 1
        if n <= _FEW and not exactly:
            return self._store(names, m, scale, kinds, 1)
        n_cells, labels = dbm.survey(m, n, exactly)
        least = size(n) if exactly else 3 * size(n) // 4
        if n_cells >= least and not kinds.is_mixed:
            return self._store(names, m, scale, kinds, 1 if n_cells < size(n) else 0)
        if n_cells == size(n):
            return self._store_part(names, m, scale, kinds)
        for group in dbm.grouped(labels):
            part, inner = tuple(names[k] for k in group), dbm.select(m, group)
            self._store_part(part, inner, scale, kinds)
        return None

    def _store_part(self, names: tuple[str, ...], m: Cells, scale: int, kinds: Kinds) -> None:
        if kinds.is_mixed:
            kinds = self.kinds_of(names)
            if kinds.tighten:  # what is left of a mixed block is all integers
                m, scale = dbm.divided(m, scale), 1
                if not dbm.close(m, True):
                    return self.clear()
        if not self.is_empty:
            self._store(names, m, scale, kinds, 0)
        return None

    def _store(
        self, names: tuple[str, ...], m: Cells, scale: int, kinds: Kinds, loose: int
    ) -> None:
        block = Block(names, m, scale, kinds, self.owner)
        block.loose = loose
        if len(names) == 1 and block.ends() == [None, None]:
            return self.blocks.drop(names[0])
        self.blocks.put(block)
        if scale > 1 or self.device is not CPU:
            self.replace(block, m, scale)

    def forget(self, name: str) -> None:
        """Drop what is known about a variable."""
        block = self.blocks.get(name)
        if block is None:
            self.is_integer(name)
            return None
        if not block.is_plain or len(block.names) == 1:
            return self._take_out(name, block)
        if block.owner is not self.owner:
            block = self.copied(block)
        entry_points.forget_one(block.cells, block.index[name], block.outer)
        self.loosen(block)
        return None

    def _take_out(self, name: str, block: Block) -> None:
        """Make a block without one of its variables."""
        self.blocks.drop(name)
        rest = tuple(other for other in block.names if other != name)
        cells = dbm.select(block.cells, [block.index[other] for other in rest])
        self.store(rest, cells, block.scale, block.kinds(), exactly=True)

    def rename(self, names: Mapping[str, str]) -> None:
        """Give variables other names, all at once."""
        moved = []
        for block in distinct(map(self.blocks.get, names)):
            self.blocks.drop(block.names[0])
            new = [names.get(name, name) for name in block.names]
            order = sorted(range(len(new)), key=new.__getitem__)
            cells = dbm.select(block.cells, order)
            ascending = tuple(new[k] for k in order)
            moved.append(Block(ascending, cells, block.scale, block.kinds(), self.owner))
        for block in moved:
            self.blocks.put(block)

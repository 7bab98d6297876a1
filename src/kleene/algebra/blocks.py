"""The blocks of a state: which one each variable is in, and their cells put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import lcm
from typing import Any

from kleene.algebra import cells as kernel
from kleene.algebra.block import Block
from kleene.algebra.cells import FLOAT
from kleene.algebra.residence import CPU, Cells, settled
from kleene.base.device import Device


class Blocks:
    """Disjoint blocks of variables; a variable without bounds may be in none.

    `slots` has for each variable the number of its block in `parts`; one that is gone leaves None
    there. Copies share `slots`, which follow from the names alone, until one of them is given a
    block of other variables: to copy costs what a list of the blocks does, to change one O(1).
    """

    __slots__ = ("is_shared", "n_gone", "parts", "slots")

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self.slots: dict[str, int] = {}
        self.parts: list[Block | None] = []
        self.is_shared, self.n_gone = False, 0
        for block in blocks:
            self.put(block)

    def get(self, name: str) -> Block | None:
        """Return the block of a variable."""
        slot = self.slots.get(name)
        return None if slot is None else self.parts[slot]

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def __iter__(self) -> Iterator[Block]:
        return filter(None, self.parts)

    def names(self) -> Iterator[str]:
        """Yield the variables, block by block."""
        return (name for block in self for name in block.names)

    def copy(self) -> Blocks:
        """Return the same blocks, to be changed."""
        made = Blocks()
        made.slots, made.parts, made.n_gone = self.slots, self.parts.copy(), self.n_gone
        made.is_shared = self.is_shared = True
        return made

    def put(self, block: Block) -> None:
        """Put a block in the place of all that have variables of it."""
        parts, names = self.parts, block.names
        if not parts:
            self.slots, self.is_shared = block.alone, True
            parts.append(block)
            return
        slot = self.slots.get(names[0], 0)
        old = parts[slot]
        if old is not None and (old.names is names or old.names == names):
            parts[slot] = block
            return
        if self.is_shared:
            self.slots, self.is_shared = self.slots.copy(), False
        for name in names:
            self.drop(name)
        self.slots.update(dict.fromkeys(names, len(parts)))
        parts.append(block)

    def drop(self, name: str) -> None:
        """Drop the block of a variable, if there is one."""
        slot = self.slots.get(name)
        if slot is not None and self.parts[slot] is not None:
            self.parts[slot] = None
            self.n_gone += 1

    def tidied(self) -> Blocks:
        """Return the same blocks without the places of those that are gone, if they are many."""
        return Blocks(self) if 2 * self.n_gone > len(self.parts) else self


def distinct(blocks: Iterable[Block | None]) -> list[Block]:
    """Return each block once."""
    return [block for block in dict.fromkeys(blocks) if block is not None]


def assemble(
    blocks: Blocks,
    names: tuple[str, ...],
    tighten: bool,
    is_float: bool = False,
    device: Device = CPU,
) -> tuple[Cells, int]:
    """Return the cells of just these variables, closed if the blocks are, and their scale.

    Variables of no block have no bounds. The cells may be those of a block: change a copy.
    """
    parts = distinct(map(blocks.get, names))
    if len(parts) == 1 and parts[0].names == names:
        return parts[0].cells, parts[0].scale
    if len(parts) == 1:
        index = parts[0].index
        return kernel.select(parts[0].cells, [index.get(x, -1) for x in names]), parts[0].scale
    scale = 1 if tighten or is_float else 2 * lcm(*(part.scale for part in parts))
    dtype = FLOAT if is_float else _room(parts, len(names), scale)
    out = settled(kernel.top(len(names), dtype), device)
    at = {name: k for k, name in enumerate(names)}
    places = [[at.get(name, -1) for name in part.names] for part in parts]
    kernel.place(out, [_scaled(part, dtype, scale) for part in parts], places)
    kernel.strengthen(out, tighten)
    return out, scale


def _scaled(part: Block, dtype: Any, scale: int) -> Cells:
    if part.cells.dtype == dtype and part.scale == scale:
        return part.cells
    return kernel.converted(part.cells, dtype, scale // part.scale)


def _room(parts: list[Block], n: int, scale: int) -> Any:
    greatest = (kernel.magnitude(part.cells) * (scale // part.scale) for part in parts)
    return kernel.room_for(n, max(greatest, default=0))

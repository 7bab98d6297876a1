"""One block of related variables."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import inf, lcm
from typing import Any, NamedTuple

import numpy as np

from kleene.algebra import cells as kernel
from kleene.algebra.cells import FLOAT
from kleene.algebra.linear import Bound
from kleene.algebra.residence import Cells, beside, here, is_here
from kleene.kernels.minplus import cell, limit, n_variables
from kleene.kernels.minplus.cpu import entry_points
from kleene.kernels.minplus.cpu.compiled import outer_of


class Kinds(NamedTuple):
    """Whether all variables are integers, and whether some are and some are not."""

    tighten: bool
    is_mixed: bool


class Block:
    """Variables, in ascending order, with a bound for every pair; a cell c says c / `scale`.

    The cells are closed, but for those of a widening (see `state.State.raw`). Between integers
    (`tighten`) the scale is 1; in a mixed block some variables are integers, some reals. About so
    many variables as `loose` says may be unrelated to the others. Only the draft that made a block,
    its owner, may change it.
    """

    __slots__ = (
        "_address", "alone", "cells", "greatest", "index", "is_mixed", "is_plain", "limit", "loose",
        "names", "outer", "owner", "scale", "tighten", "twice",
    )  # fmt: skip

    def __init__(
        self,
        names: tuple[str, ...],
        cells: Cells,
        scale: int,
        kinds: Kinds,
        owner: object = None,
    ) -> None:
        self.names, self.index, self.alone = known(names)
        self.tighten, self.is_mixed = kinds
        self.owner, self.loose = owner, 0
        self.put(cells, scale)

    def put(self, cells: Cells, scale: int, greatest: int | None = None) -> None:
        """Take new cells, none of them greater than `greatest` where that is known.

        `is_plain` says whether compiled code can work on them, and `limit` up to which magnitude.
        """
        self.cells, self.scale, self.greatest = cells, scale, greatest
        self.twice: list[Any] | None = None
        self._address = 0
        if type(cells) is np.ndarray:
            self.is_plain, self.outer, self.limit = _about(cells.dtype, len(self.names))
        else:
            self.is_plain = False

    def kinds(self) -> Kinds:
        """Return what the variables are."""
        return Kinds(self.tighten, self.is_mixed)

    def address(self) -> int:
        """Return where the cells are in memory."""
        self._address = self._address or entry_points.address(self.cells)
        return self._address

    def has_room(self, more: int) -> bool:
        """Return whether plain cells may become that much greater, and still be closed exactly."""
        if self.greatest is None or self.greatest + more > self.limit:
            self.greatest = 0 if self.cells.dtype == FLOAT else kernel.magnitude(self.cells)
        return self.greatest + more <= self.limit

    def __reduce__(self) -> Any:
        return Block, (self.names, self.cells, self.scale, self.kinds())  # addresses stay here

    def copy(self, owner: object) -> Block:
        """Return a block of another owner with the same bounds."""
        made = Block(self.names, self.cells.copy(), self.scale, self.kinds(), owner)
        made.greatest, made.loose = self.greatest, self.loose
        return made

    def here(self) -> Block:
        """Return the block in host memory: itself, if it is there."""
        if type(self.cells) is np.ndarray:
            return self
        return Block(self.names, here(self.cells), self.scale, self.kinds())

    def bound(self, j: int, i: int) -> Bound:
        """Return the bound of V'[j] - V'[i]: V'[2k] is variable k, V'[2k+1] its negation."""
        if i == j ^ 1 and (self.twice is not None or not is_here(self.cells)):
            value = self.ends()[j]
            return inf if value is None else Fraction(value) / self.scale
        value = self.cells[cell(i, j)]
        if value == kernel.infinity(self.cells.dtype):
            return inf
        return Fraction(value if self.cells.dtype == kernel.OBJECT else value.item()) / self.scale

    def ends(self) -> list[Any]:
        """Return the cells of 2x and -2x for each variable x, None where there is no bound."""
        if self.twice is None:
            i = np.arange(2 * len(self.names)) ^ 1
            found = here(self.cells[beside(self.cells, (i ^ 1) + (i + 1) ** 2 // 2)])
            free = (found == kernel.infinity(found.dtype)).tolist()
            both = zip(found.tolist(), free, strict=True)
            self.twice = [None if is_free else x for x, is_free in both]
        return self.twice


@lru_cache(1024)
def known(names: tuple[str, ...]) -> tuple[tuple[str, ...], Mapping[str, int], dict[str, int]]:
    """Return the names, mostly the same object for the same names, the place of each, and 0s."""
    return names, {name: k for k, name in enumerate(names)}, dict.fromkeys(names, 0)


@lru_cache(1024)
def _about(dtype: np.dtype[Any], n: int) -> tuple[bool, Any, float]:
    if dtype == kernel.OBJECT:
        return False, None, inf
    return True, outer_of(dtype), inf if dtype == FLOAT else limit(dtype, n)


def same_scale(a: tuple[Cells, int], b: tuple[Cells, int], by: int = 1) -> tuple[Cells, Cells, int]:
    """Return two sets of cells of one size with one scale, and it: a multiple of `by`."""
    (m, scale), (other, other_scale) = a, b
    if by == 1 and scale == other_scale:
        return *kernel.common(m, other), scale
    joint = lcm(scale, other_scale) * by
    n = n_variables(len(m))
    m = kernel.with_room(m, n, factor=joint // scale)
    other = kernel.with_room(other, n, factor=joint // other_scale)
    return *kernel.common(m, other), joint

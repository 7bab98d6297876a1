"""The offset edges of a program: how far pointer arithmetic leads, each distinct way once.

An edge adds a constant, and multiples of one or more strides: p + c + i·t + j·u with i and j not
known. `&a[i].b[j].m` has c = the offset of b plus that of m, t = sizeof a[0], u = sizeof b[0]:

    a ──────────── i·t ────────────► a[i] ── b ──► a[i].b ── j·u ──► a[i].b[j] ── m ──► result

A stride says in which array an index works, so strides must not be replaced by their greatest
common divisor: `a[i].b[j]` leads from one struct to another, `b[j]` does not. Which locations an
edge leads to is the work of `images`.

A call through a pointer is an edge by 0 bytes that drops whatever cannot be called there: data, and
functions of another *signature*: a number that `constraints.functions` gives both; a virtual call
drops functions that tables have at other slots (`constraints.type_tests`). An edge for the table
of a class drops whatever is no address point of it.
"""

from __future__ import annotations

from enum import IntEnum
from math import gcd

import numpy as np

from kleene.base.arrays import I64, U8, offsets_of


class EdgeKind(IntEnum):
    """What the numbers of an edge count."""

    ELEMENTS = 0  # constants and indices count elements, and stay in their array
    BYTES = 1  # no type says that the constant counts elements
    EARLY_INDEX = 2  # the index comes before the constant that leads to its array


class OffsetEdges:
    """Numbers edges; the same edge has the same number, from 0."""

    def __init__(self) -> None:
        self._edges: list[tuple[int, ...]] = []  # kind, constant, then strides
        self._ids: dict[tuple[int, ...], int] = {}
        self._calls: dict[tuple[int, int], int] = {}
        self._classes: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._edges)

    def number(self, constant: int, *strides: int, kind: EdgeKind = EdgeKind.ELEMENTS) -> int:
        """Return the number of the edge by `constant` and multiples of the strides (0: none)."""
        found = {abs(stride) for stride in strides if stride}
        if kind == EdgeKind.EARLY_INDEX:
            # All multiples of all strides count: those of their gcd, and c matters modulo that.
            found = {gcd(*found)}
            constant %= max(found)
        kept = EdgeKind.ELEMENTS if kind == EdgeKind.BYTES and constant <= 0 else kind
        edge = (int(kept), constant, *sorted(found, reverse=True))
        if edge not in self._ids:
            self._ids[edge] = self._put(edge)
        return self._ids[edge]

    def called_with(self, signature: int, slot: int) -> int:
        """Return the number of the edge of a pointer called with a signature, read at a slot."""
        if (signature, slot) not in self._calls:
            self._calls[signature, slot] = self._put((int(EdgeKind.ELEMENTS), 0))
        return self._calls[signature, slot]

    def calls(self) -> dict[tuple[int, int], int]:
        """Return the edges that are calls, by their signatures and slots."""
        return dict(self._calls)

    def of_class(self, class_: int) -> int:
        """Return the number of the edge of a pointer to the table of a class (a symbol)."""
        if class_ not in self._classes:
            self._classes[class_] = self._put((int(EdgeKind.ELEMENTS), 0))
        return self._classes[class_]

    def classes(self) -> dict[int, int]:
        """Return the edges that are for tables of a class, by class."""
        return dict(self._classes)

    def columns(self) -> tuple[I64, U8, I64, I64]:
        """Return constants, kinds, and strides as CSR, the largest first."""
        edges = self._edges
        kinds = np.array([edge[0] for edge in edges], np.uint8)
        constants = np.array([edge[1] for edge in edges], np.int64)
        offsets = offsets_of([len(edge) - 2 for edge in edges])
        strides = np.array([stride for edge in edges for stride in edge[2:]], np.int64)
        return constants, kinds, offsets, strides

    def _put(self, edge: tuple[int, ...]) -> int:
        self._edges.append(edge)
        return len(self._edges) - 1

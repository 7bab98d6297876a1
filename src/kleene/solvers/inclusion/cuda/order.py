"""Flows in an order in which one pass suffices: groups of rows by level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.base.arrays import I32, offsets_of
from kleene.graphs import Graph, Rows, strong_components
from kleene.kernels.compiled import CompilationUnit


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """Groups of rows that flow into each other; all that flows in comes from lower levels."""

    level_offsets: I32  # the groups of each level
    source_offsets: I32  # per group: the rows outside it that flow into it
    sources: I32
    member_offsets: I32
    members: I32

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.member_offsets) - 1

    @property
    def n_levels(self) -> int:
        """How many levels there are: what flows in one is independent."""
        return len(self.level_offsets) - 1


def order(n_rows: int, from_: I32, to: I32) -> Order:
    """Return the rows that gain anything along the flows, in order."""
    found = strong_components(Graph.from_edges(n_rows, from_, to))
    n = found.n_components
    source, destination = found.component[from_], found.component[to]
    between = source != destination
    graph = Graph.from_edges(n, source[between], destination[between])
    level = _levels(graph.offsets, graph.targets)
    gains = np.bincount(destination, minlength=n) > 0  # others have no flow in, nor a cycle
    by_level = np.flatnonzero(gains)[np.argsort(level[gains], kind="stable")]
    n_groups = len(by_level)
    group = np.full(n, -1, np.int32)
    group[by_level] = np.arange(n_groups, dtype=np.int32)
    row_group = group[found.component]
    rows = np.flatnonzero(row_group >= 0).astype(np.int32)
    members = Rows.group(row_group[rows], n_groups, rows)
    sources = Rows.group(group[destination[between]], n_groups, from_[between])
    sizes = np.bincount(level[by_level], minlength=int(level.max(initial=0)) + 1)
    columns = (sources.offsets, sources.values, members.offsets, members.values)
    narrow = [np.ascontiguousarray(column, np.int32) for column in columns]
    return Order(offsets_of(sizes).astype(np.int32), *narrow)


@CompilationUnit(__file__).entry_point
def _levels(offsets: Any, targets: Any) -> Any:
    """Return the longest path to each node; nodes are numbered along the edges."""
    level = np.zeros(len(offsets) - 1, np.int32)
    for node in range(len(level)):
        for edge in range(offsets[node], offsets[node + 1]):
            level[targets[edge]] = max(level[targets[edge]], level[node] + 1)
    return level

"""Directed graphs and grouped lists as two flat arrays (compressed sparse rows).

Nodes are the integers `0 .. n_nodes - 1`. The successors of `v` are
`targets[offsets[v] : offsets[v + 1]]`, in the order in which their edges were given. Repeated
edges and self loops are kept, isolated nodes and the empty graph are ordinary.

The arrays are always contiguous, read-only, and of one type each (`int64` offsets, `int32` ids),
so that every compiled kernel exists in exactly one version.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.base.arrays import csr, offsets_of
from kleene.base.errors import SourceError

Ids = NDArray[np.int32]
Offsets = NDArray[np.int64]
Nodes = int | ArrayLike | None
_SORTED_UP_TO = 100_000  # edges that NumPy turns round about as fast as a compiled loop


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rows:
    """Lists of ids under one roof: list `i` is `values[offsets[i] : offsets[i + 1]]`."""

    offsets: Offsets
    values: Ids

    def __post_init__(self) -> None:
        _freeze(self, "offsets", np.int64)
        _freeze(self, "values", np.int32)
        _check_offsets(self.offsets, len(self.values))

    @classmethod
    def from_lists(cls, lists: Iterable[ArrayLike]) -> Rows:
        """Return the given lists as rows."""
        arrays = [np.asarray(row, dtype=np.int32) for row in lists]
        return cls(
            offsets_of([len(row) for row in arrays]),
            np.concatenate([np.empty(0, dtype=np.int32), *arrays]),
        )

    @classmethod
    def group(cls, keys: Ids, n_rows: int, values: Ids) -> Rows:
        """Return row `i` = the values whose key is `i`, in their given order."""
        offsets, order = csr(keys, n_rows)
        return cls(offsets, values if order is None else values[order])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> Ids:
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def __repr__(self) -> str:
        return f"Rows({len(self)} rows, {len(self.values)} values)"

    def lengths(self) -> Offsets:
        """Return how long each row is."""
        return np.diff(self.offsets)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph:
    """A directed graph: the successors of `v` are `targets[offsets[v] : offsets[v + 1]]`."""

    offsets: Offsets
    targets: Ids

    def __post_init__(self) -> None:
        _freeze(self, "offsets", np.int64)
        object.__setattr__(self, "targets", nodes_in(self.n_nodes, self.targets))
        _freeze(self, "targets", np.int32)
        _check_offsets(self.offsets, len(self.targets))

    @classmethod
    def from_edges(cls, n_nodes: int, sources: ArrayLike, targets: ArrayLike) -> Graph:
        """Return the graph with an edge `sources[i] -> targets[i]` for every `i`, in linear time.

        Raises:
            SourceError: `graphs/no-such-node` for an end outside `0 .. n_nodes - 1`,
                `graphs/bad-shape` where the two columns differ in length or are not integers.
        """
        source_ids, target_ids = nodes_in(n_nodes, sources), nodes_in(n_nodes, targets)
        if len(source_ids) != len(target_ids):
            message = f"{len(source_ids)} sources but {len(target_ids)} targets"
            raise SourceError(None, "graphs/bad-shape", message)
        offsets, order = csr(source_ids, n_nodes)
        return cls(offsets, target_ids if order is None else target_ids[order])

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.offsets) - 1

    @property
    def n_edges(self) -> int:
        """How many edges there are, repeated ones included."""
        return len(self.targets)

    def __repr__(self) -> str:
        return f"Graph(n_nodes={self.n_nodes}, n_edges={self.n_edges})"

    def successors(self, node: int) -> Ids:
        """Return the targets of the edges that leave `node`: a view, nothing is copied."""
        if not 0 <= node < self.n_nodes:
            raise IndexError(f"node {node} of {self.n_nodes}")
        return self.targets[self.offsets[node] : self.offsets[node + 1]]

    def edges(self) -> tuple[Ids, Ids]:
        """Return the sources and the targets of all edges, by source."""
        nodes = np.arange(self.n_nodes, dtype=np.int32)
        return np.repeat(nodes, np.diff(self.offsets)), self.targets

    def reverse(self) -> Graph:
        """Return the graph with every edge turned round; predecessors come by rising id."""
        if self.n_edges > _SORTED_UP_TO:
            from kleene.graphs.cpu.reverse import reverse

            return Graph(*reverse(self.offsets, self.targets))
        sources, targets = self.edges()
        return Graph.from_edges(self.n_nodes, targets, sources)

    def simple(self) -> Graph:
        """Return the graph without repeated edges and self loops, successors by rising id."""
        sources, targets = self.reverse().reverse().edges()  # turning twice sorts every row
        keep = sources != targets
        keep[1:] &= (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
        return Graph.from_edges(self.n_nodes, sources[keep], targets[keep])

    def roots(self, nodes: Nodes) -> Ids:
        """Return `nodes` as ids; None stands for node 0, and for nothing in the empty graph."""
        if nodes is None:
            return np.zeros(min(self.n_nodes, 1), dtype=np.int32)
        return nodes_in(self.n_nodes, np.atleast_1d(np.asarray(nodes)))


def nodes_in(n_nodes: int, nodes: ArrayLike) -> Ids:
    """Return `nodes` as a column of ids below `n_nodes`, or raise a `SourceError`."""
    column = np.asarray(nodes)
    if column.ndim != 1 or (column.size and column.dtype.kind not in "iu"):
        message = f"nodes must be one column of integers, not {column.ndim}-d {column.dtype}"
        raise SourceError(None, "graphs/bad-shape", message)
    if column.size and not (column.min() >= 0 and column.max() < n_nodes):
        wrong = column[(column < 0) | (column >= n_nodes)][0]
        message = f"there is no node {wrong} in a graph of {n_nodes} nodes"
        raise SourceError(None, "graphs/no-such-node", message)
    return np.ascontiguousarray(column, dtype=np.int32)


def _freeze(owner: object, name: str, dtype: type[np.int32 | np.int64]) -> None:
    """Make the named array contiguous and read-only, without touching the caller's own."""
    array = np.ascontiguousarray(getattr(owner, name)).astype(dtype, copy=False)[:]
    array.flags.writeable = False
    object.__setattr__(owner, name, array)


def _check_offsets(offsets: Offsets, n_values: int) -> None:
    """Raise unless the offsets rise from 0 to `n_values`: kernels do not check bounds."""
    rises = len(offsets) > 0 and offsets[0] == 0 and bool((offsets[1:] >= offsets[:-1]).all())
    if not (rises and offsets[-1] == n_values):
        message = f"offsets must rise from 0 to {n_values}, the number of values"
        raise SourceError(None, "graphs/bad-shape", message)

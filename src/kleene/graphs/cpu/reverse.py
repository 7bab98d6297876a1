"""Turning all edges round."""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I32, I64
from kleene.graphs.cpu.compiled import entry_point


@entry_point
def reverse(offsets: I64, targets: I32) -> tuple[I64, I32]:
    """Return the rows of predecessors: those of a node by rising id."""
    n_nodes = len(offsets) - 1
    into = np.zeros(n_nodes + 1, np.int64)
    for edge in range(len(targets)):
        into[targets[edge] + 1] += 1
    for node in range(n_nodes):
        into[node + 1] += into[node]
    place = into[:-1].copy()
    sources = np.empty(len(targets), np.int32)
    for node in range(n_nodes):
        for edge in range(offsets[node], offsets[node + 1]):
            target = targets[edge]
            sources[place[target]] = node
            place[target] += 1
    return into, sources

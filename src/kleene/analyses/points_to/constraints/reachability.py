"""Which values are reached along edges: the closure that constraint generation asks for."""

from __future__ import annotations

import numpy as np

from kleene.analyses.points_to.compiled import entry_point
from kleene.base.arrays import I64, Bools, Ints
from kleene.kernels.compiled import is_interpreting

_SWEEPS = 12
_FEW_EDGES = 1 << 14  # so many are followed as fast without compiled code


def between(first: Bools, last: Bools, to: I64, source: I64) -> Bools:
    """Return what lies on a way from `first` to `last`, both included, along edges source → to."""
    reached = first.copy()
    spread(reached, to, source)
    reaching, inside = last & reached, reached[source]
    spread(reaching, source[inside], to[inside])
    return reaching


def spread(marked: Bools, destination: Ints, source: Ints) -> None:
    """Mark every destination of a marked source, over and over."""
    if len(destination) > _FEW_EDGES and not is_interpreting():
        _spread(marked, destination.astype(np.int64), source.astype(np.int64))
        return
    while True:
        is_open = ~marked[destination]
        destination, source = destination[is_open], source[is_open]
        new = destination[marked[source]]
        if not len(new):
            return
        marked[new] = True


@entry_point
def _spread(marked: Bools, destination: I64, source: I64) -> None:
    """Do as `spread` says: there and back, since ways lead along the program or against it.

    Most programs are done after a few sweeps. What is not is followed edge by edge: ways that turn
    at every edge would take as many sweeps as they have edges.
    """
    is_open, end, n_sweeps = True, len(destination), 0
    while is_open and n_sweeps < _SWEEPS:
        is_open, n_sweeps = False, n_sweeps + 1
        for i in range(end):
            if marked[source[i]] and not marked[destination[i]]:
                marked[destination[i]] = is_open = True
        for k in range(end):
            i = end - 1 - k
            if marked[source[i]] and not marked[destination[i]]:
                marked[destination[i]] = is_open = True
    if not is_open:
        return
    offsets = np.zeros(len(marked) + 1, np.int64)
    for i in range(end):
        offsets[source[i] + 1] += 1
    for node in range(len(marked)):
        offsets[node + 1] += offsets[node]
    place, targets = offsets[:-1].copy(), np.empty(end, np.int64)
    for i in range(end):
        targets[place[source[i]]] = destination[i]
        place[source[i]] += 1
    work = np.empty(len(marked), np.int64)
    n_work = 0
    for i in range(end):  # what is marked and leads on
        if marked[source[i]] and not marked[destination[i]]:
            marked[destination[i]] = True
            work[n_work] = destination[i]
            n_work += 1
    while n_work > 0:
        n_work -= 1
        node = work[n_work]
        for at in range(offsets[node], offsets[node + 1]):
            if not marked[targets[at]]:
                marked[targets[at]] = True
                work[n_work] = targets[at]
                n_work += 1

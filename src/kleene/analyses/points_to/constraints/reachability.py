"""Which values are reached along edges: the closure that constraint generation asks for."""

from __future__ import annotations

import numpy as np

from kleene.analyses.points_to.compiled import entry_point
from kleene.base.arrays import I64, Bools, Ints
from kleene.kernels.compiled import is_interpreting

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
    """Do as `spread` says: there and back, since ways lead along the program or against it."""
    is_open, end = True, len(destination)
    while is_open:
        is_open = False
        for i in range(end):
            if marked[source[i]] and not marked[destination[i]]:
                marked[destination[i]] = is_open = True
        for k in range(end):
            i = end - 1 - k
            if marked[source[i]] and not marked[destination[i]]:
                marked[destination[i]] = is_open = True

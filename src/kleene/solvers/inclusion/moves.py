"""Where offsets lead, object by object: what every solver looks up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.solvers.inclusion.problem import I32, NONE, Problem


class Moves(NamedTuple):
    """Columns by object (its allocation is first … end - 1), and the tables of moves.

    An object whose shape is `NONE` stays within first … end - 1, wherever it is moved.
    """

    first: I32
    end: I32
    shape: I32
    n_shapes: np.int64
    rows: I32
    offsets: I32
    landings: I32


def moves_of(problem: Problem, n_alone: int = 0) -> Moves:
    """Return the moves of a problem, with objects behind its own that each are alone."""
    p = problem
    sizes = np.diff(p.allocation_offsets)
    alone = p.n_objects + np.arange(n_alone, dtype=np.int32)
    shape = p.allocation_shape if len(p.allocation_shape) else np.full(len(sizes), NONE, np.int32)
    return Moves(
        first=np.append(np.repeat(p.allocation_offsets[:-1], sizes), alone),
        end=np.append(np.repeat(p.allocation_offsets[1:], sizes), alone + np.int32(1)),
        shape=np.append(np.repeat(shape, sizes), np.full(n_alone, NONE, np.int32)),
        n_shapes=np.int64(p.n_shapes),
        rows=p.move_rows,
        offsets=p.move_offsets,
        landings=p.move_landings,
    )

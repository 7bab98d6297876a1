"""Where offset edges lead, object by object: what every solver looks up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.base.arrays import I32
from kleene.solvers.inclusion.problem import NONE, Problem


class Images(NamedTuple):
    """Columns by object (its allocation is first … end - 1), and the tables of their images.

    An object whose layout is `NONE` has all of first … end - 1 as its images.
    """

    first: I32
    end: I32
    layout: I32
    n_layouts: np.int64
    rows: I32
    offsets: I32
    images: I32


def images_of(problem: Problem, n_alone: int = 0) -> Images:
    """Return the images of a problem, with objects behind its own that each are alone."""
    p = problem
    sizes = np.diff(p.allocation_offsets)
    alone = p.n_objects + np.arange(n_alone, dtype=np.int32)
    layout = (
        p.allocation_layout if len(p.allocation_layout) else np.full(len(sizes), NONE, np.int32)
    )
    return Images(
        first=np.append(np.repeat(p.allocation_offsets[:-1], sizes), alone),
        end=np.append(np.repeat(p.allocation_offsets[1:], sizes), alone + np.int32(1)),
        layout=np.append(np.repeat(layout, sizes), np.full(n_alone, NONE, np.int32)),
        n_layouts=np.int64(p.n_layouts),
        rows=p.image_rows,
        offsets=p.image_offsets,
        images=p.images,
    )

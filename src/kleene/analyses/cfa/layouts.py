"""How arguments and data are laid out for the inclusion engine.

**Arguments.** The engine passes the i-th actual to the i-th formal. Here a call with n arguments
puts them into block n of the actuals, and a procedure that takes k has its formals in block k: what
does not fit meets nothing. Procedures with a rest have formals in every block from k on. From
`N_EXACT` arguments on there is one block for all. With `head` = 1, each block begins with the token
of reachability:

    (f a b)            actuals  | 0: token | 1: token _ | 2: token a b |
    (lambda (x y) …)   formals  |          |            | 2: token x y |

**Data** of a kind is an allocation with an object for each field, and is known by the first. The
offset kind of a field takes the first object to the field's; data of other kinds it takes nowhere,
so that `(car x)` finds nothing in the vectors that x may hold.

**Vectors** have a field for what is written at an index that is not known, then one for each item
if their length is known, and kinds for the four ways to use them:

    (vector a b)             | any | a | b |        (make-vector n x)        | any: x |
    (vector-set! v i x)      ("vector", 0)          any
    (vector-set! v 1 x)      ("vector-slot", 1)     b, or any where there is no such field
    (vector-ref v 1)         ("vector-item", 1)     any and b
    (vector-ref v i)         ("vector-items", 0)    all
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kleene.base.arrays import I32
from kleene.solvers.inclusion.problem import BY_LAYOUT, NONE

N_EXACT = 8


@dataclass(frozen=True, slots=True)
class ArgumentLayout:
    """Where arguments are put; `n_open` is how many a call of unknown length passes at most."""

    head: int
    n_open: int

    def start(self, n: int) -> int:
        """Return where block n begins."""
        n = min(n, N_EXACT)
        return n * (n - 1) // 2 + n * self.head

    def actuals(self, arguments: Sequence[int], here: int) -> list[int]:
        """Return the actuals of a call, or the formals of a procedure, with exactly these."""
        return [NONE] * self.start(len(arguments)) + [here] * self.head + list(arguments)

    def spread(self, arguments: Sequence[int], more: int, n_least: int, here: int) -> list[int]:
        """Return the actuals of a call with `n_least` arguments at least, `more` behind those."""
        every = list(arguments) + [more] * (self.n_open - len(arguments))
        return self._blocks(every, n_least, None, here, every)

    def formals_with_rest(self, fixed: Sequence[int], rest: int, here: int) -> list[int]:
        """Return the formals of a procedure that takes more; the engine's rest is that as well."""
        every = [*fixed, *[rest] * (N_EXACT - len(fixed))]
        return self._blocks(every, len(fixed), None, here, fixed)

    def formals_between(
        self, fixed: Sequence[int], n_least: int, n_most: int | None, here: int
    ) -> list[int]:
        """Return the formals of a procedure that takes from `n_least` to `n_most` arguments."""
        return self._blocks(fixed, n_least, n_most, here, fixed)

    def _blocks(
        self,
        every: Sequence[int],
        n_least: int,
        n_most: int | None,
        here: int,
        last: Sequence[int],
    ) -> list[int]:
        """Return blocks `n_least` to `n_most`, of the first of `every`; the open one is `last`."""
        n_exact = N_EXACT if n_most is None else min(n_most + 1, N_EXACT)
        placed = [NONE] * self.start(n_least)
        for n in range(n_least, n_exact):
            placed += [here] * self.head + list(every[:n])
        if n_most is None or n_most >= N_EXACT:
            placed += [here] * self.head + list(last)
        return placed


Tag = str | tuple[str, int]  # of a record type or of several values, with a number

FIELDS: dict[str, tuple[Tag, int]] = {
    "car": ("pair", 0),
    "cdr": ("pair", 1),
    "item": ("vector-items", 0),
    "slot": ("vector", 0),
    "content": ("box", 0),
    "key": ("table", 0),
    "value": ("table", 1),
    "equivalence": ("table", 2),
    "hashing": ("table", 3),
    "delayed": ("delay", 0),
    "chained": ("chain", 0),
    "kept": ("promise", 0),
    "current": ("parameter", 0),
    "converter": ("parameter", 1),
    "irritants": ("condition", 0),
    "message": ("condition", 1),
    "any-value": ("values", 0),
}


@dataclass(slots=True)
class DataLayouts:
    """Numbers layouts (tag, size) and offset kinds (tag, field) as they are asked for."""

    layouts: dict[tuple[Tag, int], int] = field(default_factory=dict)
    offset_kinds: dict[tuple[Tag, int], int] = field(default_factory=dict)

    def layout(self, tag: Tag, size: int) -> int:
        """Return the number of the layout with that tag and so many objects."""
        return self.layouts.setdefault((tag, size), len(self.layouts))

    def amount(self, tag: Tag, field: int) -> int:
        """Return the offset from data with that tag to one of its fields."""
        return BY_LAYOUT - self.offset_kinds.setdefault((tag, field), len(self.offset_kinds))

    def tables(self) -> tuple[I32, I32, I32]:
        """Return the rows, offsets and images of the offset kinds.

        An offset kind and a layout that do not fit have rows without images, which all of them
        share. `NONE`, for the tokens that no offset kind is ever asked of, needs no rows.
        """
        largest = max((size for tag, size in self.layouts if tag != "token"), default=1)
        rows = np.zeros((len(self.offset_kinds), len(self.layouts)), np.int32)
        images: list[int] = []
        offsets = [0] * (largest + 1)
        for (tag, number), kind in self.offset_kinds.items():
            for (other, size), layout in self.layouts.items():
                if other == "token":
                    rows[kind, layout] = NONE
                elif found := _images(tag, number, other, size):
                    rows[kind, layout] = len(offsets) - 1
                    images += found
                    offsets += [len(images)] * size
        return rows.ravel(), np.array(offsets, np.int32), np.array(images, np.int32)


def _images(tag: Tag, number: int, other: Tag, size: int) -> list[int]:
    """Return where an offset kind leads from data of a layout, as fields; see the module's head."""
    if other != "vector" or tag == "vector":
        return [number] if tag == other and number < size else []
    if tag == "vector-items":
        return list(range(size))
    is_there = number + 1 < size
    if tag == "vector-slot":
        return [number + 1 if is_there else 0]
    if tag == "vector-item":
        return [0, number + 1] if is_there else [0]
    return []

"""The rules of cuda/rules.cu on the CPU: the same rows and maps, without masks of blocks.

A rule reads `every`, what rows hold, and `delta`, what they gained in the iteration before; what it
finds goes to `every` and `fresh`. A row may be read while it gains: a bit seen too early is fresh,
and has its turn in the next iteration.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.kernels.bits import lowest
from kleene.solvers.inclusion.cuda.tables import CONTENTS, RESULT
from kleene.solvers.inclusion.paper.compiled import device_function, entry_point
from kleene.solvers.inclusion.problem import BY_LAYOUT

COPY, PUSH, PULL, OFFSET = range(4)  # as in cuda.rounds
_ONE = np.uint64(1)


@entry_point
def add_words(offsets: Any, place: Any, word: Any, every: Any, fresh: Any) -> None:
    """Add words to rows; what is new becomes fresh."""
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            new = word[i] & ~every[row, place[i]]
            every[row, place[i]] |= new
            fresh[row, place[i]] |= new


@entry_point
def apply(
    kind: int, columns: Any, rules: Any, rows: Any, maps: Any, special: Any, images: Any
) -> None:
    """Apply the given rules of one kind: see `cuda.tables` for what their columns are."""
    first, second, third = columns
    every, delta, fresh = rows
    for rule in rules:
        a, b, m = first[rule], second[rule], third[rule]
        if kind == COPY:
            _flow(every, delta, fresh, a, b, False)
        elif kind == OFFSET:
            for w in range(every.shape[1]):
                bits = delta[a, w]
                while bits != 0:
                    _add_images(every, fresh, images, b, 64 * w + lowest(bits), m)
                    bits &= bits - _ONE
        else:
            for w in range(every.shape[1]):
                bits = every[a, w]
                while bits != 0:
                    o = 64 * w + lowest(bits)
                    other = _target(maps, special, m, o, kind == PUSH)
                    is_new = (delta[a, w] >> np.uint64(o & 63)) & _ONE != 0
                    if other >= 0:
                        source, to = (b, other) if kind == PUSH else (other, b)
                        _flow(every, delta, fresh, source, to, is_new)
                    bits &= bits - _ONE


@device_function
def _flow(every: Any, delta: Any, fresh: Any, source: int, to: int, is_full: bool) -> None:
    """Add to row `to` all that `source` holds, or what it gained."""
    for w in range(every.shape[1]):
        new = (every[source, w] if is_full else delta[source, w]) & ~every[to, w]
        every[to, w] |= new
        fresh[to, w] |= new


@device_function
def _target(maps: Any, special: Any, m: int, o: int, is_into: bool) -> Any:
    """Return the row that object o stands for in map m, or -1; see `target` in rules.cu."""
    contents, function_of, result, rest, formal_offsets, formals = maps
    if o == special[0]:
        return special[2] if is_into else special[1]
    if m == CONTENTS:
        return contents[o]
    function = function_of[o]
    if function < 0:
        return -1
    if m == RESULT:
        return result[function]
    at = formal_offsets[function] + m
    return formals[at] if at < formal_offsets[function + 1] else rest[function]


@device_function
def _add_images(every: Any, fresh: Any, images: Any, to: int, o: int, amount: int) -> None:
    """Add the images of object o under an offset to row `to`."""
    start, end = images.first[o], images.end[o]
    if amount <= BY_LAYOUT and images.layout[o] >= 0:
        table = images.rows[(BY_LAYOUT - amount) * images.n_layouts + images.layout[o]]
        if table >= 0:
            at = table + o - start
            for i in range(images.offsets[at], images.offsets[at + 1]):
                _add(every, fresh, to, start + images.images[i])
            return
    if amount >= 0 and o + amount < end:
        start, end = o + amount, o + amount + 1
    for image in range(start, end):
        _add(every, fresh, to, image)


@device_function
def _add(every: Any, fresh: Any, to: int, o: int) -> None:
    bit = _ONE << np.uint64(o & 63)
    if every[to, o >> 6] & bit == 0:
        every[to, o >> 6] |= bit
        fresh[to, o >> 6] |= bit

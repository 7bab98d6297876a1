"""What is worked in while the images in one layout are found: sets, and walks over addresses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.analyses.points_to.compiled import device_function
from kleene.base.arrays import I32, I64, U64
from kleene.kernels.bits import lowest

DEEPEST = 16  # arrays in one another; object layouts have no more than seven
N_RESIDUES = 1 << 8  # remembered at a time, of a stride and of one divisor of it

_WORD = 64  # bits
_ONE, _ALL = np.uint64(1), np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class Walk(NamedTuple):
    """An enumeration of the addresses of a location; row i is for the i-th array around it.

    The innermost array comes first.
    """

    around: I64  # which array
    low: I64  # the first element to choose: 0 where the location is in the first one
    high: I64  # the last
    element: I64  # which is chosen now


class Scratch(NamedTuple):
    """Memory to work in while the images under the edges of one layout are found.

    A set of locations is a row of bits, and known by its number: location l is bit l % 64 of word
    l // 64. With n = `n_locations`:

        row  0 … n - 1       image of location 0 … n - 1
             n … 2n - 1      its image under one more stride
             2n, 2n + 1      what is reached in between
             2n + 2 …        the locations that have addresses of a residue: `swept`
    """

    sets: U64
    swept: I64  # per residue, twice: the layout and modulus that the set is of, as one number
    walk: Walk
    inner_walk: Walk  # used while `walk` is under way
    layout: int
    n_regular: int  # locations of its fields; that is also the number of the end
    n_locations: int  # with the end and the unknown offset
    n_words: int  # of a set


def scratch_for(n_locations: int) -> Scratch:
    """Return memory for layouts of at most `n_locations` locations."""
    width = (n_locations + _WORD - 1) // _WORD
    n_sets = 2 * n_locations + 2 + 2 * N_RESIDUES
    first, second = (Walk(*np.zeros((4, DEEPEST), np.int64)) for _ in range(2))
    swept = np.full(2 * N_RESIDUES, -1)
    return Scratch(np.empty(n_sets * width, np.uint64), swept, first, second, -1, 0, 0, 0)


@device_function
def begin_layout(memory: Scratch, layout: int, n_regular: int, n_locations: int) -> Scratch:
    """Return the memory for a layout of `n_locations` locations, `n_regular` of them of fields.

    The last location is the unknown offset: its image is every location, under every edge.
    """
    width = (n_locations + _WORD - 1) // _WORD
    walk, inner_walk = memory.walk, memory.inner_walk
    sizes = n_regular, n_locations, width
    s = Scratch(memory.sets, memory.swept, walk, inner_walk, layout, *sizes)
    put_all(s, n_locations - 1)
    put_all(s, 2 * n_locations - 1)
    return s


@device_function
def clear(s: Scratch, row: int) -> None:
    """Make a set empty."""
    for word in range(row * s.n_words, (row + 1) * s.n_words):
        s.sets[word] = 0


@device_function
def put(s: Scratch, row: int, location: int) -> None:
    """Add a location to a set."""
    s.sets[row * s.n_words + location // _WORD] |= _ONE << np.uint64(location % _WORD)


@device_function
def put_all(s: Scratch, row: int) -> None:
    """Add all locations of the layout to a set."""
    first, n_full = row * s.n_words, s.n_locations // _WORD
    for word in range(first, first + n_full):
        s.sets[word] = _ALL
    if n_full < s.n_words:
        s.sets[first + n_full] = (_ONE << np.uint64(s.n_locations % _WORD)) - _ONE


@device_function
def join(s: Scratch, row: int, other: int) -> None:
    """Add the locations of another set."""
    first, more = row * s.n_words, other * s.n_words
    for word in range(s.n_words):
        s.sets[first + word] |= s.sets[more + word]


@device_function
def has(s: Scratch, row: int, location: int) -> bool:
    """Return whether a location is in a set."""
    word = s.sets[row * s.n_words + location // _WORD]
    return bool(word >> np.uint64(location % _WORD) & _ONE)


@device_function
def following(s: Scratch, row: int, location: int) -> int:
    """Return the first location of a set from the given one on; -1 where there is none."""
    first, word = row * s.n_words, location // _WORD
    if word < s.n_words:
        bits = s.sets[first + word] >> np.uint64(location % _WORD)
        if bits:
            return int(location + lowest(bits))
        for later in range(word + 1, s.n_words):
            if s.sets[first + later]:
                return int(later * _WORD + lowest(s.sets[first + later]))
    return -1


@device_function
def pack(s: Scratch, row: int, locations: I32, n_used: int) -> int:
    """Write the locations of a set behind the first `n_used` of a list; return its new length."""
    for word in range(s.n_words):
        bits, first = s.sets[row * s.n_words + word], word * _WORD
        if bits == _ALL:
            for bit in range(_WORD):
                locations[n_used + bit] = first + bit
            n_used += _WORD
            continue
        while bits:
            locations[n_used] = first + lowest(bits)
            n_used += 1
            bits &= bits - _ONE
    return n_used

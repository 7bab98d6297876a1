"""Sets of places, a bit each: rows of 64-bit words."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.points_to.compiled import no_refcount
from kleene.base.arrays import I32
from kleene.kernels.bits import lowest

Set: TypeAlias = NDArray[np.uint64]

_WORD = 64  # bits
_ONE, _ALL = np.uint64(1), np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@no_refcount
def n_words(n_places: int) -> int:
    """Return how many words a set of so many places takes."""
    return (n_places + _WORD - 1) // _WORD


@no_refcount
def put(found: Set, place: int) -> None:
    """Add a place."""
    found[place // _WORD] |= _ONE << np.uint64(place % _WORD)


@no_refcount
def put_all(found: Set, n_places: int) -> None:
    """Make it the set of the first so many places."""
    found[:] = 0
    found[: n_places // _WORD] = _ALL
    if n_places % _WORD:
        found[n_places // _WORD] = (_ONE << np.uint64(n_places % _WORD)) - _ONE


@no_refcount
def join(found: Set, more: Set) -> None:
    """Add the places of another set."""
    for word in range(len(found)):
        found[word] |= more[word]


@no_refcount
def has(found: Set, place: int) -> bool:
    """Return whether a place is in a set."""
    return bool(found[place // _WORD] >> np.uint64(place % _WORD) & _ONE)


@no_refcount
def following(found: Set, place: int) -> int:
    """Return the first place of a set from the given one on; -1 where there is none."""
    word = place // _WORD
    if word < len(found):
        bits = found[word] >> np.uint64(place % _WORD)
        if bits:
            return int(place + lowest(bits))
        for later in range(word + 1, len(found)):
            if found[later]:
                return int(later * _WORD + lowest(found[later]))
    return -1


@no_refcount
def pack(found: Set, places: I32, n_used: int) -> int:
    """Append the places of a set to a list of so many; return how many these are now."""
    for word in range(len(found)):
        bits, first = found[word], word * _WORD
        if bits == _ALL:
            part = places[n_used : n_used + _WORD]
            for bit in range(_WORD):
                part[bit] = first + bit
            n_used += _WORD
            continue
        while bits:
            places[n_used] = first + lowest(bits)
            n_used += 1
            bits &= bits - _ONE
    return n_used

"""Sparse bit vectors as linked lists of 32-word elements, as both points-to papers have them.

Words 0 to 29 of an element are its 960 bits, word 30 is its base (its first bit divided by 960),
word 31 the number of the next element, or 0. Bases ascend along a list; a head of 0 is the empty
vector. Elements live in one pool. `used[0]` counts those handed out, `used[1]` heads the list of
those given back.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I64
from kleene.solvers.inclusion.paper import entry_point

N_WORDS = 30
N_BITS = 960
BASE = 30
NEXT = 31
Pool = NDArray[np.int32]
Heads = NDArray[np.int32]
# The top five bits of (1 << k) * _DE_BRUIJN differ for every k: they look k up in _PLACE.
_DE_BRUIJN = 0x077CB531
_PLACE = np.empty(32, np.int64)
_PLACE[[(_DE_BRUIJN << k & 0xFFFFFFFF) >> 27 for k in range(32)]] = np.arange(32)


@entry_point
def with_room(pool: Pool, used: I64, n_elements: int) -> Pool:
    """Return the pool, or one twice as large with its elements, so that `n_elements` fit in."""
    if used[0] + n_elements < len(pool):
        return pool
    larger = np.zeros((2 * len(pool) + n_elements, 32), np.int32)
    larger[: used[0]] = pool[: used[0]]
    return larger


@entry_point
def take(pool: Pool, used: I64, base: int, following: int) -> int:
    """Return a cleared element."""
    element = int(used[1])
    if element:
        used[1] = pool[element, NEXT]
        pool[element, :N_WORDS] = 0
    else:
        element = int(used[0])
        used[0] += 1
    pool[element, BASE] = base
    pool[element, NEXT] = following
    return element


@entry_point
def give_back(pool: Pool, used: I64, head: int) -> None:
    """Return a whole list to the pool."""
    while head:
        following = int(pool[head, NEXT])
        pool[head, NEXT] = used[1]
        used[1] = head
        head = following


@entry_point
def find(
    pool: Pool, used: I64, heads: Heads, node: int, base: int, before: int, element: int
) -> tuple[int, int]:
    """Return the element of a node's vector with that base, and the one before it, or 0.

    The search begins at `element`, behind `before`; what is not there yet is made.
    """
    while element and pool[element, BASE] < base:
        before, element = element, int(pool[element, NEXT])
    if not element or pool[element, BASE] != base:
        element = take(pool, used, base, element)
        if before:
            pool[before, NEXT] = element
        else:
            heads[node] = element
    return before, element


@entry_point
def add(pool: Pool, used: I64, heads: Heads, node: int, bit: int) -> None:
    """Set one bit of a node's vector."""
    _, element = find(pool, used, heads, node, bit // N_BITS, 0, int(heads[node]))
    sign = -1 if bit % 32 == 31 else 1  # the highest bit of an int32
    pool[element, bit % N_BITS // 32] |= sign << bit % 32


@entry_point
def join(pool: Pool, used: I64, heads: Heads, node: int, other: int) -> None:
    """Add the vector with head `other` to that of a node."""
    before, element = 0, int(heads[node])
    while other:
        base = int(pool[other, BASE])
        before, element = find(pool, used, heads, node, base, before, element)
        for word in range(N_WORDS):
            pool[element, word] |= pool[other, word]
        other = int(pool[other, NEXT])


@entry_point
def fold(pool: Pool, used: I64, heads: Heads, found: Heads, node: int) -> None:
    """Add what was found for a node to its vector, and leave in `found` what is new of it."""
    before, element = 0, int(heads[node])
    kept, other = 0, int(found[node])
    found[node] = 0
    while other:
        following = int(pool[other, NEXT])
        base = int(pool[other, BASE])
        before, element = find(pool, used, heads, node, base, before, element)
        new = 0
        for word in range(N_WORDS):
            pool[other, word] &= ~pool[element, word]
            pool[element, word] |= pool[other, word]
            new |= pool[other, word]
        pool[other, NEXT] = 0
        if not new:
            give_back(pool, used, other)
        elif kept:
            pool[kept, NEXT] = other
            kept = other
        else:
            found[node] = other
            kept = other
        other = following


@entry_point
def members(pool: Pool, head: int, into: I64) -> int:
    """Write the bits of a vector to `into`, ascending; return how many there are."""
    n_found = 0
    while head:
        first = int(pool[head, BASE]) * N_BITS
        for word in range(N_WORDS):
            bits = int(pool[head, word]) & 0xFFFFFFFF
            while bits:
                lowest = bits & -bits
                place = _PLACE[(lowest * _DE_BRUIJN & 0xFFFFFFFF) >> 27]
                into[n_found] = first + 32 * word + place
                n_found += 1
                bits ^= lowest
        head = int(pool[head, NEXT])
    return n_found

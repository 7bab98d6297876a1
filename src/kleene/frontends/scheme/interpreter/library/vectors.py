"""Vectors."""

from __future__ import annotations

from typing import Any

from kleene.frontends.scheme.interpreter.library.numbers import index, size
from kleene.frontends.scheme.interpreter.library.registry import plain
from kleene.ir.scheme.values import UNSPECIFIED, list_of


def vector(x: Any) -> list[Any]:
    """Return x if it is a vector."""
    if type(x) is not list:
        raise TypeError("not a vector")
    return x


def bounds(n: int, start: Any, end: Any) -> tuple[int, int]:
    """Return a range of indices below n, both ends checked."""
    stop = n if end is None else index(end)
    if not 0 <= index(start) <= stop <= n:
        raise IndexError("the range is outside")
    return start, stop


def part(items: Any, start: Any, end: Any) -> Any:
    """Return the items from start to before end."""
    first, last = bounds(len(items), start, end)
    return items[first:last]


plain("vector")(lambda *items: list(items))
plain("make-vector")(lambda n, fill=UNSPECIFIED: [fill] * size(n))
plain("vector-length")(lambda x: len(vector(x)))
plain("vector-ref")(lambda x, k: vector(x)[index(k)])
plain("vector->list")(lambda x, start=0, end=None: list_of(part(vector(x), start, end)))
plain("vector-copy")(lambda x, start=0, end=None: part(vector(x), start, end))
plain("vector-append")(lambda *vectors: [item for each in vectors for item in vector(each)])


@plain("vector-set!")
def _vector_set(x: Any, k: Any, value: Any) -> Any:
    vector(x)[index(k)] = value
    return UNSPECIFIED


@plain("vector-fill!")
def _vector_fill(x: Any, fill: Any, start: Any = 0, end: Any = None) -> Any:
    first, last = bounds(len(vector(x)), start, end)
    x[first:last] = [fill] * (last - first)
    return UNSPECIFIED


@plain("vector-copy!")
def _vector_copy(to: Any, at: Any, source: Any, start: Any = 0, end: Any = None) -> Any:
    items = part(vector(source), start, end)
    bounds(len(vector(to)), at, at + len(items))
    to[at : at + len(items)] = items
    return UNSPECIFIED

"""Vectors and bytevectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kleene.frontends.scheme.interpreter.library.numbers import index, size
from kleene.frontends.scheme.interpreter.library.registry import checked, plain
from kleene.ir.scheme.values import UNSPECIFIED, list_of

vector = checked("a vector", list)
octets = checked("a bytevector", bytearray)


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


plain("vector?")(lambda x: type(x) is list)
plain("vector")(lambda *items: list(items))
plain("make-vector")(lambda n, fill=UNSPECIFIED: [fill] * size(n))
plain("vector->list")(lambda x, start=0, end=None: list_of(part(vector(x), start, end)))
plain("vector-append")(lambda *vectors: [item for each in vectors for item in vector(each)])
plain("bytevector?")(lambda x: type(x) is bytearray)
plain("bytevector")(lambda *items: bytearray(items))
plain("make-bytevector")(lambda n, fill=0: bytearray([fill]) * size(n))
plain("bytevector-append")(lambda *parts: bytearray(b"".join(octets(x) for x in parts)))


@plain("vector-fill!")
def _vector_fill(x: Any, fill: Any, start: Any = 0, end: Any = None) -> None:
    first, last = bounds(len(vector(x)), start, end)
    x[first:last] = [fill] * (last - first)


def _sequence(name: str, item: str, check: Callable[[Any], Any]) -> None:
    """Register what vectors and bytevectors have in common."""
    plain(f"{name}-length")(lambda x: len(check(x)))
    plain(f"{item}-ref")(lambda x, k: check(x)[index(k)])
    plain(f"{item}-set!")(lambda x, k, value: check(x).__setitem__(index(k), value))
    plain(f"{name}-copy")(lambda x, start=0, end=None: part(check(x), start, end))

    @plain(f"{name}-copy!")
    def copy(to: Any, at: Any, source: Any, start: Any = 0, end: Any = None) -> None:
        new = part(check(source), start, end)
        bounds(len(check(to)), at, at + len(new))
        to[at : at + len(new)] = new


_sequence("vector", "vector", vector)
_sequence("bytevector", "bytevector-u8", octets)

"""Types written as nested tuples, and what C says of them: an oracle of layouts and edges.

A type is a word (`char`, `int`, `ptr`, `wide`), `("array", count, element)`, `("struct", fields)`,
`("packed", fields)` or `("union", members)`. Nothing here knows how layouts are made, but that a
union's members are not told apart: up to 256 bytes it has something every 4 bytes, else every 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from hypothesis import strategies as st

from kleene.analyses.points_to.images import LocationTable
from kleene.analyses.points_to.layouts import Layouts
from kleene.ir.builder.types import Symbols, TypeMaker

DATA_LAYOUT = "e-m:e-i64:64-i128:128-f80:128-n8:16:32:64-S128"
SCALARS = {"char": 1, "int": 4, "ptr": 8, "wide": 16}
Tree = Any


class Array(NamedTuple):
    """One array at run time."""

    begin: int
    stride: int
    count: int

    @property
    def end(self) -> int:
        return self.begin + self.stride * self.count

    def holds(self, byte: int) -> bool:
        return self.begin <= byte < self.end


class Memory:
    """The types of a program under test."""

    def __init__(self) -> None:
        self._symbols = Symbols()
        self.types = TypeMaker(self._symbols)
        self._n_unions = 0
        self._ids: dict[Tree, int] = {}

    def type(self, tree: Tree) -> int:
        """Return the type id of a tree."""
        if tree not in self._ids:
            self._ids[tree] = self._make(tree)
        return self._ids[tree]

    def _make(self, tree: Tree) -> int:
        types = self.types
        if tree == "ptr":
            return types.pointer()
        if isinstance(tree, str):
            return types.integer(8 * SCALARS[tree])
        if tree[0] == "array":
            return types.array(tree[1], self.type(tree[2]))
        if tree[0] != "union":
            return types.struct([self.type(t) for t in tree[1]], packed=tree[0] == "packed")
        self._n_unions += 1
        words = types.array(size(tree) // 8, types.integer(64))  # storage of the right size
        return types.fill(types.named(f"union.u{self._n_unions}"), [words])

    def layouts(self) -> Layouts:
        """Return where to ask for layouts; no more types after this."""
        return Layouts(self.types.table(DATA_LAYOUT), self._symbols.table())


def align(tree: Tree) -> int:
    if isinstance(tree, str):
        return SCALARS[tree]
    if tree[0] == "array":
        return align(tree[2])
    if tree[0] == "packed":
        return 1
    return 8 if tree[0] == "union" else max(map(align, tree[1]))


def size(tree: Tree) -> int:
    if isinstance(tree, str):
        return SCALARS[tree]
    if tree[0] == "array":
        return int(tree[1]) * size(tree[2])
    if tree[0] == "union":
        return _up(max(map(size, tree[1])), align(tree))
    end = fields(tree)[-1]
    return _up(end[0] + size(end[1]), align(tree))


def fields(tree: Tree) -> list[tuple[int, Tree]]:
    """Return the offset and type of each field."""
    found, end = [], 0
    for part in tree[1]:
        begin = end if tree[0] == "packed" else _up(end, align(part))
        found.append((begin, part))
        end = begin + size(part)
    return found


def _up(byte: int, step: int) -> int:
    return -(-byte // step) * step


def starts(tree: Tree, base: int = 0) -> Iterator[int]:
    """Yield every byte at which something begins, at run time."""
    if isinstance(tree, str):
        yield from range(base, base + SCALARS[tree], 8)
    elif tree[0] == "array":
        for row in range(tree[1]):
            yield from starts(tree[2], base + row * size(tree[2]))
    elif tree[0] == "union":
        yield from range(base, base + size(tree), 4 if size(tree) <= 256 else 8)
    else:
        for offset, part in fields(tree):
            yield from starts(part, base + offset)


def arrays(tree: Tree, byte: int, base: int = 0) -> list[Array]:
    """Return the arrays that a byte is in, outermost first; an array of arrays is one."""
    if isinstance(tree, str) or not base <= byte < base + size(tree):
        return []
    if tree[0] == "union":
        return [Array(base, 8, size(tree) // 8)] if size(tree) > 256 else []
    if tree[0] == "array":
        element, count = tree[2], tree[1]
        while not isinstance(element, str) and element[0] == "array":
            count, element = count * element[1], element[2]
        around = Array(base, size(element), count)
        inner = base + (byte - base) // around.stride * around.stride
        return [around, *arrays(element, byte, inner)]
    return [found for offset, part in fields(tree) for found in arrays(part, byte, base + offset)]


def object_ends(tree: Tree, byte: int, base: int = 0) -> list[int]:
    """Return the ends of the structs, unions and arrays that begin at a byte."""
    if isinstance(tree, str) or not base <= byte < base + size(tree):
        return []
    own = [base + size(tree)] if byte == base else []
    if tree[0] == "union":
        return own
    if tree[0] == "array":
        begin = base + (byte - base) // size(tree[2]) * size(tree[2])
        return own + object_ends(tree[2], byte, begin)
    inside = (object_ends(part, byte, base + offset) for offset, part in fields(tree))
    return own + [end for ends in inside for end in ends]


def trees(max_leaves: int = 8) -> st.SearchStrategy[Tree]:
    """Return random types."""

    def extend(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        parts = st.lists(inner, min_size=1, max_size=4).map(tuple)
        return st.one_of(
            st.tuples(st.just("array"), st.sampled_from([1, 2, 3, 4, 7, 40]), inner),
            st.tuples(st.just("struct"), parts),
            st.tuples(st.just("packed"), parts),
            st.tuples(st.just("union"), parts),
        )

    return st.recursive(st.sampled_from(sorted(SCALARS)), extend, max_leaves=max_leaves)


def images(table: LocationTable, layout: int, location: int, edge: int) -> set[int]:
    """Return the locations that a edge takes a location of a layout to."""
    row = int(table.image_rows[edge * len(table.n_locations) + layout])
    if row < 0:
        return set(range(int(table.n_locations[layout])))
    low, high = table.image_offsets[row + location : row + location + 2].tolist()
    return set(table.images[low:high].tolist())

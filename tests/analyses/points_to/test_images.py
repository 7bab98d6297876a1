"""Offset images cover every pointer that C allows."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.analyses.points_to.images import LocationTable
from kleene.analyses.points_to.offset_edges import EdgeKind, OffsetEdges
from tests.analyses.points_to.memory_types import (
    Array,
    Memory,
    Tree,
    arrays,
    images,
    object_ends,
    size,
    trees,
)

STRIDES = st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16, 24, 40])


@dataclass
class Walker:
    """One pointer at run time, as it edges through storage of a type by C's rules."""

    tree: Tree
    draw: st.DrawFn
    at: int = 0
    past: Array | None = None  # the array that it is one element behind
    steps: list[tuple[tuple[int, ...], int, bool]] = field(default_factory=list)

    def go(self) -> None:
        """Make one step, if the one drawn is allowed here."""
        if self.past:
            self.come_back(self.past)
        else:
            steps = [self.add, self.index, self.index_member, self.index_twice, self.sweep]
            self.draw(st.sampled_from([*steps, self.walk_bytes]))()

    def _moved(self, edge: tuple[int, ...], to: int, array: Array | None = None) -> None:
        is_past = array is not None and to == array.end
        self.past = array if is_past else None
        self.steps.append((edge, to, is_past))
        self.at = to

    def _target(self, array: Array, step: int, begin: int) -> int:
        """Return an address a multiple of `step` elements away, in the array or past it."""
        offset = (begin - array.begin) % array.stride
        index = (begin - array.begin) // array.stride
        last = array.count if offset == 0 else array.count - 1
        choices = range(index % step, last + 1, step)
        return array.begin + self.draw(st.sampled_from(choices)) * array.stride + offset

    def come_back(self, array: Array) -> None:
        to = array.begin + self.draw(st.integers(0, array.count - 1)) * array.stride
        by_index = self.draw(st.booleans())
        self._moved((0, array.stride) if by_index else (to - self.at,), to)

    def add(self) -> None:
        """Go anywhere by a constant, but not out of an array by counting elements up."""
        to = self.draw(st.integers(0, size(self.tree)))
        distance = to - self.at
        for array in arrays(self.tree, self.at):
            counts = distance % array.stride == 0 and 0 < distance < array.end - array.begin
            if counts and self.at >= array.begin + array.stride and to >= array.end:
                return
        self._moved((distance,), to)

    def index(self) -> None:
        """Index an array by a variable, perhaps `a[i - 1]`."""
        around = arrays(self.tree, self.at)
        if around:
            array = self.draw(st.sampled_from(around))
            step = self.draw(st.integers(1, 3))
            before = self.draw(st.integers(0, 3)) if step == 1 else 0
            to = self._target(array, step, self.at)
            self._moved((-before * array.stride, step * array.stride), to, array)

    def _member(self) -> int:
        """Return an address in the same element of the innermost array, or anywhere."""
        around = arrays(self.tree, self.at)
        if not around:
            return self.draw(st.integers(0, size(self.tree) - 1))
        inner = around[-1]
        begin = self.at - (self.at - inner.begin) % inner.stride
        return self.draw(st.integers(begin, begin + inner.stride - 1))

    def index_member(self) -> None:
        """Index an array by a variable and go to a member, or index a member."""
        member = self._member()
        around = arrays(self.tree, member)
        if around:
            array = self.draw(st.sampled_from(around))
            self._moved((member - self.at, array.stride), self._target(array, 1, member), array)

    def index_twice(self) -> None:
        """Index an array, and an array in its elements."""
        member = self._member()
        around = arrays(self.tree, member)
        if len(around) >= 2 and around[0].stride != around[-1].stride:
            outer, inner = around[0], around[-1]
            element = self.draw(st.integers(0, outer.count - 1))
            shift = outer.begin + element * outer.stride
            shift -= member - (member - outer.begin) % outer.stride
            there = Array(inner.begin + shift, inner.stride, inner.count)
            to = self._target(there, 1, member + shift)
            self._moved((member - self.at, outer.stride, inner.stride), to, there)

    def walk_bytes(self) -> None:
        """Walk over the bytes of an object that begins here, one by one or by an index."""
        ends = object_ends(self.tree, self.at)
        if ends:
            to = self.draw(st.integers(self.at, self.draw(st.sampled_from(ends)) - 1))
            if self.draw(st.booleans()) or to - self.at > 30:
                self._moved((0, 1), to)
            else:
                for byte in range(self.at + 1, to + 1):
                    self._moved((1,), byte)

    def sweep(self) -> None:
        """Go any number of strides that index no array here: bytes of an object."""
        stride = self.draw(STRIDES)
        if all(stride % array.stride for array in arrays(self.tree, self.at)):
            choices = range(self.at % stride, size(self.tree) + 1, stride)
            self._moved((0, stride), self.draw(st.sampled_from(choices)))


@st.composite
def walks(draw: st.DrawFn) -> Walker:
    walker = Walker(draw(trees()), draw)
    for _ in range(draw(st.integers(1, 6))):
        if walker.at < size(walker.tree) or walker.past:
            walker.go()
        else:
            walker.add()
    return walker


def noise(n_edges: int) -> OffsetEdges:
    """Return edges that have nothing to do with the types, in front of those that have."""
    edges = OffsetEdges()
    for constant in range(-n_edges, n_edges):
        edges.number(constant * 4)
        edges.number(constant, 3)
    return edges


def check_covered(table: LocationTable, layout: int, reached: set[int], byte: int) -> None:
    """Assert that a byte is covered: by its location, or the one around it and unknown offset."""
    location = table.location(layout, byte)
    assert location >= 0
    assert location in reached, f"byte {byte} is location {location}, reached are {reached}"


@pytest.mark.parametrize("kind", ["plain", "unrolled", "repeated"])
@given(walk=walks(), n_noise=st.integers(0, 3))
def test_images_cover_what_c_allows(walk: Walker, n_noise: int, kind: str) -> None:
    memory, edges = Memory(), noise(n_noise)
    type_id = memory.type(walk.tree)
    layouts = memory.layouts()
    layouts.raw(-1)
    layout = getattr(layouts, kind)(type_id)
    numbers = [edges.number(*edge) for edge, _, _ in walk.steps]
    table = layouts.finish(edges, has_unknown=n_noise == 0)
    reached = {table.location(layout, 0)}
    for (_, to, is_past), number in zip(walk.steps, numbers, strict=True):
        reached = set().union(*(images(table, layout, location, number) for location in reached))
        assert max(reached, default=0) < table.n_locations[layout]
        if not is_past:
            check_covered(table, layout, reached, to)


@given(trees(), st.integers(0, 50), st.integers(-60, 60), STRIDES)
def test_raw_storage_covers_every_use(tree: Tree, start: int, constant: int, stride: int) -> None:
    memory, edges = Memory(), OffsetEdges()
    memory.type(tree)
    layouts = memory.layouts()
    bounded, cells = layouts.raw(size(tree), [2, 6]), layouts.cells()
    by_constant, by_stride = edges.number(constant), edges.number(constant, stride)
    table = layouts.finish(edges)
    for layout, end in ((bounded, size(tree)), (cells, 1000)):
        if start >= end:
            continue
        location = table.location(layout, start)
        if 0 <= start + constant <= end:
            check_covered(
                table, layout, images(table, layout, location, by_constant), start + constant
            )
        for byte in range((start + constant) % stride, end, stride):
            check_covered(table, layout, images(table, layout, location, by_stride), byte)


@given(trees(), st.sampled_from([1, 2, 4, 8, 12, 16]), st.integers(0, 20))
def test_steps_in_bytes_come_to_every_byte(tree: Tree, step: int, n_before: int) -> None:
    memory, edges = Memory(), OffsetEdges()
    type_id = memory.type(tree)
    layouts = memory.layouts()
    layout = layouts.plain(type_id)
    long, short = edges.number(step, kind=EdgeKind.BYTES), edges.number(1, kind=EdgeKind.BYTES)
    table = layouts.finish(edges)
    reached, at = {table.location(layout, 0)}, 0
    for n_steps in range(n_before + step):
        edge = long if n_steps < n_before else short
        at += step if n_steps < n_before else 1
        if at >= size(tree):
            break
        reached = set().union(*(images(table, layout, location, edge) for location in reached))
        check_covered(table, layout, reached, at)

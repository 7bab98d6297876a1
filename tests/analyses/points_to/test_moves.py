"""Landings cover every pointer that C allows."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.analyses.points_to.images import Layout
from kleene.analyses.points_to.offset_edges import Moves, Way
from tests.analyses.points_to.memory_types import (
    Array,
    Memory,
    Tree,
    arrays,
    landings,
    object_ends,
    size,
    trees,
)

STRIDES = st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16, 24, 40])


@dataclass
class Walker:
    """One pointer at run time, as it moves through storage of a type by C's rules."""

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

    def _moved(self, move: tuple[int, ...], to: int, array: Array | None = None) -> None:
        is_past = array is not None and to == array.end
        self.past = array if is_past else None
        self.steps.append((move, to, is_past))
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


def noise(n_moves: int) -> Moves:
    """Return moves that have nothing to do with the types, in front of those that have."""
    moves = Moves()
    for constant in range(-n_moves, n_moves):
        moves.number(constant * 4)
        moves.number(constant, 3)
    return moves


def check_covered(layout: Layout, shape: int, reached: set[int], byte: int) -> None:
    """Hold that places cover a byte: its own, or the place around it and the blur."""
    place = layout.place(shape, byte)
    assert place >= 0
    assert place in reached, f"byte {byte} is place {place}, reached are {reached}"


@pytest.mark.parametrize("way", ["plain", "unrolled", "repeated"])
@given(walk=walks(), n_noise=st.integers(0, 3))
def test_landings_cover_what_c_allows(walk: Walker, n_noise: int, way: str) -> None:
    memory, moves = Memory(), noise(n_noise)
    type_id = memory.type(walk.tree)
    shapes = memory.shapes()
    shapes.raw(-1)
    shape = getattr(shapes, way)(type_id)
    numbers = [moves.number(*move) for move, _, _ in walk.steps]
    layout = shapes.finish(moves, has_unknown=n_noise == 0)
    reached = {layout.place(shape, 0)}
    for (_, to, is_past), number in zip(walk.steps, numbers, strict=True):
        reached = set().union(*(landings(layout, shape, place, number) for place in reached))
        assert max(reached, default=0) < layout.n_places[shape]
        if not is_past:
            check_covered(layout, shape, reached, to)


@given(trees(), st.integers(0, 50), st.integers(-60, 60), STRIDES)
def test_raw_storage_covers_every_use(tree: Tree, start: int, constant: int, stride: int) -> None:
    memory, moves = Memory(), Moves()
    memory.type(tree)
    shapes = memory.shapes()
    bounded, cells = shapes.raw(size(tree), [2, 6]), shapes.cells()
    by_constant, by_stride = moves.number(constant), moves.number(constant, stride)
    layout = shapes.finish(moves)
    for shape, end in ((bounded, size(tree)), (cells, 1000)):
        if start >= end:
            continue
        place = layout.place(shape, start)
        if 0 <= start + constant <= end:
            check_covered(
                layout, shape, landings(layout, shape, place, by_constant), start + constant
            )
        for byte in range((start + constant) % stride, end, stride):
            check_covered(layout, shape, landings(layout, shape, place, by_stride), byte)


@given(trees(), st.sampled_from([1, 2, 4, 8, 12, 16]), st.integers(0, 20))
def test_steps_in_bytes_come_to_every_byte(tree: Tree, step: int, n_before: int) -> None:
    memory, moves = Memory(), Moves()
    type_id = memory.type(tree)
    shapes = memory.shapes()
    shape = shapes.plain(type_id)
    long, short = moves.number(step, way=Way.BYTES), moves.number(1, way=Way.BYTES)
    layout = shapes.finish(moves)
    reached, at = {layout.place(shape, 0)}, 0
    for n_steps in range(n_before + step):
        move = long if n_steps < n_before else short
        at += step if n_steps < n_before else 1
        if at >= size(tree):
            break
        reached = set().union(*(landings(layout, shape, place, move) for place in reached))
        check_covered(layout, shape, reached, at)

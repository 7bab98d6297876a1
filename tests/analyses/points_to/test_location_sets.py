"""Sets of locations as bits say what sets of numbers say."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kleene.analyses.points_to.images import scratch
from kleene.analyses.points_to.images.scratch import Scratch
from kleene.base.arrays import I32, I64
from kleene.kernels import pointers
from kleene.kernels.compiled import CompilationUnit
from kleene.kernels.pointers import as_pointers

_UNIT = CompilationUnit(__file__, scratch.__file__, pointers.__file__)
begin_layout, clear, join, put_all = (
    scratch.begin_layout,
    scratch.clear,
    scratch.join,
    scratch.put_all,
)
put, has, following, pack = scratch.put, scratch.has, scratch.following, scratch.pack


class Question(NamedTuple):
    n_left: int
    left: I64
    n_right: int
    right: I64


class Answer(NamedTuple):
    locations: I32  # of the left set, the right one, both together, and of all locations
    ends: I64  # of these four
    behind: I64  # per location: the first of the left set from there on
    is_there: I64  # per location: whether it is in the left set


@_UNIT.entry_point
def _ask(memory: Scratch, n_locations: int, question: Question, answer: Answer) -> None:
    _asked(as_pointers(memory), n_locations, as_pointers(question), as_pointers(answer))


@_UNIT.device_function
def _asked(memory: Scratch, n_locations: int, question: Question, answer: Answer) -> None:
    s = begin_layout(memory, 0, n_locations - 1, n_locations)
    first = 2 * n_locations
    for row in range(4):
        clear(s, first + row)
    for i in range(question.n_left):
        put(s, first, question.left[i])
    for i in range(question.n_right):
        put(s, first + 1, question.right[i])
    join(s, first + 2, first)
    join(s, first + 2, first + 1)
    put_all(s, first + 3)
    n_used = 0
    for row in range(4):
        n_used = pack(s, first + row, answer.locations, n_used)
        answer.ends[row] = n_used
    for location in range(n_locations):
        answer.behind[location] = following(s, first, location)
        answer.is_there[location] = has(s, first, location)


@given(st.data(), st.integers(1, 200))
def test_as_sets_of_numbers(data: st.DataObject, n_locations: int) -> None:
    some = st.sets(st.integers(0, n_locations - 1))
    left, right = data.draw(some), data.draw(some)
    question = Question(
        *(len(left), np.array(sorted(left), np.int64)),
        *(len(right), np.array(sorted(right), np.int64)),
    )
    behind, is_there = np.empty((2, n_locations), np.int64)
    answer = Answer(np.empty(4 * n_locations, np.int32), np.empty(4, np.int64), behind, is_there)
    _ask(scratch.scratch_for(n_locations), n_locations, question, answer)
    found = [part.tolist() for part in np.split(answer.locations, answer.ends)][:4]
    assert found == [sorted(s) for s in (left, right, left | right, set(range(n_locations)))]
    for location in range(n_locations):
        assert behind[location] == min((p for p in left if p >= location), default=-1)
        assert is_there[location] == (location in left)

"""A problem as four kinds of rules over rows; the outside world becomes one object and two rows.

Let U be one more object, "all that is unknown", and X and E two more rows, X = {U} and E what has
escaped. Then U ∈ pts(n) says that n is unknown, and every rule about the outside is ordinary:

- a FROM_OUTSIDE node has the address of U; a TO_OUTSIDE node is copied to E;
- what flows into an object U goes to E (stores through unknown pointers, actuals of unknown
  callees), and what flows out of it comes from X (loads, results): a word in `target` of rules.cu;
- o ∈ E ⇒ A(o) ⊆ E is an offset from E to E; that c(o) is unknown a store of X through E; that
  pts(c(o)) ⊆ E a load through E into E; E is called with X in every place, its result goes to E.

U flows along copies, loads, stores, offsets and calls as any object does: so being unknown spreads.
U may get into E as well, where it means nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32
from kleene.solvers.inclusion.images import Images, images_of
from kleene.solvers.inclusion.problem import ANY, FROM_OUTSIDE, TO_OUTSIDE, Problem

CONTENTS = -1  # maps from an object to a node, as in rules.cu; m >= 0 is the formal at place m
RESULT = -2
_Part = tuple[I32, I32, I32 | int]  # the columns of some rules


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """One kind of rules: `first` and `second` are rows, `third` a map or an amount."""

    first: I32
    second: I32
    third: I32

    def __len__(self) -> int:
        return len(self.first)

    def columns(self) -> tuple[I32, I32, I32]:
        """Return the three columns."""
        return self.first, self.second, self.third


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """What the kernels read; objects include U, rows X and E, if anything is outside."""

    n_rows: int
    n_objects: int
    outside: int  # U, or -1
    unknown_row: int
    escaped_row: int
    seed_row: I32
    seed_object: I32
    copy: Rules  # from, to
    push: Rules  # pointer, from, map
    pull: Rules  # pointer, to, map
    offset: Rules  # from, to, amount
    contents: I32
    function_of: I32
    images: Images

    @property
    def n_words(self) -> int:
        """How many 64-bit words a row has: whole sectors of 32 bytes."""
        return max(1, -(-self.n_objects // 256)) * 4


def tables(problem: Problem) -> Tables:
    """Return the problem's rules, those about the outside among them."""
    p = problem
    has_outside = bool(p.flags.any())
    outside = p.n_objects if has_outside else -1
    unknown, escaped = (p.n_nodes, p.n_nodes + 1) if has_outside else (-1, -1)
    copy: list[_Part] = [(p.copy_source, p.copy_destination, 0)]
    push: list[_Part] = [(p.store_pointer, p.store_source, CONTENTS), _actuals(p)]
    pull: list[_Part] = [(p.load_pointer, p.load_destination, CONTENTS)]
    pull.append((p.call_callee, p.call_result, RESULT))
    offset: list[_Part] = [(p.offset_source, p.offset_destination, p.offset_amount)]
    seeds = [(p.address_node, p.address_object)]
    if has_outside:
        leaving = p.flagged_node[(p.flags & TO_OUTSIDE) != 0]
        entering = p.flagged_node[(p.flags & FROM_OUTSIDE) != 0]
        copy.append((leaving, _same(escaped, leaving), 0))
        seeds.append((entering, _same(outside, entering)))
        seeds.append((_column(unknown), _column(outside)))
        n_places = int(np.diff(p.formal_offsets).max(initial=0)) + 1  # the last is past all formals
        maps = np.arange(CONTENTS, n_places, dtype=np.int32)
        push.append((_same(escaped, maps), _same(unknown, maps), maps))
        pull += [(_column(escaped), _column(escaped), map_) for map_ in (CONTENTS, RESULT)]
        offset.append((_column(escaped), _column(escaped), ANY))
    return Tables(
        n_rows=p.n_nodes + 2 * has_outside,
        n_objects=p.n_objects + has_outside,
        outside=outside,
        unknown_row=unknown,
        escaped_row=escaped,
        seed_row=np.concatenate([row for row, _ in seeds]),
        seed_object=np.concatenate([o for _, o in seeds]),
        copy=_rules(copy),
        push=_rules(push),
        pull=_rules(pull),
        offset=_rules(offset),
        contents=np.append(p.contents, [-1] * has_outside).astype(np.int32),
        function_of=_function_of(p, p.n_objects + has_outside),
        images=images_of(p, int(has_outside)),
    )


def _actuals(p: Problem) -> _Part:
    """Return (callee, actual, place) for every actual of every call."""
    n_actuals = np.diff(p.actual_offsets)
    place = np.arange(len(p.actuals), dtype=np.int32) - np.repeat(p.actual_offsets[:-1], n_actuals)
    return np.repeat(p.call_callee, n_actuals), p.actuals, place.astype(np.int32)


def _rules(parts: Iterable[_Part]) -> Rules:
    """Return the parts as one kind of rules, without those that lack a node."""
    columns: list[list[I32]] = [[], [], []]
    for first, second, third in parts:
        wide = third if isinstance(third, np.ndarray) else _same(third, first)
        part = (first, second, wide)
        if second.min(initial=0) < 0:  # an actual or a result that is not there
            part = (first[second >= 0], second[second >= 0], wide[second >= 0])
        for column, values in zip(columns, part, strict=True):
            column.append(values)
    return Rules(*(np.concatenate(column) for column in columns))


def _function_of(p: Problem, n_objects: int) -> I32:
    function_of = np.full(n_objects, -1, np.int32)
    function_of[p.function_object] = np.arange(p.n_functions, dtype=np.int32)
    return function_of


def _column(value: int) -> I32:
    return np.array([value], np.int32)


def _same(value: int, like: NDArray[np.int32]) -> I32:
    return np.full(len(like), value, np.int32)

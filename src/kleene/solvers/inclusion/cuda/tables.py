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

What the kernels read, sent to the device: rules, maps, images and the facts to start from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32
from kleene.solvers.inclusion.problem import (
    ANY,
    FROM_OUTSIDE,
    TO_OUTSIDE,
    Images,
    Problem,
    images_of,
)

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


def tables_of(problem: Problem) -> Tables:
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


_PACKED_UP_TO_BYTES = 1 << 16  # of a column: what is sent together with others


class Triples(NamedTuple):
    """Rules of one kind on the device: all of them, or room for those that have work."""

    first: Any
    second: Any
    third: Any


@dataclass(frozen=True, slots=True)
class Sent:
    """The tables of a problem on the device."""

    kinds: list[Triples]
    maps: tuple[Any, ...]  # contents, function_of, result, rest, formal_offsets, formals
    images: tuple[Any, ...]
    seeds: tuple[Any, Any]  # rows, objects


def send(xp: Any, problem: Problem, tables: Tables) -> Sent:
    """Return the tables on the device."""
    t, p = tables, problem
    rules = [c for kind in (t.copy, t.push, t.pull, t.offset) for c in kind.columns()]
    maps = [t.contents, t.function_of, p.function_result, p.function_rest]
    maps += [p.formal_offsets, p.formals]
    columns = [t.images.first, t.images.end, t.images.layout]
    columns += [t.images.rows, t.images.offsets, t.images.images]
    there = list(columns_sent(xp, [*rules, *maps, *columns, t.seed_row, t.seed_object]))
    kinds = [Triples(*there[first : first + 3]) for first in range(0, 12, 3)]
    by_object, tables_there = there[18:21], there[21:24]
    images_there = (*by_object, np.int32(t.images.n_layouts), *tables_there)
    return Sent(kinds, tuple(there[12:18]), images_there, (there[24], there[25]))


def columns_sent(xp: Any, columns: list[I32]) -> Iterator[Any]:
    """Return the columns on the device; kernels are never given an empty one."""
    full = [np.ascontiguousarray(c if len(c) else [0], np.int32) for c in columns]
    nothing = np.empty(0, np.int32)
    small = [c for c in full if c.nbytes <= _PACKED_UP_TO_BYTES]
    packed = xp.asarray(np.concatenate([nothing, *small]))
    start = 0
    for column in full:
        if column.nbytes > _PACKED_UP_TO_BYTES:
            yield xp.asarray(column)
            continue
        yield packed[start : start + len(column)]
        start += len(column)


def named(xp: Any, sent: Sent, names: I32, n_rows: int) -> Sent:
    """Return the tables with row r called names[r], without the rules that become equal."""
    row_of = xp.asarray(names)
    contents, function_of, result, rest, formal_offsets, formals = sent.maps
    contents, result, rest, formals = (row_of[c] for c in (contents, result, rest, formals))
    return Sent(
        _distinct(
            xp, [Triples(row_of[k.first], row_of[k.second], k.third) for k in sent.kinds], n_rows
        ),
        (contents, function_of, result, rest, formal_offsets, formals),
        sent.images,
        (row_of[sent.seeds[0]], sent.seeds[1]),
    )


def _distinct(xp: Any, kinds: list[Triples], n_rows: int) -> list[Triples]:
    """Return the rules without repetitions, by pair, if a rule fits a number of 63 bits.

    One sort for all kinds: a sort's launches take longer than most tables.
    """
    first, second, third = (xp.concatenate(c).astype(np.int64) for c in zip(*kinds, strict=True))
    low = int(third.min())
    n_thirds = int(third.max()) - low + 1
    a_kind = n_rows * n_thirds * n_rows
    if len(kinds) * a_kind >= 1 << 63:
        return kinds
    key = (first * n_thirds + (third - low)) * n_rows + second
    start = 0
    for number, kind in enumerate(kinds):
        key[start : start + len(kind.first)] += number * a_kind
        start += len(kind.first)
    key = xp.unique(key)
    ends = xp.searchsorted(key, xp.asarray([number * a_kind for number in range(1, len(kinds))]))
    key %= a_kind
    pair = key // n_rows
    columns = (pair // n_thirds, key - pair * n_rows, pair % n_thirds + low)
    parts = [xp.split(column.astype(np.int32), ends.tolist()) for column in columns]
    return [Triples(*part) for part in zip(*parts, strict=True)]

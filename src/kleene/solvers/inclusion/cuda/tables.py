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

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
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
CONSTANT = -2  # in function_of, as in targets.cuh: no function, and its contents are constant
COPY, PUSH, PULL, OFFSET = range(4)  # kinds of rules
_Column = NDArray[np.integer] | list[int] | int


class Rules(NamedTuple):
    """One kind of rules, here or on the device: two rows, and a map or an amount.

    | kind | first | second | third |
    |---|---|---|---|
    | COPY | from | to | |
    | PUSH | pointer | from | map |
    | PULL | pointer | to | map |
    | OFFSET | from | to | amount |
    """

    first: Any
    second: Any
    third: Any


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
    kinds: list[Rules]
    contents: I32
    function_of: I32  # -1 for none, `CONSTANT`
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
    copy: list[tuple[_Column, ...]] = [(p.copy_source, p.copy_destination, 0)]
    push: list[tuple[_Column, ...]] = [(p.store_pointer, p.store_source, CONTENTS), _actuals(p)]
    pull: list[tuple[_Column, ...]] = [(p.load_pointer, p.load_destination, CONTENTS)]
    pull.append((p.call_callee, p.call_result, RESULT))
    offset: list[tuple[_Column, ...]] = [(p.offset_source, p.offset_destination, p.offset_amount)]
    seeds: list[tuple[_Column, ...]] = [(p.address_node, p.address_object)]
    if has_outside:
        copy.append((p.flagged_node[(p.flags & TO_OUTSIDE) != 0], escaped, 0))
        seeds.append((p.flagged_node[(p.flags & FROM_OUTSIDE) != 0], outside))
        seeds.append(([unknown], outside))
        n_places = int(np.diff(p.formal_offsets).max(initial=0)) + 1  # the last is past all formals
        push.append((escaped, unknown, np.arange(CONTENTS, n_places)))
        pull.append((escaped, escaped, [CONTENTS, RESULT]))
        offset.append((escaped, escaped, [ANY]))
    seed_row, seed_object = _joined(seeds)
    function_of = p.function_of()
    function_of[p.constant_object] = CONSTANT
    return Tables(
        n_rows=p.n_nodes + 2 * has_outside,
        n_objects=p.n_objects + has_outside,
        outside=outside,
        unknown_row=unknown,
        escaped_row=escaped,
        seed_row=seed_row,
        seed_object=seed_object,
        kinds=[_rules(parts) for parts in (copy, push, pull, offset)],
        contents=np.append(p.contents, [-1] * has_outside).astype(np.int32),
        function_of=np.append(function_of, [-1] * has_outside).astype(np.int32),
        images=images_of(p, int(has_outside)),
    )


def _actuals(p: Problem) -> tuple[I32, I32, NDArray[np.integer]]:
    """Return (callee, actual, place) for every actual of every call."""
    n_actuals = np.diff(p.actual_offsets)
    place = np.arange(len(p.actuals)) - np.repeat(p.actual_offsets[:-1], n_actuals)
    return np.repeat(p.call_callee, n_actuals), p.actuals, place


def _rules(parts: list[tuple[_Column, ...]]) -> Rules:
    """Return the parts as one kind of rules, without those that lack a node."""
    columns = _joined(parts)
    if columns[1].min(initial=0) < 0:  # an actual or a result that is not there
        columns = [column[columns[1] >= 0] for column in columns]
    return Rules(*columns)


def _joined(parts: list[tuple[_Column, ...]]) -> list[I32]:
    """Return the columns of all parts; in a part, a number stands for a column of it."""
    wide = [np.broadcast_arrays(*(np.asarray(c, np.int32) for c in part)) for part in parts]
    return [np.concatenate(same) for same in zip(*wide, strict=True)]


_PACKED_UP_TO_BYTES = 1 << 16  # of a column: what is sent together with others


@dataclass(frozen=True, slots=True)
class Sent:
    """The tables of a problem on the device."""

    kinds: list[Rules]
    maps: tuple[Any, ...]  # contents, function_of, result, rest, formal_offsets, formals
    images: tuple[Any, ...]
    seeds: tuple[Any, ...]  # rows, objects


def send(xp: Any, problem: Problem, tables: Tables) -> Sent:
    """Return the tables on the device."""
    t, p, images = tables, problem, tables.images
    rules = [column for kind in t.kinds for column in kind]
    maps = [t.contents, t.function_of, p.function_result, p.function_rest]
    maps += [p.formal_offsets, p.formals]
    by_object, of_layouts = images[:3], images[4:]
    there = columns_sent(xp, [*rules, *maps, *by_object, *of_layouts, t.seed_row, t.seed_object])

    def some(n: int) -> tuple[Any, ...]:
        return tuple(islice(there, n))

    kinds = [Rules(*some(3)) for _ in t.kinds]
    return Sent(kinds, some(6), (*some(3), np.int32(images.n_layouts), *some(3)), some(2))


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
            xp, [Rules(row_of[k.first], row_of[k.second], k.third) for k in sent.kinds], n_rows
        ),
        (contents, function_of, result, rest, formal_offsets, formals),
        sent.images,
        (row_of[sent.seeds[0]], sent.seeds[1]),
    )


def _distinct(xp: Any, kinds: list[Rules], n_rows: int) -> list[Rules]:
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
    return [Rules(*part) for part in zip(*parts, strict=True)]

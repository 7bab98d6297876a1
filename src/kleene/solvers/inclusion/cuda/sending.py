"""What the kernels read, sent to the device: rules, maps, images and the facts to start from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kleene.base.arrays import I32
from kleene.solvers.inclusion.cuda.tables import Tables
from kleene.solvers.inclusion.problem import Problem

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

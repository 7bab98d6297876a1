"""Dataflow constraints as columns, and the order in which they are solved.

A *name* is what a fact belongs to, and has one constraint: how its fact follows from those of its
operands. Names are numbered from 0; nothing here knows what they stand for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from kleene.base.arrays import I32, I64, U8, Bools, Ints, offsets_of, ragged
from kleene.graphs import Graph, depth_first, strong_components
from kleene.kernels import compiled
from kleene.kernels.threads import side_by_side
from kleene.solvers.dataflow import placing
from kleene.solvers.dataflow.codes import STRIDE, Operator, Predicate

_WORTH_THREADS = 100_000  # operands: some milliseconds
_INTERPRETED_S_AN_OPERAND = 2e-6
_MOST_THRESHOLDS = 48  # of one component: bounds may stop at each of them


@dataclass(frozen=True, eq=False)
class Schedule:
    """In which order names are evaluated: a *place* is a number in that order.

    What solvers read is kept by place, so that they go through memory from its start to its end.

    Attributes:
        order: the name at each place, by component; an operand comes before its users, but in
            cycles.
        place_of: each name's place.
        component_offsets: where the components begin, as places.
        is_cyclic: which components hold a cycle.
        offsets: where the operands of each place begin.
        operands: places.
        user_offsets: where the users of each place begin.
        users: places.
    """

    order: I32
    place_of: I32
    component_offsets: I64
    is_cyclic: U8
    offsets: I64
    operands: I32
    user_offsets: I64
    users: I32

    @classmethod
    def of(cls, n_names: int, offsets: I64, operands: I32, threads: int = 1) -> Schedule:
        """Return the schedule of names with these operands; it depends on nothing else."""
        graph = Graph(offsets, operands).reverse()
        # Names that read nothing first: their trees are the last in reverse postorder.
        reads_nothing = np.diff(offsets) == 0
        roots = np.concatenate([np.flatnonzero(reads_nothing), np.flatnonzero(~reads_nothing)])
        components, tree = side_by_side(
            threads if len(operands) >= _WORTH_THREADS else 1,
            partial(strong_components, graph),
            partial(depth_first, graph, roots.astype(np.int32)),
        )
        with compiled.sized(len(operands) * _INTERPRETED_S_AN_OPERAND, placing.UNIT):
            order, place_of, starts, is_cyclic, ends, places = placing.placed(
                tree.post, components.component, components.n_components, offsets, operands
            )
        users = Graph(ends, places).reverse()
        return cls(order, place_of, starts, is_cyclic, ends, places, users.offsets, users.targets)


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints on values, one for each name; `Operator` says what they mean.

    Attributes:
        operator: an `Operator`.
        width: how many bits a name has, 1 to 64.
        attribute: a number (a constant as the signed one of its bits), a predicate or flags.
        offsets: where the operands of each name begin.
        operands: names.
        given: facts that the caller has, `STRIDE` integers each: see `rows`.
    """

    operator: U8
    width: U8
    attribute: I64
    offsets: I64
    operands: I32
    given: I64 = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def n_names(self) -> int:
        """How many names there are."""
        return len(self.operator)

    @property
    def by_place(self) -> tuple[U8, U8, I64, I64, I32, I64]:
        """The columns in the order of the schedule, operands as places."""
        schedule = self.schedule
        order = schedule.order
        return (
            self.operator[order], self.width[order], self.attribute[order], schedule.offsets,
            schedule.operands, self.given,
        )  # fmt: skip

    def operands_of(self, name: int) -> I32:
        """Return the operands of a name."""
        return self.operands[self.offsets[name] : self.offsets[name + 1]]

    @cached_property
    def schedule(self) -> Schedule:
        """The order in which names are evaluated."""
        return Schedule.of(self.n_names, self.offsets, self.operands)

    def scheduled(self, threads: int) -> Schedule:
        """Return the schedule, which so many threads find if it is not known."""
        if "schedule" not in self.__dict__:
            found = Schedule.of(self.n_names, self.offsets, self.operands, threads)
            self.__dict__["schedule"] = found
        return self.schedule

    @cached_property
    def thresholds(self) -> tuple[I32, I64, I64, I64]:
        """Where bounds are rounded, and to which numbers.

        The columns are each name's set of thresholds (-1: its bounds are not rounded), where the
        sets begin, and the numbers, as signed ones and as patterns. A name is rounded if an edge of
        the graph of values leads back to it in the order of the schedule: every cycle has such an
        edge. The thresholds of a component are the numbers next to those that its names are
        compared with, and its constant operands.
        """
        # A cycle of values is one of the whole graph: only the operands of names in its components
        # need be looked at.
        schedule, none = self.schedule, -1
        in_cycle = np.repeat(schedule.is_cyclic, np.diff(schedule.component_offsets)) != 0
        names = np.sort(schedule.order[in_cycle])
        number = np.full(self.n_names, none, np.int64)
        number[names] = np.arange(len(names))
        owner, at = ragged(self.offsets[names], self.offsets[names + 1])
        carries = self._carries_value(names[owner], at)
        source, target = self.operands[at[carries]], names[owner[carries]]
        inside = number[source] != none
        graph = Graph.from_edges(len(names), number[source[inside]], number[target[inside]])
        component = np.full(self.n_names, none, np.int64)
        component[names] = strong_components(graph).component
        place = schedule.place_of
        back = inside & (component[source] == component[target])
        back &= place[source] >= place[target]
        is_rounded = np.zeros(self.n_names, bool)
        is_rounded[target[back]] = True
        wanted, set_of = np.unique(component[is_rounded], return_inverse=True)
        chosen = np.full(self.n_names, -1, np.int32)
        chosen[is_rounded] = set_of
        sets, numbers, widths = self._numbers_near(source, target, component, wanted)
        return chosen, *_sampled(sets, numbers, widths, len(wanted))

    def _carries_value(self, names: Ints, at: I64) -> Bools:
        """Return for operands, by name and row, whether their bounds reach those of the name.

        Those of control do not: whether control reaches a block changes once, and a cycle through
        it cannot go on for ever.
        """
        code = self.operator[names]
        is_guard = (code == Operator.PHI) & ((at - self.offsets[names]) % 2 == 1)
        found: Bools = ~(is_guard | (code == Operator.WHEN) | (code == Operator.WHEN_OTHER))
        return found

    def _numbers_near(
        self, source: Ints, target: Ints, component: Ints, wanted: Ints
    ) -> tuple[I64, I64, I64]:
        """Return sets, numbers, widths: constants that enter components, and their neighbours."""
        is_constant = self.operator[source] == Operator.CONSTANT
        source, target = source[is_constant], target[is_constant]
        code = self.operator[target]
        is_compared = (code == Operator.REFINE) | (code == Operator.EXCLUDE)
        enters = is_compared | (code == Operator.PHI) | (code == Operator.JOIN)
        source, target, is_compared = source[enters], target[enters], is_compared[enters]
        place = np.minimum(np.searchsorted(wanted, component[target]), max(len(wanted) - 1, 0))
        keep = wanted[place] == component[target] if len(wanted) else np.zeros(len(place), bool)
        place, source, is_compared = place[keep], source[keep], is_compared[keep]
        number = self.attribute[source].astype(np.int64)
        width = self.width[source].astype(np.int64)
        lowest, highest = np.iinfo(np.int64).min, np.iinfo(np.int64).max
        above, below = is_compared & (number < highest), is_compared & (number > lowest)
        return (
            np.concatenate([place, place[above], place[below]]),
            np.concatenate([number, number[above] + 1, number[below] - 1]),
            np.concatenate([width, width[above], width[below]]),
        )


def _sampled(sets: I64, numbers: I64, widths: I64, n_sets: int) -> tuple[I64, I64, I64]:
    """Return CSR of the distinct numbers of each set, ascending, and again as patterns, ascending.

    Of many numbers, evenly chosen ones are taken.
    """
    order = np.lexsort((numbers, sets))
    sets, numbers, widths = sets[order], numbers[order], widths[order]
    is_new = np.ones(len(sets), bool)
    is_new[1:] = (sets[1:] != sets[:-1]) | (numbers[1:] != numbers[:-1])
    sets, numbers, widths = sets[is_new], numbers[is_new], widths[is_new]
    counts = np.bincount(sets, minlength=n_sets)
    nth = np.arange(len(sets)) - (np.cumsum(counts) - counts)[sets]
    share = np.minimum(_MOST_THRESHOLDS / np.maximum(counts, 1), 1.0)[sets]
    keep = (np.floor((nth + 1) * share) > np.floor(nth * share)) | (nth == 0)
    sets, numbers, widths = sets[keep], numbers[keep], widths[keep]
    patterns = np.where(widths < 64, numbers & ((1 << np.minimum(widths, 62)) - 1), numbers)
    patterns = np.where(widths == 63, numbers & np.iinfo(np.int64).max, patterns)
    by_pattern = np.lexsort((patterns.astype(np.uint64), sets))
    return offsets_of(np.bincount(sets, minlength=n_sets)), numbers, patterns[by_pattern]


class ConstraintBuilder:
    """Collects constraints, many at a time; every name that gets none has no value.

    Names come in blocks: `names(n)` returns the numbers of n new ones, `define` says what they are.

        build = ConstraintBuilder()
        x, one, y = build.names(3)
        build.define([x], Operator.ANY, width=32)
        build.define([one], Operator.CONSTANT, width=32, attribute=1)
        build.define([y], Operator.ADD, [[x, one]], width=32, attribute=Flag.NSW)
        facts = solve(build.constraints())
    """

    def __init__(self) -> None:
        self._n_names = 0
        self._parts: list[tuple[I64, I64, I64, I64, I64, I64]] = []
        self._given: list[I64] = []
        self._n_given = 0

    @property
    def n_names(self) -> int:
        """How many names there are so far."""
        return self._n_names

    def names(self, count: int) -> I64:
        """Return so many new names."""
        first = self._n_names
        self._n_names += count
        return np.arange(first, self._n_names)

    def given(self, facts: I64) -> I64:
        """Keep facts, as rows of `STRIDE` columns, and return their numbers for `GIVEN`."""
        rows = facts.reshape(-1, STRIDE)
        first = self._n_given
        self._n_given += len(rows)
        self._given.append(rows.ravel().astype(np.int64))
        return np.arange(first, self._n_given)

    def define(
        self,
        names: ArrayLike,
        operator: ArrayLike,
        operands: ArrayLike = (),
        *,
        offsets: ArrayLike | None = None,
        width: ArrayLike = 1,
        attribute: ArrayLike = 0,
    ) -> None:
        """Give names their constraints; a name that already has one gets this one instead.

        Args:
            names: whose constraints these are.
            operator: one for all, or one for each.
            operands: names, a row for each; or, with offsets, all in one column.
            offsets: where the operands of each begin.
            width: in bits, one for all or one for each.
            attribute: one for all, or one for each.
        """
        rows = np.asarray(names, np.int64).ravel()
        flat = np.asarray(operands, np.int64)
        if offsets is None:
            per_name = flat.size // max(len(rows), 1)
            starts = np.arange(len(rows) + 1, dtype=np.int64) * per_name
        else:
            starts = np.asarray(offsets, np.int64)
        codes, widths, attributes = (
            np.broadcast_to(np.asarray(column, np.int64), rows.shape)
            for column in (operator, width, attribute)
        )
        self._parts.append((rows, codes, widths, attributes, starts, flat.ravel()))

    def constraints(self) -> Constraints:
        """Return the table."""
        n = self._n_names
        operator, width = np.zeros(n, np.uint8), np.ones(n, np.uint8)
        attribute = np.zeros(n, np.int64)
        starts, lengths, column = np.zeros(n, np.int64), np.zeros(n, np.int64), []
        before = 0
        for rows, codes, widths, attributes, offsets, operands in self._parts:
            operator[rows], width[rows], attribute[rows] = codes, widths, attributes
            starts[rows], lengths[rows] = before + offsets[:-1], np.diff(offsets)
            column.append(operands)
            before += len(operands)
        flat = np.concatenate([np.empty(0, np.int64), *column]).astype(np.int32)
        given = np.concatenate([np.empty(0, np.int64), *self._given])
        ends = offsets_of(lengths)
        # The operands of names in their order; ranges of `flat` from `starts` on.
        places = np.repeat(starts - ends[:-1], lengths)
        places += np.arange(len(places))
        return Constraints(operator, width, attribute, ends, flat[places], given)


def checked(constraints: Constraints) -> None:
    """Assert that a table is one: operands exist, and operators have as many as they take."""
    n = constraints.n_names
    assert len(constraints.offsets) == n + 1
    assert constraints.offsets[-1] == len(constraints.operands)
    assert not len(constraints.operands) or (
        constraints.operands.min() >= 0 and constraints.operands.max() < n
    ), "an operand is no name"
    assert not n or (constraints.width.min() >= 1 and constraints.width.max() <= 64), "a width"
    fewest, most = np.zeros(256, np.int64), np.full(256, np.iinfo(np.int64).max)
    takes = {
        0: range(Operator.GIVEN + 1),
        1: (Operator.FREEZE, Operator.ADDRESS, Operator.LOW_BITS,
            *range(Operator.TRUNCATE, Operator.ADD)),
        2: (Operator.REFINE, Operator.WHEN, Operator.BITS_WHERE, Operator.COMPARE,
            *range(Operator.ADD, Operator.UNSIGNED_MAX + 1)),
        3: (Operator.SELECT,),
    }  # fmt: skip
    for count, operators in takes.items():
        fewest[list(operators)] = most[list(operators)] = count
    fewest[[Operator.JOIN, Operator.MEET, Operator.EXCLUDE]] = 1
    fewest[Operator.WHEN_OTHER] = 2
    code, lengths = constraints.operator, np.diff(constraints.offsets)
    assert ((fewest[code] <= lengths) & (lengths <= most[code])).all(), "a number of operands"
    asked = constraints.attribute[(code == Operator.REFINE) | (code == Operator.COMPARE)]
    assert ((asked >= min(Predicate)) & (asked <= max(Predicate))).all(), "a predicate"

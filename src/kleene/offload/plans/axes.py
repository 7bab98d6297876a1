"""Which loops of a nest can be the axes of a grid?

A loop is an axis if any two accesses to one element, at least one of them a write, happen in
iterations with the same value of its variable: then every thread, which has one value of each
axis, executes its part of the nest in the order of the text, and no two threads meet.

    for (i...) { for (j...) c[i][j] *= beta;
                 for (k...) for (j...) c[i][j] += a[i][k] * b[k][j]; }      axes i and {j, j}

Several loops are one axis if none is inside another; iterations with equal values of their
variables are then one thread's. A loop that is no axis stays a loop of each thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kleene.base.expression import Expression, of
from kleene.ir.loops.symbols import loops_of
from kleene.ir.loops.tables import Access, LoopRow
from kleene.offload.kernels.budget import Budget, BudgetError
from kleene.offload.kernels.dependences import Facts
from kleene.offload.kernels.formulas import NotAffineError, Scope, Side, overlap

_MAX_OPERATIONS = 500_000  # of isl for one question
_MAX_CHARACTERS = 20_000  # of its formula


Range = tuple[tuple[Expression, ...], Expression | None]
Ranges = dict[int, Range]
Times = tuple[LoopRow, LoopRow]


@dataclass
class Questions:
    """What is asked of isl about a function; `ranges` cuts loops to some of their iterations.

    A range is what numbers of iterations are at least, and the first one beyond, if there is one.
    """

    facts: Facts
    ranges: Ranges = field(default_factory=dict)
    known: dict[object, bool] = field(default_factory=dict)
    budget: Budget = field(default_factory=lambda: Budget(_MAX_OPERATIONS, _MAX_CHARACTERS))

    def is_kept(
        self, first: Access, second: Access, axis: tuple[LoopRow, LoopRow], inside: frozenset[int]
    ) -> bool:
        """Return whether two accesses to one element have equal values of an axis.

        `inside` are the loops of the nest; those around have one iteration for both.
        """
        values = value_of(axis[0]), value_of(axis[1])
        if values[0] is None or values[1] is None:
            return False
        if self._is_plain(first, second, (values[0], values[1]), inside):
            return True
        key = (first, second, axis[0].number, axis[1].number, inside, self._cut(inside))
        if key not in self.known:
            self.known[key] = self._never(first, second, inside, (values[0], values[1]))
        return self.known[key]

    def never_meet(self, first: Access, second: Access, same: LoopRow) -> bool:
        """Return whether two accesses of one iteration of `same` are to different elements."""
        return self._never(first, second, self.facts.table.descendants(same.number), None, same)

    def never_before(self, first: Access, second: Access, row: LoopRow) -> bool:
        """Return whether `first` never touches what `second` does in a later iteration."""
        inside = self.facts.table.descendants(row.number)
        return self._never(first, second, inside, None, row, "<")

    def never_touch(
        self, first: Access, second: Access, inside: frozenset[int], ranges: tuple[Ranges, Ranges]
    ) -> bool:
        """Return whether two accesses never touch one element, each in a range of its iterations.

        They are in one iteration of the loops that are not `inside`.
        """

        def more(left: Side, right: Side) -> list[str]:
            pairs = zip((first, second), (left, right), ranges, strict=True)
            return [text for one, side, cut in pairs for text in _cut(one, side, cut)]

        return self._never(first, second, inside, None, more=more)

    def is_never(
        self,
        first: Access,
        second: Access,
        row: LoopRow,
        times: Times | None,
        relation: str,
        *,
        is_one: bool,
    ) -> bool:
        """Return whether no two accesses to one element, `first` before `second`, have such times.

        Both are in the loop `row`; if they are of one statement (`is_one`), its executions have to
        differ. The times are the values of a loop's variable around each; `relation` is between the
        first's and the second's. Without times, nothing is said about them.
        """
        values = [] if times is None else [value_of(one) for one in times]
        known = [one for one in values if one is not None]
        if len(known) < len(values):
            return False
        inside = self.facts.table.descendants(row.number)
        common = [
            a for a, b in zip(first.loops, second.loops, strict=False) if a == b and a in inside
        ]

        def more(left: Side, right: Side) -> list[str]:
            orders, same = [], list[str]()
            for loop in common:
                a, b = left.counter(loop), right.counter(loop)
                orders.append(" and ".join([*same, f"{a} < {b}"]))
                same.append(f"{a} = {b}")
            if not is_one and first.sequence < second.sequence:
                orders.append(" and ".join(same) or "1 = 1")
            before = " or ".join(f"({each})" for each in orders)
            if not orders:
                return ["1 = 0"]
            if not known:
                return [f"({before})"]
            compared = f"{left.polynomial(known[0])} {relation} {right.polynomial(known[1])}"
            return [f"({before})", compared]

        numbers = () if times is None else (times[0].number, times[1].number, relation)
        key = (first, second, row.number, numbers, is_one)
        if key not in self.known:
            self.known[key] = self._never(first, second, inside, None, more=more)
        return self.known[key]

    def _cut(self, inside: frozenset[int]) -> object:
        return tuple((n, self.ranges[n]) for n in sorted(self.ranges) if n in inside) or None

    def _is_plain(
        self,
        first: Access,
        second: Access,
        values: tuple[Expression, Expression],
        inside: frozenset[int],
    ) -> bool:
        """Return whether one subscript is the axis itself, plus the same constant, in both."""
        one, other = self.facts.path(first), self.facts.path(second)
        if one is None or other is None:
            return False
        for a, b in zip(one, other, strict=False):
            if isinstance(a, str) or isinstance(b, str):
                return False
            rest = a - values[0]
            if rest == b - values[1] and not loops_of(rest) & inside:
                return True
        return False

    def _never(
        self,
        first: Access,
        second: Access,
        inside: frozenset[int],
        values: tuple[Expression, Expression] | None,
        row: LoopRow | None = None,
        order: str = "=",
        more: Callable[[Side, Side], list[str]] | None = None,
    ) -> bool:
        """Return whether no pair touches one element with different values, or in one iteration."""
        import islpy as isl

        facts = self.facts
        scope = Scope(inside, facts.unusable, facts.products, facts.registry)
        left, right = Side(scope, "x"), Side(scope, "y")
        same = overlap(facts.path(first), left, facts.path(second), right)
        if same is None:
            return True
        held = [same]
        try:
            if values is not None:
                a, b = left.polynomial(values[0]), right.polynomial(values[1])
                held.append(f"({a} < {b} or {a} > {b})")
            if row is not None:
                held.append(f"{left.counter(row.number)} {order} {right.counter(row.number)}")
            held += [] if more is None else more(left, right)
            for access, side in ((first, left), (second, right)):
                held += side.context((*facts.assumed, *access.context), facts.broken)
                held += _cut(access, side, self.ranges)
        except NotAffineError:
            return False
        held += [*left.defined.values(), *right.defined.values()]
        held += [f"{name} >= 0" for name, atom in scope.parameters.items() if atom.low == 0]
        dims = [
            side.counter(loop)
            for access, side in ((first, left), (second, right))
            for loop in access.loops
            if loop in inside
        ]
        hidden = {*left.changing, *right.changing, *left.defined, *right.defined}
        self.budget.renew()
        try:
            return bool(self.budget.make_set(dims, hidden, held).is_empty())
        except (BudgetError, isl.Error):
            return False


def _cut(access: Access, side: Side, ranges: Ranges) -> list[str]:
    """Return that an access is in some of the iterations of loops around it."""
    found = []
    for loop in access.loops:
        lows, high = ranges.get(loop, ((), None))
        found += [f"{side.counter(loop)} >= {side.polynomial(low)}" for low in lows]
        if high is not None:
            found.append(f"{side.counter(loop)} < {side.polynomial(high)}")
    return found


def value_of(row: LoopRow) -> Expression | None:
    """Return the variable of a loop by its counter."""
    if row.start is None or row.step is None:
        return None
    return row.start + row.step * of(row.counter)

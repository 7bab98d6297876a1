"""A nest in another order: all that has one value of a chosen loop variable, at once.

    for (i...) { for (j < i) { for (k < j) a[i][j] -= a[i][k] * a[k][j];      time k
                               a[i][j] /= a[j][j]; }                          time j
                 for (j >= i) for (k < i) a[i][j] -= a[i][k] * a[k][j]; }     time k

    for (t...) { a[i][t] /= a[t][t]               for all i
                 a[i][j] -= a[i][t] * a[t][j]     for all i, j: two launches }

Every statement's time is the value of one of the loops around it, or it comes before or after all
others. That is right if of two accesses to one element, one of them a write, the one that is first
in the text's order has the lesser time; or the same, if its statement is executed earlier there.
Two of one statement may not have the same time: then the other loops around it are axes. Elements
are updated in the text's order, so that results are the same, bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import combinations, product
from typing import Literal as OneOf

from kleene.codegen.plan import Axis, HostLoop, Kernel, Step
from kleene.codegen.text import assigned_in
from kleene.codegen.trees import (
    Counted,
    binary,
    choose,
    counted,
    is_live,
    number,
    read,
    substituted,
)
from kleene.ir.loops import tree
from kleene.ir.loops.tables import Access, LoopRow
from kleene.ir.loops.tree import Block, Element, Expression, Symbol, Variable
from kleene.offload.plans.changes import Changes
from kleene.offload.plans.nests import Following

_MAX_STATEMENTS = 6
_MAX_CONSTRAINTS = 40
Time = LoopRow | OneOf["before", "after"]


@dataclass(frozen=True)
class Statement:
    """A statement of a nest, with the loops around it, the outermost first."""

    node: tree.Statement
    loops: tuple[tree.Loop, ...]
    rows: tuple[LoopRow, ...]
    forms: tuple[Counted, ...]
    accesses: tuple[Access, ...]


class Times(Changes):
    """Nests by time."""

    def _by_time(self, loop: tree.Loop, row: LoopRow, following: Following) -> list[Step] | None:
        """Return a nest of three loops or more as one loop of the host around kernels."""
        statements = self._statements(loop, row)
        if statements is None or max(len(one.loops) for one in statements) < 3:
            return None
        counters = {form.variable for one in statements for form in one.forms}
        if assigned_in(loop) - counters or any(is_live(following, one) for one in counters):
            return None
        times = self._times(statements, row)
        if times is None or all(one is row for one in times):
            return None  # that is the order of the text
        levels = self._levels(statements, times, row)
        return None if levels is None else self._timed_steps(statements, times, levels, row)

    def _statements(self, loop: tree.Loop, row: LoopRow) -> list[Statement] | None:
        """Return the statements of a nest; None if it has others than loops and assignments."""
        made: list[Statement] = []
        for node, loops in _leaves(loop, ()):
            rows = [self._rows.get(one.place) for one in loops]
            forms = [counted(one) for one in loops]
            known = [one for one in rows if one is not None and not one.refusals]
            listed = [one for one in forms if one is not None]
            if len(known) < len(loops) or len(listed) < len(loops):
                return None
            if any(one.step != 1 or one.is_descending for one in listed):
                return None
            if any(one.number in self._facts.unusable or not one.is_counted for one in known):
                return None
            if not isinstance(node, tree.Assign) or not isinstance(node.target, Element):
                return None
            own = tuple(one for one in self._accesses(row, node) if one.path != ())
            if any(one.root.kind == "unknown" for one in own):
                return None
            made.append(Statement(node, loops, tuple(known), tuple(listed), own))
        return made if 0 < len(made) <= _MAX_STATEMENTS else None

    def _times(self, statements: list[Statement], row: LoopRow) -> list[Time] | None:
        """Return a time for each statement, such that all values flow forwards."""
        options: list[list[Time]] = []
        for one in statements:
            own: list[Time] = ["before", "after"] if self._is_parallel(one) else []
            for time in one.rows:
                pair = (time, time)
                if all(self._is_never(one, one, pair, relation, row) for relation in ">="):
                    own.append(time)
            options.append(own)

        def chosen(times: list[Time]) -> list[Time] | None:
            position = len(times)
            if position == len(statements):
                return times if any(isinstance(one, LoopRow) for one in times) else None
            for time in options[position]:
                one = statements[position]
                pairs = zip(statements[:position], times, strict=True)
                if all(
                    self._is_forwards(other, one, (at, time), row)
                    and self._is_forwards(one, other, (time, at), row)
                    for other, at in pairs
                ) and (found := chosen([*times, time])):
                    return found
            return None

        return chosen([])

    def _is_forwards(
        self, first: Statement, second: Statement, times: tuple[Time, Time], row: LoopRow
    ) -> bool:
        """Return whether no value flows from a statement to an earlier time of another."""
        return self._is_never(first, second, times, ">", row)

    def _is_never(
        self,
        first: Statement,
        second: Statement,
        times: tuple[Time, Time],
        relation: str,
        row: LoopRow,
    ) -> bool:
        one, other = times
        pair = (one, other) if isinstance(one, LoopRow) and isinstance(other, LoopRow) else None
        if pair is None:
            places = [0 if t == "before" else 2 if t == "after" else 1 for t in times]
            if not (places[0] > places[1] if relation == ">" else places[0] == places[1]):
                return True
        return all(
            self._questions.is_never(a, b, row, pair, relation, is_one=first is second)
            for a, b in self._conflicts(first, second)
        )

    def _conflicts(self, first: Statement, second: Statement) -> Iterator[tuple[Access, Access]]:
        for a, b in product(first.accesses, second.accesses):
            if a.root is b.root and (a.is_write or b.is_write):
                yield a, b

    def _levels(
        self, statements: list[Statement], times: list[Time], row: LoopRow
    ) -> list[list[int]] | None:
        """Return the order of statements that have one time, those side by side that may be."""
        graph: dict[int, set[int]] = {n: set() for n in range(len(statements))}
        for n, m in product(graph, graph):
            pair = (times[n], times[m])
            if n != m and not self._is_never(statements[n], statements[m], pair, "=", row):
                graph[m].add(n)
        sorter, found = TopologicalSorter(graph), list[list[int]]()
        try:
            sorter.prepare()
        except CycleError:
            return None
        while sorter.is_active():
            found.append(sorted(sorter.get_ready()))
            sorter.done(*found[-1])
        return found

    def _is_parallel(self, one: Statement) -> bool:
        """Return whether no two executions of a statement meet at an element that one writes."""
        inside = self._table.descendants(one.rows[0].number)
        return all(
            self._questions.is_kept(a, b, (row, row), inside)
            for a, b in self._conflicts(one, one)
            for row in one.rows
        )

    def _timed_steps(
        self,
        statements: list[Statement],
        times: list[Time],
        levels: list[list[int]],
        row: LoopRow,
    ) -> list[Step] | None:
        kind = statements[0].forms[0].variable.type
        if any(form.variable.type != kind for one in statements for form in one.forms):
            return None
        if not kind.signed:
            return None  # differences of bounds wrap where a loop has no iterations
        front = tree.Symbol(f"{self._function.name}_time", kind)
        lows: list[Linear] = []
        highs: list[Linear] = []
        for one, time in zip(statements, times, strict=True):
            constraints = _constraints(one, {})
            if constraints is None:
                return None
            if isinstance(time, LoopRow):
                variable = one.forms[one.rows.index(time)].variable
                ends = _ends(constraints, variable, _variables(one, variable))
                if ends is None:
                    return None
                lows, highs = [*lows, *ends[0]], [*highs, *ends[1]]
        # From the least of what one statement's time is at least: it is at least any one of these.
        first, last = _extreme(lows, "<", kind), _extreme(highs, ">", kind)
        if not self._is_host(first) or not self._is_host(last):
            return None
        least = lows[0] if all(one == lows[0] for one in lows) else None
        known = [] if least is None else [_sum({front: 1}, least, -1)]
        steps: dict[str, list[Step]] = {"before": [], "during": [], "after": []}
        for level in levels:
            begun: set[str] = set()
            for n in level:
                one, time = statements[n], times[n]
                at = time if isinstance(time, LoopRow) else None
                when = time if isinstance(time, str) else "during"
                made = self._timed_kernel(one, at, front, known, row)
                if made is None:
                    return None
                steps[when].append(replace(made, waits=when not in begun))
                begun.add(when)
        place, target = tree.NOWHERE, Variable(kind, tree.NOWHERE, front)
        init = (tree.Declare(place, front), tree.Assign(place, target, first))
        step = tree.Assign(place, target, binary("+", read(front), number(1, kind)))
        test = binary("<", read(front), last)
        loop = HostLoop(init, test, (step,), tuple(steps["during"]))
        return [*steps["before"], loop, *steps["after"]]

    def _timed_kernel(
        self,
        one: Statement,
        time: LoopRow | None,
        front: Symbol,
        known: list[Linear],
        row: LoopRow,
    ) -> Kernel | None:
        """Return the executions of a statement that have one time; `known` is at least 0 there."""
        values: dict[Symbol, Expression] = {}
        if time is not None:
            values[one.forms[one.rows.index(time)].variable] = read(front)
        constraints = _constraints(one, values)
        assert constraints is not None
        axes, covers, proved = [], [], list(known) if time is not None else []
        for loop, form in zip(one.loops, one.forms, strict=True):
            variable, kind = form.variable, form.variable.type
            if variable in values:
                continue
            ends = _ends(
                constraints, variable, [v for v in _variables(one, variable) if v not in values]
            )
            if ends is None:
                return None
            lows, highs = (
                _strongest(each, way, known) for each, way in zip(ends, (1, -1), strict=True)
            )
            low, high = _extreme(lows, ">", kind), _extreme(highs, "<", kind)
            if not self._is_host(low) or not self._is_host(high):
                return None
            proved += [_sum({variable: 1}, each, -1) for each in lows]
            proved += [_sum(_sum(each, {variable: 1}, -1), {None: -1}) for each in highs]
            axes.append(Axis(variable, low, high))
            covers.append((loop,))
        if len(axes) > self._n_axes:
            return None
        body: Block = substituted((one.node,), values)
        kept = [each for each in constraints if not _is_implied(each, proved)]
        if kept:
            test = _test(kept[0], one.forms[0].variable.type)
            for each in kept[1:]:
                test = binary("&&", test, _test(each, one.forms[0].variable.type))
            body = (tree.If(one.node.place, test, body, ()),)
        pruned: Block = (one.node,)
        for loop in reversed(one.loops):
            pruned = (replace(loop, body=pruned),)
        (nest,) = pruned
        assert isinstance(nest, tree.Loop)
        mapping = self._mapping(nest, row, covers) if covers else ()
        name = self._name("_".join(axis.variable.name for axis in axes) or "step")
        return Kernel(name, tuple(axes), mapping, body, (), one.node.place.line)


def _leaves(
    loop: tree.Loop, around: tuple[tree.Loop, ...]
) -> Iterator[tuple[tree.Statement, tuple[tree.Loop, ...]]]:
    for one in loop.body:
        if isinstance(one, tree.Loop):
            yield from _leaves(one, (*around, loop))
        else:
            yield one, (*around, loop)


# Sums of variables, by which a constraint is at least 0; the constant is that of None.


Linear = dict[Symbol | None, int]


def _sum(one: Linear, other: Linear, factor: int = 1) -> Linear:
    made = dict(one)
    for symbol, value in other.items():
        made[symbol] = made.get(symbol, 0) + factor * value
    return {symbol: value for symbol, value in made.items() if value}


def _linear(value: Expression) -> Linear | None:
    match value:
        case tree.Literal(value=constant) if value.type.kind == "int":
            return {None: int(constant)} if constant else {}
        case tree.Read(location=Variable(symbol=symbol)):
            return {symbol: 1}
        case tree.Convert(operand=operand) if value.type == operand.type:
            return _linear(operand)
        case tree.Binary(operator="+" | "-", left=left, right=right):
            one, other = _linear(left), _linear(right)
            if one is None or other is None:
                return None
            return _sum(one, other, 1 if value.operator == "+" else -1)
    return None


def _eliminated(constraints: Sequence[Linear], variables: Sequence[Symbol]) -> list[Linear] | None:
    """Return what constraints say without some variables: every lower bound meets every upper one.

    With factors of 1 and -1 alone that is exact for whole numbers, too.
    """
    left = list(constraints)
    for variable in variables:
        lows = [one for one in left if one.get(variable, 0) == 1]
        highs = [one for one in left if one.get(variable, 0) == -1]
        others = [one for one in left if variable not in one]
        if len(lows) + len(highs) + len(others) < len(left):
            return None
        left = [*others, *(_sum(low, high) for low, high in product(lows, highs))]
        left = [one for n, one in enumerate(left) if one not in left[:n]]
        if len(left) > _MAX_CONSTRAINTS:
            return None
    return left


def _expression(value: Linear, kind: tree.Type) -> Expression:
    """Return a sum as an expression."""
    total: Expression | None = None
    ordered = sorted(value.items(), key=lambda one: (one[0] is None, -one[1]))
    for symbol, factor in ordered:
        term = number(abs(factor), kind) if symbol is None else read(symbol)
        if symbol is not None and abs(factor) != 1:
            term = tree.Binary(kind, tree.NOWHERE, "*", number(abs(factor), kind), term)
        if total is None:
            total = term if factor > 0 else binary("-", number(0, kind), term)
        else:
            total = binary("+" if factor > 0 else "-", total, term)
    return total if total is not None else number(0, kind)


def _extreme(values: Sequence[Linear], operator: str, kind: tree.Type) -> Expression:
    """Return the greatest (">") or the least ("<") of some values as an expression."""
    way = 1 if operator == ">" else -1
    first, *others = [_expression(one, kind) for one in _strongest(values, way, [])]
    for one in others:
        first = choose(operator, first, one)
    return first


def _strongest(values: Sequence[Linear], way: int, known: Sequence[Linear]) -> list[Linear]:
    """Return values but those that another one is always at least (1), or at most (-1)."""
    left: list[Linear] = []
    for one in values:
        if any(_is_implied(_scaled(_sum(other, one, -1), way), known) for other in left):
            continue
        left = [
            other for other in left if not _is_implied(_scaled(_sum(one, other, -1), way), known)
        ]
        left.append(one)
    return left


def _scaled(value: Linear, factor: int) -> Linear:
    return {symbol: factor * each for symbol, each in value.items()}


def _is_implied(value: Linear, known: Sequence[Linear]) -> bool:
    """Return whether a sum is at least 0, for it exceeds up to two that are by a constant."""
    sums: list[Linear] = [{}, *known, *(_sum(a, b) for a, b in combinations(known, 2))]
    rests = (_sum(value, one, -1) for one in sums)
    return any(set(rest) <= {None} and rest.get(None, 0) >= 0 for rest in rests)


def _test(value: Linear, kind: tree.Type) -> Expression:
    """Return the condition that a sum is at least 0, as `a < b` or `a <= b`."""
    constant = value.get(None, 0)
    more: Linear = {s: c for s, c in value.items() if s is not None and c > 0}
    less: Linear = {s: -c for s, c in value.items() if s is not None and c < 0}
    if constant < 0:
        less = _sum(less, {None: -constant - 1})
        return binary("<", _expression(less, kind), _expression(more, kind))
    return binary("<=", _expression(less, kind), _expression(_sum(more, {None: constant}), kind))


def _variables(one: Statement, but: Symbol) -> list[Symbol]:
    return [form.variable for form in one.forms if form.variable is not but]


def _constraints(one: Statement, values: dict[Symbol, Expression]) -> list[Linear] | None:
    """Return what is at least 0 where a statement is executed, with values of some variables."""
    found: list[Linear] = []
    for form in one.forms:
        parts = (read(form.variable), form.low, form.high)
        at, low, high = (_linear(substituted(each, values)) for each in parts)
        if at is None or low is None or high is None:
            return None
        found += [_sum(at, low, -1), _sum(_sum(high, at, -1), {None: -1})]
    return found


def _ends(
    constraints: Sequence[Linear], variable: Symbol, others: Sequence[Symbol]
) -> tuple[list[Linear], list[Linear]] | None:
    """Return what a variable is at least, and what it is below, whatever others are."""
    left = _eliminated(constraints, others)
    if left is None:
        return None
    lows: list[Linear] = []
    highs: list[Linear] = []
    for one in left:
        rest: Linear = {symbol: each for symbol, each in one.items() if symbol is not variable}
        match one.get(variable, 0):
            case 0:
                continue
            case 1:
                lows.append(_scaled(rest, -1))
            case -1:
                highs.append(_sum(rest, {None: 1}))
            case _:
                return None
    return (lows, highs) if lows and highs else None

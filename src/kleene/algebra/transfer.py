"""A state that changes in place: the one implementation of every operation on one value.

`octagon.builder()` makes a builder, its methods change it, `build()` gives the new value. What
compiled code can do inside of one component, it does at once: a bound of an octagon on integers, ±y
+ d.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from math import inf, lcm
from typing import Any

import numpy as np

from kleene.algebra import dbm
from kleene.algebra.linear import Bound, Constraint, Edge, Linear, Row, Step, Variable, row_of
from kleene.algebra.mutable_state import MutableState
from kleene.algebra.partition import Component, UnionFind
from kleene.algebra.state import ALL, DIFFERENCES, NONE, OVER, Fact
from kleene.base.errors import SourceError
from kleene.kernels.minplus import cell, infinity
from kleene.kernels.minplus.cpu import operations


class TransferFunctions(MutableState):
    """A state under change."""

    __slots__ = ()

    # Constraints

    def guard(self, *constraints: Constraint) -> None:
        """Keep the points that the constraints allow."""
        if len(constraints) != 1 or not self._guard_component(constraints[0].edge):
            self.guard_rows([self._flat_constraint(one).row for one in constraints])

    def _flat_constraint(self, one: Constraint) -> Constraint:
        if not one.linear.spread:
            return one
        self._refuse(one.linear.spread, "constraint with intervals as coefficients")
        return Constraint(-self.above(-one.linear), one.is_strict)

    def _guard_component(self, edge: Edge | None) -> bool:
        """Add a constraint to one component by compiled code; return whether that was possible.

        It must be one that the domain holds exactly, on variables of a component with plain cells.
        """
        if edge is None:
            return False
        component = self.partition.get(edge.x)
        if component is None or not component.is_plain or edge.y not in component.index:
            return False
        if edge.is_sum and self.relations is DIFFERENCES:
            return False
        bound = edge.tightened if component.tighten else edge.bound if self.is_float else None
        if bound is None or abs(bound) > component.limit:
            return False
        i, j = 2 * component.index[edge.y] + edge.y_end, 2 * component.index[edge.x] + edge.x_end
        if component.owner is not self.owner and component.cells[cell(i, j)] <= bound:
            return True
        return self._tighten_cell(component, i, j, bound)

    def _tighten_cell(self, component: Component, i: int, j: int, bound: int) -> bool:
        if not component.has_room(0):
            return False
        if component.owner is not self.owner:
            component = self.copied(component)
        value = float(bound) if self.is_float else bound
        found = operations.guard(component.cells, i, j, value, component.tighten)
        if found == operations.EMPTY:
            self.clear()
        elif found == operations.TIGHTER and component.greatest is not None:
            # A new bound is a path through the new edge and its dual: three old ones and both.
            component.greatest = 3 * component.greatest + 2 * abs(bound) + 2
        component.twice = None
        return True

    def guard_rows(self, rows: Iterable[Row]) -> None:
        """Keep the points that the rows allow: first those that the domain holds, all at once."""
        known = [row for row in map(self._known, rows) if row.bound != inf]
        if self.is_empty:
            return
        self.impose([(row.terms, row.bound) for row in known if self.holds(row.terms)])
        for row in known:
            if not self.holds(row.terms):
                self._approach(row)

    def _known(self, row: Row) -> Row:
        """Return the row for the kinds of its variables, which must exist."""
        if self.are_integers(name for name, _ in row.terms) and row.terms:
            return row.tightened()
        if row.is_strict and row.terms:
            self.note(OVER, "a strict bound on real variables is taken as <=")
        return row

    def _approach(self, row: Row) -> None:
        """Keep what follows from a row that the domain does not hold."""
        if row.terms:
            self._refuse(row.terms, "constraint")
            if not self.is_empty:
                self.impose(list(self._consequences(row)))
        elif row.bound < 0 or (row.is_strict and row.bound <= 0):
            self.clear()

    def holds(self, terms: tuple[tuple[Variable, int], ...]) -> bool:
        """Return whether the domain has bounds on such a sum."""
        if len(terms) == 1:
            return True
        if len(terms) != 2 or self.relations is NONE:
            return False
        (_, a), (_, b) = terms
        is_sum = a == b
        return abs(a) == abs(b) == 1 and (self.relations is ALL or not is_sum)

    def _refuse(self, terms: Iterable[tuple[Variable, Any]], what: str) -> None:
        sum_ = " + ".join(f"{factor}*{name}" for name, factor in terms)
        why = f"the domain has no bounds on {sum_}"
        if self.strict:
            note = "without strict=True it is over-approximated"
            raise SourceError(None, "algebra/not-representable", f"{what}: {why}", note)
        self.note(OVER, why)

    def _consequences(self, row: Row) -> Iterable[Fact]:
        """Yield bounds on one and two variables that follow from the row and the state."""
        for name, factor in row.terms:
            rest = [(x, -f) for x, f in row.terms if x != name]
            yield ((name, _sign(factor)),), (row.bound + self.upper(rest)) / abs(factor)
        for (x, a), (y, b) in combinations(row.terms, 2):
            pair = ((x, _sign(a)), (y, _sign(b)))
            if self.holds(pair):
                times = min(abs(a), abs(b))
                rest = [(name, -f) for name, f in row.terms if name not in (x, y)]
                rest += [(x, _sign(a) * times - a), (y, _sign(b) * times - b)]
                yield pair, (row.bound + self.upper(rest)) / times

    def impose(self, facts: list[Fact]) -> None:
        """Add bounds that the domain has."""
        finite = [fact for fact in facts if fact[1] != inf]
        for part in self._by_component(finite):
            if self.is_empty:
                return
            names = tuple(dict.fromkeys(name for terms, _ in part for name, _ in terms))
            component = self.together(names)
            if not self.is_empty:
                self._impose_on(component, part)

    def _by_component(self, facts: list[Fact]) -> list[list[Fact]]:
        """Return the facts in groups that concern different components."""
        if len(facts) <= 1:
            return [facts] if facts else []
        groups = UnionFind()
        for terms, _ in facts:
            groups.unite([self._key(name) for name, _ in terms])
        parts: dict[Any, list[Fact]] = {}
        for fact in facts:
            parts.setdefault(groups.find(self._key(fact[0][0][0])), []).append(fact)
        return list(parts.values())

    def _key(self, name: Variable) -> Any:
        component = self.partition.get(name)
        return name if component is None else id(component)

    def _impose_on(self, component: Component, facts: list[Fact]) -> None:
        n, tighten = len(component.names), component.tighten
        scale = 1
        if not (tighten or self.is_float):
            denominators = (bound.denominator for _, bound in facts if isinstance(bound, Fraction))
            scale = 2 * lcm(component.scale, *denominators)
        ends = [_ends(component, terms) for terms, _ in facts]
        units = [scale * 2 if len(terms) == 1 else scale for terms, _ in facts]
        both = zip(facts, units, strict=True)
        bounds = [self.cell_of(bound * unit, tighten) for (_, bound), unit in both]
        greatest = 0 if self.is_float else max(map(abs, bounds))
        m = self.writable(component, greatest, scale // component.scale)
        i, j = [end[0] for end in ends], [end[1] for end in ends]
        if len(facts) <= n:
            found = dbm.close_after(m, i, j, bounds, tighten)
        else:
            dbm.add(m, np.array(i, np.int64), np.array(j, np.int64), np.array(bounds, m.dtype))
            found = dbm.close(m, tighten)
        self.replace(component, m, scale) if found else self.clear()

    def cell_of(self, value: Bound, tighten: bool) -> Any:
        """Return a bound as an element: a float no less, or an integer."""
        if self.is_float:
            return dbm.upwards(value)
        assert isinstance(value, Fraction)
        assert tighten or value.denominator == 1
        return value.__floor__()

    # Assignments

    def assign(self, target: Variable, value: Linear) -> None:
        """Set a variable to the value of an expression."""
        step = value.step
        if step is not None and self._step(target, step):
            return None
        terms, low, high = value.terms, value.low, value.high
        tighten = self.are_integers((target, *value.names()))
        if self.is_empty:
            return
        if value.spread:
            self._refuse(value.spread, f"assignment to {target} with intervals as coefficients")
            return self._approximate(target, value)
        if tighten and all(factor.denominator == 1 for _, factor in terms):
            low, high = _inner(low, high)
            if low > high:
                return self.clear()
        if not terms:
            self.forget(target)
            return self.impose([(((target, 1),), high), (((target, -1),), -low)])
        (source, factor), *others = terms
        if not others and abs(factor) == 1 and self._follows(target, source, factor < 0):
            return self._move(target, source, factor < 0, low, high)
        self._refuse(terms, f"assignment to {target}")
        return self._approximate(target, Linear(terms, low, high))

    def _step(self, target: Variable, step: Step) -> bool:
        """Return whether target := ±y + d, or d, could be done in one component, which is done."""
        source = target if step.source is None else step.source  # the id 0 is a variable, too
        component = self.partition.get(source)
        if component is None or not component.is_plain or target not in component.index:
            return False
        if step.source is None and not (component.tighten or self.is_float):
            return False
        if step.negate and self.relations is DIFFERENCES:
            return False
        return self._change(component, component.index[target], component.index[source], step)

    def _change(self, component: Component, target: int, source: int, step: Step) -> bool:
        name, negate, up, down, reach = step
        if component.scale != 1:
            up, down, reach = up * component.scale, down * component.scale, reach * component.scale
        if not component.has_room(reach):
            return False
        if component.owner is not self.owner:
            component = self.copied(component)
        if component.greatest is not None:
            component.greatest += reach
        if self.is_float:
            up, down = float(up), float(down)  # type: ignore[assignment]
        if name is None:
            operations.assign_interval(component.cells, None, target, up, down)
            self.loosen(component)
        else:
            operations.assign(component.cells, None, target, source, negate, up, down)
            component.twice = None
        return True

    def _follows(self, target: Variable, source: Variable, negate: bool) -> bool:
        """Return whether the domain keeps all relations of ±source + d."""
        if self.relations is ALL:
            return True
        if target != source:
            return self.relations is DIFFERENCES and not negate
        component = self.partition.get(target)
        return not negate or component is None or len(component.names) == 1

    def _move(
        self, target: Variable, source: Variable, negate: bool, low: Bound, high: Bound
    ) -> None:
        component = self.partition.get(source)
        if target != source and (component is None or target not in component.index):
            self.forget(target)
            component = None if self.is_empty else self.together((source, target))
        if component is None:
            return
        tighten = component.tighten
        exact = not (tighten or self.is_float)
        ends = [x.denominator for x in (low, high) if isinstance(x, Fraction)]
        scale = lcm(component.scale, *ends) if exact else 1
        steps = [x if x == inf else self.cell_of(x * scale, tighten) for x in (high, -low)]
        greatest = 0 if self.is_float else max(abs(x) for x in (*steps, 0) if x != inf)
        m = self.writable(component, greatest, scale // component.scale)
        up, down = (infinity(m.dtype) if x == inf else x for x in steps)
        dbm.move(m, component.index[target], component.index[source], negate, up, down)
        self.replace(component, m, scale)

    def _approximate(self, target: Variable, value: Linear) -> None:
        """Bound an expression, and its sums and differences with each variable in it.

        Of one that adds to the variable, by how much its bounds move is known, too.
        """
        facts: list[Fact] = []
        for sign, line in ((1, self.above(value)), (-1, self.above(-value))):
            factors = dict(line.terms)
            facts.append((((target, sign),), self.upper(line.terms) + line.high))
            for name in value.names():
                for other in (1, -1):
                    fact = ((target, sign), (name, other))
                    if name != target and self.holds(fact):
                        more = factors | {name: factors.get(name, 0) + other}
                        facts.append((fact, self.upper(more.items()) + line.high))
        moved = self._moved_by(target, value)
        if moved is None or not self._follows(target, target, False):
            self.forget(target)
        else:
            self._move(target, target, False, *moved)
        if not self.is_empty:
            self.impose(facts)

    def _moved_by(self, target: Variable, value: Linear) -> tuple[Bound, Bound] | None:
        """Return the bounds of what is added to a variable; None if that is not all, or unbounded.

        All relations of x stay, by that much looser, after x := x + y.
        """
        if value.spread or dict(value.terms).get(target) != 1:
            return None
        rest = [(name, factor) for name, factor in value.terms if name != target]
        low = value.low - self.upper([(name, -factor) for name, factor in rest])
        high = value.high + self.upper(rest)
        return None if inf in (-low, high) else (low, high)

    def become(self, target: Variable, value: Linear) -> None:
        """Keep the points where the variable may have the value of the expression."""
        if value.spread:
            self._refuse(value.spread, f"value of {target} with intervals as coefficients")
        one = Linear(((target, Fraction(1)),))
        high, low = one - self.above(value), -one - self.above(-value)
        self.guard_rows([row_of(line.terms, -line.low) for line in (high, low)])


def _ends(component: Component, terms: tuple[tuple[Variable, int], ...]) -> tuple[int, int]:
    """Return the row and column of the bound on ±x or ±x ±y."""
    (x, x_sign), (y, y_sign) = terms[0], terms[-1]
    j = 2 * component.index[x] + (x_sign < 0)
    return 2 * component.index[y] + (y_sign > 0), j


def _inner(low: Bound, high: Bound) -> tuple[Bound, Bound]:
    """Return the integers in an interval, as an interval."""
    ceiling = low if isinstance(low, float) else Fraction(low.__ceil__())
    return ceiling, high if isinstance(high, float) else Fraction(high.__floor__())


def _sign(value: Any) -> int:
    return 1 if value > 0 else -1

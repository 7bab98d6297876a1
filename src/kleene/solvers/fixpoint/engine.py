"""Iteration to a fixed point over a weak topological order.

Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993: components of the order
are iterated until their heads are stable, inner ones first, and values are widened at heads only.
Amato and Scozzari, "Localizing widening and narrowing", 2013: a component is narrowed before the
iteration goes on, and starts afresh for that, so that the bounds of an inner loop follow those of
the outer one. Here it does so only while the component around it descends: as long as that
ascends, its values are on their way, and inner components just grow with it.

The solution `x` is a post-fixed point, `F[v](x) ⊑ x[v]` for every node `v`, so it lies above the
least fixed point. Between the steps of a component with head `h`:

1. *Ascend.* `x[h]` grows to `x[h] ⊔ F[h](x)`, and after `delay` steps to `x[h] ∇ (x[h] ⊔ F[h](x))`,
   until `F[h](x) ⊑ x[h]`. Each time the body is computed anew from the head on; a node inside is
   then equal to its right-hand side, because an edge of the order goes forward or to a head around
   its source. Heads inside ascend from the values that they have. The widening ends this.
2. *Descend.* While it gets smaller, and `narrowing` times at most, `x[h]` becomes
   `x[h] △ F[h](x)` and the body is computed anew; components inside start from bottom, and do 1
   and 2 themselves. With components inside, this is done once at least. Widening inside the body is
   not monotone: a smaller head may give a larger body. Where `F[h](x) ⊑ x[h]` does not hold any
   more, the head ascends again as in 1. So a component is left only when it is stable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic

from kleene.graphs import WeakOrder, weak_topological_order
from kleene.solvers.fixpoint.equations import D, Equations


@dataclass(frozen=True, slots=True)
class Strategy:
    """How to iterate.

    Attributes:
        delay: how often the value of a head may grow by a join before it is widened.
        thresholds: where widening stops on its way, in the form that the domain takes: for
            intervals and octagons numbers or constraints.
        narrowing: how often a stable component is made smaller, at most.
        restarts: components inside so many others only ascend: descending at every level would
            take time exponential in the depth of nesting.
    """

    delay: int = 2
    thresholds: tuple[Any, ...] = ()
    narrowing: int = 2
    restarts: int = 3


@dataclass(frozen=True, slots=True, eq=False)
class Solution(Generic[D]):
    """A post-fixed point.

    Attributes:
        values: by node; bottom where no root leads.
        order: the weak topological order of the nodes that roots lead to.
        n_evaluations: how often right-hand sides were evaluated.
    """

    values: Sequence[D]
    order: WeakOrder
    n_evaluations: int


def solve(equations: Equations[D], strategy: Strategy | None = None) -> Solution[D]:
    """Return a post-fixed point of the equations, small where narrowing makes it so.

    It takes time in proportion to the evaluations: up to `k` for each level of nesting where heads
    take `k` steps, times `narrowing + 1` for each of the first `restarts` levels.
    """
    order = weak_topological_order(equations.graph, list(equations.roots))
    return _Iteration(equations, order, strategy or Strategy()).solution()


def unstable(equations: Equations[D], values: Sequence[D]) -> list[int]:
    """Return the nodes at which `values` are no post-fixed point: none, if they are a solution."""
    nodes = range(equations.graph.n_nodes)
    return [v for v in nodes if not equations.evaluate(v, values) <= values[v]]


@dataclass(slots=True)
class _Component:
    """A component that is being iterated: the places `start` to `end` of the order."""

    start: int
    end: int
    has_inner: bool  # components inside
    descends: bool  # in the end; else it is left when it has ascended
    is_descending: bool = False
    n_narrowed: int = 0


class _Iteration(Generic[D]):
    def __init__(self, equations: Equations[D], order: WeakOrder, strategy: Strategy) -> None:
        self._equations = equations
        self._strategy = strategy
        self._order = order
        self._nodes: list[int] = order.order.tolist()
        self._values: list[D] = [equations.bottom] * equations.graph.n_nodes
        self._n_growths = [0] * len(self._nodes)  # of the component that starts at a place
        self._n_evaluations = 0

    def solution(self) -> Solution[D]:
        ends: list[int] = self._order.end.tolist()
        inside: list[_Component] = []  # the components around `place`, outer ones first
        place = 0
        while place < len(self._nodes) or inside:
            if inside and place == inside[-1].end:
                if self._moves_on(inside[-1]):
                    inside.pop()
                else:
                    place = inside[-1].start + 1
            elif ends[place] > place:
                is_within = len(inside) < self._strategy.restarts
                descends = is_within and (not inside or inside[-1].is_descending)
                has_inner = any(ends[one] > one for one in range(place + 1, ends[place]))
                inside.append(_Component(place, ends[place], has_inner, descends))
                self._grow(place, self._evaluate(place))
                place += 1
            else:
                self._values[self._nodes[place]] = self._evaluate(place)
                place += 1
        return Solution(self._values, self._order, self._n_evaluations)

    def _moves_on(self, component: _Component) -> bool:
        """Return whether a component is done, after its body; else its head has a new value."""
        head = self._nodes[component.start]
        value, new = self._values[head], self._evaluate(component.start)
        if not new <= value:
            self._grow(component.start, new)
            component.is_descending = False
            return False
        if not component.descends or component.n_narrowed == self._strategy.narrowing:
            return True
        smaller = value.narrow(new)
        is_done = component.is_descending or not component.has_inner
        if is_done and value <= smaller:
            return True
        component.is_descending = True
        component.n_narrowed += 1
        self._forget(component.start + 1, component.end)
        self._values[head] = smaller
        return False

    def _grow(self, place: int, new: D) -> None:
        """Replace the value of a head by one that holds `new` too."""
        head = self._nodes[place]
        value = self._values[head]
        if new <= value:
            return
        if value.is_bottom():
            self._values[head] = new
            return
        larger = value.join(new)
        if self._n_growths[place] >= self._strategy.delay:
            thresholds = self._strategy.thresholds
            larger = value.widen(larger, thresholds=thresholds)
        self._values[head] = larger
        self._n_growths[place] += 1

    def _forget(self, start: int, end: int) -> None:
        """Make all values at some places bottom, as if they had never been visited."""
        for place in range(start, end):
            self._values[self._nodes[place]] = self._equations.bottom
            self._n_growths[place] = 0

    def _evaluate(self, place: int) -> D:
        self._n_evaluations += 1
        return self._equations.evaluate(self._nodes[place], self._values)

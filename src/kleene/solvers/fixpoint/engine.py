"""Iteration to a fixed point over a weak topological order.

Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993: components of the order
are iterated until their heads are stable, inner ones first, and values are widened at heads only.
Amato and Scozzari, "Localizing widening and narrowing", 2013: a component starts afresh each time
the iteration comes to it, and is narrowed before the iteration goes on, so that the bounds of an
inner loop follow those of the outer one.

The solution `x` is a post-fixed point, `F[v](x) ⊑ x[v]` for every node `v`, so it lies above the
least fixed point. Between the steps of a component with head `h`:

1. *Ascend.* `x[h]` grows to `x[h] ⊔ F[h](x)`, and after `delay` steps to `x[h] ∇ (x[h] ⊔ F[h](x))`,
   until `F[h](x) ⊑ x[h]`. Each time the body is computed anew from the head on; a node inside is
   then equal to its right-hand side, because an edge of the order goes forward or to a head around
   its source. The widening ends this.
2. *Descend.* While it gets smaller, and `narrowing` times at most, `x[h]` becomes
   `x[h] △ F[h](x)` and the body is computed anew. Widening inside the body is not monotone: a
   smaller head may give a larger body. Where `F[h](x) ⊑ x[h]` does not hold any more, the head
   ascends again as in 1. So a component is left only when it is stable.
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
        restarts: components inside so many others keep their values from one visit to the next,
            and are narrowed with the components around them only: starting afresh at every level
            would take time exponential in the depth of nesting.
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

    It takes time in proportion to the evaluations, which with `k` steps for each component are up
    to `k` to the power of `restarts`, times `k` for each deeper level.
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
    starts_afresh: bool
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
                starts_afresh = len(inside) < self._strategy.restarts
                inside.append(_Component(place, ends[place], starts_afresh))
                self._enter(inside[-1])
                place += 1
            else:
                self._values[self._nodes[place]] = self._evaluate(place)
                place += 1
        return Solution(self._values, self._order, self._n_evaluations)

    def _enter(self, component: _Component) -> None:
        """Give the head its first value of this visit."""
        if component.starts_afresh:
            self._forget(component.start, component.end)
        new = self._evaluate(component.start)
        if component.starts_afresh:
            self._values[self._nodes[component.start]] = new
        else:
            self._grow(component.start, new)

    def _moves_on(self, component: _Component) -> bool:
        """Return whether a component is done, after its body; else its head has a new value."""
        head = self._nodes[component.start]
        value, new = self._values[head], self._evaluate(component.start)
        if not new <= value:
            self._grow(component.start, new)
            return False
        if not component.starts_afresh or component.n_narrowed == self._strategy.narrowing:
            return True
        smaller = value.narrow(new)
        if value <= smaller:
            return True
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

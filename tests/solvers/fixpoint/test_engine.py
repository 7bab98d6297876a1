"""Solutions are post-fixed points, least where the lattice is finite, and exact for plain loops."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.graphs import Graph
from kleene.solvers import fixpoint
from kleene.solvers.fixpoint import Equations, Forward, Strategy
from tests.solvers.fixpoint.domains import BOTTOM, TOP, Bits, Range

strategies = st.builds(
    Strategy,
    delay=st.integers(0, 3),
    thresholds=st.lists(st.integers(-20, 20), max_size=3).map(tuple),
    narrowing=st.integers(0, 3),
    restarts=st.integers(0, 4),
)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any graph: with self loops, repeated edges, irreducible loops and nodes out of reach."""
    n_nodes = draw(st.integers(1, 9))
    node = st.integers(0, n_nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=18))
    return Graph.from_edges(n_nodes, [e[0] for e in edges], [e[1] for e in edges])


# Monotone functions of ranges: x + n, x ∩ [a, b], and constants.
Step = tuple[str, int, int]
steps = st.one_of(
    st.tuples(st.just("add"), st.integers(-3, 3), st.just(0)),
    st.tuples(st.just("meet"), st.integers(-12, 6), st.integers(-6, 12)),
    st.tuples(st.just("set"), st.integers(-5, 5), st.just(0)),
)


def apply(step: Step, value: Range) -> Range:
    what, a, b = step
    if what == "add":
        return value.plus(a)
    return value.meet(Range(a, b)) if what == "meet" else Range(a, a)


@dataclass
class Steps:
    """A step at every node and along every edge."""

    nodes: list[Step]
    edges: list[Step]

    def after(self, node: int, before: Range) -> Range:
        return apply(self.nodes[node], before)

    def along(self, edge: int, after: Range) -> Range:
        return apply(self.edges[edge], after) if not after.is_bottom() else after


@st.composite
def range_programs(draw: st.DrawFn) -> Forward[Range]:
    graph = draw(graphs())
    flow = Steps(
        draw(st.lists(steps, min_size=graph.n_nodes, max_size=graph.n_nodes)),
        draw(st.lists(steps, min_size=graph.n_edges, max_size=graph.n_edges)),
    )
    return Forward(graph, flow, {0: Range(0, 0)}, BOTTOM)


@given(equations=range_programs(), strategy=strategies)
def test_a_solution_is_a_post_fixed_point(equations: Forward[Range], strategy: Strategy) -> None:
    found = fixpoint.solve(equations, strategy)
    assert fixpoint.unstable(equations, found.values) == []


def walk(equations: Equations[Range], n_steps: int) -> Sequence[Range]:
    """Return the values after some steps of Kleene iteration from bottom: all are below any fixed
    point."""
    values = [equations.bottom] * equations.graph.n_nodes
    for _ in range(n_steps):
        values = [v.join(equations.evaluate(i, values)) for i, v in enumerate(values)]
    return values


@given(equations=range_programs(), strategy=strategies)
def test_a_solution_holds_all_iterates(equations: Forward[Range], strategy: Strategy) -> None:
    found = fixpoint.solve(equations, strategy).values
    assert all(low <= high for low, high in zip(walk(equations, 40), found, strict=True))


@dataclass
class Relations:
    """At every edge a relation between bits: monotone, and distributive over joins."""

    images: list[list[int]]

    def after(self, node: int, before: Bits) -> Bits:
        return before

    def along(self, edge: int, after: Bits) -> Bits:
        found = 0
        for bit, image in enumerate(self.images[edge]):
            if after.bits >> bit & 1:
                found |= image
        return Bits(found)


@st.composite
def bit_programs(draw: st.DrawFn) -> Forward[Bits]:
    graph = draw(graphs())
    image = st.lists(st.integers(0, 15), min_size=4, max_size=4)
    images = draw(st.lists(image, min_size=graph.n_edges, max_size=graph.n_edges))
    return Forward(graph, Relations(images), {0: Bits(1)}, Bits(0))


def worklist(equations: Equations[Bits]) -> list[Bits]:
    """Return the least solution, by a queue of nodes whose inputs changed."""
    values = [equations.bottom] * equations.graph.n_nodes
    waiting = deque(range(equations.graph.n_nodes))
    while waiting:
        node = waiting.popleft()
        new = equations.evaluate(node, values)
        if not new <= values[node]:
            values[node] = values[node].join(new)
            waiting.extend(equations.graph.successors(node).tolist())
    return values


@given(equations=bit_programs(), strategy=strategies)
def test_finite_lattices_get_their_least_solution(
    equations: Forward[Bits], strategy: Strategy
) -> None:
    assert list(fixpoint.solve(equations, strategy).values) == worklist(equations)


# Loops as programs have them. `for (i = 0; i < 10; i++)`: 0 → 1 ⇄ 2, 1 → 3.


class Loop:
    """The loop's counter; edges in the order 0→1, 1→2, 1→3, 2→1."""

    def after(self, node: int, before: Range) -> Range:
        return {0: Range(0, 0), 2: before.plus(1)}.get(node, before)

    def along(self, edge: int, after: Range) -> Range:
        return after.meet({1: Range(-inf, 9), 2: Range(10, inf)}.get(edge, TOP))


LOOP = Graph.from_edges(4, [0, 1, 1, 2], [1, 2, 3, 1])


def test_a_loop_is_exact_after_narrowing() -> None:
    equations = Forward(LOOP, Loop(), {0: TOP}, BOTTOM)
    found = fixpoint.solve(equations)
    assert list(found.values) == [TOP, Range(0, 10), Range(0, 9), Range(10, 10)]
    assert str(found.order) == "0 (1 2) 3"
    wide = fixpoint.solve(equations, Strategy(narrowing=0)).values
    assert wide[1] == Range(0, inf)


def test_thresholds_stop_widening_where_narrowing_is_off() -> None:
    equations = Forward(LOOP, Loop(), {0: TOP}, BOTTOM)
    strategy = Strategy(delay=0, narrowing=0, thresholds=(5, 10, 20))
    assert fixpoint.solve(equations, strategy).values[3] == Range(10, 10)


def test_delay_counts_joins() -> None:
    """A head that grows twice is exact with two joins, and not with one."""

    class Bounded:
        def after(self, node: int, before: Range) -> Range:
            return before.plus(1)

        def along(self, edge: int, after: Range) -> Range:
            return after.meet(Range(0, 2))

    equations = Forward(Graph.from_edges(1, [0], [0]), Bounded(), {0: Range(0, 0)}, BOTTOM)
    values = [
        fixpoint.solve(equations, Strategy(delay=delay, narrowing=0)).values[0]
        for delay in (0, 1, 2)
    ]
    assert values == [Range(0, inf), Range(0, inf), Range(0, 2)]


class Nested:
    """`for (i = 0; i < 10; i++) for (j = 0; j < 5; j++);` about i: the inner loop leaves it alone.

    0 → 1 (i < 10?) → 2 (j < 5?) ⇄ 3, 2 → 4 (i++) → 1, 1 → 5. Edges: 0→1, 1→2, 1→5, 2→3, 2→4,
    3→2, 4→1.
    """

    def after(self, node: int, before: Range) -> Range:
        return {0: Range(0, 0), 4: before.plus(1)}.get(node, before)

    def along(self, edge: int, after: Range) -> Range:
        return after.meet({1: Range(-inf, 9), 2: Range(10, inf)}.get(edge, TOP))


NESTED = Graph.from_edges(6, [0, 1, 1, 2, 2, 3, 4], [1, 2, 5, 3, 4, 2, 1])


def test_inner_loops_follow_the_bounds_of_outer_ones() -> None:
    """Without starting afresh the inner loop holds on to the infinite bound it once had."""
    equations = Forward(NESTED, Nested(), {0: TOP}, BOTTOM)
    found = fixpoint.solve(equations).values
    assert (found[1], found[2], found[5]) == (Range(0, 10), Range(0, 9), Range(10, 10))
    plain = fixpoint.solve(equations, Strategy(restarts=0)).values
    assert plain[5] == Range(10, inf)


def test_a_component_starts_afresh_each_time() -> None:
    """What an inner loop once held for other bounds of the outer one is no part of the answer."""
    edges = [(0, 1), (0, 0), (1, 2), (1, 1), (2, 1), (2, 0)]
    flow = Steps(
        [("meet", 0, 100), ("add", 1, 0), ("add", -1, 0)],
        [
            *(("add", 1, 0), ("add", 0, 0), ("meet", -100, 100)),
            *(("meet", 0, 5), ("add", -1, 0), ("meet", 0, 10)),
        ],
    )
    graph = Graph.from_edges(3, [e[0] for e in edges], [e[1] for e in edges])
    found = fixpoint.solve(Forward(graph, flow, {0: Range(0, 0)}, BOTTOM)).values
    assert list(found) == [Range(0, 10), Range(-102, 11), Range(-100, 12)]


def test_after_narrowing_that_loses_states_values_grow_again() -> None:
    """A right-hand side that is not monotone gets larger as its head gets smaller."""

    class Contrary:
        def after(self, node: int, before: Range) -> Range:
            return Range(0, 5) if before.high == inf else Range(0, before.high + 1)

        def along(self, edge: int, after: Range) -> Range:
            return after

    equations = Forward(Graph.from_edges(1, [0], [0]), Contrary(), {0: Range(0, 0)}, BOTTOM)
    found = fixpoint.solve(equations, Strategy(delay=0)).values
    assert found[0] == Range(0, inf)
    assert fixpoint.unstable(equations, found) == []


@pytest.mark.parametrize("depth", [40, 120])
def test_deep_nests_take_no_exponential_time(depth: int) -> None:
    """Loops in loops in loops: node i heads a loop that the last node closes."""
    heads = list(range(depth))
    sources = [*heads[:-1], *([depth - 1] * depth)]
    graph = Graph.from_edges(depth, sources, [*heads[1:], *heads])

    class Count:
        def after(self, node: int, before: Range) -> Range:
            return before.plus(1).meet(Range(0, 1000))

        def along(self, edge: int, after: Range) -> Range:
            return after

    equations = Forward(graph, Count(), {0: Range(0, 0)}, BOTTOM)
    found = fixpoint.solve(equations)
    assert fixpoint.unstable(equations, found.values) == []
    assert found.n_evaluations < 1000 * depth


def test_the_empty_graph_and_no_roots() -> None:
    empty = Forward(Graph.from_edges(0, [], []), Loop(), {}, BOTTOM)
    assert list(fixpoint.solve(empty).values) == []
    nobody = Forward(LOOP, Loop(), {}, BOTTOM)
    assert list(fixpoint.solve(nobody).values) == [BOTTOM] * 4

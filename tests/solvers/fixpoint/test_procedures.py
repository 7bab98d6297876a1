"""Procedures that call each other: recursion ends, and every real run is inside the answer."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import inf

from hypothesis import given
from hypothesis import strategies as st

from kleene.graphs import Graph
from kleene.solvers import fixpoint
from kleene.solvers.fixpoint import CallSite, Procedure, Procedures
from tests.solvers.fixpoint.domains import BOTTOM, TOP, Range
from tests.solvers.fixpoint.test_engine import Step, apply, steps, strategies


class Plain:
    """Nothing happens but calls: arguments go in and results come out as they are."""

    def after(self, procedure: int, node: int, before: Range) -> Range:
        return before

    def along(self, procedure: int, edge: int, after: Range) -> Range:
        return after

    def enter(self, site: CallSite, callee: int, before: Range) -> Range:
        return before

    def leave(self, site: CallSite, callee: int, before: Range, result: Range) -> Range:
        return result


LINE = Graph.from_edges(3, [0, 1], [1, 2])


def test_recursion() -> None:
    """`f(n) = n <= 0 ? 0 : f(n - 1) + 1`, called with 10."""

    class Count(Plain):
        def after(self, procedure: int, node: int, before: Range) -> Range:
            return Range(0, 0) if node == 1 else before

        def along(self, procedure: int, edge: int, after: Range) -> Range:
            return after.meet({0: Range(-inf, 0), 1: Range(1, inf)}.get(edge, TOP))

        def enter(self, site: CallSite, callee: int, before: Range) -> Range:
            return before.plus(-1)

        def leave(self, site: CallSite, callee: int, before: Range, result: Range) -> Range:
            return result.plus(1)

    # 0 → 1 (returns 0), 0 → 2 (calls) → 3 (returns)
    body = Procedure(Graph.from_edges(4, [0, 0, 2], [1, 2, 3]), exits=(1, 3))
    equations = Procedures([body], [CallSite(0, 2, (0,))], Count(), {0: Range(10, 10)}, BOTTOM)
    found = fixpoint.solve(equations).values
    assert found[equations.node(0, 0)] == Range(0, 10)
    assert found[equations.node(0, 2)] == Range(1, 10)
    assert found[equations.exit(0)] == Range(0, inf)
    assert fixpoint.unstable(equations, found) == []


def test_contexts_are_not_told_apart() -> None:
    """Two calls of one procedure get what both put in; what never comes back, nothing."""

    class Main(Plain):
        def enter(self, site: CallSite, callee: int, before: Range) -> Range:
            return {0: Range(1, 1), 1: Range(5, 5)}[site.node]

    main = Procedure(LINE, exits=(2,))
    identity = Procedure(Graph.from_edges(1, [], []), exits=(0,))
    sites = [CallSite(0, 0, (1,)), CallSite(0, 1, (1,))]
    equations = Procedures([main, identity], sites, Main(), {0: TOP}, BOTTOM)
    found = fixpoint.solve(equations).values
    assert [found[equations.node(0, v)] for v in (1, 2)] == [Range(1, 5), Range(1, 5)]
    endless = Procedure(Graph.from_edges(1, [0], [0]), exits=())
    equations = Procedures([main, endless], sites, Main(), {0: TOP}, BOTTOM)
    found = fixpoint.solve(equations).values
    assert found[equations.node(0, 1)] == found[equations.exit(0)] == BOTTOM
    assert found[equations.node(1, 0)] == Range(1, 1)  # the second call is never made


def test_several_callees_and_the_outside() -> None:
    class Callees(Plain):
        def after(self, procedure: int, node: int, before: Range) -> Range:
            return Range(9, 9) if (procedure, node) == (0, 1) else before

        def leave(self, site: CallSite, callee: int, before: Range, result: Range) -> Range:
            return Range(callee, callee)

    one = Procedure(Graph.from_edges(1, [], []), exits=(0,))
    procedures = [Procedure(LINE, exits=(2,)), one, one, one]
    for may_leave, high in ((False, 2), (True, 9)):
        sites = [CallSite(0, 1, (1, 2), may_leave)]
        equations = Procedures(procedures, sites, Callees(), {0: Range(0, 0)}, BOTTOM)
        found = fixpoint.solve(equations).values
        assert found[equations.exit(0)] == Range(1, high)
        assert found[equations.exit(3)] == BOTTOM  # nobody calls it


@dataclass
class Random:
    """Steps at nodes and edges; arguments and results change by a step of the callee's."""

    nodes: list[list[Step]]
    edges: list[list[Step]]
    enters: list[Step]
    leaves: list[Step]

    def after(self, procedure: int, node: int, before: Range) -> Range:
        return apply(self.nodes[procedure][node], before)

    def along(self, procedure: int, edge: int, after: Range) -> Range:
        return after if after.is_bottom() else apply(self.edges[procedure][edge], after)

    def enter(self, site: CallSite, callee: int, before: Range) -> Range:
        return apply(self.enters[callee], before)

    def leave(self, site: CallSite, callee: int, before: Range, result: Range) -> Range:
        return apply(self.leaves[callee], result).join(before)


@st.composite
def systems(draw: st.DrawFn) -> tuple[list[Procedure], list[CallSite], Random]:
    n_procedures = draw(st.integers(1, 3))
    procedures, sites = [], []
    effects = Random([], [], [], [])
    for p in range(n_procedures):
        n_nodes = draw(st.integers(1, 5))
        node = st.integers(0, n_nodes - 1)
        edges = draw(st.lists(st.tuples(node, node), max_size=8))
        graph = Graph.from_edges(n_nodes, [e[0] for e in edges], [e[1] for e in edges])
        exits = tuple(draw(st.sets(node, min_size=1, max_size=2)))
        procedures.append(Procedure(graph, exits))
        for call in draw(st.sets(node, max_size=2)):
            callees = draw(st.sets(st.integers(0, n_procedures - 1), min_size=1, max_size=2))
            sites.append(CallSite(p, call, tuple(callees), draw(st.booleans())))
        effects.nodes.append(draw(st.lists(steps, min_size=n_nodes, max_size=n_nodes)))
        size = graph.n_edges
        effects.edges.append(draw(st.lists(steps, min_size=size, max_size=size)))
        effects.enters.append(draw(steps))
        effects.leaves.append(draw(steps))
    return procedures, sites, effects


class Run:
    """Real runs of a system: one number, a choice at every branch, a stack of calls."""

    def __init__(self, system: tuple[list[Procedure], list[CallSite], Random], seed: int) -> None:
        self.procedures, sites, self.effects = system
        self.site_at = {(site.caller, site.node): site for site in sites}
        self.random = random.Random(seed)
        self.n_steps = 0
        self.seen: set[tuple[int, int, int]] = set()  # procedure, node (-1: its end), number

    def pick(self, value: Range) -> int | None:
        return None if value.is_bottom() else self.random.choice([int(value.low), int(value.high)])

    def call(self, procedure: int, number: int) -> int | None:
        """Return what a call gives back; None if it does not, or takes too long."""
        node = self.procedures[procedure].entry
        while self.n_steps < 60:
            self.n_steps += 1
            self.seen.add((procedure, node, number))
            after = self.execute(procedure, node, number)
            if after is None:
                return None
            body = self.procedures[procedure]
            if node in body.exits and self.random.random() < 0.5:
                self.seen.add((procedure, -1, after))
                return after
            first, end = body.graph.offsets[node : node + 2].tolist()
            if first == end:
                return None
            edge = self.random.randrange(first, end)
            behind = self.pick(self.effects.along(procedure, edge, Range(after, after)))
            if behind is None:
                return None
            node, number = int(body.graph.targets[edge]), behind
        return None

    def execute(self, procedure: int, node: int, number: int) -> int | None:
        value, site = Range(number, number), self.site_at.get((procedure, node))
        if site is None or (site.may_leave and self.random.random() < 0.5):
            return self.pick(self.effects.after(procedure, node, value))
        callee = self.random.choice(site.callees)
        given = self.pick(self.effects.enter(site, callee, value))
        result = None if given is None else self.call(callee, given)
        if result is None:
            return None
        return self.pick(self.effects.leave(site, callee, value, Range(result, result)))


@given(system=systems(), strategy=strategies, seed=st.integers(0, 1000))
def test_every_run_is_inside(
    system: tuple[list[Procedure], list[CallSite], Random],
    strategy: fixpoint.Strategy,
    seed: int,
) -> None:
    procedures, sites, effects = system
    equations = Procedures(procedures, sites, effects, {0: Range(0, 0)}, BOTTOM)
    found = fixpoint.solve(equations, strategy).values
    assert fixpoint.unstable(equations, found) == []
    run = Run(system, seed)
    for _ in range(5):
        run.n_steps = 0
        run.call(0, 0)
    for procedure, node, number in run.seen:
        place = equations.exit(procedure) if node < 0 else equations.node(procedure, node)
        assert Range(number, number) <= found[place]

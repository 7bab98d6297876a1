"""Are the graph algorithms linear up to a million nodes, and how do they compare with others?

Inputs are made here, by seed. `ns an edge` should stay put as the size grows, but for the step up
where the arrays outgrow the processor's caches: large on the wild graph, where no edge stays near.
Rivals run on the same graph, already in their own form: networkx while that is affordable, SciPy
where it has the algorithm. Answers are compared; where no rival has the algorithm, the definition
of the answer is checked on every edge. SciPy's search makes two arrays, ours five. The first call
of an algorithm loads its compiled form, or makes it where there is none yet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
from harness import Measurement, Table, measure
from scipy.sparse import csgraph, csr_array

from kleene import graphs
from kleene.graphs import Graph

NETWORKX_MAX_NODES = 100_000  # ten times more takes it minutes a row
NEST_DEPTH = 16


def flow_graph(n_nodes: int) -> Graph:
    """Every node is entered from one a little before it; half of them jump, a third of it back."""
    rng = np.random.default_rng(n_nodes)
    nodes = np.arange(n_nodes)
    above = nodes[1:] - rng.geometric(0.5, n_nodes - 1)
    jumping = nodes[rng.random(n_nodes) < 0.5]
    steps = rng.geometric(0.05, len(jumping)) * np.where(rng.random(len(jumping)) < 1 / 3, -1, 1)
    landing = np.clip(jumping + steps, 0, n_nodes - 1)
    sources = np.concatenate([np.maximum(above, 0), jumping])
    return Graph.from_edges(n_nodes, sources, np.concatenate([nodes[1:], landing])).simple()


def wild_graph(n_nodes: int) -> Graph:
    """Every node is entered from any before it, and as many edges go anywhere at all."""
    rng = np.random.default_rng(n_nodes)
    above = (rng.random(n_nodes - 1) * np.arange(1, n_nodes)).astype(np.int64)
    anywhere = rng.integers(0, n_nodes, (2, n_nodes))
    sources = np.concatenate([above, anywhere[0]])
    targets = np.concatenate([np.arange(1, n_nodes), anywhere[1]])
    return Graph.from_edges(n_nodes, sources, targets).simple()


def chain(n_nodes: int) -> Graph:
    """One path: the deepest search there is."""
    return Graph.from_edges(n_nodes, np.arange(n_nodes - 1), np.arange(1, n_nodes))


def loop_nests(n_nodes: int) -> Graph:
    """Nests of loops one after the other, each `NEST_DEPTH` deep: a back edge every second node."""
    nodes = np.arange(n_nodes)
    place = nodes % (2 * NEST_DEPTH)
    latches = nodes[place >= NEST_DEPTH]
    headers = latches - 2 * place[latches] + 2 * NEST_DEPTH - 1
    sources = np.concatenate([nodes[:-1], latches])
    return Graph.from_edges(n_nodes, sources, np.concatenate([nodes[1:], headers])).simple()


@dataclass(frozen=True)
class Input:
    """One graph in the forms that each system wants."""

    graph: Graph

    def networkx(self) -> nx.DiGraph:
        """Return the graph as networkx has it."""
        sources, targets = self.graph.edges()
        other = nx.DiGraph()
        other.add_nodes_from(range(self.graph.n_nodes))
        other.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
        return other

    def turned_networkx(self) -> nx.DiGraph:
        """Return the reversed graph with a virtual exit, numbered `n_nodes`, before all ends."""
        other = self.networkx()
        parts = nx.strongly_connected_components(other)
        ends = [min(part) for part in parts if not any(set(other[v]) - part for v in part)]
        turned = other.reverse()
        turned.add_edges_from((self.graph.n_nodes, end) for end in ends)
        return turned

    def scipy(self) -> csr_array:
        """Return the graph as SciPy has it."""
        graph = self.graph
        columns = np.ones(graph.n_edges), graph.targets, graph.offsets.astype(np.int32)
        return csr_array(columns, shape=(graph.n_nodes, graph.n_nodes))


@dataclass(frozen=True)
class Rival:
    """Another system: what it runs, and whether its answer is ours."""

    name: str
    form: Callable[[Input], Any]
    run: Callable[[Any], Any]
    agrees: Callable[[Any, Any], bool]
    max_nodes: int = 10**9
    patient: bool = True  # False: one repeat only on large graphs


@dataclass(frozen=True)
class Question:
    """One algorithm, its rivals, and a check for where there is none."""

    name: str
    ours: Callable[[Graph], Any]
    rivals: tuple[Rival, ...] = ()
    holds: Callable[[Graph, Any], bool] | None = None


def networkx_rival(
    run: Callable[[Any], Any],
    agrees: Callable[[Any, Any], bool],
    form: Callable[[Input], Any] = Input.networkx,
) -> Rival:
    return Rival("networkx", form, run, agrees, NETWORKX_MAX_NODES, patient=False)


def same_partition(ours: graphs.Components, theirs: Any) -> bool:
    pairs = np.unique(np.stack([ours.component, theirs[1]]), axis=1)
    return bool(ours.n_components == theirs[0] == pairs.shape[1])


def same_components(ours: graphs.Components, theirs: list[set[int]]) -> bool:
    return {frozenset(row.tolist()) for row in ours.members()} == {frozenset(c) for c in theirs}


def same_dominators(ours: graphs.DominatorTree, theirs: dict[int, int]) -> bool:
    found = {v: u for v, u in enumerate(ours.idom.tolist()) if u >= 0}
    return found == {v: u for v, u in theirs.items() if v != 0}


def same_frontiers(ours: Graph, theirs: dict[int, set[int]]) -> bool:
    sizes = sum(len(found) for found in theirs.values())
    rows = (set(ours.successors(v).tolist()) == found for v, found in theirs.items())
    return ours.n_edges == sizes and all(rows)


def frontiers(graph: Graph) -> Graph:
    return graphs.dominance_frontiers(graph, graphs.dominators(graph))


def loops_hold(graph: Graph, loops: graphs.LoopForest) -> bool:
    """Whether each edge goes forward or to the header of a loop around its source."""
    sources, targets = graph.edges()
    at, to = loops.position[sources], loops.position[targets]
    end = np.zeros(graph.n_nodes, dtype=np.int32)
    end[loops.header] = loops.end
    return bool((((to > at) | (at < end[targets])) & (at >= 0)).all())


def order_holds(graph: Graph, weak: graphs.WeakOrder) -> bool:
    sources, targets = graph.edges()
    position = np.empty(graph.n_nodes, dtype=np.int32)
    position[weak.order] = np.arange(len(weak.order), dtype=np.int32)
    at, to = position[sources], position[targets]
    return bool(((to > at) | (at < weak.end[to])).all())


def same_post_dominators(ours: graphs.DominatorTree, theirs: dict[int, int]) -> bool:
    n_nodes = len(ours.idom)
    found = {v: n_nodes if u < 0 else u for v, u in enumerate(ours.idom.tolist())}
    return found == {v: u for v, u in theirs.items() if v != n_nodes}


QUESTIONS = (
    Question(
        "depth-first search",
        graphs.depth_first,
        (
            Rival(
                "SciPy",
                Input.scipy,
                lambda m: csgraph.depth_first_order(m, 0, return_predecessors=True),
                lambda ours, theirs: np.array_equal(ours.preorder, theirs[0]),
            ),
        ),
    ),
    Question(
        "strong components",
        graphs.strong_components,
        (
            Rival(
                "SciPy",
                Input.scipy,
                lambda m: csgraph.connected_components(m, connection="strong"),
                same_partition,
            ),
            networkx_rival(lambda g: list(nx.strongly_connected_components(g)), same_components),
        ),
    ),
    Question(
        "dominators",
        graphs.dominators,
        (networkx_rival(lambda g: nx.immediate_dominators(g, 0), same_dominators),),
    ),
    Question(
        "post-dominators",
        graphs.post_dominators,
        (
            networkx_rival(
                lambda g: nx.immediate_dominators(g, g.number_of_nodes() - 1),
                same_post_dominators,
                Input.turned_networkx,
            ),
        ),
    ),
    Question(
        "dominators and frontiers",
        frontiers,
        (networkx_rival(lambda g: nx.dominance_frontiers(g, 0), same_frontiers),),
    ),
    Question("loop forest", graphs.loop_forest, holds=loops_hold),
    Question("weak topological order", graphs.weak_topological_order, holds=order_holds),
)


def add_rows(table: Table, name: str, given: Input, question: Question) -> None:
    graph = given.graph
    ours = measure(lambda: question.ours(graph), repeat=5)
    if question.holds is not None and not question.holds(graph, ours.result):
        raise ValueError(f"{question.name} of {name}: wrong answer")
    row = {"input": name, "size": f"{graph.n_nodes} nodes, {graph.n_edges} edges"}
    extra = {"algorithm": question.name, "ns an edge": ours.median_s / graph.n_edges * 1e9}
    rivals = [rival for rival in question.rivals if graph.n_nodes <= rival.max_nodes]
    for rival in rivals:
        theirs = measure_rival(rival, given)
        agree = rival.agrees(ours.result, theirs.result)
        table.row(**row, ours=ours, rival=rival.name, theirs=theirs, agree=agree, **extra)
    if not rivals:
        table.row(**row, ours=ours, **extra)


def measure_rival(rival: Rival, given: Input) -> Measurement:
    other = rival.form(given)
    few = given.graph.n_nodes > 10_000 and not rival.patient
    return measure(lambda: rival.run(other), repeat=1 if few else 5)


def main() -> None:
    table = Table("graphs", str(__doc__).splitlines()[0])
    for question in QUESTIONS:
        for exponent in (3, 4, 5, 6):
            add_rows(table, "random flow graph", Input(flow_graph(10**exponent)), question)
        for exponent in (4, 6):
            add_rows(table, "chain", Input(chain(10**exponent)), question)
            add_rows(table, "loop nests", Input(loop_nests(10**exponent // 32 * 32)), question)
            add_rows(table, "wild graph", Input(wild_graph(10**exponent)), question)
    table.save()


if __name__ == "__main__":
    main()

"""Many small forward problems over octagons, each solved by itself: on the CPU or a GPU.

A *pack* is a few variables (`MOST_VARIABLES` at most) that are followed through one control-flow
graph. Nodes and edges of the graph have lists of operations (`codes`); what holds before a node is
the join of what comes along its edges. Loops are widened and narrowed; the order of nodes is given,
so that the answer does not depend on where or how it is computed. Packs share graphs.

Cost: of a node with k operations O(n³ k) for n variables, some visits each.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.base.arrays import I32, I64, U8, Bools, offsets_of
from kleene.base.device import Device
from kleene.kernels import launch
from kleene.kernels.compiled import sized
from kleene.kernels.octagon_flow.codes import MOST_VARIABLES
from kleene.kernels.octagon_flow.compiled import UNIT

VISITS = 16  # of each node, on average, before a pack is given up
_INTERPRETED_S_A_NODE = 3e-3
_MOST_STATE_BYTES = 1 << 30
_GPU_START_S = 1.5  # of a process that has not used the GPU before
_LEAST_COST_OF_A_PART = 2000  # nodes times variables squared: below, calling takes longer
_LEAST_NODES_OF_THREADS = 100  # below, starting threads takes longer than they save


@dataclass(frozen=True, eq=False)
class FlowGraphs:
    """Control-flow graphs, one after the other; nodes of each are numbered from 0, the entry.

    Attributes:
        nodes: where the nodes of each graph begin.
        in_offsets: where the edges into each node begin, one more number for each graph.
        edge_source: where each edge comes from, sorted by where it leads.
        out_offsets: where the edges out of each node begin, likewise.
        edge_target: where each edge leads, sorted by where it comes from.
        is_head: whether values are widened at a node: every cycle has such a one.
    """

    nodes: I64
    in_offsets: I64
    edge_source: I32
    out_offsets: I64
    edge_target: I32
    is_head: U8


@dataclass(frozen=True, eq=False)
class FlowProblem:
    """Packs of variables, and what nodes and edges do to them.

    Attributes:
        graphs: which packs follow.
        graph: of each pack.
        n_variables: of each pack.
        low: the least value that each variable ever has; packs one after the other.
        high: the greatest.
        edge_ops: where the operations of edges begin: for each pack, of all edges of its graph in
            the order of `edge_source`, and one number more.
        node_ops: where the operations of nodes begin, likewise.
        code: operations: see `codes`.
        first: of an operation, a variable or literal.
        second: likewise.
        least: a number, or the check.
        most: a number.
        n_checks: how many checks there are.
    """

    graphs: FlowGraphs
    graph: I64
    n_variables: I64
    low: I64
    high: I64
    edge_ops: I64
    node_ops: I64
    code: I64
    first: I64
    second: I64
    least: I64
    most: I64
    n_checks: int

    @property
    def n_packs(self) -> int:
        """How many packs there are."""
        return len(self.graph)

    @property
    def n_nodes(self) -> I64:
        """How many nodes each pack is followed through."""
        found: I64 = np.diff(self.graphs.nodes)[self.graph]
        return found

    @property
    def n_edges(self) -> I64:
        """How many edges each pack is followed along."""
        first = self.graphs.in_offsets[
            self.graphs.nodes[:-1] + np.arange(len(self.graphs.nodes) - 1)
        ]
        sizes = np.diff(np.append(first, len(self.graphs.edge_source)))
        found: I64 = sizes[self.graph]
        return found

    @property
    def state_sizes(self) -> I64:
        """How many numbers the states of each pack take: see `cpu.solve`."""
        found: I64 = (2 * self.n_nodes + 2) * (2 * self.n_variables) ** 2
        return found

    def columns(self) -> tuple[Any, ...]:
        """Return the columns in the order in which kernels take them."""
        graphs = self.graphs
        starts = (
            offsets_of(self.n_variables)[:-1],
            offsets_of(self.n_edges + 1)[:-1],
            offsets_of(self.n_nodes + 1)[:-1],
        )
        return (
            self.graph, self.n_variables, starts[0], self.low, self.high,
            starts[1], self.edge_ops, starts[2], self.node_ops,
            self.code, self.first, self.second, self.least, self.most,
            graphs.nodes, graphs.in_offsets, graphs.edge_source, graphs.out_offsets,
            graphs.edge_target, graphs.is_head,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class FlowSolution:
    """What was proved.

    Attributes:
        proved: which checks hold wherever control comes to them.
        is_given_up: which packs took too long; their checks are not proved.
        n_evaluations: how often nodes of each pack were evaluated.
        before: what holds before nodes, where that was asked for: matrices, one pack after the
            other as `FlowProblem.state_sizes` says.
        reached: whether control comes to nodes, one pack after the other.
        device: where it was computed.
    """

    proved: Bools
    is_given_up: Bools
    n_evaluations: I64
    before: I64 | None
    reached: U8 | None
    device: Device


def solve(
    problem: FlowProblem,
    *,
    device: Device | str = Device.AUTO,
    threads: int | None = None,
    keeps_states: bool = False,
    visits: int = VISITS,
    most_evaluations: I64 | None = None,
) -> FlowSolution:
    """Return what is proved; the same on every device.

    Args:
        problem: the packs.
        device: where to compute; `auto` takes a GPU that is there where that is faster, the start
            of CUDA counted in if nothing has used it before.
        threads: of the CPU; by default one for each core.
        keeps_states: whether what holds before nodes is returned.
        visits: how often nodes of a pack are evaluated, on average, before it is given up.
        most_evaluations: of nodes of each pack, before it is given up; no such limit if None.
    """
    assert not problem.n_packs or problem.n_variables.max() <= MOST_VARIABLES
    place = _place(problem, Device(device), threads)
    budget = visits * problem.n_nodes + 16
    if most_evaluations is not None:
        budget = np.minimum(budget, most_evaluations)
    run = _solve_cuda if place is Device.CUDA else _solve_cpu
    found = run(problem, budget, threads, keeps_states)
    solution = FlowSolution(*found, place)
    _fail_given_up(problem, solution)
    return solution


def _place(problem: FlowProblem, device: Device, threads: int | None) -> Device:
    if device is Device.AUTO and problem.n_packs:
        cpu_s, gpu_s = predicted_s(problem, threads or os.cpu_count() or 1)
        if "cupy" not in sys.modules:
            gpu_s += _GPU_START_S
        return Device.CUDA if gpu_s < cpu_s and launch.gpu_problem() is None else Device.CPU
    return Device.CUDA if device is Device.CUDA else Device.CPU


def predicted_s(problem: FlowProblem, n_threads: int) -> tuple[float, float]:
    """Return about how long packs take, on so many threads of the CPU and on a GPU.

    Fitted to 49 sets of packs of lua, nginx and sqlite3 on an H200 beside 16 cores: in 46 the
    faster of both is chosen or one that is 10 % slower, in the others a millisecond is lost. A GPU
    takes as long as its longest pack, whose nodes are one behind the other; a CPU is limited by
    that, too, but has all others to do, and parts of the work to hand out.
    """
    n_nodes = problem.n_nodes
    costs = n_nodes * problem.n_variables**2
    total, longest, n_threads = int(costs.sum()), int(costs.max()), min(n_threads, 16)
    cpu_s = 0.25e-6 * total
    if n_threads > 1:
        cpu_s = 0.4e-3 + 0.12e-3 * _n_parts(total, n_threads)
        cpu_s += 0.2e-6 * longest + 0.25e-6 * total / n_threads
    longest_s = float((8.5e-6 * n_nodes + 0.25e-6 * costs).max())
    return cpu_s, 0.9e-3 + longest_s + 0.03e-6 * int(n_nodes.sum())


def _n_parts(cost: int, n_threads: int) -> int:
    return min(8 * n_threads, cost // _LEAST_COST_OF_A_PART + 1)


def _fail_given_up(problem: FlowProblem, solution: FlowSolution) -> None:
    """Call no check proved that a pack without an answer asks."""
    from kleene.kernels.octagon_flow.codes import CHECK, FAIL

    starts = offsets_of(problem.n_nodes + 1)
    for pack in np.flatnonzero(solution.is_given_up).tolist():
        ops = problem.node_ops[starts[pack] : starts[pack + 1]]
        mine = np.arange(ops[0], ops[-1])
        asks = np.isin(problem.code[mine], (CHECK, FAIL))
        solution.proved[problem.least[mine[asks]]] = False


_Found = tuple[Bools, Bools, I64, I64 | None, U8 | None]


def _solve_cpu(
    problem: FlowProblem, budget: I64, threads: int | None, keeps_states: bool
) -> _Found:
    from kleene.kernels.octagon_flow import cpu

    n_packs, n_nodes = problem.n_packs, problem.n_nodes
    proved = np.ones(problem.n_checks, np.uint8)
    given_up, counts = np.zeros(n_packs, np.uint8), np.zeros(n_packs, np.int64)
    columns, sizes = problem.columns(), problem.state_sizes
    run: Any = cpu.solve  # which takes the columns one by one
    total = int(n_nodes.sum())
    state_at, node_at = np.zeros(n_packs, np.int64), np.zeros(n_packs, np.int64)
    states = np.empty(0, np.int64)
    reached = np.empty(0, np.uint8)
    if keeps_states:
        state_at, node_at = offsets_of(sizes)[:-1], offsets_of(n_nodes)[:-1]
        states, reached = np.empty(int(sizes.sum()), np.int64), np.empty(total, np.uint8)

    def work(part: tuple[int, int]) -> None:
        begin, finish = part
        if begin == finish:
            return
        largest = int(n_nodes[begin:finish].max())
        m = states if keeps_states else np.empty(int(sizes[begin:finish].max()), np.int64)
        seen = reached if keeps_states else np.empty(largest, np.uint8)
        n_seen = total if keeps_states else largest
        run(
            begin, finish, *columns, state_at, node_at, budget,
            m, seen, np.empty(n_seen, np.uint8), np.empty(n_seen, np.int64),
            proved, given_up, counts,
        )  # fmt: skip

    n_threads = 1 if keeps_states else min(threads or os.cpu_count() or 1, 16)
    with sized(3 * total * _INTERPRETED_S_A_NODE, UNIT):
        if n_threads == 1 or total < _LEAST_NODES_OF_THREADS:
            work((0, n_packs))
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                costs = n_nodes * problem.n_variables**2
                list(pool.map(work, _shares(costs, _n_parts(int(costs.sum()), n_threads))))
    before = states if keeps_states else None
    seen = reached if keeps_states else None
    return proved.astype(bool), given_up.astype(bool), counts, before, seen


def _shares(costs: I64, n_parts: int) -> list[tuple[int, int]]:
    """Return ranges of packs of about the same cost."""
    total = np.cumsum(costs)
    wanted = np.linspace(0, int(total[-1]) if len(total) else 0, n_parts + 1)[1:-1]
    ends = np.unique(np.concatenate([[0], np.searchsorted(total, wanted), [len(costs)]]))
    return list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))


def _solve_cuda(
    problem: FlowProblem, budget: I64, threads: int | None, keeps_states: bool
) -> _Found:
    """Solve packs on the GPU, as many at once as memory has room for; a block for each."""
    from kleene.kernels.octagon_flow import cuda

    return cuda.solve(problem, budget, keeps_states, _MOST_STATE_BYTES)

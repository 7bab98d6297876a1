"""Packs of values as one problem for `kernels.octagon_flow`: graphs, operations, checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kleene.analyses.invariants.whole.forms import Bound
from kleene.base.arrays import I64, U8, Bools, offsets_of
from kleene.kernels.octagon_flow import FlowGraphs, FlowProblem
from kleene.kernels.octagon_flow.codes import CHECK, FAIL
from kleene.kernels.octagon_flow.sparse import sparse

TOO_LONG = "the time for it is over"  # why packs are left out

Operation = tuple[int, int, int, int, int]


class Target(NamedTuple):
    """An open check, and what holds behind it.

    Attributes:
        check: its number.
        row: the instruction where it stands.
        bounds: it holds if all of these do; none: control must not come there.
        after: if it holds, so do these. They say no more than `bounds`, and less where the check is
            about several objects, or of numbers too large to be kept.
    """

    check: int
    row: int
    bounds: tuple[Bound, ...]
    after: tuple[Bound, ...] = ()


@dataclass
class Pack:
    """Values that are followed together, and the checks that are asked about them."""

    values: tuple[int, ...]
    targets: list[Target] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Packs:
    """A problem, and what its numbers stand for.

    Attributes:
        problem: for the kernel.
        check: of each of its checks, the row in `Checks`.
        function: of each pack.
        values: of each pack.
        blocks: of each pack, the blocks that its nodes are.
        left_out: functions that were left to intervals, and why.
    """

    problem: FlowProblem
    check: I64
    function: list[int]
    values: list[tuple[int, ...]]
    blocks: list[list[int]]
    left_out: dict[int, str]


@dataclass(frozen=True, eq=False)
class PackGraph:
    """The control-flow graph of a function: blocks in the order of visits, edges between places."""

    blocks: list[int]
    source: I64
    target: I64
    is_head: Bools


class FlowBuilder:
    """Collects graphs and packs."""

    def __init__(self) -> None:
        self._graphs: list[PackGraph] = []
        self._pack_graph: list[int] = []
        self._function: list[int] = []
        self._values: list[tuple[int, ...]] = []
        self._ranges: list[tuple[int, int]] = []
        self._edge_counts: list[I64] = []
        self._node_counts: list[I64] = []
        self._edge_ops: list[Operation] = []
        self._node_ops: list[Operation] = []
        self.left_out: dict[int, str] = {}

    def graph(self, graph: PackGraph) -> int:
        """Add a graph; return its number."""
        self._graphs.append(graph)
        return len(self._graphs) - 1

    def pack(
        self,
        function: int,
        graph: int,
        pack: Pack,
        edges: dict[int, list[Operation]],
        nodes: dict[int, list[Operation]],
        ranges: list[tuple[int, int]],
    ) -> None:
        """Add a pack with the operations of edges and nodes, by place."""
        self._pack_graph.append(graph)
        self._function.append(function)
        self._values.append(pack.values)
        self._ranges += ranges
        made = self._graphs[graph]
        for found, counts, ops, n in (
            (edges, self._edge_counts, self._edge_ops, len(made.source)),
            (nodes, self._node_counts, self._node_ops, len(made.blocks)),
        ):
            count = np.zeros(n, np.int64)
            for place in sorted(found):
                count[place] = len(found[place])
                ops += found[place]
            counts.append(count)

    def finished(self) -> Packs:
        """Return the problem; its checks are numbered anew."""
        edge_ops = _starts(self._edge_counts, 0)
        node_ops = _starts(self._node_counts, len(self._edge_ops))
        every = np.array([*self._edge_ops, *self._node_ops], np.int64).reshape(-1, 5).T
        code, first, second, least, most = (np.ascontiguousarray(column) for column in every)
        asks = np.isin(code, (CHECK, FAIL))
        check, number = np.unique(least[asks], return_inverse=True)
        least[asks] = number.reshape(-1)
        ranges = np.array(self._ranges, np.int64).reshape(-1, 2)
        problem = FlowProblem(
            self._flow_graphs(),
            np.array(self._pack_graph, np.int64),
            np.array([len(one) for one in self._values], np.int64),
            np.ascontiguousarray(ranges[:, 0]),
            np.ascontiguousarray(ranges[:, 1]),
            edge_ops, node_ops, code, first, second, least, most, len(check),
        )  # fmt: skip
        kept, nodes = sparse(problem)
        parts = np.split(nodes, np.cumsum(kept.n_nodes)[:-1]) if len(self._values) else []
        blocks = [
            [self._graphs[graph].blocks[node] for node in part.tolist()]
            for graph, part in zip(self._pack_graph, parts, strict=True)
        ]
        return Packs(kept, check, self._function, self._values, blocks, self.left_out)

    def _flow_graphs(self) -> FlowGraphs:
        nodes = offsets_of(np.array([len(one.blocks) for one in self._graphs], np.int64))
        before = 0
        ins, sources, outs, targets = [], [], [], []
        for one in self._graphs:
            n = len(one.blocks)
            by_target = np.lexsort((np.arange(len(one.target)), one.target))
            by_source = np.argsort(one.source, kind="stable")
            ins.append(before + offsets_of(np.bincount(one.target, minlength=n)))
            outs.append(before + offsets_of(np.bincount(one.source, minlength=n)))
            sources.append(one.source[by_target])
            targets.append(one.target[by_source])
            before += len(one.source)
        heads = [one.is_head.astype(np.uint8) for one in self._graphs]
        return FlowGraphs(
            nodes,
            _joined(ins, np.int64),
            _joined(sources, np.int32),
            _joined(outs, np.int64),
            _joined(targets, np.int32),
            _joined(heads, np.uint8),
        )


def _starts(counts: list[I64], first: int) -> I64:
    """Return where operations begin: for each pack, a number for each place and one more."""
    found, before = [np.empty(0, np.int64)], first
    for one in counts:
        starts = before + offsets_of(one)
        found.append(starts)
        before = int(starts[-1])
    return np.concatenate(found)


def _joined(parts: list[I64] | list[U8], dtype: type) -> Any:
    return np.concatenate([np.empty(0, dtype), *parts]).astype(dtype)

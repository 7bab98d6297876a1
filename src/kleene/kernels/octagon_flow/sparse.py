"""Problems without the nodes that change nothing: packs follow sparse evaluation graphs.

A node without operations whose edges all come, without operations, from one node's end holds what
is known there. It is left out, and its own edges begin there instead: of a large function, a pack
of a few values keeps the branches and loops that are about these. What holds before the other
nodes stays the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kleene.base.arrays import I32, I64, Bools, offsets_of, ragged
from kleene.kernels.compiled import sized
from kleene.kernels.octagon_flow.compiled import UNIT, entry_point

if TYPE_CHECKING:
    from kleene.kernels.octagon_flow import FlowProblem

_INTERPRETED_S_A_NODE = 1e-5


@entry_point
def represent(
    n_packs: int, pack_graph: I64, pack_edge_ops: I64, edge_op_offsets: I64, pack_node_ops: I64,
    node_op_offsets: I64, graph_nodes: I64, in_offsets: I64, edge_source: I32, pack_nodes: I64,
    found: I64,
) -> None:  # fmt: skip
    """Write to `found` for each node of each pack the node at whose end the same holds as at its.

    A node begins as not known; it takes over what its edges agree on, else it is its own.
    """
    for pack in range(n_packs):
        graph = pack_graph[pack]
        nodes = graph_nodes[graph]
        n_nodes, at = graph_nodes[graph + 1] - nodes, pack_nodes[pack]
        first = in_offsets[nodes + graph]
        for node in range(n_nodes):
            place = pack_node_ops[pack] + node
            has_ops = node_op_offsets[place] < node_op_offsets[place + 1]
            found[at + node] = node if has_ops or node == 0 else -1
        changed = True
        while changed:
            changed = False
            for node in range(n_nodes):
                if found[at + node] == node:
                    continue
                agreed = -1
                for edge in range(
                    in_offsets[nodes + graph + node], in_offsets[nodes + graph + node + 1]
                ):
                    source = found[at + edge_source[edge]]
                    if source < 0:
                        continue
                    place = pack_edge_ops[pack] + edge - first
                    has_ops = edge_op_offsets[place] < edge_op_offsets[place + 1]
                    if has_ops or (agreed >= 0 and agreed != source):
                        agreed = node
                        break
                    agreed = source
                if agreed != found[at + node]:
                    found[at + node] = agreed if found[at + node] < 0 else node
                    changed = True


def sparse(problem: FlowProblem) -> tuple[FlowProblem, I64]:
    """Return a problem with the same answers, and the nodes kept, one pack after the other."""
    n_nodes, n_edges = problem.n_nodes, problem.n_edges
    nodes_at, edges_at = offsets_of(n_nodes), offsets_of(n_edges)
    found = np.empty(int(nodes_at[-1]), np.int64)
    columns = problem.columns()
    with sized(len(found) * _INTERPRETED_S_A_NODE, UNIT):
        represent(
            problem.n_packs, problem.graph, columns[5], problem.edge_ops, columns[7],
            problem.node_ops, problem.graphs.nodes, problem.graphs.in_offsets,
            problem.graphs.edge_source, nodes_at[:-1], found,
        )  # fmt: skip
    pack, node = ragged(np.zeros(problem.n_packs, np.int64), n_nodes)
    is_kept = found == node
    number = np.cumsum(is_kept) - 1
    kept_at = np.append(0, np.cumsum(is_kept))[nodes_at]
    number -= np.repeat(kept_at[:-1], n_nodes)
    source, target, ops = _edges(problem, nodes_at, edges_at, found, is_kept, number)
    return _built(problem, pack[is_kept], node[is_kept], kept_at, source, target, ops), node[
        is_kept
    ]


def _edges(
    problem: FlowProblem, nodes_at: I64, edges_at: I64, found: I64, is_kept: Bools, number: I64
) -> tuple[I64, I64, I64]:
    """Return the edges that lead to kept nodes, by pack and target: source, target, operations.

    Nodes are numbered through all packs here; operations are places in `edge_ops`. Of several
    edges without operations between two nodes there is one.
    """
    graphs = problem.graphs
    first = graphs.in_offsets[graphs.nodes[:-1] + np.arange(len(graphs.nodes) - 1)]
    pack, edge = ragged(first[problem.graph], first[problem.graph] + problem.n_edges)
    ends = np.delete(graphs.in_offsets, graphs.nodes[1:-1] + np.arange(1, len(first)))
    lengths: I64 = ends[1:] - ends[:-1]
    target_of = np.repeat(np.arange(int(graphs.nodes[-1])), lengths)
    target = nodes_at[pack] + target_of[edge] - graphs.nodes[problem.graph[pack]]
    source = nodes_at[pack] + graphs.edge_source[edge]
    source = nodes_at[pack] + found[source]
    ops = np.arange(len(edge)) + pack  # one number more for each pack before
    has_ops = problem.edge_ops[ops] < problem.edge_ops[ops + 1]
    keep = is_kept[target]
    source, target, ops, has_ops = source[keep], target[keep], ops[keep], has_ops[keep]
    order = np.lexsort((ops, source, target))
    source, target, ops, has_ops = source[order], target[order], ops[order], has_ops[order]
    plain = np.flatnonzero(~has_ops)
    again = np.zeros(len(source), bool)
    again[plain[1:]] = (np.diff(source[plain]) == 0) & (np.diff(target[plain]) == 0)
    return source[~again], target[~again], ops[~again]


def _built(
    problem: FlowProblem, pack: I64, node: I64, kept_at: I64, source: I64, target: I64, ops: I64
) -> FlowProblem:
    from kleene.kernels.octagon_flow import FlowGraphs

    n_packs = problem.n_packs
    nodes_at = offsets_of(problem.n_nodes)
    kept = nodes_at[pack] + node  # nodes numbered through all packs, as `source` and `target`
    source, target = np.searchsorted(kept, source), np.searchsorted(kept, target)
    of_edge = pack[target] if len(target) else target
    extra = np.arange(n_packs)
    by_source = np.argsort(source, kind="stable")
    slot = np.arange(len(kept)) + pack  # where the offsets of a node are: one more for each pack
    ins = _offsets(np.bincount(target, minlength=len(kept)), slot, len(kept) + n_packs)
    outs = _offsets(np.bincount(source, minlength=len(kept)), slot, len(kept) + n_packs)
    is_head = np.zeros(len(kept), np.uint8)
    is_head[target[source >= target]] = 1
    graphs = FlowGraphs(
        kept_at, ins, (source - kept_at[of_edge]).astype(np.int32), outs,
        (target - kept_at[of_edge])[by_source].astype(np.int32), is_head,
    )  # fmt: skip
    edge_ends = problem.edge_ops[ops], problem.edge_ops[ops + 1]
    at = nodes_at[pack] + pack + node
    node_ends = problem.node_ops[at], problem.node_ops[at + 1]
    _, edge_places = ragged(*edge_ends)
    _, node_places = ragged(*node_ends)
    n_edges = np.bincount(of_edge, minlength=n_packs)
    edge_slot = np.arange(len(ops)) + of_edge
    edge_ops = _offsets(edge_ends[1] - edge_ends[0], edge_slot, int(n_edges.sum()) + n_packs)
    node_ops = _offsets(node_ends[1] - node_ends[0], slot, len(kept) + n_packs)
    places = np.concatenate([edge_places, node_places])
    return replace(
        problem, graphs=graphs, graph=extra, edge_ops=edge_ops,
        node_ops=node_ops + len(edge_places),
        **{name: getattr(problem, name)[places]
           for name in ("code", "first", "second", "least", "most")},
    )  # fmt: skip


def _offsets(counts: I64, slot: I64, n_slots: int) -> I64:
    """Return where the items of slots begin, for counts of some of the slots; others have none."""
    lengths = np.zeros(n_slots, np.int64)
    lengths[slot] = counts
    return offsets_of(lengths)[:-1]

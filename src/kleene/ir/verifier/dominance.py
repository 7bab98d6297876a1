"""Round 4: every definition dominates its uses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.graphs import DominatorTree, Graph, dominators
from kleene.ir.codes import Opcode, ValueKind
from kleene.ir.program import Program
from kleene.ir.verifier.operands import Uses
from kleene.ir.verifier.report import Report


def check_dominance(program: Program, report: Report) -> None:
    """Check that each use of an instruction is dominated by it; a phi uses at an edge's source.

    All functions are one graph with their entries as roots.
    """
    starts = program.function_table.block_offsets
    offsets, targets = program.successors
    graph = Graph(offsets.astype(np.int64), targets)
    tree = dominators(graph, starts[:-1][np.diff(starts) > 0])
    uses, base = Uses.of(program), program.bases[ValueKind.INSTRUCTION]
    chosen = np.flatnonzero((uses.value >= base) & (uses.opcode != Opcode.OPAQUE))
    definition, user = uses.value[chosen] - base, uses.user[chosen]
    block = program.instructions.block
    is_phi = uses.opcode[chosen] == Opcode.PHI
    source = uses.value[chosen + is_phi] - program.bases[ValueKind.BLOCK]
    at = np.where(is_phi, source, block[user])
    fine = _dominates(tree, block[definition], at)
    is_same = (block[definition] == at) & ~is_phi
    fine &= ~is_same | (definition < user)
    fine &= _on_edge(program, tree, graph, definition, user, at)
    reached = tree.pre[at] >= 0
    bad = user[~fine & reached & (tree.pre[block[user]] >= 0)]
    report.instructions("dominance", bad, "an operand is not defined on every way to this use")


def _dominates(tree: DominatorTree, above: Any, below: Any) -> NDArray[np.bool_]:
    pre = tree.pre[below]
    return np.asarray((tree.pre[above] <= pre) & (pre <= tree.last[above]), bool)


def _on_edge(
    program: Program,
    tree: DominatorTree,
    graph: Graph,
    definition: NDArray[Any],
    user: NDArray[Any],
    at: NDArray[Any],
) -> NDArray[np.bool_]:
    """Return which uses of an invoke's result lie behind its edge to the normal target.

    The edge dominates its target if all others into it come from blocks the target dominates.
    """
    table = program.instructions
    fine = np.ones(len(definition), bool)
    late = np.flatnonzero(table.opcode[definition] == Opcode.INVOKE)
    if not len(late):
        return fine
    sources, targets = graph.edges()
    entering = ~_dominates(tree, targets, sources) & (tree.pre[sources] >= 0)
    n_entering = np.bincount(targets[entering], minlength=graph.n_nodes)
    invoke, low = definition[late], program.bases[ValueKind.BLOCK]
    normal = table.operands[table.offsets[invoke + 1] - 2] - low
    over_edge = (table.opcode[user[late]] == Opcode.PHI) & (at[late] == table.block[invoke])
    over_edge &= table.block[user[late]] == normal
    behind = _dominates(tree, normal, at[late]) & (n_entering[normal] == 1)
    fine[late] = over_edge | behind
    return fine

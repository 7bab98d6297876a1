"""The whole answer as a table; the call graph as DOT."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.points_to.answers.call_graph import CallGraph, CallKind
from kleene.analyses.points_to.answers.naming import KIND_WORDS, Naming
from kleene.analyses.points_to.memory_model import AllocationKind, ConstraintSystem
from kleene.base.arrays import offsets_of, ragged
from kleene.ir import Program
from kleene.ir.codes import ValueKind
from kleene.results import Coded, Table
from kleene.solvers.inclusion import Solution

UNKNOWN = "unknown"


def facts_of(
    program: Program, system: ConstraintSystem, solution: Solution, naming: Naming
) -> Table:
    """Return what every register, storage and function result may hold, a pair for each row.

    The columns are `pointer`, `object`, and the object's `kind` and `place`. The object `unknown`
    stands for all that escaped, and what is outside the program.
    """
    nodes = _named_nodes(program, system, solution)
    pointer, object = _pairs(solution, nodes)
    unknown = np.flatnonzero(solution.unknown[nodes]).astype(np.int32)
    is_used = np.zeros(system.problem.n_objects, bool)
    is_used[object] = True
    used = np.flatnonzero(is_used)
    object = (np.cumsum(is_used) - 1)[object]
    kinds = [_kind_and_place(system, naming, o) for o in used.tolist()]
    pointer = np.concatenate([pointer, unknown])
    held = np.concatenate([object, np.full(len(unknown), len(used))]).astype(np.int32)
    pointers = [naming.node(node) or "" for node in nodes.tolist()]
    objects = [*(naming.object(o) for o in used.tolist()), UNKNOWN]
    return Table(
        {
            "pointer": Coded(pointer, pointers),
            "object": Coded(held, objects),
            "kind": Coded(held, [*(kind for kind, _ in kinds), UNKNOWN]),
            "place": Coded(held, [*(place for _, place in kinds), ""]),
        }
    )


def _named_nodes(
    program: Program, system: ConstraintSystem, solution: Solution
) -> NDArray[np.int64]:
    """Return the nodes that have a name and hold something, in the order of the program."""
    named = np.zeros(system.problem.n_nodes, bool)
    first = program.bases[ValueKind.ARGUMENT]
    named[first : program.n_values] = system.may_hold_pointer[first : program.n_values]
    for group in (system.problem.contents, system.result_node):
        named[group[group >= 0]] = True
    holds = (solution.rows.sizes() > 0)[solution.row_of] | solution.unknown
    return np.flatnonzero(named & holds)


def _pairs(
    solution: Solution, nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return (place in nodes, object) for each fact; equal rows are unpacked once."""
    rows, which = np.unique(solution.row_of[nodes], return_inverse=True)
    sets = [solution.rows.objects(row) for row in rows.tolist()]
    offsets = offsets_of([len(s) for s in sets])
    flat = np.concatenate(sets) if sets else np.empty(0, np.int64)
    pointer, place = ragged(offsets[which], offsets[which + 1])
    return pointer.astype(np.int32), flat[place]


def _kind_and_place(system: ConstraintSystem, naming: Naming, object: int) -> tuple[str, str]:
    allocation = system.locations.allocation[object]
    site = int(system.allocations.site[allocation])
    kind = KIND_WORDS[AllocationKind(system.allocations.kind[allocation])]
    return kind, (naming.place_of(site) or "") if site >= 0 else ""


_STYLES = {CallKind.DIRECT: "solid", CallKind.INDIRECT: "dashed", CallKind.CALLBACK: "dotted"}


def to_dot(graph: CallGraph) -> str:
    """Return a call graph in DOT: dashed edges go through pointers, dotted ones are callbacks."""
    edges = {(edge.caller, edge.callee, edge.kind): None for edge in graph.edges}
    used = {name for caller, callee, _ in edges for name in (caller, callee)}
    lines = ['digraph "call graph" {', '  node [shape=box, fontname="monospace"];']
    lines += [f"  {_quoted(name)};" for name in graph.functions if name in used]
    lines += [
        f"  {_quoted(caller)} -> {_quoted(callee)} [style={_STYLES[kind]}];"
        for caller, callee, kind in edges
        if caller
    ]
    leaving = {site.caller: None for site in graph.sites if site.may_leave and site.caller}
    if leaving:
        lines.append('  "?" [label="unknown", shape=ellipse];')
        lines += [f'  {_quoted(caller)} -> "?" [style=dashed];' for caller in leaving]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

"""The whole answer as columns: plain, Arrow, Parquet; the call graph as DOT."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.points_to.answers.call_graph import CallGraph, CallKind
from kleene.analyses.points_to.answers.naming import KIND_WORDS, Naming
from kleene.analyses.points_to.model import AllocationKind, Statement
from kleene.base.errors import SourceError, Span
from kleene.ir import Program
from kleene.ir.codes import ValueKind
from kleene.solvers.inclusion import Solution

if TYPE_CHECKING:
    from pyarrow import Table

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Every (pointer, object) pair as numbers, and the names behind them.

    The last object is `unknown`: all that escaped, and what is outside the program.
    """

    pointer: NDArray[np.int32]  # place in pointers
    object: NDArray[np.int32]  # place in objects
    pointers: list[str]
    objects: list[str]
    kinds: list[str]  # per object
    places: list[str]  # per object: file:line:column, or empty

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return equally long columns of text, ready for a data frame."""
        texts = {"object": self.objects, "kind": self.kinds, "place": self.places}
        found = {"pointer": np.array(self.pointers, object)[self.pointer]}
        return found | {name: np.array(t, object)[self.object] for name, t in texts.items()}


def facts_of(program: Program, statement: Statement, solution: Solution, naming: Naming) -> Facts:
    """Return what every register, storage and function result may hold."""
    nodes = _named_nodes(program, statement, solution)
    pointer, object = _pairs(solution, nodes)
    unknown = np.flatnonzero(solution.unknown[nodes]).astype(np.int32)
    is_used = np.zeros(statement.problem.n_objects, bool)
    is_used[object] = True
    used = np.flatnonzero(is_used)
    object = (np.cumsum(is_used) - 1)[object]
    kinds = [_kind_and_place(statement, naming, o) for o in used.tolist()]
    return Facts(
        np.concatenate([pointer, unknown]),
        np.concatenate([object, np.full(len(unknown), len(used))]).astype(np.int32),
        [naming.node(node) or "" for node in nodes.tolist()],
        [*(naming.object(o) for o in used.tolist()), UNKNOWN],
        [*(kind for kind, _ in kinds), UNKNOWN],
        [*(place for _, place in kinds), ""],
    )


def _named_nodes(program: Program, statement: Statement, solution: Solution) -> NDArray[np.int64]:
    """Return the nodes that have a name and hold something, in the order of the program."""
    named = np.zeros(statement.problem.n_nodes, bool)
    first = program.bases[ValueKind.ARGUMENT]
    named[first : program.n_values] = statement.is_tracked[first : program.n_values]
    for group in (statement.problem.contents, statement.result_node):
        named[group[group >= 0]] = True
    holds = (solution.rows.sizes() > 0)[solution.row_of] | solution.unknown
    return np.flatnonzero(named & holds)


def _pairs(
    solution: Solution, nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return (place in nodes, object) for each fact; equal rows are unpacked once."""
    rows, which = np.unique(solution.row_of[nodes], return_inverse=True)
    sets = [solution.rows.objects(row) for row in rows.tolist()]
    lengths = np.array([len(s) for s in sets], np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])[:-1]
    flat = np.concatenate(sets) if sets else np.empty(0, np.int64)
    n_each = lengths[which]
    pointer = np.repeat(np.arange(len(nodes), dtype=np.int32), n_each)
    within = np.arange(n_each.sum()) - np.repeat(np.cumsum(n_each) - n_each, n_each)
    return pointer, flat[np.repeat(starts[which], n_each) + within]


def _kind_and_place(statement: Statement, naming: Naming, object: int) -> tuple[str, str]:
    allocation = statement.places.allocation[object]
    site = int(statement.allocations.site[allocation])
    kind = KIND_WORDS[AllocationKind(statement.allocations.kind[allocation])]
    return kind, (naming.place_of(site) or "") if site >= 0 else ""


def to_arrow(facts: Facts) -> Table:
    """Return the facts as an Arrow table whose texts are kept once.

    Raises:
        SourceError: the package pyarrow is absent (`points-to/needs-pyarrow`).
    """
    pyarrow = _pyarrow()
    object_ids = pyarrow.array(facts.object)

    def column(ids: Any, texts: list[str]) -> Any:
        return pyarrow.DictionaryArray.from_arrays(ids, pyarrow.array(texts, pyarrow.string()))

    return pyarrow.table(
        {
            "pointer": column(pyarrow.array(facts.pointer), facts.pointers),
            "object": column(object_ids, facts.objects),
            "kind": column(object_ids, facts.kinds),
            "place": column(object_ids, facts.places),
        }
    )


def to_parquet(facts: Facts, path: str | os.PathLike[str]) -> None:
    """Write the facts as a Parquet file.

    Raises:
        SourceError: the package pyarrow is absent, or the file cannot be written.
    """
    table = to_arrow(facts)
    from pyarrow import parquet

    try:
        parquet.write_table(table, os.fspath(path))
    except OSError as error:
        cause = error.strerror or str(error)
        raise SourceError(Span(os.fspath(path)), "points-to/cannot-write", cause) from None


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        message = "Arrow and Parquet need the package pyarrow"
        note = "install it: pip install 'kleene[arrow]'; JSON and DOT need nothing"
        raise SourceError(None, "points-to/needs-pyarrow", message, note) from None
    return pyarrow


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

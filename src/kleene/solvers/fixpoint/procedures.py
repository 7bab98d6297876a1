"""The equations of procedures that call each other, recursion included.

Every procedure has one value for each of its nodes, whoever calls: the analysis is insensitive to
contexts. All procedures are solved as one system, whose weak topological order follows calls and
returns: callees are computed between the call and what comes after it, and recursive procedures
are components with widening at their entries.

        call ──enter──► entry of callee
          │                   ⋮
          │             exit of callee
          ▼                   │
    after the call ◄──leave───┘
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, Protocol

from kleene.graphs import Graph
from kleene.solvers.fixpoint.equations import D, incoming_edges


@dataclass(frozen=True, slots=True, eq=False)
class Procedure:
    """The control flow of one procedure, the node it begins with, and those after which it ends."""

    graph: Graph
    exits: tuple[int, ...]
    entry: int = 0


@dataclass(frozen=True, slots=True)
class CallSite:
    """A node of a procedure that calls one of several others.

    Attributes:
        caller: the procedure.
        node: the node of its graph; nothing else happens there.
        callees: the procedures that may be called.
        may_leave: whether code outside the system may be called too; then `after` says what the
            node does.
    """

    caller: int
    node: int
    callees: tuple[int, ...]
    may_leave: bool = False


class Effects(Protocol[D]):
    """What the nodes, edges and calls of procedures do to a value; asked for no bottom."""

    def after(self, procedure: int, node: int, before: D) -> D:
        """Return what holds after a node."""

    def along(self, procedure: int, edge: int, after: D) -> D:
        """Return what holds behind an edge of the procedure's graph."""

    def enter(self, site: CallSite, callee: int, before: D) -> D:
        """Return what holds where a callee begins, if `before` holds before the call."""

    def leave(self, site: CallSite, callee: int, before: D, result: D) -> D:
        """Return what holds after a call, if `result` holds where the callee ends."""


class Procedures(Generic[D]):
    """The equations of a system of procedures.

    The value of a node is what holds before it. `node(p, v)` is the number of node `v` of procedure
    `p` among all, and `exit(p)` that of the value with which `p` ends.

    Args:
        procedures: their control flow.
        sites: the calls among them, at most one at a node.
        effects: what they do.
        entry: what holds where the procedures begin that are called from outside.
        bottom: the least value.
    """

    def __init__(
        self,
        procedures: Sequence[Procedure],
        sites: Iterable[CallSite],
        effects: Effects[D],
        entry: Mapping[int, D],
        bottom: D,
    ) -> None:
        sizes = [procedure.graph.n_nodes + 1 for procedure in procedures]
        self._starts = [0, *accumulate(sizes)]
        self._procedures = procedures
        self._effects = effects
        self._incoming = [incoming_edges(procedure.graph) for procedure in procedures]
        self._owner = [p for p, size in enumerate(sizes) for _ in range(size)]
        self._site_at = {(site.caller, site.node): site for site in sites}
        self._entry = {self.node(p, procedures[p].entry): value for p, value in entry.items()}
        self._callers: dict[int, list[tuple[CallSite, int]]] = {}
        for site in self._site_at.values():
            for callee in site.callees:
                begin = self.node(callee, procedures[callee].entry)
                self._callers.setdefault(begin, []).append((site, callee))
        edges = sorted(set(self._reads()))
        self.graph = Graph.from_edges(self._starts[-1], *([e[i] for e in edges] for i in (0, 1)))
        self.roots = sorted(self._entry)
        self.bottom = bottom

    def node(self, procedure: int, node: int) -> int:
        """Return the number of a procedure's node."""
        return self._starts[procedure] + node

    def exit(self, procedure: int) -> int:
        """Return the number of the value with which a procedure ends."""
        return self._starts[procedure + 1] - 1

    def evaluate(self, node: int, values: Sequence[D]) -> D:
        """Return what flows into a node: from the nodes before it, or from the calls of it."""
        found = self._entry.get(node, self.bottom)
        for flowing in self._flowing(node, values):
            found = flowing if found.is_bottom() else found.join(flowing)
        return found

    def _flowing(self, node: int, values: Sequence[D]) -> Iterator[D]:
        procedure = self._owner[node]
        if node == self.exit(procedure):
            for last in self._procedures[procedure].exits:
                yield from self._after(procedure, last, values)
            return
        for source, edge in self._incoming[procedure][node - self._starts[procedure]]:
            for after in self._after(procedure, source, values):
                yield self._effects.along(procedure, edge, after)
        for site, callee in self._callers.get(node, ()):
            before = values[self.node(site.caller, site.node)]
            if not before.is_bottom():
                yield self._effects.enter(site, callee, before)

    def _after(self, procedure: int, node: int, values: Sequence[D]) -> Iterator[D]:
        """Yield what may hold after a node: one value, or one for each callee that comes back."""
        before = values[self.node(procedure, node)]
        if before.is_bottom():
            return
        site = self._site_at.get((procedure, node))
        if site is None or site.may_leave:
            yield self._effects.after(procedure, node, before)
        if site is None:
            return
        for callee in site.callees:
            result = values[self.exit(callee)]
            if not result.is_bottom():
                yield self._effects.leave(site, callee, before, result)

    def _reads(self) -> Iterator[tuple[int, int]]:
        """Yield who is read by whom."""
        for p, procedure in enumerate(self._procedures):
            sources, targets = procedure.graph.edges()
            for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
                yield from ((u, self.node(p, target)) for u in self._read_after(p, source))
            for last in procedure.exits:
                yield from ((u, self.exit(p)) for u in self._read_after(p, last))
        for begin, callers in self._callers.items():
            yield from ((self.node(site.caller, site.node), begin) for site, _ in callers)

    def _read_after(self, procedure: int, node: int) -> Iterator[int]:
        """Yield the numbers that `_after` reads."""
        yield self.node(procedure, node)
        if (site := self._site_at.get((procedure, node))) is not None:
            yield from (self.exit(callee) for callee in site.callees)

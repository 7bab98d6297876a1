"""Who may call whom, where, and why: call graphs of C functions and of Scheme procedures alike.

A `CallGraph` is columns over call sites, and a list of target functions for each site (CSR):

    site            0     1     2            per site: call, caller, kind, callee, may_leave
    target_offsets  0     1     3      5
    targets         4  |  1  2  |  1  3      functions, as numbers

`CallSite` and `CallEdge` show single rows by name. One more node, number `n_functions` and called
`(outside)`, stands for all code outside the program. It calls the functions that escaped, and those
it enters (`entries`); it is called by the sites that may leave the program, and by functions
without body or model, since they may call back:

    leaving site ──►             ┌──► escaped functions: callbacks handed to unknown code
    opaque function ──► (outside) ──► entries: main, constructors, exported functions

A site that may leave reaches every function that escaped besides its targets; these edges are not
listed one by one, for there may be millions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum
from functools import cached_property
from itertools import repeat
from typing import TypeVar

import numpy as np

from kleene.base.arrays import I32, I64, U8, Bools, Ints, csr, distinct, offsets_of, ragged
from kleene.base.errors import SourceError, Span
from kleene.results.drawing import Edge, Graph, Node
from kleene.results.explanation import Explanation
from kleene.results.naming import Naming
from kleene.results.table import Table

DIRECT, INDIRECT, CALLBACK = range(3)
OUTSIDE = "(outside)"  # the name of all code outside: no function of C or Scheme is called so


class CallKind(StrEnum):
    """How a function is called; in the column `kind` the first is 0."""

    DIRECT = "direct"  # by its name, or where it is written
    INDIRECT = "indirect"  # through a pointer, or a variable that holds a procedure
    CALLBACK = "callback"  # by a library function, primitive or code outside that was given it


_KINDS = tuple(CallKind)
_Items = TypeVar("_Items", I32, I64)
_STYLES = {CallKind.DIRECT: "solid", CallKind.INDIRECT: "dashed", CallKind.CALLBACK: "dotted"}


@dataclass(frozen=True, slots=True)
class CallEdge:
    """One function may call another at one location."""

    caller: str  # or OUTSIDE
    location: str | None  # file:line:column
    kind: CallKind
    callee: str  # or OUTSIDE


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call, and all it may reach: a view of one row of a call graph."""

    graph: CallGraph = field(repr=False)
    id: int

    @property
    def caller(self) -> str:
        """The function that the call stands in; OUTSIDE where no code of the program makes it."""
        return self.graph.name(int(self.graph.caller[self.id]))

    @property
    def kind(self) -> CallKind:
        """How it calls."""
        return _KINDS[int(self.graph.kind[self.id])]

    @property
    def location(self) -> str | None:
        """Where it stands: file:line:column."""
        return self.graph.naming.location(self._location)

    @property
    def span(self) -> Span | None:
        """Where it stands, with the whole path of the file."""
        return self.graph.naming.span(self._location)

    @property
    def through(self) -> str:
        """The pointer or variable that is called; nothing for a direct call."""
        node = int(self.graph.callee[self.id])
        return self.graph.naming.readable(node) if node >= 0 else ""

    @property
    def known(self) -> tuple[str, ...]:
        """The functions that were found to be called here."""
        return tuple(self.graph.names(self.graph.targets_of(self.id)))

    @property
    def may_leave(self) -> bool:
        """Whether it may also reach what escaped, and code that the program does not show."""
        return bool(self.graph.may_leave[self.id])

    @property
    def escaped(self) -> tuple[str, ...]:
        """The functions that escaped, if the call may leave."""
        return self.graph.escaped if self.may_leave else ()

    @property
    def targets(self) -> tuple[str, ...]:
        """All functions of the program that it may reach."""
        return tuple(dict.fromkeys((*self.known, *self.escaped)))

    @property
    def is_unresolved(self) -> bool:
        """Whether no function was found that it calls, known or not; a callback may be null."""
        return self.kind == CallKind.INDIRECT and not self.known and not self.may_leave

    def why(self, target: str) -> Explanation:
        """Return the shortest derivation of the fact that the call may reach a target."""
        return self.graph.explain(self.id, target)

    def as_json(self) -> dict[str, object]:
        """Return the call as plain data; `targets` are the known ones."""
        return {
            "caller": self.caller,
            "kind": self.kind.value,
            "location": self.location,
            "through": self.through,
            "targets": list(self.known),
            "may_leave": self.may_leave,
        }

    @property
    def _location(self) -> int:
        call = int(self.graph.call[self.id])
        return self.graph.naming.call_location(call) if call >= 0 else -1


@dataclass(frozen=True, eq=False, repr=False)
class CallGraph:
    """Who may call whom. Functions and sites are numbers; `functions` and `sites` have names.

    Attributes:
        naming: what functions, nodes and locations are called.
        n_functions: how many functions there are, declared ones included.
        call: per site, the row of the call in the program, or -1.
        caller: per site, the function that it stands in, or -1 where no code here makes the call.
        kind: per site, DIRECT, INDIRECT or CALLBACK.
        callee: per site, the node that holds what is called, or -1 for a direct call.
        target_offsets: where the targets of each site begin in `targets`, and the end.
        targets: the functions found to be called at each site, each once.
        may_leave: per site, whether it may reach what escaped, and code outside the program.
        escaped_ids: functions that code outside the program may call.
        entries: functions that code outside enters by itself: main, constructors and the like.
        opaque: functions without body or model: they may call what escaped.
        explain: the derivation of the fact that a site may reach a function, by its name.
        find: the number of the function that a name means; raises where there is none, or several.
    """

    naming: Naming
    n_functions: int
    call: I32
    caller: I32
    kind: U8
    callee: I32
    target_offsets: I64
    targets: I32
    may_leave: Bools
    escaped_ids: I32
    entries: I32
    opaque: I32
    explain: Callable[[int, str], Explanation]
    find: Callable[[str], int]

    def __repr__(self) -> str:
        return f"<CallGraph: {self.n_functions} functions, {len(self.call)} calls>"

    # By name

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """All functions, by their numbers."""
        return tuple(self.naming.function(function) for function in range(self.n_functions))

    @property
    def sites(self) -> tuple[CallSite, ...]:
        """Every call, by its number."""
        return tuple(CallSite(self, site) for site in range(len(self.call)))

    @property
    def indirect(self) -> tuple[CallSite, ...]:
        """The calls whose targets had to be found: through pointers or variables, and callbacks."""
        return tuple(CallSite(self, site) for site in np.flatnonzero(self.kind != DIRECT).tolist())

    @cached_property
    def escaped(self) -> tuple[str, ...]:
        """The functions that code outside the program, and calls of the unknown, may reach."""
        return tuple(self.names(self.escaped_ids))

    @property
    def edges(self) -> tuple[CallEdge, ...]:
        """Every call, each target once; in a program full of unknown calls there may be many."""
        return tuple(
            dict.fromkeys([*self._edges("known"), *self._edges("escaped"), *self._outer()])
        )

    def callees(self, function: str | int) -> list[str]:
        """Return whom a function may call, each once; the list is kept, and not to be changed.

        Raises:
            SourceError: no function is called so, with the nearest names; or several are.
        """
        if function not in self._callee_names:
            self._callee_names[function] = self.names(self.callee_ids(self.id(function)))
        return self._callee_names[function]

    def callers(self, function: str | int) -> list[str]:
        """Return who may call a function, each once; the list is kept, and not to be changed.

        Raises:
            SourceError: as `callees` does.
        """
        if function not in self._caller_names:
            self._caller_names[function] = self.names(self.caller_ids(self.id(function)))
        return self._caller_names[function]

    def reachable(self, function: str | int) -> list[str]:
        """Return the function and all it may call, directly, indirectly, or from outside.

        Raises:
            SourceError: as `callees` does.
        """
        start = self.id(function)
        found = self.reached(start)
        if start == self.n_functions:
            for entry in self.entries.tolist():
                found |= self.reached(entry)
        return self.names(np.flatnonzero(found[:-1]))

    def at(self, location: str) -> list[CallSite]:
        """Return the calls at a location: `queue.c:27`, with or without column.

        Raises:
            SourceError: no call is there (`call-graph/no-such-call`), with the nearest ones.
        """
        if location not in self._sites_at:
            raise self._no_call(location)
        return [CallSite(self, site) for site in self._sites_at[location]]

    def within(self, function: str | int) -> CallGraph:
        """Return the part of the graph that a function reaches; all numbers of functions stay."""
        reached = self.reached(self.id(function))
        kept = np.flatnonzero(reached[self.caller])  # that of -1 is the last: the outside
        offsets = self.target_offsets
        columns = ("call", "caller", "kind", "callee", "may_leave")
        return replace(
            self,
            target_offsets=offsets_of(self.n_targets[kept]),
            targets=self.targets[ragged(offsets[kept], offsets[kept + 1])[1]],
            escaped_ids=self.escaped_ids if reached[-1] else self.escaped_ids[:0],
            entries=self.entries[:0],
            opaque=self.opaque[reached[self.opaque]],
            explain=lambda site, target: self.explain(int(kept[site]), target),
            **{name: getattr(self, name)[kept] for name in columns},
        )

    # By number

    def id(self, function: str | int) -> int:
        """Return the number of a function, `n_functions` for OUTSIDE.

        Raises:
            SourceError: no function is called so, with the nearest names; or several are.
            IndexError: there is no function of that number.
        """
        if isinstance(function, str):
            return self._ids[function] if function in self._ids else self.find(function)
        if not 0 <= function <= self.n_functions:
            raise IndexError(f"a function is a number from 0 to {self.n_functions - 1}")
        return function

    def name(self, function: int) -> str:
        """Return the name of a function; OUTSIDE for `n_functions`, and for -1."""
        return self.functions[function] if 0 <= function < self.n_functions else OUTSIDE

    def names(self, functions: Ints) -> list[str]:
        """Return the names of functions."""
        every = (*self.functions, OUTSIDE)
        return [every[function] for function in functions.tolist()]

    @property
    def n_targets(self) -> I64:
        """Per site: how many functions were found to be called there."""
        return np.diff(self.target_offsets)

    def targets_of(self, site: int) -> I32:
        """Return the functions found to be called at a site."""
        return self.targets[self.target_offsets[site] : self.target_offsets[site + 1]]

    def sites_in(self, function: int) -> I64:
        """Return the calls that stand in a function."""
        return _row(self._by_caller, function)

    def callee_ids(self, function: int) -> I32:
        """Return whom a function may call, each once, in the order of its calls; OUTSIDE last."""
        found, outside = _row(self._callees, function), np.array([self.n_functions], np.int32)
        if function == self.n_functions:
            return _each_once([found, self.escaped_ids, self.entries])
        if self.may_leave[self.sites_in(function)].any():
            return _each_once([found, self.escaped_ids, outside])
        return np.append(found, outside) if function in self.opaque else found

    def caller_ids(self, function: int) -> I32:
        """Return who may call a function, each once, in the order of the calls; OUTSIDE last."""
        if function == self.n_functions:
            return _each_once([self._leaving, self.opaque])
        found, outside = _row(self._callers, function), np.array([self.n_functions], np.int32)
        if function in self.escaped_ids:
            return _each_once([found, self._leaving, outside])
        return _each_once([found, outside]) if function in self.entries else found

    def callers_by_distance(self, functions: Iterable[int], depth: int) -> dict[int, int]:
        """Return who may call one of the functions, through at most `depth` calls: by how many."""
        level, found = set(functions), dict[int, int]()
        for distance in range(1, depth + 1):
            level = {caller for f in level for caller in self.caller_ids(f).tolist()} - set(found)
            found |= dict.fromkeys(level, distance)
        return found

    def reached(self, function: int) -> Bools:
        """Return for each function, and last for the outside, whether one node reaches it."""
        offsets, targets = self._successors
        found = np.zeros(self.n_functions + 1, bool)
        waiting: Ints = np.array([function] if function >= 0 else [], np.int64)
        while len(waiting):
            found[waiting] = True
            following = targets[ragged(offsets[waiting], offsets[waiting + 1])[1]]
            is_new = np.zeros(len(found), bool)
            is_new[following] = True
            waiting = np.flatnonzero(is_new & ~found)
        return found

    def links(self, *, callbacks_from_outside: bool = False) -> tuple[I32, I32]:
        """Return who may call whom as (callers, callees); the last function is the outside.

        With `callbacks_from_outside` the outside makes all callbacks, at any time, in any thread.
        Entries are left out: nothing that runs calls them.
        """
        outside = self.n_functions
        from_outside = self.caller < 0
        if callbacks_from_outside:
            from_outside = from_outside | (self.kind == CALLBACK)
        callers = np.where(from_outside, outside, self.caller)
        leaving = distinct(np.concatenate([self._leaving, self.opaque]))
        sources = [np.repeat(callers, self.n_targets), np.full(len(self.escaped_ids), outside)]
        targets = [self.targets, self.escaped_ids, np.full(len(leaving), outside)]
        ends = (np.concatenate([*sources, leaving]), np.concatenate(targets))
        return ends[0].astype(np.int32), ends[1].astype(np.int32)

    # As text

    def as_json(self) -> dict[str, object]:
        """Return the graph as plain data; a site that may leave also reaches `escaped`."""
        return {
            "functions": list(self.functions),
            "escaped": list(self.escaped),
            "outside": self.outside_as_json(),
            "sites": [site.as_json() for site in self.sites],
        }

    def outside_as_json(self) -> dict[str, list[str]]:
        """Return whom code outside calls, and who calls it, as plain data."""
        outside = self.n_functions
        return {"calls": self.callees(outside), "called_by": self.callers(outside)}

    def table(self) -> Table:
        """Return a row for each call and known target: caller, location, kind, target.

        Calls from outside come last. Those that leave reach OUTSIDE.
        """
        edges = [*self._edges("known"), *self._outer()]
        return Table(
            {
                "caller": [edge.caller for edge in edges],
                "location": [edge.location or "" for edge in edges],
                "kind": [edge.kind.value for edge in edges],
                "target": [edge.callee for edge in edges],
            }
        )

    def to_csv(self) -> str:
        """Return `table` as lines of comma-separated values, the names of the columns first."""
        return self.table().to_csv()

    def to_dot(self) -> str:
        """Return the graph in DOT: dashed edges are indirect calls, dotted ones callbacks.

        Calls of what escaped go through the node of code outside.
        """
        edges = [*self._edges("known"), *self._outer()]
        pairs = {(e.caller, e.callee, e.kind): None for e in edges}
        used = {name for caller, callee, _ in pairs for name in (caller, callee)}
        nodes = [Node(name) for name in self.functions if name in used]
        if OUTSIDE in used:
            nodes.append(Node(OUTSIDE, attributes={"shape": "ellipse"}))
        arrows = [Edge(a, b, attributes={"style": _STYLES[kind]}) for a, b, kind in pairs]
        return Graph("call graph", tuple(nodes), tuple(arrows)).dot()

    def difference(self, new: CallGraph) -> dict[str, list[str]]:
        """Return the calls, as text, that a new graph has more and has no more.

        Functions are known by their names without locations, so that lines may move.
        """
        mine, others = self._plain_edges(), new._plain_edges()
        return {"added": sorted(others - mine), "removed": sorted(mine - others)}

    # Parts

    def _edges(self, which: str) -> Iterator[CallEdge]:
        for site in self.sites:
            caller = location = None
            for callee in getattr(site, which):
                if caller is None:
                    caller, location = site.caller, site.location
                yield CallEdge(caller, location, site.kind, callee)

    def _outer(self) -> Iterator[CallEdge]:
        """Yield the calls from outside, and those that leave."""
        called = _each_once([self.escaped_ids, self.entries])
        for name in self.names(called):
            yield CallEdge(OUTSIDE, None, CallKind.CALLBACK, name)
        for site in map(CallSite, repeat(self), np.flatnonzero(self.may_leave).tolist()):
            yield CallEdge(site.caller, site.location, site.kind, OUTSIDE)
        for name in self.names(self.opaque):
            yield CallEdge(name, None, CallKind.INDIRECT, OUTSIDE)

    def _plain_edges(self) -> set[str]:
        callers, callees = self.links()
        callers = np.append(callers, np.full(len(self.entries), self.n_functions))
        pairs = set(zip(callers.tolist(), [*callees.tolist(), *self.entries.tolist()], strict=True))
        names = [*map(self.naming.plain_function, range(self.n_functions)), OUTSIDE]
        return {f"{names[a]} -> {names[b]}" for a, b in pairs}

    def _no_call(self, location: str) -> SourceError:
        """Return the error that no call is at a location, with the nearest that have one."""
        file, _, line = location.partition(":")
        lines = (known for known in self._sites_at if known.count(":") == location.count(":"))
        near = [known for known in lines if known.startswith(f"{file}:")]
        if near and line.partition(":")[0].isdigit():
            wanted = tuple(int(part) for part in line.split(":") if part.isdigit())
            near.sort(key=lambda known: _distance(known, wanted))
        else:
            near = get_close_matches(location, self._sites_at)
        notes = [f"did you mean {' or '.join(near[:3])}?"] if near else []
        return SourceError(None, "call-graph/no-such-call", f"no call is at '{location}'", *notes)

    @cached_property
    def _leaving(self) -> I32:
        """The functions with a call that may leave, each once, in the order of the calls."""
        return _each_once([self.caller[self.may_leave & (self.caller >= 0)]])

    @cached_property
    def _successors(self) -> tuple[I64, I32]:
        callers, callees = self.links()
        offsets, order = csr(callers, self.n_functions + 1)
        return offsets, callees if order is None else callees[order]

    @cached_property
    def _sites_at(self) -> dict[str, list[int]]:
        """The sites at each location, which may be without its last parts: a line, a file."""
        found: dict[str, list[int]] = {}
        for site in self.sites:
            location = site.location or ""
            while location:
                found.setdefault(location, []).append(site.id)
                location = location.rpartition(":")[0]
        return found

    @cached_property
    def _callee_names(self) -> dict[str | int, list[str]]:
        return {}

    @cached_property
    def _caller_names(self) -> dict[str | int, list[str]]:
        return {}

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {name: function for function, name in enumerate((*self.functions, OUTSIDE))}

    @cached_property
    def _by_caller(self) -> tuple[I64, I64]:
        """The sites of each function, and last those that no code of the program makes."""
        return _grouped(np.where(self.caller < 0, self.n_functions, self.caller), self.n_functions)

    @cached_property
    def _callees(self) -> tuple[I64, I32]:
        """The functions found to be called by each function, and last by the outside, each once."""
        caller, target = self._known_pairs
        return grouped_targets(self.n_functions + 1, *_by(caller, target))

    @cached_property
    def _callers(self) -> tuple[I64, I32]:
        """The functions found to call each function, each once."""
        caller, target = self._known_pairs
        return grouped_targets(self.n_functions, *_by(target, caller))

    @property
    def _known_pairs(self) -> tuple[I32, I32]:
        caller = np.where(self.caller < 0, self.n_functions, self.caller).astype(np.int32)
        return np.repeat(caller, self.n_targets), self.targets


def grouped_targets(n_sites: int, sites: Ints, functions: Ints) -> tuple[I64, I32]:
    """Return the functions of each site, each once and in their order, as CSR; sites ascend."""
    _, first = np.unique(sites.astype(np.int64) << 32 | functions, return_index=True)
    first.sort()
    offsets = np.searchsorted(sites[first], np.arange(n_sites + 1))
    return offsets.astype(np.int64), functions[first].astype(np.int32)


def _each_once(parts: list[I32]) -> I32:
    """Return the numbers of several columns, each once, in the order of their appearance."""
    every = np.concatenate([np.empty(0, np.int32), *parts])
    return every[np.sort(np.unique(every, return_index=True)[1])]


def _grouped(keys: I32, n_keys: int) -> tuple[I64, I64]:
    """Return the places of each key in a column, as CSR; keys of n_keys are in the last list."""
    offsets, order = csr(keys, n_keys + 1)
    return offsets, np.arange(len(keys)) if order is None else order


def _by(keys: I32, items: I32) -> tuple[I32, I32]:
    """Return two columns in the stable order of the first."""
    order = np.argsort(keys, kind="stable")
    return keys[order], items[order]


def _row(rows: tuple[I64, _Items], row: int) -> _Items:
    """Return one list of CSR."""
    offsets, items = rows
    return items[offsets[row] : offsets[row + 1]]


def _distance(location: str, wanted: tuple[int, ...]) -> tuple[int, ...]:
    """Return how far a location is from a line, and from a column in it."""
    parts = location.split(":")[1:]
    return tuple(abs(int(a) - b) for a, b in zip(parts, wanted, strict=False) if a.isdigit())

"""Does the answer cover what a run has shown? Every fact must lie in a set, or be unknown there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations

import numpy as np

from kleene.analyses.points_to.entries import entries_of
from kleene.analyses.points_to.library import builtin, heap_of
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET, AllocationKind, ConstraintSystem
from kleene.analyses.points_to.result import PointsToResult
from kleene.ir import Program
from kleene.ir.codes import Flag, Opcode, TypeKind, ValueKind
from kleene.runtime.pointer_trace import NOTHING, NOWHERE, About, Run
from kleene.solvers.inclusion import Solution
from tests.analyses.points_to.watching import callee_names

_MADE = (AllocationKind.HEAP, AllocationKind.EXCEPTION)
_LIBRARYS_OWN = (  # storage that the trace does not see being made
    AllocationKind.STATIC,
    AllocationKind.COMMAND_LINE,
    AllocationKind.VARIADIC,
    AllocationKind.EXCEPTION,  # a landing pad gets its header, which the library keeps
)


def made_by(program: Program, system: ConstraintSystem) -> tuple[np.ndarray, np.ndarray]:
    """Return the calls (values) that return storage of their own, and its kind."""
    table = system.allocations
    types = program.value_types[np.maximum(table.site, 0)]
    returns = np.isin(types, np.flatnonzero(program.types.kind == TypeKind.POINTER))
    is_call = table.site >= program.bases[ValueKind.INSTRUCTION]
    rows = np.flatnonzero(np.isin(table.kind, _MADE) & is_call & returns)
    sites, first = np.unique(table.site[rows], return_index=True)
    return sites, table.kind[rows[first]].astype(np.int32)


def _stands_for(start: np.ndarray, stride: np.ndarray, byte: int) -> np.ndarray:
    """Return which locations of an allocation stand for a byte; an exact one leaves no other.

    Of arrays in arrays more is taken to be there than is: a location tells its inner stride alone.
    """
    exact = (stride == 0) & (start == byte) & (start != UNKNOWN_OFFSET)
    if exact.any():
        return exact
    distance = byte - start
    return (stride > 0) & (distance >= 0) & (distance % np.maximum(stride, 1) == 0)


class Coverage:
    """The answer to one program, asked about single facts."""

    def __init__(self, program: Program, system: ConstraintSystem, solution: Solution) -> None:
        self.program, self.system, self.solution = program, system, solution
        self.of = cache(lambda node: frozenset(solution.of(node).tolist()))
        self.locations_at = cache(self._locations_at)
        self._callees = callee_names(program)
        table = system.allocations
        self.allocations: dict[tuple[int, int], list[int]] = {}
        for row, key in enumerate(zip(table.kind.tolist(), table.site.tolist(), strict=True)):
            self.allocations.setdefault(key, []).append(row)
        outside = PointsToResult(program, system, solution).known_outside
        self.known_outside = frozenset(np.flatnonzero(outside).tolist())
        made, _ = made_by(program, system)
        is_elsewhere = np.isin(table.kind, _LIBRARYS_OWN)
        is_elsewhere |= np.isin(table.kind, _MADE) & ~np.isin(table.site, made)
        is_elsewhere |= np.isin(table.kind, _MADE) & self._stands_for_several(table.site)
        owners = np.flatnonzero(is_elsewhere[system.locations.allocation])
        self.elsewhere = frozenset(owners.tolist())
        is_exception = table.kind[system.locations.allocation] == AllocationKind.EXCEPTION
        self._exceptions = frozenset(np.flatnonzero(is_exception).tolist())

    def _stands_for_several(self, sites: np.ndarray) -> np.ndarray:
        """Return which calls make storage of the library's own: of no size that the caller asks.

        A model gives such a call one object; the library may make several blocks for it (`FTS`).
        """
        base, library = self.program.bases[ValueKind.INSTRUCTION], builtin()
        heaps = {row: heap_of(library.find(name) or ()) for row, name in self._callees.items()}
        rows = [row + base for row, heap in heaps.items() if heap and not heap.factors]
        return np.isin(sites, rows)

    def misses(self, run: Run) -> list[str]:
        """Return what the run showed and the answer does not cover, in words."""
        checks = {
            About.VALUE: self._has_value,
            About.CALL: self._has_call,
            About.ENTRY: self._has_entry,
        }
        found = (fact for fact in run.facts if not checks[About(int(fact["what"]))](fact))
        return [self._words(fact) for fact in found] + list(self._denied_equalities(run))

    def _denied_equalities(self, run: Run) -> Iterator[str]:
        """Yield the pairs of values that held one address of the library's and may not alias.

        Such an address has no site to look for in a set; that two pointers were equal is what the
        run tells of it. One where two pieces of storage meet may be meant as either's: left out.
        So are headers of exceptions: one may lie where that of another was, which is gone.
        """
        facts = run.facts[(run.facts["what"] == About.VALUE) & (run.facts["at"]["kind"] == NOWHERE)]
        facts = facts[(facts["at"]["byte"] != 0) & (facts["or_at"]["kind"] == NOTHING)]
        _, group = np.unique(facts["at"]["byte"], return_inverse=True)
        pairs: set[tuple[int, int]] = set()
        for members in np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))):
            held = {int(value) for value in facts["value"][members]}
            values = sorted(value for value in held if not self.of(value) & self._exceptions)[:200]
            pairs.update(combinations(values, 2))
        if not pairs:
            return
        left, right = np.array(sorted(pairs), np.int32).T
        result = PointsToResult(self.program, self.system, self.solution)
        for pair in np.flatnonzero(~result.may_alias(left, right)).tolist():
            both = [int(left[pair]), int(right[pair])]
            words = [f"{self._place(v)}: {self.program.value_view(v)}" for v in both]
            sets = " and ".join(self.set_text(v) for v in both)
            yield f"{words[0]} == {words[1]}: observed equal; the answer: {sets}"

    def _place(self, value: int) -> str:
        view = self.program.value_view(value)
        function = getattr(getattr(view, "function", None), "name", "")
        return f"{getattr(view, 'span', None) or ''} in {function}"

    def _has_value(self, fact: np.void) -> bool:
        value = int(fact["value"])
        return self._holds(value, fact) or (
            fact["at"]["kind"] == NOWHERE and self._may_be_poison(value)
        )

    def _may_be_poison(self, value: int) -> bool:
        """Return whether an address outside of all storage may be one that is never used.

        Optimised code computes some ahead of the test that keeps them inside; LLVM then calls the
        result of an `inbounds` step poison.
        """
        row = value - self.program.bases[ValueKind.INSTRUCTION]
        table = self.program.instructions
        return (
            row >= 0
            and table.opcode[row] == Opcode.GETELEMENTPTR
            and bool(table.flags[row] & Flag.INBOUNDS)
        )

    def _holds(self, node: int, fact: np.void) -> bool:
        return any(self._reaches(node, fact[side]) for side in ("at", "or_at"))

    def _reaches(self, node: int, location: np.void) -> bool:
        kind, site, byte = location.tolist()
        if kind == NOTHING:
            return False
        if kind == NOWHERE:
            return bool(self.solution.unknown[node] or self.of(node) & self.elsewhere)
        locations = self.locations_at(kind, site, byte)
        if self.solution.unknown[node] and locations & self.known_outside:
            return True
        return bool(self.of(node) & locations)

    def _locations_at(self, kind: int, site: int, byte: int) -> frozenset[int]:
        """Return the locations that stand for a byte of what a site makes.

        One past the end of an array is also where its other elements are: a pointer that walks
        there keeps it, and nothing can be read before it has walked back.
        """
        offsets, locations = self.system.problem.allocation_offsets, self.system.locations
        found: set[int] = set()
        for allocation in self.allocations.get((kind, site), ()):
            rows = np.arange(offsets[allocation], offsets[allocation + 1])
            start, stride = locations.byte[rows], locations.stride[rows]
            is_there = _stands_for(start, stride, byte) | (start == UNKNOWN_OFFSET)
            for step in np.unique(stride[stride > 0]).tolist():
                is_there |= _stands_for(start, stride, byte - step) & (stride == step)
            found |= set(rows[is_there].tolist())
        return frozenset(found)

    def _has_call(self, fact: np.void) -> bool:
        program, system = self.program, self.system
        row = int(fact["value"]) - program.bases[ValueKind.INSTRUCTION]
        kind, site, _ = fact["at"].tolist()
        if not self._holds(int(program.instructions.operands_of(row)[0]), fact):
            return False
        rules = np.flatnonzero(system.origins.call == row)
        is_open = bool(self.solution.calls_outside[rules].any())
        if kind == NOWHERE:
            return is_open or self._reaches_library(rules)
        if kind != AllocationKind.FUNCTION:
            return False
        function = int(program.globals.function[site])
        if [row, function] in system.direct_calls.tolist() or site in self.targets(rules):
            return True
        return is_open and self._has_escaped(site)

    def _has_escaped(self, function: int) -> bool:
        """Return whether a function (a value) is known outside: who calls there may call it."""
        objects = self.locations_at(AllocationKind.FUNCTION, function, 0)
        return any(self.solution.escaped[o] for o in objects)

    def _reaches_library(self, rules: np.ndarray) -> bool:
        """Return whether some call rules reach code of the library that a model stands for."""
        edges = self.solution.call_edges
        objects = self.system.problem.function_object[edges[np.isin(edges[:, 0], rules), 1]]
        owners = self.system.locations.allocation[objects]
        return bool((self.system.allocations.kind[owners] == AllocationKind.STATIC).any())

    def targets(self, rules: np.ndarray) -> set[int]:
        """Return the functions (values) that some call rules reach."""
        edges = np.append(self.solution.call_edges, self.system.overriders, axis=0)
        reached = edges[np.isin(edges[:, 0], rules), 1]
        objects = self.system.problem.function_object[reached]
        owners = self.system.locations.allocation[objects]
        owners = owners[self.system.allocations.kind[owners] == AllocationKind.FUNCTION]
        return set(self.system.allocations.site[owners].tolist())

    def _has_entry(self, fact: np.void) -> bool:
        """Return whether others may call the function: main, what they were given, what escaped."""
        value = int(fact["value"])
        if value in self._entries:
            return True
        return self._has_escaped(value) or value in self.targets(self.system.callbacks[:, 1])

    @property
    def _entries(self) -> set[int]:
        """The functions that the system itself calls: main, and what runs before and after it."""
        return set(self.program.function_table.value[entries_of(self.program)].tolist())

    def _words(self, fact: np.void) -> str:
        program, value = self.program, int(fact["value"])
        what = About(int(fact["what"])).name.lower()
        view = program.value_view(value)
        seen = " or ".join(
            self.object_name(*fact[side].tolist())
            for side in ("at", "or_at")
            if fact[side]["kind"] != NOTHING
        )
        node = value
        if what == "call":
            node = int(program.instructions.operands_of(view.row)[0])
        held = "" if what == "entry" else f"; the answer: {self.set_text(node)}"
        return f"{self._place(value)}: {what} {view}: observed {seen}{held}"

    def set_text(self, node: int) -> str:
        """Return what a node may hold, in words."""
        owner, byte = self.system.locations.allocation, self.system.locations.byte
        table = self.system.allocations
        words = [
            self.object_name(int(table.kind[owner[o]]), int(table.site[owner[o]]), int(byte[o]))
            for o in sorted(self.of(node))[:12]
        ]
        more = ["…"] if len(self.of(node)) > 12 else []
        unknown = ["unknown"] if self.solution.unknown[node] else []
        return "{" + ", ".join([*words, *more, *unknown]) + "}"

    def object_name(self, kind: int, site: int, byte: int) -> str:
        """Return a byte of a piece of storage in words."""
        if kind == NOWHERE:
            return "storage of the library"
        name = ""
        if site >= 0:
            view = self.program.value_view(site)
            owner = getattr(getattr(view, "function", None), "name", "")
            name = f" {owner}:{getattr(view, 'name', '') or view}"
        at = "?" if byte == UNKNOWN_OFFSET else byte
        return f"{AllocationKind(kind).name.lower()}{name}+{at}"

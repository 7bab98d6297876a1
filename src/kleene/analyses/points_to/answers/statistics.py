"""How large the answer is, where it is large, and what it rests on."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import numpy as np

from kleene.analyses.points_to.answers.sets import Solved, explicit
from kleene.results.call_graph import DIRECT, INDIRECT, CallGraph

_N_HOTTEST = 5
_MAXRSS_BYTES = 1024  # the unit of ru_maxrss on Linux


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the work: how long it took, and the most memory the process had by its end."""

    name: str
    seconds: float
    peak_bytes: int


@contextmanager
def timed(name: str, phases: list[Phase]) -> Iterator[None]:
    """Add the phase that the block is to `phases`."""
    start = time.perf_counter()
    yield
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_BYTES
    phases.append(Phase(name, seconds, peak))


@dataclass(frozen=True, slots=True)
class HotSet:
    """One of the largest sets, and who shares it."""

    n_objects: int
    n_pointers: int
    pointer: str  # one of them


@dataclass(frozen=True, slots=True)
class UnknownExternal:
    """A function without body or model: what it is given escapes."""

    name: str
    n_calls: int
    n_objects: int  # that its calls hand over


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sizes of one analysed program."""

    n_functions: int
    n_instructions: int
    n_allocations: int
    n_objects: int
    n_nodes: int
    n_constraints: int
    n_pointers: int  # registers of pointer type
    n_pointing: int  # of these, that hold something known
    n_unknown: int  # of these, that may hold anything that escaped
    n_escaped: int  # objects
    average_set: float  # over the pointers that hold something known
    largest_set: int
    n_call_sites: int  # through pointers, callbacks included
    n_targets: int  # of these, the known ones, all together
    n_leaving_sites: int  # of these, that may also reach what escaped and code outside
    n_unresolved_sites: int  # of these, that reach nothing at all
    n_escaped_functions: int
    hottest: tuple[HotSet, ...]
    unknown_externals: tuple[UnknownExternal, ...]  # the most expensive first
    assumptions: tuple[str, ...]
    phases: tuple[Phase, ...]
    plan: str  # who solved it, and why

    def as_json(self) -> dict[str, object]:
        """Return the statistics as plain data."""
        return asdict(self)


def statistics_of(solved: Solved, graph: CallGraph, phases: tuple[Phase, ...]) -> Statistics:
    """Return the sizes of an analysed program."""
    program, system, solution = solved.program, solved.system, solved.solution
    pointers = solved.pointers
    sizes = solution.rows.sizes()[solution.row_of[pointers]]
    held = sizes[sizes > 0]
    is_found = graph.kind != DIRECT
    n_targets = graph.n_targets
    is_empty = (graph.kind == INDIRECT) & (n_targets == 0) & ~graph.may_leave
    return Statistics(
        n_functions=int((np.diff(program.function_table.block_offsets) > 0).sum()),
        n_instructions=len(program.instructions),
        n_allocations=len(system.allocations),
        n_objects=system.problem.n_objects,
        n_nodes=system.problem.n_nodes,
        n_constraints=system.problem.n_constraints,
        n_pointers=len(pointers),
        n_pointing=len(held),
        n_unknown=int(solution.unknown[pointers].sum()),
        n_escaped=int(solution.escaped.sum()),
        average_set=float(held.mean()) if len(held) else 0.0,
        largest_set=int(sizes.max(initial=0)),
        n_call_sites=int(is_found.sum()),
        n_targets=int(n_targets[is_found].sum()),
        n_leaving_sites=int(graph.may_leave.sum()),
        n_unresolved_sites=int(is_empty.sum()),
        n_escaped_functions=len(graph.escaped_ids),
        hottest=_hottest(solved),
        unknown_externals=_externals(solved, graph),
        assumptions=system.assumptions,
        phases=phases,
        plan=solution.plan,
    )


def _hottest(solved: Solved) -> tuple[HotSet, ...]:
    pointers, row_of = solved.pointers, solved.solution.row_of
    rows, first, shared = np.unique(row_of[pointers], return_index=True, return_counts=True)
    sizes = solved.solution.rows.sizes()[rows]
    order = np.lexsort([first, -shared, -sizes])[:_N_HOTTEST]
    return tuple(
        HotSet(int(sizes[i]), int(shared[i]), solved.naming.readable(int(pointers[first[i]])))
        for i in order.tolist()
        if sizes[i]
    )


def _externals(solved: Solved, graph: CallGraph) -> tuple[UnknownExternal, ...]:
    """Return the externals without a model, by how many objects their calls hand over."""
    program, system = solved.program, solved.system
    unmodelled = {e.name: e for e in system.externals if not e.is_modelled}
    given: dict[str, set[int]] = {name: set() for name in unmodelled}
    symbols = program.globals.name[program.function_table.value]
    is_opaque = np.zeros(graph.n_functions, bool)
    is_opaque[graph.opaque] = True
    calls, callees = np.repeat(graph.call, graph.n_targets), graph.targets
    chosen = is_opaque[callees] & (calls >= 0)
    for row, callee in zip(calls[chosen].tolist(), callees[chosen].tolist(), strict=True):
        operands = program.instructions.operands_of(row)[1:]
        name = program.strings[int(symbols[callee])]
        given[name].update(operands[system.may_hold_pointer[operands]].tolist())
    found = []
    for name, nodes in given.items():
        objects = explicit(solved.solution, np.array(sorted(nodes), np.int64))
        found.append(UnknownExternal(name, unmodelled[name].n_calls, len(objects)))
    return tuple(sorted(found, key=lambda e: (-e.n_objects, -e.n_calls, e.name)))

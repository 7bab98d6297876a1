"""The call graph of a solved program: calls by name, through pointers, and callbacks of models.

A site is a direct call, or a call rule of the inclusion problem: site `n_direct + r` is rule r. An
instruction that passes a function to the library makes two sites, the direct call of the library
function and the callback.

A virtual call that may leave has the functions at its slot among its targets (`unknown_tables`).

A thunk adjusts pointers and goes on to a method: calls that reach it are calls of the method here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from kleene.analyses.points_to.answers.sets import Solved
from kleene.analyses.points_to.entries import entries_of
from kleene.analyses.points_to.memory_model import AllocationKind, ConstraintSystem
from kleene.base.arrays import I32, U8
from kleene.base.errors import SourceError
from kleene.ir import Program
from kleene.results.call_graph import CALLBACK, DIRECT, INDIRECT, CallGraph, grouped_targets
from kleene.results.explanation import Explanation

# As the Itanium ABI mangles them: Th, Tv or Tc and two of h and v, each with its offsets.
_THUNK = re.compile(rb"_ZT(?:hn?\d+_|vn?\d+_n?\d+_|c(?:hn?\d+_|vn?\d+_n?\d+_){2})")
_NO_METHOD = (b"__cxa_pure_virtual", b"__cxa_deleted_virtual")


def call_graph_of(
    solved: Solved, explain: Callable[[int, str], Explanation], find: Callable[[str], int]
) -> CallGraph:
    """Return the call graph; `explain(node, target)` derives that a node holds a function.

    `find` returns the function (row) that a name means.
    """
    program, system, solution = solved.program, solved.system, solved.solution
    direct, method = system.direct_calls.reshape(-1, 2), _methods(program)
    direct = np.stack([direct[:, 0], method[direct[:, 1]]], axis=1)
    within = program.instruction_function[direct[:, 0]]
    direct = direct[(method[within] == within) | (method[within] != direct[:, 1])]
    n_direct, n_rules = len(direct), system.problem.n_calls
    call = np.concatenate([direct[:, 0], system.origins.call])
    kind = np.full(n_direct + n_rules, INDIRECT, np.uint8)
    kind[:n_direct] = DIRECT
    kind[n_direct + system.callbacks.reshape(-1, 2)[:, 1]] = CALLBACK
    rows = _function_rows(program, system)
    rules, functions = np.unique(
        np.append(solution.call_edges, system.overriders, axis=0), axis=0
    ).T
    may_leave = solution.calls_outside.copy()
    is_library = rows[functions] < 0  # code of the library's own, which a model stands for
    may_leave[rules[is_library]] = True
    rules, functions = rules[~is_library], functions[~is_library]
    is_real = ~np.isin(rows[functions], _never_meant(program))
    rules, functions = rules[is_real], functions[is_real]
    callee = np.full(n_direct + n_rules, -1, np.int32)
    callee[n_direct:] = _callees(program, system, kind[n_direct:])
    reached = rows[functions]
    escaped = rows[solution.escaped[system.problem.function_object]]
    escaped = method[escaped[escaped >= 0]]
    target_offsets, targets = grouped_targets(
        n_direct + n_rules,
        np.concatenate([np.arange(n_direct), n_direct + rules]),
        np.concatenate([direct[:, 1], method[reached]]),
    )

    def why(site: int, target: str) -> Explanation:
        if site < n_direct:
            find(target)  # which raises where there is no such function
            if target not in graph.names(graph.targets_of(site)):
                message = f"the call cannot reach '{target}'"
                note = f"it calls {graph.names(graph.targets_of(site))[0]}"
                raise SourceError(None, "points-to/no-such-fact", message, note)
        held = reached[rules == site - n_direct]
        thunks = held[(method[held] == find(target)) & (held != find(target))]
        held_as = solved.naming.function(int(thunks[0])) if len(thunks) else target
        return explain(int(callee[site]), held_as)

    graph = CallGraph(
        solved.naming,
        len(program.function_table),
        call=call.astype(np.int32),
        caller=np.where(call >= 0, program.instruction_function[call], -1).astype(np.int32),
        kind=kind,
        callee=callee,
        target_offsets=target_offsets,
        targets=targets,
        may_leave=np.concatenate([np.zeros(n_direct, bool), may_leave]),
        escaped_ids=np.unique(escaped).astype(np.int32),
        entries=entries_of(program),
        opaque=_opaque(program, system),
        explain=why,
        find=find,
    )
    return graph


def _function_rows(program: Program, system: ConstraintSystem) -> I32:
    """Return for each function of the problem its row among the program's functions.

    Code of the library's own, which a model stands for, is none of them: -1.
    """
    allocation = system.locations.allocation[system.problem.function_object]
    is_static = system.allocations.kind[allocation] == AllocationKind.STATIC
    rows = program.globals.function[system.allocations.site[allocation]]
    return np.where(is_static, np.int32(-1), rows)


def _methods(program: Program) -> I32:
    """Return for each function the method that it goes on to, if it is a thunk; else itself."""
    strings, symbols = program.strings, program.globals.name[program.function_table.value]
    found = np.arange(len(symbols), dtype=np.int32)
    thunks = {}
    for row in np.flatnonzero(strings.begin_with(symbols, b"_ZT")).tolist():
        name = strings.raw(int(symbols[row]))
        if thunk := _THUNK.match(name):
            thunks[row] = b"_Z" + name[thunk.end() :]
    if thunks:
        rows = {strings.raw(symbol): row for row, symbol in enumerate(symbols.tolist())}
        found[list(thunks)] = [rows.get(method, row) for row, method in thunks.items()]
    return found


def _callees(program: Program, system: ConstraintSystem, kind: U8) -> I32:
    """Return for each call rule the node that is called: of a call in the program its operand."""
    call, table = system.origins.call, program.instructions
    is_written = (kind != CALLBACK) & (call >= 0)
    found = system.problem.call_callee.copy()
    found[is_written] = table.operands[table.offsets[call[is_written]]]
    return found


def _never_meant(program: Program) -> list[int]:
    """Return the functions in slots of virtual tables for methods that there are not.

    A call that reaches one ends the program: `__cxa_pure_virtual`.
    """
    symbols = program.globals.name[program.function_table.value].tolist()
    return [row for row, symbol in enumerate(symbols) if program.strings.raw(symbol) in _NO_METHOD]


def _opaque(program: Program, system: ConstraintSystem) -> I32:
    """Return the functions that have neither a body nor a model."""
    unmodelled = {e.name for e in system.externals if not e.is_modelled}
    symbols = program.globals.name[program.function_table.value].tolist()
    names = enumerate(program.strings[symbol] for symbol in symbols)
    return np.array([row for row, name in names if name in unmodelled], np.int32)

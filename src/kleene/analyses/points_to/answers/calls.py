"""The calls of a solved program as columns, and what can be reached along them.

Calls of the unknown reach every function that escaped. These edges are not listed one by one, for
there may be millions: the outside is a node of its own, which such calls reach, and which reaches
what escaped. Externals without a model lead there too, since they may call back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.points_to.memory_model import ConstraintSystem
from kleene.base.arrays import I32, Bools
from kleene.graphs import Graph
from kleene.graphs.order import depth_first
from kleene.ir import Program
from kleene.solvers.inclusion import Solution

DIRECT, INDIRECT, CALLBACK = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Call edges, but for those of the unknown; functions are rows of the program's table."""

    instruction: I32  # -1 where no instruction makes the call
    caller: I32  # likewise
    callee: I32
    kind: I32  # DIRECT, INDIRECT or CALLBACK
    rule: I32  # the call rule of the problem, -1 for direct calls
    escaped: I32  # functions that the outside may call
    leaving: I32  # functions that may call the outside, or are without body and model


def calls_of(program: Program, system: ConstraintSystem, solution: Solution) -> Calls:
    """Return the calls of a program, direct ones first."""
    direct = system.direct_calls.reshape(-1, 2)
    rules, functions = solution.call_edges.T
    rows = functions_of(program, system)
    instruction = np.concatenate([direct[:, 0], system.origins.call[rules]])
    kind = np.concatenate([np.full(len(direct), DIRECT), kinds_of(system)[rules]])
    escaped = rows[solution.escaped[system.problem.function_object]]
    columns = (
        instruction,
        _callers(program, instruction),
        np.concatenate([direct[:, 1], rows[functions]]),
        kind,
        np.concatenate([np.full(len(direct), -1), rules]),
        escaped,
        _leaving(program, system, solution),
    )
    return Calls(*(column.astype(np.int32) for column in columns))


def functions_of(program: Program, system: ConstraintSystem) -> I32:
    """Return for each function of the problem its row among the program's functions."""
    allocation = system.locations.allocation[system.problem.function_object]
    return program.globals.function[system.allocations.site[allocation]]


def kinds_of(system: ConstraintSystem) -> I32:
    """Return for each call rule whether it is a call through a pointer or a callback."""
    found = np.full(system.problem.n_calls, INDIRECT, np.int32)
    found[system.callbacks.reshape(-1, 2)[:, 1]] = CALLBACK
    return found


def reach_graph(program: Program, calls: Calls, *, callbacks_from_outside: bool = False) -> Graph:
    """Return who may call whom, over the rows of the functions; the last node is the outside."""
    outside = len(program.function_table)
    is_outside = calls.caller < 0
    if callbacks_from_outside:
        is_outside |= calls.kind == CALLBACK
    sources = [np.where(is_outside, outside, calls.caller), np.full(len(calls.escaped), outside)]
    targets = [calls.callee, calls.escaped]
    sources.append(calls.leaving)
    targets.append(np.full(len(calls.leaving), outside))
    return Graph.from_edges(outside + 1, *(np.concatenate(ends) for ends in (sources, targets)))


def reached_from(graph: Graph, start: int) -> Bools:
    """Return which nodes of a call graph a node reaches, itself included."""
    found = np.zeros(graph.n_nodes, bool)
    found[depth_first(graph, [start]).preorder] = True
    return found


def _callers(program: Program, instruction: NDArray[np.integer]) -> I32:
    return np.where(instruction >= 0, program.instruction_function[instruction], -1)


def _leaving(program: Program, system: ConstraintSystem, solution: Solution) -> I32:
    """Return the functions that may call code the program does not show."""
    origins = system.origins.call[solution.calls_outside]
    callers = program.instruction_function[origins[origins >= 0]]
    unmodelled = {e.name for e in system.externals if not e.is_modelled}
    symbols = program.globals.name[program.function_table.value].tolist()
    names = enumerate(program.strings[symbol] for symbol in symbols)
    externals = [row for row, name in names if name in unmodelled]
    return np.unique(np.concatenate([callers, np.array(externals, np.int32)]))

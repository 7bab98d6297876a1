"""Which storage exists once at a time, so that one place of it is one address?"""

from __future__ import annotations

from kleene.analyses.points_to.answers.calls import calls_of, reach_graph, reached_from
from kleene.analyses.points_to.memory_model import AllocationKind, ConstraintSystem
from kleene.base.arrays import Bools
from kleene.graphs import strong_components
from kleene.ir import Program
from kleene.ir.codes import ConstantKind, GlobalFlag, ValueKind
from kleene.solvers.inclusion import Solution


def is_made_once(
    program: Program, system: ConstraintSystem, solution: Solution, allocation: int
) -> bool:
    """Return whether an allocation stands for one piece of storage at a time."""
    kind = AllocationKind(system.allocations.kind[allocation])
    site = int(system.allocations.site[allocation])
    if kind == AllocationKind.FUNCTION:
        return True
    if kind == AllocationKind.GLOBAL:
        return not program.globals.flags[site] & GlobalFlag.THREAD_LOCAL
    if kind != AllocationKind.STACK:
        return False
    row = site - program.bases[ValueKind.INSTRUCTION]
    function = int(program.instruction_function[row])
    return _is_in_entry(program, row, function) and bool(
        runs_once_at_a_time(program, system, solution)[function]
    )


def _is_in_entry(program: Program, row: int, function: int) -> bool:
    """Return whether an alloca makes one piece each time its function runs."""
    (count,) = program.instructions.operands_of(row).tolist()
    kind, constant = program.locate(count)
    is_one = kind == ValueKind.CONSTANT and (
        program.constants.kind[constant] == ConstantKind.INT
        and program.constants.payload[constant] == 1
    )
    entry = program.function_table.block_offsets[function]
    return bool(is_one) and bool(program.instructions.block[row] == entry)


def runs_once_at_a_time(program: Program, system: ConstraintSystem, solution: Solution) -> Bools:
    """Return for each function whether no two activations of it can exist at one time.

    That is so where it is on no cycle of calls and is not reached from outside the program or from
    a callback: both may run it in several threads, or again while it runs.
    """
    calls = calls_of(program, system, solution)
    graph = reach_graph(program, calls, callbacks_from_outside=True)
    components = strong_components(graph)
    once = ~components.is_cyclic()[components.component]
    once[reached_from(graph, graph.n_nodes - 1)] = False
    found: Bools = once[:-1]
    return found

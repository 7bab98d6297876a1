"""How large the points-to sets of an analysed program are, counted in several ways."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.points_to.answers.sets import Solved
from kleene.analyses.points_to.memory_model import AllocationKind, ConstraintSystem
from kleene.ir import Program
from kleene.ir.codes import GlobalFlag, TypeKind
from kleene.solvers.inclusion import Solution


def set_sizes(program: Program, system: ConstraintSystem, solution: Solution) -> dict[str, float]:
    """Return averages and largest sizes of sets, and how calls through pointers were resolved.

    Sizes are counts of abstract locations, of allocations, and of allocations with all read-only
    data without pointers as one (`likened`): so SVF counts them, but that it tells fields apart.
    """
    pointers = Solved(program, system, solution).pointers
    row_of, n_locations = solution.row_of, solution.rows.sizes()
    owner = np.arange(len(system.allocations))
    allocations = _owners(solution, owner[system.locations.allocation])
    owner[_is_text(program, system)] = len(owner)
    likened = _owners(solution, owner[system.locations.allocation])
    is_function = system.allocations.kind == AllocationKind.FUNCTION
    functions = _counts(solution, is_function[system.locations.allocation])
    edges = np.bincount(solution.call_edges[:, 0], minlength=system.problem.n_calls)
    inside = ~solution.calls_outside
    return {
        "n_pointers": len(pointers),
        "unknown_share": float(solution.unknown[pointers].mean()),
        "average_locations": float(n_locations[row_of[pointers]].mean()),
        "average_allocations": float(allocations[row_of[pointers]].mean()),
        "average_likened": float(likened[row_of[pointers]].mean()),
        "average_functions": float(functions[row_of[pointers]].mean()),
        "average_likened_of_all": float(likened[row_of].mean()),
        "largest_locations": int(n_locations[row_of[pointers]].max()),
        "largest_allocations": int(allocations[row_of[pointers]].max()),
        "largest_likened": int(likened[row_of[pointers]].max()),
        "n_calls": int(inside.sum()),
        "n_leaving": int((~inside).sum()),
        "n_targets": int(edges[inside].sum()),
    }


def _owners(solution: Solution, owner: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many owners the objects of each row have."""
    rows = solution.rows
    return np.array([len(np.unique(owner[rows.objects(row)])) for row in range(len(rows))])


def _counts(solution: Solution, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many chosen objects each row has."""
    rows = solution.rows
    return np.array([np.count_nonzero(chosen[rows.objects(row)]) for row in range(len(rows))])


def _is_text(program: Program, system: ConstraintSystem) -> NDArray[np.bool_]:
    """Return which allocations are read-only globals of a type without pointers."""
    types, table = program.types, program.globals
    has_pointer = types.kind == TypeKind.POINTER
    aggregates = np.flatnonzero(
        np.isin(types.kind, (TypeKind.ARRAY, TypeKind.STRUCT, TypeKind.VECTOR))
    )
    while True:
        found = [row for row in aggregates if has_pointer[types.elements_of(int(row))].any()]
        if has_pointer[found].all():
            break
        has_pointer[found] = True
    is_global = system.allocations.kind == AllocationKind.GLOBAL
    site = np.where(is_global, system.allocations.site, 0)
    is_constant = (table.flags[site] & GlobalFlag.CONSTANT) != 0
    return is_global & is_constant & ~has_pointer[table.type[site]]

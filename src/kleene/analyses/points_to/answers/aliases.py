"""May, or must, two pointers lead to the same bytes?

A pointer is a set of places and the bytes it is used for: the largest load or store made through it
directly, 1 if there is none. The unknown may be itself and all that escaped.
"""

from __future__ import annotations

import numpy as np

from kleene.analyses.points_to.answers.geometry import Geometry
from kleene.analyses.points_to.answers.once import is_made_once
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET, ConstraintSystem
from kleene.base.arrays import I64
from kleene.ir import Program
from kleene.ir.codes import Opcode
from kleene.solvers.inclusion import Solution

_ACCESSES = (Opcode.LOAD, Opcode.STORE, Opcode.ATOMICRMW, Opcode.CMPXCHG)


def may_alias(
    program: Program,
    system: ConstraintSystem,
    solution: Solution,
    left: list[int],
    right: list[int],
) -> bool:
    """Return whether what two groups of nodes hold may overlap."""
    is_unknown = [bool(solution.unknown[nodes].any()) for nodes in (left, right)]
    held = [explicit(solution, nodes) for nodes in (left, right)]
    if all(is_unknown):
        return True
    for unknown, other in ((is_unknown[0], held[1]), (is_unknown[1], held[0])):
        if unknown and solution.escaped[other].any():
            return True
    sizes = [accessed_bytes(program, nodes) for nodes in (left, right)]
    return Geometry(system).overlap(held[0], sizes[0], held[1], sizes[1])


def explicit(solution: Solution, nodes: list[int]) -> I64:
    """Return the objects that nodes hold, without those only the unknown stands for."""
    rows = np.unique(solution.row_of[nodes]).tolist()
    sets = [solution.rows.objects(row) for row in rows]
    return np.unique(np.concatenate(sets)) if sets else np.empty(0, np.int64)


def accessed_bytes(program: Program, nodes: list[int]) -> int:
    """Return the most bytes that are loaded or stored directly through these values, at least 1."""
    offsets, users = program.users
    table, most = program.instructions, 1
    for node in nodes:
        if node >= program.n_values:
            continue
        for row in users[offsets[node] : offsets[node + 1]].tolist():
            if table.opcode[row] in _ACCESSES:
                most = max(most, access_bytes(program, row, node))
    return most


def access_bytes(program: Program, row: int, pointer: int) -> int:
    """Return how many bytes an instruction reads or writes at `pointer`; 0 if it is none."""
    table, opcode = program.instructions, int(program.instructions.opcode[row])
    operands = table.operands_of(row).tolist()
    place = 1 if opcode == Opcode.STORE else 0
    if operands[place] != pointer:
        return 0
    if opcode == Opcode.LOAD:
        type_id = int(table.type[row])
    else:
        value = operands[{Opcode.STORE: 0, Opcode.ATOMICRMW: 1, Opcode.CMPXCHG: 2}[Opcode(opcode)]]
        type_id = int(program.value_types[value])
    return max(int(program.types.size[type_id]), 1)


def must_alias(
    program: Program,
    system: ConstraintSystem,
    solution: Solution,
    left: list[int],
    right: list[int],
) -> bool:
    """Return whether two groups of nodes, where they hold an address, hold the same one.

    Both must be the same single exact place, of storage that exists once at a time: a global that
    is not per thread, a function, or a local made once by a function that runs once at a time.
    """
    both = [*left, *right]
    if solution.unknown[both].any() or not left or not right:
        return False
    ours, theirs = explicit(solution, left), explicit(solution, right)
    if len(ours) != 1 or not np.array_equal(ours, theirs):
        return False
    place = int(ours[0])
    places = system.locations
    is_exact = places.stride[place] == 0 and places.byte[place] != UNKNOWN_OFFSET
    storage = int(places.allocation[place])
    return bool(is_exact) and is_made_once(program, system, solution, storage)

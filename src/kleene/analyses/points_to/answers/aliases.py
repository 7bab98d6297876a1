"""May, or must, two pointers lead to the same bytes?

A pointer is a set of places and the bytes it is used for: the largest load or store made through it
directly, 1 if there is none. Two places of one allocation overlap if some addresses they stand for
do, with these bytes: an exact place stands for one, a repeating one for a row of them, the blur for
every byte. The unknown overlaps itself and all that escaped.
"""

from __future__ import annotations

from math import gcd

import numpy as np

from kleene.analyses.points_to.answers.once import is_made_once
from kleene.analyses.points_to.model import BLUR, Places, Statement
from kleene.ir import Program
from kleene.ir.codes import Opcode
from kleene.ir.tables import I64
from kleene.solvers.inclusion import Solution

_ACCESSES = (Opcode.LOAD, Opcode.STORE, Opcode.ATOMICRMW, Opcode.CMPXCHG)


def may_alias(
    program: Program, statement: Statement, solution: Solution, left: list[int], right: list[int]
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
    return overlap(statement.places, held[0], sizes[0], held[1], sizes[1])


def explicit(solution: Solution, nodes: list[int]) -> I64:
    """Return the objects that nodes hold, without those only the unknown stands for."""
    rows = np.unique(solution.row_of[nodes]).tolist()
    sets = [solution.rows.objects(row) for row in rows]
    return np.unique(np.concatenate(sets)) if sets else np.empty(0, np.int64)


def overlap(places: Places, left: I64, left_bytes: int, right: I64, right_bytes: int) -> bool:
    """Return whether some place of one set overlaps some place of the other."""
    if len(np.intersect1d(left, right)):
        return True
    shared = np.intersect1d(places.allocation[left], places.allocation[right])
    for allocation in shared.tolist():
        ours = left[places.allocation[left] == allocation].tolist()
        theirs = right[places.allocation[right] == allocation].tolist()
        if any(_meet(places, a, left_bytes, b, right_bytes) for a in ours for b in theirs):
            return True
    return False


def touched(statement: Statement, object: int, n_bytes: int) -> list[int]:
    """Return the objects that an access of `n_bytes` at an object may touch."""
    allocation = int(statement.places.allocation[object])
    first, end = statement.problem.allocation_offsets[allocation : allocation + 2].tolist()
    reach = statement.places.n_bytes
    return [
        other
        for other in range(first, end)
        if other == object
        or _meet(statement.places, object, n_bytes, other, max(int(reach[other]), 1))
    ]


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
    program: Program, statement: Statement, solution: Solution, left: list[int], right: list[int]
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
    places = statement.places
    is_exact = places.stride[place] == 0 and places.byte[place] != BLUR
    storage = int(places.allocation[place])
    return bool(is_exact) and is_made_once(program, statement, solution, storage)


def _meet(places: Places, left: int, left_bytes: int, right: int, right_bytes: int) -> bool:
    """Return whether addresses of two places of one allocation overlap."""
    first, second = int(places.byte[left]), int(places.byte[right])
    if BLUR in (first, second):
        return True
    step, other_step = int(places.stride[left]), int(places.stride[right])
    if step and other_step:
        distance = (first - second) % (common := gcd(step, other_step))
        return distance < right_bytes or common - distance < left_bytes
    if step:
        return _meets_row(second, right_bytes, first, step, left_bytes)
    if other_step:
        return _meets_row(first, left_bytes, second, other_step, right_bytes)
    return first < second + right_bytes and second < first + left_bytes


def _meets_row(exact: int, exact_bytes: int, start: int, step: int, row_bytes: int) -> bool:
    """Return whether bytes at one address meet those at each step from a start."""
    behind = exact - row_bytes - start + 1  # the row's first element that ends behind `exact`
    nearest = start + max(0, -(-behind // step)) * step
    return nearest < exact + exact_bytes

"""Whom each call calls, with what: the columns that the rest of the room asks of calls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.analyses.points_to.constraints.columns import Columns
from kleene.base.arrays import I64, Bools, offsets_of, ragged
from kleene.ir.codes import ConstantKind, GlobalKind, Passing, TypeFlag


@dataclass(frozen=True, eq=False)
class CallTable:
    """Calls as columns; actuals as CSR over them."""

    row: I64  # instruction
    callee: I64  # value
    function: I64  # row of the function that is called for sure, -1 where it is not known
    is_assembly: Bools
    offsets: I64  # n + 1, into actuals
    actuals: I64  # values
    function_at: I64  # per instruction of the program: as `function`, of all calls there are

    def __len__(self) -> int:
        return len(self.row)

    def only(self, found: Bools | I64) -> CallTable:
        """Return some of the calls, by mask or position."""
        place = np.flatnonzero(found) if found.dtype == bool else found
        _, actual = ragged(self.offsets[place], self.offsets[place + 1])
        offsets = offsets_of(np.diff(self.offsets)[place])
        return CallTable(
            self.row[place],
            self.callee[place],
            self.function[place],
            self.is_assembly[place],
            offsets,
            self.actuals[actual],
            self.function_at,
        )

    def flat(self) -> tuple[I64, I64]:
        """Return for each actual its call and its place among that call's."""
        return ragged(np.zeros(len(self), np.int64), np.diff(self.offsets))


def table_of(columns: Columns) -> CallTable:
    """Return all calls of a program."""
    rows = columns.calls
    program = columns.program
    table = program.instructions
    callee = columns.operand(rows, 0).astype(np.int64)
    owner, place = ragged(table.offsets[rows] + 1, table.offsets[rows + 1])
    operand = table.operands[place]
    low, high = program.bases[3:5]
    is_value = (operand < low) | (operand >= high)
    counts = np.bincount(owner[is_value], minlength=len(rows))
    target = function_of_value(columns)
    known = callee < len(program.globals)
    function = np.where(known, target[np.where(known, callee, 0)], -1) if len(target) else known - 1
    function_at = np.full(len(table), -1)
    function_at[rows] = function
    return CallTable(
        *(rows, callee, function, _is_assembly(columns, callee)),
        offsets_of(counts),
        operand[is_value].astype(np.int64),
        function_at,
    )


def function_of_value(columns: Columns) -> I64:
    """Return for each global the function it is, or is an alias of; -1 where it is none."""
    table = columns.program.globals
    function = table.function.astype(np.int64)
    for alias in np.flatnonzero(table.kind == GlobalKind.ALIAS).tolist():
        target, seen = alias, {alias}
        while table.kind[target] == GlobalKind.ALIAS:
            target = int(table.initializer[target])
            if target >= len(table) or target in seen:  # an expression, which may move
                break
            seen.add(target)
        else:
            function[alias] = (
                table.function[target] if table.kind[target] == GlobalKind.FUNCTION else -1
            )
    function[table.kind == GlobalKind.IFUNC] = -1
    return function


def _is_assembly(columns: Columns, callee: I64) -> Bools:
    program = columns.program
    first, end = program.bases[1:3]
    inside: Bools = (callee >= first) & (callee < end)
    if not len(program.constants):
        return inside
    kind = program.constants.kind[np.where(inside, callee - first, 0)]
    inside &= kind == ConstantKind.ASSEMBLY
    return inside


def named_arguments(columns: Columns, calls: CallTable) -> tuple[I64, Bools]:
    """Return how many arguments the type of each call names, and whether there may be more."""
    types = columns.program.types
    signature = columns.program.instructions.about[calls.row]
    is_variadic: Bools = types.flags[signature] & TypeFlag.VARARG != 0
    return np.diff(types.offsets)[signature].astype(np.int64) - 1, is_variadic


def variadic_actuals(columns: Columns, calls: CallTable) -> Bools:
    """Return which actuals are structs that lie, whole, among the arguments beyond the named."""
    program = columns.program
    passed = program.passed
    owner, place = calls.flat()
    n_named, is_variadic = named_arguments(columns, calls)
    position = program.instructions.offsets[calls.row][owner] + 1 + place
    by_value = np.isin(position, passed.operand[passed.passing == Passing.BYVAL])
    found: Bools = by_value & is_variadic[owner] & (place >= n_named[owner])
    return found

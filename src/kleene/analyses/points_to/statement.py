"""What a program says about its pointers: every rule of the language, as rows of one problem.

The parts are in `scan`, one per kind of code, and each writes whole columns on one sheet. What the
library does is data (`library`). Nothing here is solved, and nothing depends on an order of calls:
equal programs give equal statements.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kleene.analyses.points_to.library import Library, Model, builtin, heap_of
from kleene.analyses.points_to.model import External, Statement
from kleene.analyses.points_to.moves import Moves
from kleene.analyses.points_to.scan.calls import CallTable, table_of
from kleene.analyses.points_to.scan.columns import Columns
from kleene.analyses.points_to.scan.functions import (
    FunctionTable,
    declare,
    state_direct,
    state_exceptions,
    state_indirect,
    state_outside,
    state_returns,
)
from kleene.analyses.points_to.scan.memory import Memory
from kleene.analyses.points_to.scan.models import EXCEPTION, Models, Sites
from kleene.analyses.points_to.scan.sheet import Sheet
from kleene.analyses.points_to.scan.storage import (
    state_aliases,
    state_command_line,
    state_exports,
    state_globals,
    state_locals,
)
from kleene.analyses.points_to.scan.values import state_values
from kleene.analyses.points_to.shapes import Shapes
from kleene.base.errors import SourceError
from kleene.ir.codes import GlobalFlag, Opcode
from kleene.ir.program import Program
from kleene.ir.tables import I64
from kleene.solvers.inclusion import FROM_OUTSIDE, NONE, TO_OUTSIDE


def state(
    program: Program,
    *,
    library_mode: bool = False,
    wrappers: Sequence[str] = (),
    models: Library | None = None,
) -> Statement:
    """Return what a program says about its pointers.

    Args:
        program: all of it, or a library.
        library_mode: others call what they can see of it; else it is entered at main alone.
        wrappers: functions that return new storage, each call its own; others are found.
        models: what functions outside the program do; the built-in library by default.

    Raises:
        SourceError: `points-to/no-main`, `points-to/no-such-wrapper`.
    """
    return _Stating(program, models or builtin()).run(library_mode, wrappers)


class _Stating:
    """The parts, in the order in which they need one another."""

    def __init__(self, program: Program, library: Library) -> None:
        self.program, self.library = program, library
        self.columns = Columns(program)
        self.shapes, self.moves = Shapes(program.types, program.strings), Moves()
        self.sheet = Sheet(program.n_values, self.moves)
        self.memory = Memory(self.columns, self.sheet)
        self.models = Models(self.columns, self.sheet, self.memory, self.shapes)
        self.functions: FunctionTable = declare(self.columns, self.sheet, self.shapes, self.memory)
        self.calls: CallTable = table_of(self.columns)
        self.assumptions: list[str] = []

    def run(self, library_mode: bool, wrappers: Sequence[str]) -> Statement:
        """Write everything and return it."""
        columns, sheet, functions = self.columns, self.sheet, self.functions
        self._enter(library_mode)
        self.assumptions += state_values(columns, sheet)
        self.memory.state_accesses()
        state_globals(columns, sheet, self.shapes, self.models, self.library)
        state_aliases(columns, sheet, functions)
        state_locals(columns, sheet, self.shapes, self._heap_shape)
        state_returns(columns, sheet, functions)
        externals = self._calls()
        self._exceptions(externals)
        self._not_understood()
        layout = self.shapes.finish(self.moves, has_unknown=sheet.has_unknown)
        problem, allocations, places, origins = sheet.finish(layout)
        known = self.calls.only((self.calls.function >= 0) & ~self._is_intrinsic_call())
        direct = np.stack([known.row, known.function], axis=1)
        callbacks = np.concatenate([*self.models.callbacks, np.empty((0, 2), np.int64)])
        return Statement(
            *(problem, allocations, places, origins),
            result_node=np.where(functions.is_defined, functions.result, NONE).astype(np.int32),
            direct_calls=direct.astype(np.int32),
            callbacks=callbacks.astype(np.int32),
            is_tracked=columns.tracked | columns.carried,
            externals=externals,
            assumptions=tuple(self.assumptions),
        )

    def _enter(self, library_mode: bool) -> None:
        """Write who calls the program."""
        if library_mode:
            state_exports(self.columns, self.sheet)
            return
        found = [f for f, name in enumerate(self.functions.name) if name == "main"]
        if not found or not self.functions.is_defined[found[0]]:
            note = "give the unit that defines it, or state it as a library (library_mode=True)"
            message = "the program has no function main, so nothing enters it"
            raise SourceError(None, "points-to/no-main", message, note)
        state_command_line(self.columns, self.sheet, self.shapes, found[0])

    def _is_intrinsic_call(self) -> np.ndarray:
        known = self.calls.function >= 0
        return known & self.functions.is_intrinsic[np.where(known, self.calls.function, 0)]

    def _calls(self) -> tuple[External, ...]:
        """Write all calls; return the functions that the program calls and does not contain."""
        columns, sheet, functions, calls = self.columns, self.sheet, self.functions, self.calls
        known = np.where(calls.function >= 0, calls.function, 0)
        inside = (calls.function >= 0) & functions.is_defined[known]
        direct = calls.only(inside)
        state_direct(columns, sheet, functions, direct, np.ones(len(direct), bool))
        state_indirect(
            columns, sheet, functions, calls.only((calls.function < 0) & ~calls.is_assembly)
        )
        state_outside(columns, sheet, calls.only(calls.is_assembly))
        if calls.is_assembly.any():
            self.assumptions.append("inline assembly does to its operands what unknown code might")
        externals = []
        outside = calls.only((calls.function >= 0) & ~inside)
        order = np.argsort(outside.function, kind="stable")
        starts = np.searchsorted(outside.function[order], np.arange(len(functions.name) + 1))
        for function in np.flatnonzero(~functions.is_defined).tolist():
            group = outside.only(order[starts[function] : starts[function + 1]])
            found = self._external(function, group)
            if found:
                externals.append(found)
        return tuple(sorted(externals, key=lambda e: (e.is_modelled, -e.n_calls, e.name)))

    def _external(self, function: int, group: CallTable) -> External | None:
        """Write all calls of a function from outside, and what it does if called by address."""
        name = self.functions.name[function]
        model = self.library.find(name)
        value = int(self.program.function_table.value[function])
        if self.program.globals.flags[value] & GlobalFlag.ADDRESS_TAKEN:
            self._stub(function, value, model)
        if len(group) and model is None:
            state_outside(self.columns, self.sheet, group)
        elif len(group) and model is not None:
            self.models.apply(model, self._sites(value, group, model))
        if not len(group) or (self.functions.is_intrinsic[function] and model is not None):
            return None
        return External(name, model is not None, len(group))

    def _sites(self, callee: int, group: CallTable, model: Model) -> Sites:
        site = self.columns.results(group.row)
        shape, n_bytes = np.full(len(site), -1), np.full(len(site), -1)
        if heap := heap_of(model):
            factors = [self._argument(group, place) for place in heap.factors]
            n_bytes = self._product(factors, len(site))
            shape = self._heap_shape(site, n_bytes)
        else:
            shape[:] = self.shapes.raw(-1) if _makes_storage(model) else -1
        return Sites(
            *(callee, group.row, site, np.where(self.columns.tracked[site], site, NONE)),
            *(group.offsets, group.actuals),
            self.functions.variadic[self.program.instruction_function[group.row]],
            *(shape, n_bytes),
        )

    def _argument(self, group: CallTable, place: int) -> I64:
        there = group.offsets[:-1] + place < group.offsets[1:]
        found = np.zeros(len(group), np.int64)
        found[there] = group.actuals[(group.offsets[:-1] + place)[there]]
        return found

    def _product(self, factors: list[I64], count: int) -> I64:
        """Return the product of constant factors, -1 where one is not constant."""
        total = np.ones(count, np.int64) if factors else np.full(count, -1)
        for factor in factors:
            known, amount = self.columns.constant(factor)
            total = np.where(known & (total >= 0) & (amount >= 0), total * amount, -1)
        return total

    def _heap_shape(self, values: I64, n_bytes: I64) -> I64:
        return np.full(len(values), self.shapes.raw(-1))

    def _stub(self, function: int, value: int, model: Model | None) -> None:
        """Write what a function from outside does when it is called by its address."""
        sheet, functions = self.sheet, self.functions
        first, end = self.program.function_table.argument_offsets[function : function + 2].tolist()
        formals, result = functions.formal[first:end], int(functions.result[function])
        rest = int(functions.rest[function])
        if model is None:
            nodes = np.append(formals, rest)
            sheet.flag(nodes[nodes >= 0], TO_OUTSIDE)
            sheet.flag(np.array([result])[result < 0 :], FROM_OUTSIDE)
            return
        one, none = np.array([value]), np.array([NONE])
        arguments = self.program.bases[2] + np.arange(first, end)
        shape = np.array([self.shapes.raw(-1)]) if _makes_storage(model) else none
        self.models.apply(
            model,
            Sites(
                *(value, none, one, np.array([result]), np.array([0, end - first]), arguments),
                *(none, shape, none),
            ),
        )

    def _exceptions(self, externals: tuple[External, ...]) -> None:
        """Write exceptions; what is thrown may come from outside if the program calls there."""
        pads = self.columns.rows(Opcode.LANDINGPAD, Opcode.CATCHPAD, Opcode.RESUME)
        if not len(pads) and not self.models.has(EXCEPTION):
            return
        node = self.models.shared(EXCEPTION)
        state_exceptions(self.columns, self.sheet, node)
        if any(not external.is_modelled for external in externals):
            self.sheet.flag(node, FROM_OUTSIDE | TO_OUTSIDE)

    def _not_understood(self) -> None:
        """Let instructions that the reader did not understand do whatever unknown code might."""
        rows = self.columns.rows(Opcode.OPAQUE)
        if not len(rows):
            return
        _, operands = self.columns.all_operands(rows)
        self.sheet.flag(operands, TO_OUTSIDE)
        self.sheet.flag(self.columns.results(rows), FROM_OUTSIDE)
        self.assumptions.append(
            f"{len(rows)} instructions were not understood and do to their operands"
            " what unknown code might"
        )


def _makes_storage(model: Model) -> bool:
    return "Heap(" in repr(model)

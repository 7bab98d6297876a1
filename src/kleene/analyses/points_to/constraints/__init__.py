"""Generates the constraints of a C program: every rule of the language, as rows of one problem.

Each module is for one kind of code, and adds whole columns to one `PointerBuilder`. What library
functions do is data (`library`). Nothing is solved here, and nothing depends on the order of calls:
equal programs give equal constraint systems.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kleene.analyses.points_to.constraints import conversions, functions, storage
from kleene.analyses.points_to.constraints.accessors import Accessors
from kleene.analyses.points_to.constraints.aggregates import generate_aggregates
from kleene.analyses.points_to.constraints.assumptions import assumptions_of
from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.constraints.construction import Construction
from kleene.analyses.points_to.constraints.externals import Externals, Models
from kleene.analyses.points_to.constraints.functions import ArgumentRule
from kleene.analyses.points_to.constraints.heap import HeapAllocations
from kleene.analyses.points_to.constraints.memory_accesses import generate_accesses
from kleene.analyses.points_to.constraints.pointer_parts import outside_parts
from kleene.analyses.points_to.constraints.type_tests import TypeTests
from kleene.analyses.points_to.constraints.values import generate_values
from kleene.analyses.points_to.constraints.written_arguments import written_of
from kleene.analyses.points_to.library import Library, builtin
from kleene.analyses.points_to.memory_model import ConstraintSystem, External, PassingTable
from kleene.analyses.points_to.object_layout import ANY_CALL
from kleene.analyses.points_to.offset_edges import OffsetEdges
from kleene.base.arrays import Bools, Ints
from kleene.base.errors import SourceError
from kleene.ir.program import Program
from kleene.solvers.inclusion import NONE

_NONE = np.empty(0, np.int64)
_NO_PAIRS = np.empty((0, 2), np.int64)


def generate(
    program: Program,
    *,
    library_mode: bool = False,
    wrappers: Sequence[str] = (),
    models: Library | None = None,
    arguments: ArgumentRule = ArgumentRule.AUTO,
    converted: Ints = _NONE,
    open_calls: Ints = _NONE,
    resolved_calls: Ints = _NO_PAIRS,
    pointers_in_bytes: bool = True,
) -> ConstraintSystem:
    """Return the constraints on the pointers of a program.

    Args:
        program: all of it, or a library.
        library_mode: others call what they can see of it; else it is entered at main alone.
        wrappers: functions that return new storage, each call its own; others are found.
        models: what functions outside the program do; the built-in library by default.
        arguments: which functions a call through a pointer reaches.
        converted: functions (rows) that are known to be called with other arguments than they take.
        open_calls: calls (instructions) that are known to reach all functions they hold.
        resolved_calls: pairs (instruction, function row): calls through pointers that are known to
            reach this function alone, which returns new storage (`wrappers.resolved`).
        pointers_in_bytes: pointers may leave the program as bytes or digits, and come back.

    Raises:
        SourceError: `points-to/no-main`, `points-to/no-such-wrapper`.
    """
    library = models or builtin()
    parts = outside_parts(program, library.find, pointers_in_bytes=pointers_in_bytes)
    columns = Columns(program, parts)
    builder = PointerBuilder(columns, OffsetEdges())
    effects = Models(builder, library, pointers_in_bytes=pointers_in_bytes)
    generation = _Generation(
        builder, effects, library, wrappers, arguments, open_calls, resolved_calls
    )
    return generation.run(library_mode, converted)


class _Generation:
    """The parts, in the order in which they need one another."""

    def __init__(
        self,
        builder: PointerBuilder,
        models: Models,
        library: Library,
        wrappers: Sequence[str],
        arguments: ArgumentRule,
        open_calls: Ints,
        resolved_calls: Ints,
    ) -> None:
        self.builder, self.library, self.columns = builder, library, builder.columns
        self.models, self.arguments = models, arguments
        self.open_calls, self.resolved_calls = open_calls, resolved_calls
        self.tests = TypeTests(self.columns) if arguments != ArgumentRule.ANY else None
        self.construction = Construction(self.columns) if self.tests is not None else None
        self.accessors: Accessors | None = None
        found = self.tests, self.construction
        self.functions = functions.declare(builder, library, arguments, *found)
        self.calls = functions.table_of(self.columns, resolved_calls)
        self.heap = HeapAllocations(builder, self.functions, self.calls, wrappers)

    def run(self, library_mode: bool, converted: Ints) -> ConstraintSystem:
        """Add everything and return it."""
        builder, table, calls = self.builder, self.functions, self.calls
        self._enter(library_mode)
        tested = np.empty((0, 3), np.int32)
        replaced, passing = _NONE, tuple[PassingTable, ...]()
        if self.tests is not None and self.construction is not None:
            tested = self.tests.generate(builder)
            replaced = self.construction.replaced
            passing = self.construction.generate(builder)
            excluded = np.array(list(self.heap.wrappers), np.int64)
            self.accessors = Accessors(
                *(builder, table, calls, self.tests, self.construction), excluded, library_mode
            )
            replaced = np.append(replaced, self.accessors.replaced)
        generate_values(builder)
        generate_accesses(builder, replaced)
        transient = dict[int, frozenset[int]]()
        if self.construction is not None and not library_mode:
            transient = self.construction.construction_tables
        made = storage.generate_globals(builder, self.models, self.library, transient)
        passing += tuple(PassingTable(made[v], f, (), in_calls=True) for v, f in transient.items())
        storage.generate_aliases(builder, table)
        storage.generate_locals(builder, self.heap.layout_of)
        functions.generate_returns(builder, table)
        externals = self._calls()
        is_open = library_mode or any(not external.is_modelled for external in externals)
        self.models.exceptions.generate(may_come_from_outside=is_open)
        functions.generate_opaque(builder, table)
        is_converted = self._convert(converted)
        problem, allocations, positions, origins = builder.generated()
        is_direct = (calls.function >= 0) & ~calls.is_indirect
        is_direct &= ~np.append(table.is_intrinsic, False)[calls.function]
        direct = np.stack([calls.row[is_direct], calls.function[is_direct]], axis=1)
        callbacks = np.concatenate([*self.models.callbacks, np.empty((0, 2), np.int64)])
        virtual = np.concatenate([*self.models.virtual, np.empty((0, 2), np.int64)])
        columns, named = self.columns, self.heap.named()
        assumptions = assumptions_of(columns, calls, externals, named, library_mode)
        return ConstraintSystem(
            *(problem, allocations, positions, origins),
            result_node=np.where(table.is_defined, table.result, NONE).astype(np.int32),
            direct_calls=direct.astype(np.int32),
            callbacks=callbacks.astype(np.int32),
            virtual_callbacks=virtual.astype(np.int32),
            may_hold_pointer=columns.pointer_typed | columns.pointer_carrying,
            externals=externals,
            assumptions=(*assumptions, *self.models.assumptions),
            is_converted=is_converted,
            open_calls=self.open_calls.astype(np.int32),
            resolved_calls=self.resolved_calls.astype(np.int32),
            allocators=np.array(sorted(self.heap.allocators), np.int32),
            written=written_of(columns, table, calls, self.library),
            made_by=self.heap.made_by(),
            returning_new=self.heap.returning_new(),
            only_in_tables=table.only_in_tables,
            passing_tables=passing,
            overriders=np.empty((0, 2), np.int32),  # which a solution tells
            tested=tested,
        )

    def _convert(self, converted: Ints) -> Bools:
        """Let every call reach the functions that the program converts; return which they are."""
        table, found = self.functions, np.zeros(len(self.functions.name), bool)
        if self.arguments == ArgumentRule.AUTO:
            found = conversions.flowing(self.builder, table, self.calls)
            found[converted] = True
            found &= ~table.only_in_tables  # C++ calls virtual functions by their types
            layouts = self.builder.layouts()
            layouts[table.allocation[found]] = self.builder.object_layouts.function(ANY_CALL)
        return found

    def _enter(self, library_mode: bool) -> None:
        """Add who calls the program."""
        if library_mode:
            storage.generate_exports(self.builder)
            return
        found = [f for f, name in enumerate(self.functions.name) if name == "main"]
        if not found or not self.functions.is_defined[found[0]]:
            message = "the program has no 'main': nothing says where it starts"
            note = "analyse it as a library: library=True (--library)"
            raise SourceError(None, "points-to/no-main", message, note)
        storage.generate_command_line(self.builder, self.models)

    def _calls(self) -> tuple[External, ...]:
        """Add all calls; return the functions that the program calls and does not contain."""
        builder, table, calls = self.builder, self.functions, self.calls
        outside = Externals(table, self.heap, self.models)
        leaves = outside.leaves(calls)
        direct = calls.only((calls.function >= 0) & ~leaves)
        is_plain = ~self.heap.is_wrapped(direct)
        returns = is_plain
        if self.accessors is not None:
            self.accessors.generate(direct)
            returns = is_plain & ~self.accessors.gives_result(direct)
        functions.generate_direct(builder, table, direct, returns, self.construction)
        generate_aggregates(builder, table, direct.only(is_plain))
        self.heap.generate_clones()
        indirect = calls.only(calls.is_indirect)
        rule, is_open = self.arguments, self.open_calls
        functions.generate_indirect(builder, table, indirect, rule, is_open, self.tests)
        functions.generate_outside(builder, table, calls.only(calls.is_assembly))
        return outside.generate(calls.only(leaves))

"""Generates the constraints of a C program: every rule of the language, as rows of one problem.

Each module is for one kind of code, and adds whole columns to one `PointerBuilder`. What library
functions do is data (`library`). Nothing is solved here, and nothing depends on the order of calls:
equal programs give equal constraint systems.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kleene.analyses.points_to.constraints.assumptions import assumptions_of
from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.constraints.externals import EXCEPTION, Externals, Models
from kleene.analyses.points_to.constraints.functions import (
    CallTable,
    FunctionTable,
    declare,
    generate_direct,
    generate_exceptions,
    generate_indirect,
    generate_opaque,
    generate_outside,
    generate_returns,
    table_of,
)
from kleene.analyses.points_to.constraints.heap import HeapAllocations
from kleene.analyses.points_to.constraints.memory_accesses import MemoryAccesses
from kleene.analyses.points_to.constraints.storage import (
    generate_aliases,
    generate_command_line,
    generate_exports,
    generate_globals,
    generate_locals,
)
from kleene.analyses.points_to.constraints.values import generate_values
from kleene.analyses.points_to.layouts import Layouts
from kleene.analyses.points_to.library import Library, builtin
from kleene.analyses.points_to.memory_model import ConstraintSystem, External
from kleene.analyses.points_to.offset_edges import OffsetEdges
from kleene.base.errors import SourceError
from kleene.ir.codes import Opcode
from kleene.ir.program import Program
from kleene.solvers.inclusion import FROM_OUTSIDE, NONE, TO_OUTSIDE


def generate(
    program: Program,
    *,
    library_mode: bool = False,
    wrappers: Sequence[str] = (),
    models: Library | None = None,
    exact_arguments: bool = False,
) -> ConstraintSystem:
    """Return the constraints on the pointers of a program.

    Args:
        program: all of it, or a library.
        library_mode: others call what they can see of it; else it is entered at main alone.
        wrappers: functions that return new storage, each call its own; others are found.
        models: what functions outside the program do; the built-in library by default.
        exact_arguments: calls through pointers pass no more arguments than functions take.

    Raises:
        SourceError: `points-to/no-main`, `points-to/no-such-wrapper`.
    """
    return _Generation(program, models or builtin(), wrappers, OffsetEdges(exact_arguments)).run(
        library_mode
    )


class _Generation:
    """The parts, in the order in which they need one another."""

    def __init__(
        self, program: Program, library: Library, wrappers: Sequence[str], edges: OffsetEdges
    ) -> None:
        self.program, self.library, self.edges = program, library, edges
        self.columns = Columns(program)
        self.layouts = Layouts(program.types, program.strings)
        self.builder = PointerBuilder(program.n_values, self.edges)
        self.memory = MemoryAccesses(self.columns, self.builder)
        self.models = Models(self.columns, self.builder, self.memory, self.layouts)
        self.functions: FunctionTable = declare(
            self.columns, self.builder, self.layouts, self.memory, library
        )
        self.calls: CallTable = table_of(self.columns)
        self.heap = HeapAllocations(
            self.columns, self.layouts, self.functions, self.calls, wrappers
        )

    def run(self, library_mode: bool) -> ConstraintSystem:
        """Add everything and return it."""
        columns, builder, functions = self.columns, self.builder, self.functions
        self._enter(library_mode)
        generate_values(columns, builder)
        self.memory.generate_accesses()
        generate_globals(columns, builder, self.layouts, self.models, self.library)
        generate_aliases(columns, builder, functions)
        generate_locals(columns, builder, self.layouts, self.heap.layout_of)
        generate_returns(columns, builder, functions)
        externals = self._calls()
        self._exceptions(externals)
        generate_opaque(columns, builder, functions)
        problem, allocations, positions, origins = builder.generated(self.layouts)
        known = self.calls.function >= 0
        known &= ~np.append(functions.is_intrinsic, False)[self.calls.function]
        direct_calls = self.calls.only(known)
        direct = np.stack([direct_calls.row, direct_calls.function], axis=1)
        callbacks = np.concatenate([*self.models.callbacks, np.empty((0, 2), np.int64)])
        return ConstraintSystem(
            *(problem, allocations, positions, origins),
            result_node=np.where(functions.is_defined, functions.result, NONE).astype(np.int32),
            direct_calls=direct.astype(np.int32),
            callbacks=callbacks.astype(np.int32),
            may_hold_pointer=columns.pointer_typed | columns.pointer_carrying,
            externals=externals,
            assumptions=tuple(
                assumptions_of(columns, self.calls, externals, self.heap.named(), library_mode)
            )
            + self.edges.assumptions(),
        )

    def _enter(self, library_mode: bool) -> None:
        """Add who calls the program."""
        if library_mode:
            generate_exports(self.columns, self.builder)
            return
        found = [f for f, name in enumerate(self.functions.name) if name == "main"]
        if not found or not self.functions.is_defined[found[0]]:
            message = "the program has no 'main': nothing says where it starts"
            note = "analyse it as a library: library=True (--library)"
            raise SourceError(None, "points-to/no-main", message, note)
        generate_command_line(self.columns, self.builder, self.layouts, found[0])

    def _calls(self) -> tuple[External, ...]:
        """Add all calls; return the functions that the program calls and does not contain."""
        columns, builder, functions, calls = self.columns, self.builder, self.functions, self.calls
        outside = Externals(columns, builder, functions, self.heap, self.models)
        leaves = outside.leaves(calls)
        direct = calls.only((calls.function >= 0) & ~leaves)
        generate_direct(columns, builder, functions, direct, ~self.heap.is_wrapped(direct))
        self.heap.generate_clones(builder)
        indirect = calls.only((calls.function < 0) & ~calls.is_assembly)
        generate_indirect(columns, builder, functions, indirect)
        generate_outside(columns, builder, functions, calls.only(calls.is_assembly))
        return outside.generate(calls.only(leaves))

    def _exceptions(self, externals: tuple[External, ...]) -> None:
        """Add exceptions; what is thrown may come from outside if the program calls there."""
        pads = self.columns.rows(Opcode.LANDINGPAD, Opcode.CATCHPAD, Opcode.RESUME)
        if not len(pads) and not self.models.has(EXCEPTION):
            return
        node = self.models.shared(EXCEPTION)
        generate_exceptions(self.columns, self.builder, node)
        if any(not external.is_modelled for external in externals):
            self.builder.flag(node, FROM_OUTSIDE | TO_OUTSIDE)

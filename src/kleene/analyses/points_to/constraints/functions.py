"""Functions and calls between them: what is passed, returned, and caught."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.calls import CallTable, named_arguments, variadic_actuals
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.constraints.memory import Memory
from kleene.analyses.points_to.cuts import ANY_NUMBER
from kleene.analyses.points_to.library import Library, Model
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.analyses.points_to.shapes import Shapes
from kleene.base.arrays import I64, Bools, Ints, ragged
from kleene.ir.codes import Opcode, Passing, TypeFlag, ValueKind
from kleene.solvers.inclusion import FROM_OUTSIDE, NONE, TO_OUTSIDE


@dataclass(frozen=True, eq=False)
class FunctionTable:
    """The nodes and storage of functions; rows are those of the program's function table."""

    name: list[str]
    model: list[Model | None]  # that its calls follow
    is_defined: Bools
    is_intrinsic: Bools
    allocation: I64  # -1 for intrinsics
    formal: I64  # per argument: the node that receives what is passed, NONE where untracked
    result: I64  # what it returns; NONE where untracked, or there is nobody to ask
    rest: I64  # the arguments beyond the named ones, NONE where there are none
    variadic: I64  # allocation of these, -1


def declare(
    columns: Columns, builder: PointerBuilder, shapes: Shapes, memory: Memory, library: Library
) -> FunctionTable:
    """Write every function as an object, and return the nodes of all."""
    program = columns.program
    table, types = program.function_table, program.types
    names = [program.strings[s] for s in program.globals.name[table.value].tolist()]
    is_defined = np.diff(table.block_offsets) > 0
    is_intrinsic = np.array([name.startswith("llvm.") for name in names], bool)
    models = [
        library.override(name) if inside else library.find(name)
        for name, inside in zip(names, is_defined.tolist(), strict=True)
    ]
    signature = program.globals.type[table.value]
    is_variadic = types.flags[signature] & TypeFlag.VARARG != 0
    allocation = np.full(len(names), -1)
    real = np.flatnonzero(~is_intrinsic)
    n_arguments = np.where(is_variadic, ANY_NUMBER, np.diff(table.argument_offsets))[real]
    shape = [shapes.function(n) for n in n_arguments.tolist()]
    allocation[real] = builder.allocate(AllocationKind.FUNCTION, table.value[real], shape)
    builder.address(table.value[real], allocation[real])
    result = np.full(len(names), NONE)
    returns = ~is_intrinsic & columns.tracked_type[types.elements[types.offsets[signature]]]
    result[returns] = builder.nodes(int(returns.sum()))
    rest = np.full(len(names), NONE)
    has_rest = np.flatnonzero(~is_intrinsic & is_variadic)
    rest[has_rest] = builder.nodes(len(has_rest))
    formal = _formals(columns, builder, shapes, memory)
    owner, place = ragged(table.argument_offsets[real], table.argument_offsets[real + 1])
    n_formals = np.bincount(owner, minlength=len(real))
    builder.functions(allocation[real], result[real], rest[real], n_formals, formal[place])
    variadic = _variadic(builder, shapes, table.value, rest, is_defined & is_variadic)
    return FunctionTable(
        *(names, models, is_defined, is_intrinsic),
        *(allocation, formal, result, rest, variadic),
    )


def _formals(columns: Columns, builder: PointerBuilder, shapes: Shapes, memory: Memory) -> I64:
    """Return the node of each argument that receives the actuals.

    An argument passed by value points to a copy of its own, filled from what the actuals point to.
    """
    arguments, types = columns.program.arguments, columns.program.types
    value = columns.program.bases[ValueKind.ARGUMENT] + np.arange(len(arguments))
    formal = np.where(columns.tracked[value], value, NONE)
    rows = np.flatnonzero(arguments.passing == Passing.BYVAL)
    type_id, argument = arguments.passed_type[rows], value[rows]
    n_bytes, zero = types.size[type_id], np.zeros(len(rows), np.int64)
    shape = [shapes.plain(t) for t in type_id.tolist()]
    copy = builder.allocate(AllocationKind.COPY, argument, shape, type=type_id, n_bytes=n_bytes)
    builder.address(argument, copy)
    formal[rows] = builder.nodes(len(rows))
    memory.copy(argument, formal[rows], n_bytes, zero, zero - 1)
    return formal


def _variadic(
    builder: PointerBuilder, shapes: Shapes, value: Ints, rest: I64, chosen: Bools
) -> I64:
    """Return the storage of the arguments beyond the named ones, of each function."""
    allocation = np.full(len(rest), -1)
    found = np.flatnonzero(chosen)
    if len(found):
        shape = shapes.cells()
        allocation[found] = builder.allocate(AllocationKind.VARIADIC, value[found], shape)
        builder.fill(allocation[found], 0, rest[found])
    return allocation


def generate_returns(columns: Columns, builder: PointerBuilder, functions: FunctionTable) -> None:
    """Write what functions return."""
    table = columns.program.instructions
    rows = columns.rows(Opcode.RET)
    rows = rows[table.offsets[rows + 1] > table.offsets[rows]]
    value = columns.operand(rows, 0)
    rows, value = rows[columns.flows[value]], value[columns.flows[value]]
    result = functions.result[columns.program.instruction_function[rows]]
    known = result >= 0
    builder.copy(result[known], value[known], rows[known])


def generate_direct(
    columns: Columns,
    builder: PointerBuilder,
    functions: FunctionTable,
    calls: CallTable,
    returns: Bools,
) -> None:
    """Write calls of functions that the program contains; `returns` says which give a result."""
    offsets = columns.program.function_table.argument_offsets
    owner, place = calls.flat()
    function = calls.function[owner]
    first, end = offsets[function], offsets[function + 1]
    named = first + place < end
    formal = np.full(len(place), NONE)
    formal[named] = functions.formal[(first + place)[named]]
    formal[~named] = functions.rest[function[~named]]
    actual = _actuals(columns, builder, calls)
    keep = (formal >= 0) & (actual >= 0)
    builder.copy(formal[keep], actual[keep], calls.row[owner[keep]])
    result = functions.result[calls.function]
    keep = returns & (result >= 0) & columns.tracked[columns.results(calls.row)]
    builder.copy(columns.results(calls.row[keep]), result[keep], calls.row[keep])


def generate_indirect(columns: Columns, builder: PointerBuilder, calls: CallTable) -> None:
    """Write calls through pointers: of functions that take no more arguments than are passed."""
    result = columns.results(calls.row)
    result = np.where(columns.tracked[result], result, NONE)
    n_named, is_variadic = named_arguments(columns, calls)
    callee, plain = calls.callee.copy(), ~is_variadic
    callee[plain] = builder.called(callee[plain], n_named[plain], calls.row[plain])
    builder.calls(callee, calls.offsets, _actuals(columns, builder, calls), result, calls.row)


def _actuals(columns: Columns, builder: PointerBuilder, calls: CallTable) -> I64:
    """Return the node of each actual, NONE where it holds nothing.

    A struct that travels among the arguments beyond the named ones is what it contains.
    """
    found = np.where(
        columns.flows[calls.actuals] & columns.tracked[calls.actuals], calls.actuals, NONE
    )
    whole = variadic_actuals(columns, calls)
    if whole.any():
        origin = calls.row[calls.flat()[0][whole]]
        found[whole] = builder.loaded(builder.somewhere(calls.actuals[whole], origin), origin)
    return found


def generate_outside(columns: Columns, builder: PointerBuilder, calls: CallTable) -> None:
    """Write calls of what nobody knows: actuals escape, the result is unknown."""
    actuals = calls.actuals[columns.flows[calls.actuals] & columns.tracked[calls.actuals]]
    builder.flag(actuals, TO_OUTSIDE)
    result = columns.results(calls.row)
    builder.flag(result[columns.tracked[result]], FROM_OUTSIDE)


def generate_exceptions(columns: Columns, builder: PointerBuilder, node: int) -> None:
    """Write how exceptions travel: all through one node."""
    pads = columns.rows(Opcode.LANDINGPAD, Opcode.CATCHPAD)
    builder.copy(columns.results(pads), node, pads)
    resumes = columns.rows(Opcode.RESUME)
    builder.copy(node, columns.operand(resumes, 0), resumes)


def generate_opaque(columns: Columns, builder: PointerBuilder, functions: FunctionTable) -> None:
    """Let instructions that the reader did not understand do whatever unknown code might.

    One may be a call that passes on all arguments of its caller: those beyond the named ones, too.
    """
    rows = columns.rows(Opcode.OPAQUE)
    builder.flag(columns.all_operands(rows)[1], TO_OUTSIDE)
    builder.flag(columns.results(rows), FROM_OUTSIDE)
    rest = functions.rest[columns.program.instruction_function[rows]]
    builder.flag(rest[rest >= 0], TO_OUTSIDE)

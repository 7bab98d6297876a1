"""Functions and calls: whom each call calls, what is passed and returned."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.library import Library, Model
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.analyses.points_to.object_layout import ANY_CALL, ANY_SLOT
from kleene.base.arrays import I64, Bools, Ints, offsets_of, ragged
from kleene.ir.codes import (
    ConstantKind,
    Flag,
    GlobalFlag,
    GlobalKind,
    Linkage,
    Opcode,
    Passing,
    TypeFlag,
    ValueKind,
)
from kleene.solvers.inclusion import FROM_OUTSIDE, NONE, TO_OUTSIDE

if TYPE_CHECKING:
    from kleene.analyses.points_to.constraints.construction import Construction
    from kleene.analyses.points_to.constraints.type_tests import TypeTests

_SEEN_BY_OTHERS = (
    *(Linkage.EXTERNAL, Linkage.LINKONCE, Linkage.LINKONCE_ODR, Linkage.WEAK, Linkage.WEAK_ODR),
    Linkage.COMMON,
)


@dataclass(frozen=True, eq=False)
class CallTable:
    """Calls as columns; actuals as CSR over them."""

    row: I64  # instruction
    callee: I64  # value
    function: I64  # row of the function that is called for sure, -1 where it is not known
    is_indirect: Bools  # through a pointer
    is_assembly: Bools
    offsets: I64  # n + 1, into actuals
    actuals: I64  # values
    function_at: I64  # per instruction of the program: as `function`, of all calls there are

    def __len__(self) -> int:
        return len(self.row)

    def only(self, found: Bools | I64) -> CallTable:
        """Return some of the calls, by mask or position."""
        position = np.flatnonzero(found) if found.dtype == bool else found
        _, actual = ragged(self.offsets[position], self.offsets[position + 1])
        offsets = offsets_of(np.diff(self.offsets)[position])
        row, callee, function = (c[position] for c in (self.row, self.callee, self.function))
        is_indirect, is_assembly = self.is_indirect[position], self.is_assembly[position]
        actuals = self.actuals[actual]
        return CallTable(
            row, callee, function, is_indirect, is_assembly, offsets, actuals, self.function_at
        )

    def flat(self) -> tuple[I64, I64]:
        """Return for each actual its call and its position among that call's."""
        return ragged(np.zeros(len(self), np.int64), np.diff(self.offsets))


def table_of(columns: Columns, resolved: Ints) -> CallTable:
    """Return all calls of a program.

    `resolved` are pairs (instruction, function row): calls through pointers that an earlier
    solution has shown to reach this function alone.
    """
    rows = columns.calls
    program = columns.program
    table = program.instructions
    callee = columns.operand(rows, 0).astype(np.int64)
    owner, position = ragged(table.offsets[rows] + 1, table.offsets[rows + 1])
    operand = table.operands[position]
    low, high = program.bases[ValueKind.BLOCK : ValueKind.INSTRUCTION + 1]
    is_value = (operand < low) | (operand >= high)
    counts = np.bincount(owner[is_value], minlength=len(rows))
    target = function_of_value(columns)
    known = callee < len(program.globals)
    function = np.where(known, target[np.where(known, callee, 0)], -1) if len(target) else known - 1
    is_assembly = columns.is_constant_of(ConstantKind.ASSEMBLY, callee)
    is_indirect = (function < 0) & ~is_assembly
    function_at = np.full(len(table), -1)
    function_at[rows] = function
    function_at[resolved[:, 0]] = resolved[:, 1]
    return CallTable(
        *(rows, callee, function_at[rows], is_indirect, is_assembly),
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
            if target >= len(table) or target in seen:  # an expression, which may add an offset
                break
            seen.add(target)
        else:
            function[alias] = (
                table.function[target] if table.kind[target] == GlobalKind.FUNCTION else -1
            )
    function[table.kind == GlobalKind.IFUNC] = -1
    return function


def is_visible(columns: Columns) -> Bools:
    """Return which globals have a name that code of other modules can refer to."""
    table = columns.program.globals
    found: Bools = np.isin(table.linkage, _SEEN_BY_OTHERS)
    found &= table.flags & GlobalFlag.HIDDEN == 0
    return found


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
    owner, position = calls.flat()
    n_named, is_variadic = named_arguments(columns, calls)
    position = program.instructions.offsets[calls.row][owner] + 1 + position
    by_value = np.isin(position, passed.operand[passed.passing == Passing.BYVAL])
    found: Bools = by_value & is_variadic[owner] & (position >= n_named[owner])
    return found


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
    only_in_tables: Bools  # nothing but virtual tables has its address


class ArgumentRule(StrEnum):
    """Which of the functions that its pointer holds does a call reach?

    A call without a prototype reaches all, and all calls reach functions of variable arguments.
    """

    AUTO = "auto"  # those of as many parameters, and those that the program converts
    EXACT = "exact"  # those of as many parameters, as C has it
    TYPES = "types"  # those of the same types of parameters and result, as C has it
    ANY = "any"  # all of them


def declare(
    builder: PointerBuilder,
    library: Library,
    rule: ArgumentRule,
    tests: TypeTests | None,
    construction: Construction | None,
) -> FunctionTable:
    """Add every function as an object, and return the nodes of all."""
    columns = builder.columns
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
    own = signature if rule == ArgumentRule.TYPES else np.diff(table.argument_offsets)
    own = own.astype(np.int64)
    own = np.where(is_variadic | (rule == ArgumentRule.ANY), ANY_CALL, own)[real]
    slots = tests.slots_of_functions() if tests is not None else {}
    only_in_tables: Bools = np.zeros(len(names), bool)
    if tests is not None:
        only_in_tables = tests.only_in_tables
    layout = [
        builder.object_layouts.function(
            number, slots.get(row), only_in_tables=bool(only_in_tables[row])
        )
        for row, number in zip(real.tolist(), own.tolist(), strict=True)
    ]
    allocation[real] = builder.allocate(AllocationKind.FUNCTION, table.value[real], layout)
    builder.address(table.value[real], allocation[real])
    result = np.full(len(names), NONE)
    returns = columns.pointer_type[types.elements[types.offsets[signature]]]
    returns = ~is_intrinsic & (returns | _returns_parts(columns))
    result[returns] = builder.nodes(int(returns.sum()))
    rest = np.full(len(names), NONE)
    has_rest = np.flatnonzero(~is_intrinsic & is_variadic)
    rest[has_rest] = builder.nodes(len(has_rest))
    formal = _formals(builder)
    if construction is not None:
        construction.declare(builder, formal)
    owner, position = ragged(table.argument_offsets[real], table.argument_offsets[real + 1])
    n_formals = np.bincount(owner, minlength=len(real))
    builder.functions(allocation[real], result[real], rest[real], n_formals, formal[position])
    variadic = _variadic(builder, table.value, rest, is_defined & is_variadic)
    return FunctionTable(
        *(names, models, is_defined, is_intrinsic),
        *(allocation, formal, result, rest, variadic),
        only_in_tables=only_in_tables,
    )


def _returns_parts(columns: Columns) -> Bools:
    """Return which functions return what is narrower than a pointer, and may be a part of one."""
    program, rows = columns.program, columns.rows(Opcode.RET)
    rows = rows[program.instructions.offsets[rows + 1] > program.instructions.offsets[rows]]
    rows = rows[columns.pointer_carrying[columns.operand(rows, 0)]]
    found = np.zeros(len(program.function_table), bool)
    found[program.instruction_function[rows]] = True
    return found


def _formals(builder: PointerBuilder) -> I64:
    """Return the node of each argument that receives the actuals.

    An argument passed by value points to a copy of its own, filled from what the actuals point to.
    """
    columns = builder.columns
    arguments, types = columns.program.arguments, columns.program.types
    value = columns.program.bases[ValueKind.ARGUMENT] + np.arange(len(arguments))
    formal = np.where(columns.flows[value], value, NONE)
    rows = np.flatnonzero(arguments.passing == Passing.BYVAL)
    type_id, argument = arguments.passed_type[rows], value[rows]
    n_bytes, zero = types.size[type_id], np.zeros(len(rows), np.int64)
    layout = [builder.object_layouts.plain(t) for t in type_id.tolist()]
    copy = builder.allocate(AllocationKind.COPY, argument, layout, type=type_id, n_bytes=n_bytes)
    builder.address(argument, copy)
    formal[rows] = builder.nodes(len(rows))
    builder.copy_bytes(argument, formal[rows], n_bytes, zero, zero - 1)
    return formal


def _variadic(builder: PointerBuilder, value: Ints, rest: I64, chosen: Bools) -> I64:
    """Return the storage of the arguments beyond the named ones, of each function."""
    allocation = np.full(len(rest), -1)
    found = np.flatnonzero(chosen)
    if len(found):
        layout = builder.object_layouts.cells()
        allocation[found] = builder.allocate(AllocationKind.VARIADIC, value[found], layout)
        builder.fill(allocation[found], 0, rest[found])
    return allocation


def generate_returns(builder: PointerBuilder, functions: FunctionTable) -> None:
    """Add what functions return."""
    columns = builder.columns
    table = columns.program.instructions
    rows = columns.rows(Opcode.RET)
    rows = rows[table.offsets[rows + 1] > table.offsets[rows]]
    value = columns.operand(rows, 0)
    rows, value = rows[columns.flows[value]], value[columns.flows[value]]
    result = functions.result[columns.program.instruction_function[rows]]
    known = result >= 0
    builder.copy(result[known], value[known], rows[known])


def generate_direct(
    builder: PointerBuilder,
    functions: FunctionTable,
    calls: CallTable,
    returns: Bools,
    construction: Construction | None,
) -> None:
    """Add calls of functions that the program contains; `returns` says which give a result."""
    columns = builder.columns
    offsets = columns.program.function_table.argument_offsets
    actual_offsets, actual = passed_nodes(builder, functions, calls)
    owner, position = ragged(np.zeros(len(calls), np.int64), np.diff(actual_offsets))
    function = calls.function[owner]
    first, end = offsets[function], offsets[function + 1]
    named = first + position < end
    formal = np.full(len(position), NONE)
    formal[named] = functions.formal[(first + position)[named]]
    formal[~named] = functions.rest[function[~named]]
    if construction is not None and construction.base_this:
        for_base = np.isin(calls.row, list(construction.base_calls))[owner] & (position == 0)
        for i in np.flatnonzero(for_base).tolist():
            formal[i] = construction.base_this.get(int(function[i]), formal[i])
    keep = (formal >= 0) & (actual >= 0)
    builder.copy(formal[keep], actual[keep], calls.row[owner[keep]])
    result = functions.result[calls.function]
    keep = returns & (result >= 0) & columns.flows[columns.results(calls.row)]
    builder.copy(columns.results(calls.row[keep]), result[keep], calls.row[keep])


def generate_indirect(
    builder: PointerBuilder,
    functions: FunctionTable,
    calls: CallTable,
    rule: ArgumentRule,
    open_calls: Ints,
    tests: TypeTests | None,
) -> None:
    """Add calls through pointers, of the functions that a rule lets them reach, or all.

    What a resolved call returns is added with the direct calls of its function.
    """
    columns = builder.columns
    result = columns.results(calls.row)
    result = np.where(columns.flows[result] & (calls.function < 0), result, NONE)
    n_named, is_variadic = named_arguments(columns, calls)
    callee, is_open = calls.callee.copy(), is_variadic | np.isin(calls.row, open_calls)
    types = columns.program.instructions.about[calls.row]
    signature = (types if rule == ArgumentRule.TYPES else n_named).astype(np.int64)
    slot = np.full(len(calls), ANY_SLOT) if tests is None else tests.slots_of_calls(calls.row)
    signature = np.where(is_open, ANY_CALL, signature)
    filtered = ~is_open | (slot != ANY_SLOT)
    called = (c[filtered] for c in (callee, signature, slot, calls.row))
    callee[filtered] = builder.callable_with(*called)
    offsets, actuals = passed_nodes(builder, functions, calls)
    builder.calls(callee, offsets, actuals, result, calls.row)


def passed_nodes(
    builder: PointerBuilder, functions: FunctionTable, calls: CallTable
) -> tuple[I64, I64]:
    """Return the nodes that calls pass, as CSR: offsets and nodes, NONE where one holds nothing.

    A struct that travels among the arguments beyond the named ones is what it contains.
    """
    columns = builder.columns
    found = np.where(columns.flows[calls.actuals], calls.actuals, NONE)
    whole = variadic_actuals(columns, calls)
    if whole.any():
        origin = calls.row[calls.flat()[0][whole]]
        inside = builder.at_unknown_offset(calls.actuals[whole], origin)
        found[whole] = builder.loaded(inside, origin)
    return with_rest(columns, functions, calls, found)


def with_rest(
    columns: Columns, functions: FunctionTable, calls: CallTable, nodes: I64
) -> tuple[I64, I64]:
    """Return what calls pass, as CSR: the nodes of their actuals, and what they pass on.

    A call that passes on all arguments of its caller passes the caller's rest as every further
    argument that a function of the program can take, and as one more at least.
    """
    rest = forwarded_rest(columns, functions, calls)
    if (rest < 0).all():
        return calls.offsets, nodes
    n_most = int(np.diff(columns.program.function_table.argument_offsets).max(initial=0)) + 1
    n_passed = np.diff(calls.offsets)
    n_more = np.where(rest >= 0, np.maximum(n_most - n_passed, 1), 0)
    more = np.insert(nodes, np.repeat(calls.offsets[1:], n_more), np.repeat(rest, n_more))
    return offsets_of(n_passed + n_more), more


def forwarded_rest(columns: Columns, functions: FunctionTable, calls: CallTable) -> I64:
    """Return the rest of the caller where a call passes on all its arguments, else NONE.

    LLVM has it that a `musttail` call in a function of variable arguments does, whatever it names.
    """
    program = columns.program
    is_forwarding = program.instructions.flags[calls.row] & Flag.MUSTTAIL != 0
    return np.where(is_forwarding, functions.rest[program.instruction_function[calls.row]], NONE)


def generate_outside(builder: PointerBuilder, functions: FunctionTable, calls: CallTable) -> None:
    """Add calls of what nobody knows: actuals escape, the result is unknown."""
    columns = builder.columns
    actuals = calls.actuals[columns.flows[calls.actuals]]
    builder.flag(actuals, TO_OUTSIDE)
    rest = forwarded_rest(columns, functions, calls)
    builder.flag(rest[rest >= 0], TO_OUTSIDE)
    result = columns.results(calls.row)
    builder.flag(result[columns.flows[result]], FROM_OUTSIDE)


def generate_opaque(builder: PointerBuilder, functions: FunctionTable) -> None:
    """Let instructions that the reader did not understand do whatever unknown code might.

    One may be a call that passes on all arguments of its caller: those beyond the named ones, too.
    """
    columns = builder.columns
    rows = columns.rows(Opcode.OPAQUE)
    builder.flag(columns.all_operands(rows)[1], TO_OUTSIDE)
    builder.flag(columns.results(rows), FROM_OUTSIDE)
    rest = functions.rest[columns.program.instruction_function[rows]]
    builder.flag(rest[rest >= 0], TO_OUTSIDE)

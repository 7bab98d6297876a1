"""The storage that a program's text names: globals with their initial contents, and locals."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from kleene.analyses.points_to.compiled import entry_point
from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.constraints.externals import ENVIRON, Models
from kleene.analyses.points_to.constraints.functions import FunctionTable, is_visible
from kleene.analyses.points_to.entries import entries_of
from kleene.analyses.points_to.library import Library
from kleene.analyses.points_to.library.language import Holds
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.arrays import I32, I64, Bools, ragged
from kleene.ir.codes import (
    ConstantKind,
    GlobalFlag,
    GlobalKind,
    Opcode,
    TypeKind,
    ValueKind,
)
from kleene.ir.program import Program
from kleene.solvers.inclusion import TO_OUTSIDE

_PURE = (b"__cxa_pure_virtual", b"__cxa_deleted_virtual")
_TABLES_OF_TYPES = b"_ZTVN10__cxxabiv1"  # of objects that are std::type_info
_VIRTUAL_TABLES = (b"_ZTV", b"_ZTC", b"_ZTT")


def generate_globals(
    builder: PointerBuilder, models: Models, library: Library, passing: Collection[int]
) -> dict[int, int]:
    """Add the storage of global variables, and what it contains at the start.

    Return the allocations of the `passing` tables, which are no table of any class.
    """
    columns = builder.columns
    program, layouts = columns.program, builder.object_layouts
    table, strings = program.globals, program.strings
    rows = np.flatnonzero(table.kind == GlobalKind.VARIABLE)
    types = table.type[rows]
    layout = _by_type(types, layouts.plain)
    is_declared = (table.flags[rows] & GlobalFlag.DECLARATION) != 0
    points = program.address_points
    for position in np.flatnonzero(_is_virtual_table(columns, rows)).tolist():
        low, high = np.searchsorted(points.table, [rows[position], rows[position] + 1]).tolist()
        found = zip(points.byte[low:high].tolist(), points.type[low:high].tolist(), strict=True)
        layout[position] = layouts.virtual_table(int(types[position]), found)
        if int(rows[position]) in passing:
            layout[position] = layouts.unrolled(int(types[position]))
    # The tables of classes of others are declared as one pointer, or as none, and are longer.
    is_class_table = _is_class_table(columns, rows)
    layout[is_declared & is_class_table] = layouts.cells()
    is_open = is_declared & strings.begin_with(table.name[rows], b"_ZTV")
    is_open &= ~strings.begin_with(table.name[rows], _TABLES_OF_TYPES)
    layout[is_open] = layouts.unknown_table()
    allocation = builder.allocate(
        *(AllocationKind.GLOBAL, rows, layout), type=types, n_bytes=program.types.size[types]
    )
    at_ends = _at_ends_of_sections(builder, rows, allocation, is_declared)
    is_declared &= ~at_ends
    builder.address(rows, allocation)
    starts = np.flatnonzero(~is_declared & (table.initializer[rows] >= 0))
    owner, byte, value = leaves_of(columns, table.initializer[rows[starts]])
    is_pure = np.isin(value, pure_functions(program))
    owner, byte, value = owner[~is_pure], byte[~is_pure], value[~is_pure]
    builder.fill(allocation[starts[owner]], byte, value)
    outside = is_declared | (table.flags[rows] & GlobalFlag.EXTERNALLY_INITIALIZED != 0)
    is_constant = (table.flags[rows] & GlobalFlag.CONSTANT != 0) & ~outside
    builder.constant(allocation[is_constant])
    for position in np.flatnonzero(outside).tolist():
        variable = int(rows[position])
        model = library.find(program.strings[int(table.name[variable])])
        if model is None or not any(isinstance(effect, Holds) for effect in model):
            builder.flag(variable, TO_OUTSIDE)
        else:
            models.hold(model, variable, int(allocation[position]))
            if is_class_table[position]:
                builder.constant(allocation[position])
    positions = np.flatnonzero(np.isin(rows, list(passing)))
    return dict(zip(rows[positions].tolist(), allocation[positions].tolist(), strict=True))


def _at_ends_of_sections(
    builder: PointerBuilder, rows: I64, allocation: I64, is_declared: Bools
) -> Bools:
    """Add the symbols that linkers define at both ends of a section; return which ones they are.

    `__start_x` (Mach-O: `section$start$SEGMENT$x`) is the address of whatever lies first in section
    x, and steps from there lead from object to object, with nothing between them: it points
    anywhere into each of them, so that a step out of one is a step into another.
    """
    program = builder.columns.program
    table, strings = program.globals, program.strings
    named = np.flatnonzero(table.section[rows] != 0)
    members: dict[bytes, list[int]] = {}
    for position in named[~is_declared[named]].tolist():
        section = strings.raw(int(table.section[rows[position]]))
        segment, _, inner = section.partition(b",")
        members.setdefault(b"__start_" + section, []).append(position)
        inner = b"section$start$" + segment + b"$" + inner.partition(b",")[0]
        members.setdefault(inner, []).append(position)
    found = np.zeros(len(rows), bool)
    if not members:
        return found
    ends: dict[bytes, list[int]] = {}
    for position in np.flatnonzero(is_declared).tolist():
        name = strings.raw(int(table.name[rows[position]])).removeprefix(b"\x01")
        start = name.replace(b"__stop_", b"__start_", 1).replace(b"$end$", b"$start$", 1)
        if start in members:
            ends.setdefault(start, []).append(position)
    for start, both in ends.items():
        found[both] = True
        for position in both:
            builder.address(rows[position], allocation[[*members[start], *both]])
            builder.unknown_offset(rows[position], rows[position])
    return found


def pure_functions(program: Program) -> I64:
    """Return the functions of the library in the place of pure ones: who calls them, ends."""
    table = program.globals
    is_pure = np.logical_or.reduce([program.strings.begin_with(table.name, n) for n in _PURE])
    return np.flatnonzero(is_pure & (table.flags & GlobalFlag.DECLARATION != 0))


def _is_virtual_table(columns: Columns, rows: I64) -> Bools:
    strings, names = columns.program.strings, columns.program.globals.name[rows]
    found = [strings.begin_with(names, prefix) for prefix in _VIRTUAL_TABLES]
    either: Bools = np.logical_or.reduce(found)
    return either


def _is_class_table(columns: Columns, rows: I64) -> Bools:
    """Return which globals are a virtual table, a `std::type_info` or the name in one."""
    names = columns.program.globals.name[rows]
    return columns.program.strings.begin_with(names, b"_ZT")


def generate_aliases(builder: PointerBuilder, functions: FunctionTable) -> None:
    """Add aliases as what they stand for, and ifuncs as what their resolver returns."""
    columns = builder.columns
    table = columns.program.globals
    aliases = np.flatnonzero(table.kind == GlobalKind.ALIAS)
    builder.copy(aliases, table.initializer[aliases])
    for row in np.flatnonzero(table.kind == GlobalKind.IFUNC).tolist():
        resolver = int(table.initializer[row])
        is_function = resolver < len(table) and table.function[resolver] >= 0
        if is_function and functions.result[table.function[resolver]] >= 0:
            builder.copy(row, functions.result[table.function[resolver]])
        else:
            builder.calls(resolver, np.zeros(2, np.int64), np.empty(0, np.int64), row)


def generate_locals(builder: PointerBuilder, heap_layout: Callable[[I64], I64]) -> None:
    """Add the storage of local variables; arrays of variable length are shaped by their use."""
    columns = builder.columns
    program = columns.program
    rows = columns.rows(Opcode.ALLOCA)
    types = program.instructions.about[rows]
    is_constant, count = columns.constant(columns.operand(rows, 0))
    one = is_constant & (count == 1)
    size = program.types.size[types]
    n_bytes = np.where(is_constant & (size >= 0), size * count, -1)
    layout = np.empty(len(rows), np.int64)
    layout[one] = _by_type(types[one], builder.object_layouts.plain)
    layout[~one] = heap_layout(rows[~one])
    allocation = builder.allocate(
        *(AllocationKind.STACK, columns.results(rows), layout), type=types, n_bytes=n_bytes
    )
    builder.address(columns.results(rows), allocation, 0, rows)


def _by_type(types: I32, layout_of: Callable[[int], int]) -> I64:
    """Return the layout of each type."""
    distinct, index = np.unique(types, return_inverse=True)
    found = np.array([layout_of(t) for t in distinct.tolist()], np.int64)
    return found[index.reshape(-1)] if len(found) else found


def generate_exports(builder: PointerBuilder) -> None:
    """Let every symbol that others can see escape."""
    is_defined = builder.columns.program.globals.flags & GlobalFlag.DECLARATION == 0
    builder.flag(np.flatnonzero(is_visible(builder.columns) & is_defined), TO_OUTSIDE)


def generate_command_line(builder: PointerBuilder, models: Models) -> None:
    """Add what main is given: its arguments and the environment, one array of strings.

    So are constructors and their like.
    Linux puts the pointers to both behind one another, and their texts too; programs that set
    their title walk from the one into the other.
    """
    columns = builder.columns
    table = columns.program.function_table
    entered = entries_of(columns.program)
    first, end = table.argument_offsets[entered], table.argument_offsets[entered + 1]
    _, position = ragged(np.minimum(first + 1, end), np.minimum(first + 3, end))
    given = columns.program.bases[ValueKind.ARGUMENT] + position
    if not len(given):
        return
    types, layouts = columns.program.types, builder.object_layouts
    bytes_ = np.flatnonzero((types.kind == TypeKind.INT) & (types.bits == 8))
    text = layouts.repeated(int(bytes_[0])) if len(bytes_) else layouts.raw(-1)
    array = builder.allocate(AllocationKind.COMMAND_LINE, given[0], layouts.cells())
    strings = builder.allocate(AllocationKind.COMMAND_LINE, given[0], text, part=1)
    builder.address(given, array)
    node = builder.node()
    builder.address(node, strings)
    builder.fill(array, 0, node)
    builder.copy(models.shared(ENVIRON), builder.at_unknown_offset(given[:1]))


_AGGREGATE, _SPLAT = int(ConstantKind.AGGREGATE), int(ConstantKind.SPLAT)
_STRUCT = int(TypeKind.STRUCT)


def leaves_of(columns: Columns, values: I32) -> tuple[I64, I64, I64]:
    """Return (which value, byte in it, value there) of every leaf that may be an address."""
    program = columns.program
    types, constants = program.types, program.constants
    found: tuple[I64, I64, I64] = _leaves(
        *(
            values.astype(np.int64),
            program.bases[ValueKind.CONSTANT],
            columns.flows,
            program.value_types,
        ),
        *(constants.kind, constants.offsets, constants.operands),
        *(types.kind, types.bits, types.size, types.offsets, types.elements, types.field_offset),
    )
    return found


@entry_point
def _leaves(
    roots: Any,
    base: Any,
    flows: Any,
    value_types: Any,
    constant_kind: Any,
    operand_offsets: Any,
    operands: Any,
    kind: Any,
    bits: Any,
    size: Any,
    offsets: Any,
    elements: Any,
    field_offset: Any,
) -> Any:
    found = [(np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)]
    stack = [(np.int64(0), np.int64(0)) for _ in range(0)]
    for root in range(len(roots)):
        stack.append((roots[root], np.int64(0)))
        while len(stack):
            value, byte = stack.pop()
            if not flows[value]:
                continue
            row = value - base
            inner = 0 <= row < len(constant_kind) and (
                constant_kind[row] == _AGGREGATE or constant_kind[row] == _SPLAT
            )
            if not inner:
                found.append((np.int64(root), byte, value))
                continue
            whole, first = value_types[value], operand_offsets[row]
            count, step = operand_offsets[row + 1] - first, np.int64(0)
            if kind[whole] != _STRUCT:
                step = size[elements[offsets[whole]]]
            if constant_kind[row] == _SPLAT:
                count = bits[whole]
            for i in range(count):
                part = operands[first if constant_kind[row] == _SPLAT else first + i]
                position = i * step
                if kind[whole] == _STRUCT:
                    position = field_offset[offsets[whole] + i]
                stack.append((np.int64(part), byte + position))
    columns = np.empty((3, len(found)), np.int64)
    for i in range(len(found)):
        columns[0, i], columns[1, i], columns[2, i] = found[i]
    return columns[0], columns[1], columns[2]

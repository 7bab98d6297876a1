"""Round 2: types, and what globals say about theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32
from kleene.ir.codes import GlobalFlag, GlobalKind, TypeKind
from kleene.ir.layout import lay_out
from kleene.ir.program import Program
from kleene.ir.verifier.report import Report

_CONTAINERS = (TypeKind.ARRAY, TypeKind.VECTOR, TypeKind.STRUCT)
_ONE_ELEMENT = (TypeKind.ARRAY, TypeKind.VECTOR)


def check_types(program: Program, report: Report) -> None:
    """Check types, their layout, and the types of globals."""
    table = program.types
    n_elements = np.diff(table.offsets)
    bad = np.isin(table.kind, _ONE_ELEMENT) & (n_elements != 1)
    bad |= (table.kind == TypeKind.FUNCTION) & (n_elements < 1)
    report.rows("type", "type", bad, "has the wrong number of elements")
    contains = np.isin(table.kind, _CONTAINERS)
    bad = in_cycle(table.offsets, np.where(contains[_owners(table.offsets)], table.elements, -1))
    report.rows("recursive-type", "type", bad, "contains itself")
    if len(program.value_types) and program.value_types.min() < 0:
        report.add("type", "the type of some global's address, or of labels, is missing")
    if not report.errors:
        _layout(program, report)
        _globals(program, report)


def in_cycle(offsets: I32, items: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows reach themselves through `items` (-1: none), or reach such a row."""
    owner, left = _owners(offsets), items >= 0
    while True:
        blocked = np.zeros(len(offsets) - 1, bool)
        blocked[owner[left]] = True  # rows that wait for another
        still = left & blocked[items]
        if (still == left).all():
            return blocked
        left = still


def _owners(offsets: I32) -> NDArray[Any]:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _layout(program: Program, report: Report) -> None:
    table = program.types
    size, align, field_offset = lay_out(
        table.kind, table.flags, table.bits, table.offsets, table.elements, program.data_layout
    )
    bad = (size != table.size) | (align != table.align)
    moved = np.bincount(
        _owners(table.offsets)[field_offset != table.field_offset], minlength=len(table)
    )
    message = "size, alignment or field offsets are not those of the data layout"
    report.rows("layout", "type", bad | (moved > 0), message)


def _globals(program: Program, report: Report) -> None:
    """Check functions against their type, and initialisers against their variable."""
    table, functions = program.globals, program.function_table
    is_function = table.kind == GlobalKind.FUNCTION
    bad = is_function & (program.types.kind[table.type] != TypeKind.FUNCTION)
    report.rows("signature", "global", bad, "a function must have a function type")
    bad = (table.kind != GlobalKind.VARIABLE) & ~is_function & (table.initializer < 0)
    report.rows("initializer", "global", bad, "an alias needs a target")
    has_content = np.where(is_function, False, table.initializer >= 0)
    if len(functions):
        has_content[functions.value] = np.diff(functions.block_offsets) > 0
    bad = has_content == ((table.flags & GlobalFlag.DECLARATION) != 0)
    report.rows("declaration", "global", bad, "the flag DECLARATION does not tell the truth")
    is_variable = (table.kind == GlobalKind.VARIABLE) & (table.initializer >= 0)
    content = program.value_types[np.where(is_variable, table.initializer, 0)]
    bad = is_variable & (content != table.type)
    report.rows("initializer", "global", bad, "the initialiser has another type than the variable")
    if not report.errors:
        _signatures(program, report)


def _signatures(program: Program, report: Report) -> None:
    functions, types = program.function_table, program.types
    type_ids = program.globals.type[functions.value]
    n_arguments = np.diff(functions.argument_offsets)
    n_parameters = np.diff(types.offsets)[type_ids] - 1
    bad = n_arguments != n_parameters
    report.rows("signature", "function", bad, "its arguments are not as many as its type says")
    if bad.any():
        return
    owner = np.repeat(np.arange(len(functions)), n_arguments)
    place = np.arange(len(owner)) - functions.argument_offsets[owner]
    expected = types.elements[types.offsets[type_ids[owner]] + 1 + place]
    wrong = np.bincount(owner[expected != program.arguments.type], minlength=len(functions)) > 0
    report.rows("signature", "function", wrong, "an argument has another type than its type says")

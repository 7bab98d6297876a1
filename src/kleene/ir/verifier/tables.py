"""Round 1: are the tables tables? Lengths, offsets, codes, ids, order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.ir.canonical import holds_text, holds_type
from kleene.ir.codes import (
    ORDERING_MASK,
    ORDERING_SHIFT,
    Binding,
    ConstantKind,
    GlobalKind,
    Linkage,
    Opcode,
    Ordering,
    Passing,
    TypeKind,
    ValueKind,
)
from kleene.ir.program import Program
from kleene.ir.verifier.report import Report

Column = NDArray[Any]
# Columns that are not as long as their table: one longer, or counted by one of these.
_OFFSETS = {
    "offsets",
    "block_offsets",
    "argument_offsets",
    "instruction_offsets",
}
_BEHIND = {"operands", "elements", "field_offset", "data"}


def check_tables(program: Program, report: Report) -> None:
    """Check everything that later rounds index by."""
    _lengths(program, report)
    if not report.errors:
        _offsets(program, report)
        _codes(program, report)
    if not report.errors:
        _ids(program, report)
    if not report.errors:
        _order(program, report)


def _lengths(program: Program, report: Report) -> None:
    for name, table in vars(program).items():
        if not hasattr(table, "columns"):
            continue
        n_rows = len(table)
        for column, array in table.columns():
            expected = n_rows + (column in _OFFSETS)
            if column not in _BEHIND and len(array) != expected:
                report.add("columns", f"{name}.{column} has {len(array)} rows, not {expected}")


def _offsets(program: Program, report: Report) -> None:
    functions = program.function_table
    pairs: list[tuple[str, Column, int]] = [
        ("strings", program.strings.offsets, len(program.strings.data)),
        ("types", program.types.offsets, len(program.types.elements)),
        ("types", program.types.offsets, len(program.types.field_offset)),
        ("constants", program.constants.offsets, len(program.constants.operands)),
        ("instructions", program.instructions.offsets, len(program.instructions.operands)),
        ("bundles", program.bundles.offsets, len(program.bundles.operands)),
        ("functions, blocks", functions.block_offsets, len(program.blocks)),
        ("functions, arguments", functions.argument_offsets, len(program.arguments)),
        ("blocks", program.blocks.instruction_offsets, len(program.instructions)),
    ]
    for name, offsets, n_items in pairs:
        if offsets[0] != 0 or offsets[-1] != n_items or (np.diff(offsets) < 0).any():
            report.add("offsets", f"{name}: offsets must rise from 0 to {n_items}")


def _codes(program: Program, report: Report) -> None:
    ordering = (program.instructions.flags & ORDERING_MASK) >> ORDERING_SHIFT
    columns: list[tuple[str, Column, type[IntEnum]]] = [
        ("type", program.types.kind, TypeKind),
        ("global", program.globals.kind, GlobalKind),
        ("global", program.globals.linkage, Linkage),
        ("argument", program.arguments.passing, Passing),
        ("instruction", program.instructions.opcode, Opcode),
        ("instruction", ordering, Ordering),
        ("constant", program.constants.kind, ConstantKind),
        ("constant", program.constants.opcode, Opcode),
        ("binding", program.bindings.kind, Binding),
        ("passed", program.passed.passing, Passing),
    ]
    for name, column, codes in columns:
        bad = ~np.isin(column, list(codes))
        report.rows("code", name, bad, _each(column, f"{{}} is no {codes.__name__}"))


def _ids(program: Program, report: Report) -> None:
    for name, column, low, high, what in _references(program):
        bad = (column < low) | (column >= high)
        report.rows("range", name, bad, _each(column, f"there is no {what} {{}}"))


def _each(column: Column, words: str) -> Callable[[int], str]:
    """Return what puts a row's code into words."""
    return lambda row: words.format(column[row])


def _references(program: Program) -> Iterator[tuple[str, Column, int, int, str]]:
    """Yield each column of ids with its bounds; -1 is allowed where it means none."""
    p, n_types, n_spans = program, len(program.types), len(program.spans)
    n_symbols, constants = len(program.strings), program.constants
    text, types = holds_text(program), holds_type(program)
    is_assembly = constants.kind == ConstantKind.ASSEMBLY
    symbols = [
        ("type", p.types.name),
        ("global", p.globals.name),
        ("global", p.globals.source_name),
        ("argument", p.arguments.name),
        ("block", p.blocks.name),
        ("instruction", p.instructions.name),
        ("constant's text", constants.payload[text]),
        ("constant's constraints", constants.about[is_assembly]),
        ("span", p.spans.file),
        ("span", p.spans.scope),
        ("variable", p.variables.name),
        ("bundle", p.bundles.tag),
        ("notice", p.notice_table.text),
    ]
    yield from ((name, column, 0, n_symbols, "symbol") for name, column in symbols)
    yield from (
        ("element", p.types.elements, 0, n_types, "type"),
        ("global", p.globals.type, 0, n_types, "type"),
        ("argument", p.arguments.type, 0, n_types, "type"),
        ("argument", p.arguments.passed_type, -1, n_types, "type"),
        ("instruction", p.instructions.type, 0, n_types, "type"),
        ("instruction", p.instructions.about, -1, n_types, "type"),
        ("constant", constants.type, 0, n_types, "type"),
        ("expression", constants.about[types], 0, n_types, "type"),
        ("passed", p.passed.type, 0, n_types, "type"),
    )
    yield from (
        ("global", p.globals.span, -1, n_spans, "span"),
        ("instruction", p.instructions.span, -1, n_spans, "span"),
        ("variable", p.variables.span, -1, n_spans, "span"),
        ("span", p.spans.inlined_at, -1, n_spans, "span"),
    )
    first_argument = p.bases[ValueKind.ARGUMENT]
    yield from (
        ("global", p.globals.initializer, -1, first_argument, "global or constant"),
        ("function", p.function_table.personality, -1, first_argument, "global or constant"),
        ("function", p.function_table.value, 0, len(p.globals), "global"),
        ("global", p.globals.function, -1, len(p.function_table), "function"),
        ("operand", p.instructions.operands, 0, p.n_values, "value"),
        ("constant's operand", constants.operands, 0, p.bases[ValueKind.INSTRUCTION], "value"),
        ("bundle's operand", p.bundles.operands, 0, p.n_values, "value"),
        ("binding", p.bindings.value, -1, p.n_values, "value"),
        ("binding", p.bindings.variable, 0, len(p.variables), "variable"),
        ("binding", p.bindings.before, 0, len(p.instructions), "instruction"),
        ("variable", p.variables.function, 0, len(p.function_table), "function"),
        ("block", p.blocks.function, 0, len(p.function_table), "function"),
        ("instruction", p.instructions.block, 0, len(p.blocks), "block"),
        ("bundle", p.bundles.instruction, 0, len(p.instructions), "instruction"),
        ("passed", p.passed.operand, 0, len(p.instructions.operands), "operand"),
    )


def _order(program: Program, report: Report) -> None:
    """Check that owners and offsets tell the same story."""
    functions, blocks = program.function_table, program.blocks
    rows = np.arange(len(functions))
    expected = np.repeat(rows, np.diff(functions.block_offsets))
    report.rows("order", "block", blocks.function != expected, "is not among its function's blocks")
    expected = np.repeat(np.arange(len(blocks)), np.diff(blocks.instruction_offsets))
    bad = program.instructions.block != expected
    report.rows("order", "instruction", bad, "is not among its block's instructions")
    is_function = program.globals.kind == GlobalKind.FUNCTION
    owned = np.full(len(program.globals), -1)
    owned[is_function] = np.arange(int(is_function.sum()))
    bad = program.globals.function != owned
    report.rows("order", "global", bad, "functions must be numbered in the order of their globals")
    if len(functions) != int(is_function.sum()):
        report.add("order", "there must be one row of functions for each global that is one")
    elif not report.errors:
        bad = program.globals.function[functions.value] != rows
        report.rows("order", "function", bad, "its global says that it is another function")

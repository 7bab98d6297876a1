"""Round 2: constants fit their types."""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import ragged
from kleene.ir.codes import ConstantKind, GlobalKind, TypeKind, ValueKind
from kleene.ir.program import Program
from kleene.ir.verifier.report import Report
from kleene.ir.verifier.types import in_cycle

_OF_KIND = {
    ConstantKind.INT: TypeKind.INT,
    ConstantKind.FLOAT: TypeKind.FLOAT,
    ConstantKind.NULL: TypeKind.POINTER,
    ConstantKind.STRING: TypeKind.ARRAY,
    ConstantKind.SPLAT: TypeKind.VECTOR,
    ConstantKind.ASSEMBLY: TypeKind.POINTER,
    ConstantKind.BLOCK_ADDRESS: TypeKind.POINTER,
    ConstantKind.METADATA: TypeKind.METADATA,
    ConstantKind.NONE: TypeKind.TOKEN,
}


def check_constants(program: Program, report: Report) -> None:
    """Check each constant's kind and elements against its type."""
    if report.errors:
        return
    table, base = program.constants, program.bases[ValueKind.CONSTANT]
    rows = table.operands - base
    inner = np.where((rows >= 0) & (rows < len(table)), rows, -1)
    bad = in_cycle(table.offsets, inner)
    report.rows("recursive-constant", "constant", bad, "contains itself")
    expected = np.full(len(ConstantKind), -1)
    for kind, type_kind in _OF_KIND.items():
        expected[kind] = type_kind
    wanted = expected[table.kind]
    bad = (wanted >= 0) & (program.types.kind[table.type] != wanted)
    report.rows("constant", "constant", bad, "is of a kind that its type does not have")
    if not report.errors:
        _aggregates(program, report)
        _strings(program, report)
        _block_addresses(program, report)


def _aggregates(program: Program, report: Report) -> None:
    table, types = program.constants, program.types
    rows = np.flatnonzero(table.kind == ConstantKind.AGGREGATE)
    type_ids = table.type[rows]
    is_struct = types.kind[type_ids] == TypeKind.STRUCT
    lengths = np.diff(table.offsets)[rows]
    expected = np.where(is_struct, np.diff(types.offsets)[type_ids], types.bits[type_ids])
    kinds = (TypeKind.STRUCT, TypeKind.ARRAY, TypeKind.VECTOR)
    bad = np.zeros(len(table), bool)
    bad[rows] = (lengths != expected) | ~np.isin(types.kind[type_ids], kinds)
    report.rows("constant", "constant", bad, "has not as many elements as its type")
    if bad.any() or not len(rows):
        return
    owner, place = ragged(np.zeros_like(lengths), lengths)
    element = types.elements[types.offsets[type_ids[owner]] + np.where(is_struct[owner], place, 0)]
    values = table.operands[table.offsets[rows[owner]] + place]
    bad[rows[owner[program.value_types[values] != element]]] = True
    report.rows("constant", "constant", bad, "an element has another type than its type says")


def _strings(program: Program, report: Report) -> None:
    table, types = program.constants, program.types
    is_string = table.kind == ConstantKind.STRING
    rows = np.flatnonzero(is_string)
    symbols = table.payload[rows]
    lengths = np.diff(program.strings.offsets)[symbols]
    bad = np.zeros(len(table), bool)
    bad[rows] = lengths != types.bits[table.type[rows]]
    report.rows("constant", "constant", bad, "the text is not as long as its array")


def _block_addresses(program: Program, report: Report) -> None:
    table, low = program.constants, program.bases[ValueKind.BLOCK]
    rows = np.flatnonzero(table.kind == ConstantKind.BLOCK_ADDRESS)
    bad = np.zeros(len(table), bool)
    for row in rows.tolist():
        operands = table.operands_of(row).tolist()
        bad[row] = not _is_block_of_function(program, operands, low)
    report.rows("constant", "constant", bad, "is no address of a function's block")


def _is_block_of_function(program: Program, operands: list[int], low: int) -> bool:
    if len(operands) != 2 or operands[0] >= len(program.globals):
        return False
    function, block = int(program.globals.function[operands[0]]), operands[1] - low
    is_function = program.globals.kind[operands[0]] == GlobalKind.FUNCTION
    in_range = is_function and 0 <= block < len(program.blocks)
    return bool(in_range and program.blocks.function[block] == function)

"""Round 1: are the tables tables? Lengths, offsets, codes, ids, order.

What the numbers of a column mean is what its annotation in `ir.tables` says.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.ir.canonical import references
from kleene.ir.codes import ORDERING_MASK, ORDERING_SHIFT, GlobalKind, Ordering
from kleene.ir.program import Program
from kleene.ir.tables import Into, meanings
from kleene.ir.verifier.report import Report


def check_tables(program: Program, report: Report) -> None:
    """Check everything that later rounds index by."""
    for check in (_lengths, _offsets_and_codes, _ids, _order):
        if not report.errors:
            check(program, report)


def _lengths(program: Program, report: Report) -> None:
    """Check that columns are as long as their table, but for offsets and what these lead into."""
    for name, table in program.tables().items():
        offsets = {c: into for c, into in meanings(type(table)).items() if isinstance(into, Into)}
        behind = {column for into in offsets.values() for column in into.items}
        for column, array in table.columns():
            expected = len(table) + (column in offsets)
            if column not in behind and len(array) != expected:
                report.add("columns", f"{name}.{column} has {len(array)} rows, not {expected}")


def _offsets_and_codes(program: Program, report: Report) -> None:
    for name, table in program.tables().items():
        for column, meaning in meanings(type(table)).items():
            numbers = getattr(table, column)
            for items in meaning.items if isinstance(meaning, Into) else ():
                n_items = len(getattr(table if hasattr(table, items) else program, items))
                if numbers[0] != 0 or numbers[-1] != n_items or (np.diff(numbers) < 0).any():
                    report.add("offsets", f"{name}.{column} must rise from 0 to {n_items}")
            if isinstance(meaning, type) and issubclass(meaning, IntEnum):
                _codes(report, f"{name}.{column}", numbers, meaning)
    ordering = (program.instructions.flags & ORDERING_MASK) >> ORDERING_SHIFT
    _codes(report, "instructions.flags", ordering, Ordering)


def _codes(report: Report, name: str, numbers: NDArray[Any], codes: type[IntEnum]) -> None:
    known = [int(code) for code in codes]
    message = _each(numbers, f"{{}} is no {codes.__name__}")
    report.rows("code", name, ~np.isin(numbers, known), message)


def _ids(program: Program, report: Report) -> None:
    counts = {
        "symbol": len(program.strings),
        "type": len(program.types),
        "source_type": len(program.source_types),
        "span": len(program.spans),
        "value": program.n_values,
        "global": len(program.globals),
        "function": len(program.function_table),
        "block": len(program.blocks),
        "instruction": len(program.instructions),
        "operand": len(program.instructions.operands),
        "variable": len(program.variables),
    }
    for name, column, to, rows in references(program):
        ids = getattr(getattr(program, name), column)
        end = counts[to.what] if to.before is None else program.bases[to.before]
        bad = np.zeros(len(ids), bool)
        bad[rows] = (ids[rows] < -to.or_none) | (ids[rows] >= end)
        message = _each(ids, f"there is no {to.what} {{}} that could stand here")
        report.rows("range", f"{name}.{column}", bad, message)


def _each(numbers: NDArray[Any], words: str) -> Callable[[int], str]:
    """Return what puts a row's number into words."""
    return lambda row: words.format(numbers[row])


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

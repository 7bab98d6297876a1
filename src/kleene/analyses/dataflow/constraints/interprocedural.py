"""What calls pass and return."""

from __future__ import annotations

import numpy as np

from kleene.analyses.dataflow.constraints.writer import Writer, not_zero
from kleene.base.arrays import Bools, csr, offsets_of, ragged
from kleene.ir.codes import (
    ArgumentFlag,
    Opcode,
    ValueKind,
)
from kleene.solvers.dataflow import (
    Operator,
    ValueFact,
)

_INTRINSICS = {
    b"llvm.umin.": Operator.UNSIGNED_MIN, b"llvm.umax.": Operator.UNSIGNED_MAX,
    b"llvm.smin.": Operator.SIGNED_MIN, b"llvm.smax.": Operator.SIGNED_MAX,
}  # fmt: skip
_COUNTS = (b"llvm.ctpop.", b"llvm.ctlz.", b"llvm.cttz.")


def passed(w: Writer) -> None:
    """Write the constraints of results, arguments and LLVM's own functions."""
    _results(w)
    _arguments(w)
    _intrinsics(w)


def _results(w: Writer) -> None:
    """A function returns one of its results; a call, what the functions it reaches do."""
    program, calls = w.program, w.calls
    n_functions = len(program.function_table)
    has_body = np.diff(program.function_table.block_offsets) > 0
    w.result_name = np.full(n_functions, -1, np.int64)
    returns = np.flatnonzero((w.table.opcode == Opcode.RET) & (np.diff(w.table.offsets) == 1))
    value = w.operand_value(returns, 0)
    returns = returns[w.is_tracked[value]]
    function = program.instruction_function[returns].astype(np.int64)
    width = np.zeros(n_functions, np.int64)
    width[function] = w.width[w.operand_value(returns, 0)]
    returning = np.flatnonzero(has_body & (width > 0))
    names = w.build.names(len(returning))
    w.result_name[returning] = names
    offsets, order = csr(function, n_functions)
    returns = returns if order is None else returns[order]
    pairs = np.stack([w.operand(returns, 0), w.end_name[w.table.block[returns]]], axis=1)
    w.build.define(
        names, Operator.PHI, pairs, offsets=offsets_of(2 * np.diff(offsets)[returning]),
        width=width[returning],
    )  # fmt: skip
    usable = calls.keeps_result[calls.function] & ~calls.may_return_any[calls.call]
    call, reached = calls.call[usable], w.result_name[calls.function[usable]]
    is_wrong = reached < 0
    fits = ~is_wrong
    fits[fits] = width[calls.function[usable][fits]] == w.width[w.name(call[fits])]
    spoiled = np.zeros(len(w.table), bool)
    spoiled[call[~fits]] = True
    spoiled[calls.call[~calls.keeps_result[calls.function]]] = True
    keep = ~spoiled[call] & w.is_tracked[w.name(call)]
    call, reached = call[keep], reached[keep]
    offsets, order = csr(call, len(w.table))
    reached = reached if order is None else reached[order]
    rows = np.flatnonzero(np.diff(offsets) > 0)
    w.build.define(
        w.name(rows), Operator.JOIN, reached, offsets=offsets_of(np.diff(offsets)[rows]),
        width=w.width[w.name(rows)],
    )  # fmt: skip


def _arguments(w: Writer) -> None:
    """An argument is what one of the calls passes; of an open function, anything."""
    program, calls = w.program, w.calls
    table = program.function_table
    first = table.argument_offsets[:-1].astype(np.int64)
    n_arguments = np.diff(table.argument_offsets).astype(np.int64)
    closed = ~calls.is_open[calls.function]
    call, function = calls.call[closed], calls.function[closed]
    n_passed = np.diff(w.table.offsets)[call] - 1
    n_passed -= 2 * (w.table.opcode[call] == Opcode.INVOKE)
    n_passed[w.table.opcode[call] == Opcode.CALLBR] = 0
    owner, nth = ragged(np.zeros(len(call), np.int64), n_arguments[function])
    argument = first[function[owner]] + nth
    name = argument + w.bases[ValueKind.ARGUMENT]
    has = nth < n_passed[owner]
    place = w.table.offsets[call[owner]] + 1 + np.where(has, nth, -1)
    actual, passed = w.split.operand[place].astype(np.int64), w.table.operands[place]
    has &= w.width[passed] == w.width[name]
    any_argument = np.zeros(len(program.arguments), bool)
    any_argument[argument[~has]] = True
    direct = program.arguments.passing == 0
    keep = has & ~any_argument[argument] & w.is_tracked[name] & direct[argument]
    argument, actual = argument[keep], actual[keep]
    guard = w.block_name(w.table.block[call[owner[keep]]])
    offsets, order = csr(argument, len(program.arguments))
    pairs = np.stack([actual, guard], axis=1)
    pairs = pairs if order is None else pairs[order]
    rows = np.flatnonzero(np.diff(offsets) > 0)
    names = rows + w.bases[ValueKind.ARGUMENT]
    w.build.define(
        names, Operator.PHI, pairs, offsets=offsets_of(2 * np.diff(offsets)[rows]),
        width=w.width[names],
    )  # fmt: skip
    _promised_arguments(w, np.diff(offsets) > 0)


def _promised_arguments(w: Writer, is_linked: Bools) -> None:
    """Open functions may rely on what attributes promise."""
    table = w.program.arguments
    not_null = (table.flags & ArgumentFlag.NONNULL != 0) | (table.passing != 0)
    chosen = not_null & ~is_linked & w.trusts_flags
    names = np.flatnonzero(chosen) + w.bases[ValueKind.ARGUMENT]
    w.give(names[w.width[names] == 64], not_zero(64, 0))


def _intrinsics(w: Writer) -> None:
    program = w.program
    table, strings = program.globals, program.strings
    is_call = np.flatnonzero(
        (w.table.opcode == Opcode.CALL) & w.is_tracked[w.bases[ValueKind.INSTRUCTION] :]
    )
    callee = w.operand_value(is_call, 0)
    is_call, callee = is_call[callee < len(table)], callee[callee < len(table)]
    symbols = table.name[callee]
    for prefix, operator in _INTRINSICS.items():
        rows = is_call[strings.begin_with(symbols, prefix)]
        pairs = np.stack([w.operand(rows, 1), w.operand(rows, 2)], axis=1)
        w.define(rows, operator, pairs, 0)
    for prefix in _COUNTS:
        rows = is_call[strings.begin_with(symbols, prefix)]
        for width in np.unique(w.width[w.name(rows)]).tolist():
            if width < 8:  # a count may be negative as a signed number of few bits
                continue
            chosen = rows[w.width[w.name(rows)] == width]
            w.give(w.name(chosen), ValueFact(width, 0, width, 0, width, 0, 0))
    rows = is_call[strings.begin_with(symbols, b"llvm.expect.")]
    w.define(rows, Operator.JOIN, w.operand(rows, 1)[:, None], 0)

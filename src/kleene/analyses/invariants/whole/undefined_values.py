"""Values of a whole program that nobody gave: by phis, choices, arguments and results."""

from __future__ import annotations

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.values_needed import (
    PASSES_ON,
    are_words,
    must_have_values,
    temporaries,
)
from kleene.analyses.invariants.whole.flow import Flow
from kleene.base.arrays import I64, Bools, offsets_of
from kleene.ir import Program
from kleene.ir.codes import ConstantKind, Opcode, ValueKind


def may_be_undefined(context: Context, flow: Flow) -> Bools:
    """Return, of each value, whether it may be undefined."""
    return _Undefined(context, flow).run()


def owners(program: Program) -> tuple[I64, I64]:
    """Return, of each operand, the instruction that it belongs to, and its position there."""
    return _within(np.diff(program.instructions.offsets))


class _Undefined:
    def __init__(self, context: Context, flow: Flow) -> None:
        self._context, self._flow, self._program = context, flow, context.program
        self._table = self._program.instructions
        self._first = self._program.bases[ValueKind.INSTRUCTION]

    def run(self) -> Bools:
        """Return the values that may be undefined, by φ, choices, arguments and results."""
        program = self._program
        found = np.zeros(program.n_values, bool)
        constants = program.constants
        first = program.bases[ValueKind.CONSTANT]
        is_none = np.isin(constants.kind, (ConstantKind.UNDEF, ConstantKind.POISON))
        found[first : first + len(constants)] = is_none
        if not is_none.any():
            return found
        parts = (self._chosen(), self._computed(), self._passed(), self._returned())
        source, target = (np.concatenate(one) for one in zip(*parts, strict=True))
        while True:
            new = target[found[source] & ~found[target]]
            if not len(new):
                return found
            found[new] = True

    def _chosen(self) -> tuple[I64, I64]:
        """Return what φ and choices get, on ways that a run may go, and their values."""
        table, (owner, place) = self._table, owners(self._program)
        opcode = table.opcode[owner]
        chosen = np.flatnonzero((opcode == Opcode.SELECT) & (place > 0))
        phis = np.flatnonzero((opcode == Opcode.PHI) & (place % 2 == 0))
        before = table.operands[phis + 1] - self._program.bases[ValueKind.BLOCK]
        phis = phis[self._flow.are_edges(before, table.block[owner[phis]])]
        is_constant = table.operands[phis] < self._program.bases[ValueKind.ARGUMENT]
        phis = phis[~(temporaries(self._program)[owner[phis]] & is_constant)]
        given = np.concatenate((chosen, phis))
        return table.operands[given].astype(np.int64), owner[given] + self._first

    def _computed(self) -> tuple[I64, I64]:
        """Return what has no value where an operand has none, which is no fault, and the operand.

        All else that is computed of such an operand is behind a check.
        """
        table, (owner, _) = self._table, owners(self._program)
        chosen = np.isin(table.opcode, PASSES_ON) & ~are_words(self._program)
        given = np.flatnonzero(chosen[owner])
        return table.operands[given].astype(np.int64), owner[given] + self._first

    def _passed(self) -> tuple[I64, I64]:
        """Return what calls pass to functions with a body, and the arguments there.

        What must have a value is checked at the call.
        """
        table, calls = self._table, self._context.calls
        offsets = self._program.function_table.argument_offsets.astype(np.int64)
        call, function = calls.call.astype(np.int64), calls.function.astype(np.int64)
        length = np.minimum(np.diff(table.offsets)[call] - 1, np.diff(offsets)[function])
        pair, place = _within(length)
        at = table.offsets[call][pair] + 1 + place
        given = table.operands[at].astype(np.int64)
        formal = self._program.bases[ValueKind.ARGUMENT] + offsets[function][pair] + place
        chosen = ~must_have_values(self._program)[at]
        return given[chosen], formal[chosen]

    def _returned(self) -> tuple[I64, I64]:
        """Return what functions return, and the calls that get it: no scalars, as above."""
        table, calls = self._table, self._context.calls
        has_value = (table.opcode == Opcode.RET) & (np.diff(table.offsets) > 0)
        first = table.offsets[:-1][has_value]
        has_value[has_value] = ~must_have_values(self._program)[first]
        rows = np.flatnonzero(has_value & self._flow.is_followed[table.block])
        n_functions = len(self._program.function_table)
        count = np.bincount(self._program.instruction_function[rows], minlength=n_functions)
        function = calls.function.astype(np.int64)
        pair, place = _within(count[function])
        row = rows[offsets_of(count)[function][pair] + place]  # they are in order of functions
        given = table.operands[table.offsets[row]].astype(np.int64)
        return given, self._first + calls.call.astype(np.int64)[pair]


def _within(lengths: I64) -> tuple[I64, I64]:
    """Return, of rows of some lengths one after the other, the row and the place of each entry."""
    row = np.repeat(np.arange(len(lengths)), lengths)
    return row, np.arange(len(row)) - offsets_of(lengths)[row]

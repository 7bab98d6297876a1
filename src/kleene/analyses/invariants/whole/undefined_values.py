"""Values of a whole program that nobody gave: by phis, choices, arguments and results."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.values_needed import (
    PASSES_ON,
    are_words,
    must_have_values,
    temporaries,
)
from kleene.analyses.invariants.whole.flow import Flow
from kleene.base.arrays import I64, U64, Bools, offsets_of
from kleene.ir import Program
from kleene.ir.codes import ConstantKind, Opcode, TypeKind, ValueKind

_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class UndefinedValues(NamedTuple):
    """Which values may be undefined.

    Attributes:
        whole: of each value, whether it may; parts of a word do not count.
        bits: of each value, the bits that may be; all of what is no integer of up to 64 bits.
    """

    whole: Bools
    bits: U64


def undefined_values(context: Context, flow: Flow) -> UndefinedValues:
    """Return which values may be undefined: storage without a value, and what is made of it."""
    return _Undefined(context, flow).run()


def owners(program: Program) -> tuple[I64, I64]:
    """Return, of each operand, the instruction that it belongs to, and its position there."""
    return _within(np.diff(program.instructions.offsets))


class _Undefined:
    def __init__(self, context: Context, flow: Flow) -> None:
        self._context, self._flow, self._program = context, flow, context.program
        self._table = self._program.instructions
        self._first = self._program.bases[ValueKind.INSTRUCTION]

    def run(self) -> UndefinedValues:
        """Return the values that may be undefined, by φ, choices, arguments and results."""
        program = self._program
        found = np.zeros(program.n_values, bool)
        constants = program.constants
        first = program.bases[ValueKind.CONSTANT]
        is_none = np.isin(constants.kind, (ConstantKind.UNDEF, ConstantKind.POISON))
        found[first : first + len(constants)] = is_none
        if not is_none.any():
            return UndefinedValues(found, np.zeros(program.n_values, np.uint64))
        bits = np.where(found, self._full, np.uint64(0))
        moves = (self._chosen(), self._passed())
        parts = (*moves, self._computed(), self._returned())
        source, target = (np.concatenate(one) for one in zip(*parts, strict=True))
        while len(new := target[found[source] & ~found[target]]):
            found[new] = True
        return UndefinedValues(found, self._bits(bits, found, *moves))

    def _bits(self, bits: U64, whole: Bools, *moves: tuple[I64, I64]) -> U64:
        """Return the bits that may be undefined, of those of constants."""
        given, call = self._returned(in_parts=True)
        is_open = ~whole[given]  # what is undefined as a whole is checked at the return
        returned = given[is_open], call[is_open]
        source, target = (np.concatenate(one) for one in zip(*moves, returned, strict=True))
        while True:
            before = bits.copy()
            chosen = np.flatnonzero(bits[source] & ~bits[target])
            np.bitwise_or.at(bits, target[chosen], bits[source[chosen]])
            for result, found in self._computed_bits(bits):
                bits[result] |= found
            bits &= self._full
            if (bits == before).all():
                return bits

    @cached_property
    def _full(self) -> U64:
        """All bits of each value."""
        types, value_types = self._program.types, self._program.value_types
        kind, width = types.kind[value_types], types.bits[value_types]
        is_word = (value_types >= 0) & (kind == TypeKind.INT) & (width < 64)
        shift = np.where(is_word, 64 - width, 0).astype(np.uint64)
        return np.full(len(value_types), _ALL) >> shift

    @cached_property
    def _is_wide(self) -> Bools:
        """Which values are integers of more than 64 bits: their parts are not told apart."""
        types, value_types = self._program.types, self._program.value_types
        found: Bools = types.kind[value_types] == TypeKind.INT
        found &= (types.bits[value_types] > 64) & (value_types >= 0)
        return found

    @cached_property
    def _operations(self) -> list[tuple[Opcode, I64, I64, I64]]:
        """Of each operation on bits: its results, first and last operands."""
        table = self._table
        found = []
        for opcode in PASSES_ON:
            rows = np.flatnonzero(table.opcode == opcode)
            left = table.operands[table.offsets[rows]].astype(np.int64)
            right = table.operands[table.offsets[rows + 1] - 1].astype(np.int64)
            found.append((opcode, rows + self._first, left, right))
        return found

    def _computed_bits(self, bits: U64) -> Iterator[tuple[I64, U64]]:
        """Yield results, and their bits that may be undefined if those of the operands may be."""
        is_number, number = _numbers(self._program)
        number = number & self._full
        for opcode, *columns in self._operations:
            chosen = np.flatnonzero(bits[columns[1]] | bits[columns[2]])
            result, left, right = (one[chosen] for one in columns)
            found, other, by = bits[left], bits[right], number[right]
            all_or_nothing = np.full(len(result), _ALL)
            if opcode == Opcode.AND:
                found = found & np.where(is_number[right], by, _ALL)
                found |= other & np.where(is_number[left], number[left], _ALL)
            elif opcode == Opcode.OR:
                found = found & ~by | other & ~number[left]
            elif opcode in (Opcode.SHL, Opcode.LSHR):
                shifted = found << by if opcode == Opcode.SHL else found >> by
                found = np.where(is_number[right] & (by < 64), shifted, all_or_nothing)
            elif opcode not in (Opcode.TRUNC, Opcode.ZEXT):
                found = all_or_nothing
            is_wide = self._is_wide[left] | self._is_wide[result]
            is_word = are_words(self._program)[result - self._first]
            found[is_wide] = np.where(is_word[is_wide], np.uint64(0), _ALL)
            yield result, found

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

    def _returned(self, *, in_parts: bool = False) -> tuple[I64, I64]:
        """Return what functions return, and the calls that get it: no scalars, as above.

        In parts, those also, in which small structs are returned.
        """
        table, calls = self._table, self._context.calls
        has_value = (table.opcode == Opcode.RET) & (np.diff(table.offsets) > 0)
        first = table.offsets[:-1][has_value]
        has_value[has_value] = in_parts | ~must_have_values(self._program)[first]
        rows = np.flatnonzero(has_value & self._flow.is_followed[table.block])
        n_functions = len(self._program.function_table)
        count = np.bincount(self._program.instruction_function[rows], minlength=n_functions)
        function = calls.function.astype(np.int64)
        pair, place = _within(count[function])
        row = rows[offsets_of(count)[function][pair] + place]  # they are in order of functions
        given = table.operands[table.offsets[row]].astype(np.int64)
        return given, self._first + calls.call.astype(np.int64)[pair]


def used_bits(program: Program) -> U64:
    """Return, of each operand, the bits that count: of a shift to the right, the higher ones."""
    table, (is_number, number) = program.instructions, _numbers(program)
    found = np.full(len(table.operands), _ALL)
    first = table.offsets[:-1][table.opcode == Opcode.ASHR]
    by = table.operands[first + 1]
    found[first] <<= np.where(is_number[by] & (number[by] < 64), number[by], np.uint64(0))
    return found


def _numbers(program: Program) -> tuple[Bools, U64]:
    """Return which values are constant integers of up to 64 bits, and these."""
    first, constants = program.bases[ValueKind.CONSTANT], program.constants
    is_number, number = np.zeros(program.n_values, bool), np.zeros(program.n_values, np.uint64)
    is_narrow = program.types.bits[constants.type] <= 64
    is_number[first : first + len(constants)] = (constants.kind == ConstantKind.INT) & is_narrow
    number[first : first + len(constants)] = constants.payload.astype(np.uint64)
    return is_number, number


def _within(lengths: I64) -> tuple[I64, I64]:
    """Return, of rows of some lengths one after the other, the row and the place of each entry."""
    row = np.repeat(np.arange(len(lengths)), lengths)
    return row, np.arange(len(row)) - offsets_of(lengths)[row]

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
    lack_bits,
    must_have_values,
    temporaries,
)
from kleene.analyses.invariants.whole.flow import Flow
from kleene.base.arrays import I64, U64, Bools, offsets_of
from kleene.ir import Program
from kleene.ir.codes import ConstantKind, Opcode, TypeKind, ValueKind
from kleene.ir.parts import EXTRACTS, INSERTS, element_offsets, part_offsets

_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_BITS, _BYTES, _ALL_OR_NONE = range(3)  # what the bits of a value stand for


class UndefinedValues(NamedTuple):
    """Which values may be undefined.

    Attributes:
        whole: of each value, whether it may; parts of a word do not count.
        bits: of each value, the bits that may be, if it is an integer of up to 64 bits; the bytes,
            if it is a struct, an array or a vector of up to 64 bytes; else all or none.
        stored: of each value, the bytes that may be, where it is stored; the same of larger ones.
    """

    whole: Bools
    bits: U64
    stored: U64


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
            none = np.zeros(program.n_values, np.uint64)
            return UndefinedValues(found, none, none)
        bits = np.where(found, self._full, np.uint64(0))
        for row in np.flatnonzero(lack_bits(program)).tolist():
            bits[first + row] = self._constant_bits(first + row)
        moves = (self._chosen(), self._passed())
        parts = (*moves, self._computed(), self._returned())
        source, target = (np.concatenate(one) for one in zip(*parts, strict=True))
        while len(new := target[found[source] & ~found[target]]):
            found[new] = True
        bits = self._bits(bits, found, *moves)
        return UndefinedValues(found, bits, self._as_bytes(bits, np.arange(len(bits))))

    def _constant_bits(self, value: int) -> np.uint64:
        """Return the bits of a constant that have no value; of structs and the like, the bytes."""
        constants, row = self._program.constants, value - self._program.bases[ValueKind.CONSTANT]
        if not 0 <= row < len(constants):
            return np.uint64(0)
        if constants.kind[row] != ConstantKind.AGGREGATE:
            is_none = constants.kind[row] in (ConstantKind.UNDEF, ConstantKind.POISON)
            return self._full[value] if is_none else np.uint64(0)
        found = 0
        starts = element_offsets(self._program, int(self._program.value_types[value]))
        for place, one in enumerate(constants.operands_of(row).tolist()):
            part = np.array([self._constant_bits(one)], np.uint64)
            inside = int(self._as_bytes(part, np.array([one]))[0])
            found |= inside << starts[place] if starts else inside and int(_ALL)
        return np.uint64(found) if found <= int(_ALL) else _ALL

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
            for result, found in self._parts_bits(bits):
                bits[result] |= found
            bits &= self._full
            if (bits == before).all():
                return bits

    @cached_property
    def _kind(self) -> I64:
        """What the bits of each value stand for: bits, bytes, or all of it."""
        types, value_types = self._program.types, self._program.value_types
        kind, size = types.kind[value_types], self._program.store_size[value_types]
        is_whole = np.isin(kind, (TypeKind.STRUCT, TypeKind.ARRAY, TypeKind.VECTOR)) & (size <= 64)
        is_word = (kind == TypeKind.INT) & (types.bits[value_types] <= 64)
        found = np.where(is_word, _BITS, np.where(is_whole, _BYTES, _ALL_OR_NONE))
        found[value_types < 0] = _ALL_OR_NONE
        return found

    @cached_property
    def _all_bytes(self) -> U64:
        """All bytes of each value: 64 of larger ones."""
        size = np.clip(self._program.store_size[self._program.value_types], 1, 64)
        return _ALL >> (64 - size).astype(np.uint64)

    def _as_bytes(self, bits: U64, values: I64) -> U64:
        """Return in which bytes the bits of values are."""
        any_of = bits | bits >> 4
        any_of |= any_of >> 2
        any_of |= any_of >> 1
        gathered = (any_of & np.uint64(0x0101_0101_0101_0101)) * np.uint64(0x0102_0408_1020_4080)
        kind = self._kind[values]
        all_or_none = np.where(bits != 0, _ALL, np.uint64(0))
        found = np.where(kind == _BYTES, bits, np.where(kind == _BITS, gathered >> 56, all_or_none))
        return found & self._all_bytes[values]

    def _of_bytes(self, found: U64, values: I64) -> U64:
        """Return the bits of values that are in some bytes."""
        spread = np.zeros(len(found), np.uint64)
        for place in range(8):
            is_in = found >> np.uint64(place) & np.uint64(1)
            spread |= is_in * np.uint64(255) << np.uint64(8 * place)
        kind, all_or_none = self._kind[values], np.where(found != 0, _ALL, np.uint64(0))
        return np.where(kind == _BYTES, found, np.where(kind == _BITS, spread, all_or_none))

    def _parts_bits(self, bits: U64) -> Iterator[tuple[I64, U64]]:
        """Yield what is made by extracting, inserting and casting, and its bits, as above."""
        table, is_known = self._table, part_offsets(self._program) >= 0
        for opcode in (*EXTRACTS, *INSERTS, Opcode.SHUFFLEVECTOR, Opcode.BITCAST):
            rows = np.flatnonzero(table.opcode == opcode)
            whole = table.operands[table.offsets[rows]].astype(np.int64)
            second = table.offsets[rows] + 1 if opcode in INSERTS else table.offsets[rows + 1] - 1
            part = table.operands[second].astype(np.int64)
            rows = rows[chosen := np.flatnonzero(bits[whole] | bits[part])]
            whole, part, result = whole[chosen], part[chosen], rows + self._first
            inside = self._as_bytes(bits[whole], whole)
            offset = np.clip(part_offsets(self._program)[rows], 0, 63).astype(np.uint64)
            is_sure = is_known[rows] & (self._kind[whole] == _BYTES)
            if opcode in INSERTS:
                inserted = self._as_bytes(bits[part], part) << offset
                found = inside & ~(self._all_bytes[part] << offset) | inserted
            elif opcode in EXTRACTS:
                found = inside >> offset & self._all_bytes[result]
            else:
                found, is_sure = inside, np.full(len(rows), opcode == Opcode.BITCAST)
            found[~is_sure] = _ALL
            yield result, self._of_bytes(found, result)

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
        found: list[tuple[Opcode, I64, I64, I64]] = []
        for opcode in (one for one in PASSES_ON if one != Opcode.BITCAST):  # see `_parts_bits`
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

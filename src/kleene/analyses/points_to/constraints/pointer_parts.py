"""Parts of pointers: which values narrower than a pointer may hold some bits of an address.

Such a value is *pointer-carrying* if it lies

- on a way from a load to a store, through moves, widening, cutting, calls and returns: bytes of
  memory that is copied in parts; library functions that read and write bytes (`getc`, `putc`) load
  and store;
- behind a cut of a wide integer, and on a way to memory, a call, a return or a wide integer;
- on a way to where parts are put together: shifted up by a byte or more, or into a pointer.

Nothing else narrow has a set. A number that was loaded, changed by arithmetic and stored, and was
not part of any of these, is thus taken not to hold a part of an address (see `assumptions`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kleene.analyses.points_to.constraints.reachability import between, spread
from kleene.analyses.points_to.library import Model, language
from kleene.base.arrays import I32, I64, Bools, ragged
from kleene.ir.codes import (
    CALLS,
    ConstantKind,
    GlobalFlag,
    Opcode,
    TypeFlag,
    TypeKind,
    ValueKind,
)
from kleene.ir.program import Program
from kleene.ir.tables import Types

if TYPE_CHECKING:
    from kleene.analyses.points_to.constraints.columns import Columns

_NO_VALUES = np.empty(0, np.int64)
_JOINS = (Opcode.PHI, Opcode.SELECT, Opcode.FREEZE)
_SHIFTS = (Opcode.SHL, Opcode.LSHR, Opcode.ASHR)
_DIVISIONS = (Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM)
THROUGH = (  # an integer that is wanted wants its operands
    *(*_JOINS, Opcode.ADD, Opcode.SUB, Opcode.AND, Opcode.OR, Opcode.XOR, *_SHIFTS),
    *(Opcode.TRUNC, Opcode.ZEXT, Opcode.SEXT, Opcode.MUL, *_DIVISIONS),
)
_MOVES = (  # of parts of values, as they are
    *(*_JOINS, Opcode.BITCAST, Opcode.EXTRACTELEMENT, Opcode.INSERTELEMENT, Opcode.SHUFFLEVECTOR),
    *(Opcode.EXTRACTVALUE, Opcode.INSERTVALUE),
)
_COMBINES = (Opcode.OR, Opcode.ADD, Opcode.XOR, *_JOINS)  # parts, shifted to where they belong
_CUTS = (Opcode.BITCAST, Opcode.EXTRACTELEMENT, Opcode.SHUFFLEVECTOR)
_MOVED = (Opcode.BITCAST,)
_WIDENS = (Opcode.ZEXT, Opcode.SEXT, Opcode.BITCAST, Opcode.INTTOPTR)
_BYTE = 8  # bits: parts that are shifted by fewer are tags


_RESIZES = (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC)
_PARTS = (1, 2, 4)  # bytes
_MOST_POSITIONS = 16  # of arguments; those behind share one


class OutsideParts(NamedTuple):
    """What library functions do with single bytes and words, as values of the program."""

    returned: I64 = _NO_VALUES  # results of calls: bytes from outside
    taken: I64 = _NO_VALUES  # actuals: bytes that go outside
    handed: I64 = _NO_VALUES  # actuals that functions get which the library calls, …
    position: I64 = _NO_VALUES  # … each as this argument


NOTHING_OUTSIDE = OutsideParts()


def outside_parts(
    program: Program, find: Callable[[str], Model | None], *, pointers_in_bytes: bool
) -> OutsideParts:
    """Return what the models that `find` knows say of values narrower than a pointer."""
    functions, calls = program.function_table, program.instructions
    rows = np.flatnonzero(np.isin(calls.opcode, list(CALLS)))
    callee = calls.operands[calls.offsets[rows]]
    rows, callee = rows[callee < len(program.globals)], callee[callee < len(program.globals)]
    function = program.globals.function[callee]
    is_declared = np.append(np.diff(functions.block_offsets) == 0, False)[function]
    rows, function = rows[is_declared], function[is_declared]
    returned, taken, handed, position = [_NO_VALUES], [_NO_VALUES], [_NO_VALUES], [_NO_VALUES]
    for one in np.unique(function).tolist():
        model = find(program.strings[int(program.globals.name[functions.value[one]])]) or ()
        own = rows[function == one]

        def actuals(place: int, own: I64 = own) -> I64:
            there = own[calls.offsets[own] + 1 + place < calls.offsets[own + 1]]
            return calls.operands[calls.offsets[there] + 1 + place].astype(np.int64)

        for effect in model:
            match effect:
                case language.Returns(language.Named(language.BYTES)) if pointers_in_bytes:
                    returned.append(program.bases[ValueKind.INSTRUCTION] + own)
                case language.Shares(language.BYTES, language.Argument(place)) if pointers_in_bytes:
                    taken.append(actuals(place))
                case language.Calls(arguments=terms):
                    for to, term in enumerate(terms):
                        if isinstance(term, language.Argument):
                            handed.append(actuals(term.position))
                            position.append(np.full(len(handed[-1]), to))
    return OutsideParts(*(np.concatenate(part) for part in (returned, taken, handed, position)))


@dataclass(frozen=True, eq=False)
class PointerParts:
    """The values of a program that may hold parts of pointers."""

    columns: Columns
    outside: OutsideParts

    @property
    def program(self) -> Program:
        """The program."""
        return self.columns.program

    def found(self) -> Bools:
        """Return which values are pointer-carrying."""
        program = self.program
        narrow = _is_narrow(program.types)[program.value_types] & ~self.columns.pointer_typed
        base = program.bases[ValueKind.INSTRUCTION]
        narrow[base:] &= ~self.columns.moves_characters[program.instruction_function]
        n_values = len(narrow)
        more = np.zeros(_MOST_POSITIONS + 1, bool)  # what `_handed` adds
        narrow = np.append(narrow, more)
        loaded, stored = np.zeros(len(narrow), bool), np.zeros(len(narrow), bool)
        loaded[self.columns.results(self.columns.rows(Opcode.LOAD))] = True
        stored[self.columns.operand(self.columns.rows(Opcode.STORE), 0)] = True
        handed, getting = self._handed(narrow)
        to, source = self._inside(narrow, _MOVES)
        is_cut = np.append(self._cut(), more)
        found = narrow & between(loaded | is_cut, stored, to, source)
        resized, given = self._resized(narrow)
        kept, put = self._kept()
        to = np.concatenate([to, resized, getting, kept])
        source = np.concatenate([source, given, handed, put])
        found |= narrow & self._copied(loaded, stored, to, source)
        to, source = self._inside(narrow, (*_MOVES, *THROUGH))
        passed, taken = self._passed(narrow)
        to, source = np.concatenate([to, taken, getting]), np.concatenate([source, passed, handed])
        joined, cut = narrow & np.append(self._joined(narrow), more), narrow & is_cut
        spread(joined, source, to)
        spread(cut, to, source)
        stored[self.outside.taken] = stored[self._variadic[0]] = True
        matters = stored & narrow
        matters[passed] = True
        matters[handed] = True
        matters[self._widened(narrow)] = True
        spread(matters, source, to)
        found |= narrow & matters & (joined | cut)
        found, narrow = found[:n_values], narrow[:n_values]
        self._add_constants(found, narrow)
        return found

    def _copied(self, loaded: Bools, stored: Bools, to: I64, source: I64) -> Bools:
        """Return what lies on a way from a load to a store of as many bytes, and has as many.

        A part of a pointer that is stored wider, or cut further, is no part of a copy of it.
        """
        program = self.program
        n_bytes = np.full(len(loaded), _PARTS[-1])
        n_bytes[: program.n_values] = program.types.size[program.value_types]
        found = np.zeros(len(loaded), bool)
        outside = self.outside
        rest, of_rest = self._variadic
        for part in _PARTS:
            fits = (n_bytes[to] >= part) & (n_bytes[source] >= part)
            first, last = loaded & (n_bytes == part), stored & (n_bytes == part)
            first[outside.returned] = first[of_rest] = True
            last[outside.taken] = last[rest] = True
            found |= between(first, last, to[fits], source[fits])
        return found

    @cached_property
    def _variadic(self) -> tuple[I64, I64]:
        """Values passed beyond the named arguments, and those loaded in functions that get such.

        Functions outside that take numbers so, as `printf`, do not put pointers together of them.
        """
        program, calls = self.program, self.columns.calls
        callee = self.columns.operand(calls, 0)
        is_outside = np.append(program.globals.flags & GlobalFlag.DECLARATION != 0, False)
        calls = calls[~is_outside[np.minimum(callee, len(program.globals))]]
        signature = program.instructions.about[calls]
        is_variadic = np.append(program.types.flags & TypeFlag.VARARG != 0, False)
        calls, signature = calls[is_variadic[signature]], signature[is_variadic[signature]]
        n_named = np.diff(program.types.offsets)[signature] - 1  # without the result
        first = program.instructions.offsets[calls] + 1 + n_named
        end = np.maximum(program.instructions.offsets[calls + 1], first)
        passed = program.instructions.operands[ragged(first, end)[1]].astype(np.int64)
        loads = self.columns.rows(Opcode.LOAD)
        owner = program.function_table.value[program.instruction_function[loads]]
        loads = loads[is_variadic[program.globals.type[owner]]]
        return passed, self.columns.results(loads)

    def _resized(self, narrow: Bools) -> tuple[I64, I64]:
        """Return (result, operand) of what integers are widened or cut by, narrow at one end."""
        rows, operand = self.columns.all_operands(self.columns.rows(*_RESIZES))
        result = self.columns.results(rows)
        inside = narrow[result] | narrow[operand]
        return result[inside], operand[inside].astype(np.int64)

    def _kept(self) -> tuple[I64, I64]:
        """Return (to, from) of what numbers are kept in: locals that are loaded and stored alone.

        In between is the local's address.
        """
        program = self.program
        is_local = np.zeros(program.n_values, bool)
        is_local[self.columns.results(self.columns.rows(Opcode.ALLOCA))] = True
        loads, stores = self.columns.rows(Opcode.LOAD), self.columns.rows(Opcode.STORE)
        others = [code for code in Opcode if code not in (Opcode.LOAD, Opcode.STORE)]
        is_local[self.columns.all_operands(self.columns.rows(*others))[1]] = False
        is_local[self.columns.operand(stores, 0)] = False
        place, local = self.columns.operand(loads, 0), self.columns.operand(stores, 1)
        value, result = self.columns.operand(stores, 0), self.columns.results(loads)
        is_number = (program.types.kind == TypeKind.INT)[program.value_types]
        read, written = is_local[place] & is_number[result], is_local[local] & is_number[value]
        to = np.concatenate([result[read], local[written]])
        return to, np.concatenate([place[read], value[written]]).astype(np.int64)

    def _handed(self, narrow: Bools) -> tuple[I64, I64]:
        """Return (what is passed or returned, who may get it), narrow, of calls of all kinds.

        What a call through a pointer passes, any function may get whose address is taken; in
        between is a number behind all values, one for each position and one for what is returned.
        """
        program, table = self.program, self.program.function_table
        base, first = program.bases[ValueKind.ARGUMENT], program.n_values
        returned = first + _MOST_POSITIONS
        is_defined = np.diff(table.block_offsets) > 0
        calls, callee = self.columns.calls, self.columns.operand(self.columns.calls, 0)
        is_known = callee < len(program.globals)
        function = np.full(len(calls), -1)
        function[is_known] = program.globals.function[callee[is_known]]
        is_direct = function >= 0
        count = _n_operands(self.columns, calls) - 1
        owner, position = ragged(np.zeros_like(count), count)
        actual = program.instructions.operands[
            program.instructions.offsets[calls][owner] + 1 + position
        ].astype(np.int64)
        formals = np.diff(table.argument_offsets)
        there = np.append(np.where(is_defined, formals, 0), 0)[function]
        to = np.where(is_direct[owner], -1, first + np.minimum(position, _MOST_POSITIONS - 1))
        has_formal = position < there[owner]
        direct = base + table.argument_offsets[:-1][function[owner]] + position
        to = np.where(is_direct[owner] & has_formal, direct, to)
        pairs = [(actual, to)]
        lead = self.outside
        pairs.append((lead.handed, first + np.minimum(lead.position, _MOST_POSITIONS - 1)))
        is_taken = program.globals.flags[table.value] & GlobalFlag.ADDRESS_TAKEN != 0
        open_ = np.flatnonzero(is_taken & is_defined)
        owner, place = ragged(table.argument_offsets[open_], table.argument_offsets[open_ + 1])
        within = place - table.argument_offsets[open_][owner]
        pairs.append((first + np.minimum(within, _MOST_POSITIONS - 1), base + place))
        rets = self.columns.rows(Opcode.RET)
        rets = rets[_n_operands(self.columns, rets) > 0]
        value, inside = (
            self.columns.operand(rets, 0).astype(np.int64),
            program.instruction_function[rets],
        )
        pairs.append((value[is_taken[inside]], np.full(int(is_taken[inside].sum()), returned)))
        results = self.columns.results(calls)
        pairs.append((np.full(int((~is_direct).sum()), returned), results[~is_direct]))
        of_function = np.argsort(function, kind="stable")
        low = np.searchsorted(function[of_function], inside)
        high = np.searchsorted(function[of_function], inside, "right")
        owner, place = ragged(low, high)
        pairs.append((value[owner], results[of_function[place]]))
        source, to = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
        is_number = np.append(narrow[:first], np.ones(_MOST_POSITIONS + 1, bool))
        keep = (to >= 0) & is_number[source] & is_number[to]
        return source[keep], to[keep]

    def _inside(self, narrow: Bools, opcodes: tuple[Opcode, ...]) -> tuple[I64, I64]:
        """Return (result, operand) of instructions that make narrow values of narrow values."""
        rows, operand = self._data_operands(opcodes)
        result = self.columns.results(rows)
        inside = narrow[result] & narrow[operand]
        return result[inside], operand[inside].astype(np.int64)

    def _data_operands(self, opcodes: tuple[Opcode, ...]) -> tuple[I64, I32]:
        """Return (instruction, operand) of instructions, without the amounts of shifts."""
        shifts = tuple(opcode for opcode in opcodes if opcode in _SHIFTS)
        others = tuple(opcode for opcode in opcodes if opcode not in _SHIFTS)
        rows, operand = self.columns.all_operands(self.columns.rows(*others))
        if not shifts:
            return rows, operand
        more = self.columns.rows(*shifts)
        return np.append(rows, more), np.append(operand, self.columns.operand(more, 0))

    def _passed(self, narrow: Bools) -> tuple[I64, I64]:
        """Return (what is passed or returned, who gets it), narrow both, of calls that are direct.

        What LLVM's own functions are given is passed to their results.
        """
        program, table = self.program, self.program.function_table
        calls = self.columns.calls
        callee = self.columns.operand(calls, 0)
        known = callee < len(program.globals)
        function = np.full(len(calls), -1)
        function[known] = program.globals.function[callee[known]]
        calls, function = calls[function >= 0], function[function >= 0]
        first = program.instructions.offsets[calls] + 1
        count = np.minimum(
            np.diff(table.argument_offsets)[function], _n_operands(self.columns, calls) - 1
        )
        owner, position = ragged(np.zeros_like(count), count)
        actual = program.instructions.operands[first[owner] + position].astype(np.int64)
        formal = table.argument_offsets[function][owner] + position
        formal = program.bases[ValueKind.ARGUMENT] + formal
        is_own = np.diff(table.block_offsets)[function] == 0
        formal[is_own[owner]] = self.columns.results(calls)[owner][is_own[owner]]
        inside = narrow[actual] & narrow[formal]
        pairs = [(actual[inside], formal[inside])]
        rets = self.columns.rows(Opcode.RET)
        rets = rets[_n_operands(self.columns, rets) > 0]
        returned = self.columns.operand(rets, 0)
        rets, returned = rets[narrow[returned]], returned[narrow[returned]].astype(np.int64)
        order = np.argsort(function, kind="stable")
        bounds = np.searchsorted(function[order], program.instruction_function[rets])
        ends = np.searchsorted(function[order], program.instruction_function[rets], "right")
        owner, position = ragged(bounds, ends)
        pairs.append((returned[owner], self.columns.results(calls[order[position]])))
        return np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])

    def _widened(self, narrow: Bools, *opcodes: Opcode) -> I32:
        """Return the narrow values that wide ones are made of, which matter."""
        rows, operand = self.columns.all_operands(self.columns.rows(*(opcodes or _WIDENS)))
        return operand[narrow[operand] & self.columns.pointer_typed[self.columns.results(rows)]]

    def _cut(self) -> Bools:
        """Return the values that are cut from pointer-typed ones, of which other bits are cut too.

        Those are shifted down, by a byte or more.
        """
        shifts = self.columns.rows(Opcode.LSHR, Opcode.ASHR)
        known, amount = self.columns.constant(self.columns.operand(shifts, 1))
        shifts = shifts[~known | (amount >= _BYTE)]
        is_split = np.zeros(self.program.n_values, bool)
        is_split[self.columns.operand(shifts, 0)] = True
        rows, operand = self._data_operands((*_JOINS, Opcode.AND, Opcode.LSHR, Opcode.ASHR))
        spread(is_split, operand, self.columns.results(rows))
        spread(is_split, self.columns.results(rows), operand)
        is_split &= self.columns.pointer_typed
        rows, operand = self.columns.all_operands(self.columns.rows(Opcode.TRUNC))
        found = np.zeros(self.program.n_values, bool)
        found[self.columns.results(rows[is_split[operand]])] = True
        rows, operand = self.columns.all_operands(self.columns.rows(*_CUTS))
        found[self.columns.results(rows[self.columns.pointer_typed[operand]])] = True
        return found

    def _joined(self, narrow: Bools) -> Bools:
        """Return the narrow values that are put together with others, or turned into pointers."""
        program = self.program
        shifts = self.columns.rows(Opcode.SHL)
        known, amount = self.columns.constant(self.columns.operand(shifts, 1))
        is_joined = np.zeros(program.n_values, bool)
        is_joined[self.columns.results(shifts[~known | (amount >= _BYTE)])] = True
        rows, operand = self.columns.all_operands(self.columns.rows(*_COMBINES))
        spread(is_joined, self.columns.results(rows), operand)  # what is put together, whole
        is_joined[self.columns.operand(self.columns.rows(Opcode.INTTOPTR), 0)] = True
        is_joined[self._widened(narrow, *(_WIDENS if self.columns.has_distances else _MOVED))] = (
            True
        )
        rows, operand = self._data_operands(THROUGH)
        spread(is_joined, operand, self.columns.results(rows))  # and of what
        return is_joined

    def _add_constants(self, found: Bools, narrow: Bools) -> None:
        """Add constants that are cut from addresses, and those that contain them."""
        table, base = self.program.constants, self.program.bases[ValueKind.CONSTANT]
        rows = np.flatnonzero(table.kind == ConstantKind.EXPRESSION)
        rows = rows[narrow[base + rows]]
        if len(rows):
            found[base + rows] = True
            owner = np.repeat(np.arange(len(table.kind)), np.diff(table.offsets))
            spread(found, base + owner, table.operands)


def _is_narrow(types: Types) -> Bools:
    """Return which types have bytes that memory is copied by; conditions have not."""
    kinds = (TypeKind.INT, TypeKind.FLOAT, TypeKind.VECTOR)
    return np.isin(types.kind, kinds) & (types.size > 0) & (types.bits > 1)


def _n_operands(columns: Columns, rows: I64) -> I64:
    offsets = columns.program.instructions.offsets
    return (offsets[rows + 1] - offsets[rows]).astype(np.int64)

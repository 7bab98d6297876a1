"""What constraint generation asks of a program's tables, found once, a whole column at a time.

**Pointer-typed** are values that can hold an address: pointers, integers at least as wide,
aggregates and vectors that contain these. An integer counts only on a way to where an address
matters: memory, a call, a return, a pointer again; one that is compared or an index alone does not.
**Pointer-carrying** are narrower values that may hold some bits of an address:

- from a load to a store, through moves, widening, cutting, calls and returns: bytes of memory that
  is copied in parts; library functions that read and write bytes (`getc`, `putc`) load and store;
- cut from a wide integer, and on a way to memory, a call, a return or a wide integer;
- on a way to where parts are put together: shifted up by a byte or more, or into a pointer.

Nothing else has a set. A number that was loaded, changed by arithmetic and stored, and was not part
of any of these, is thus taken not to hold a part of an address (see `assumptions`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kleene.analyses.points_to.compiled import entry_point
from kleene.analyses.points_to.constraints.characters import is_library_code, moves_characters
from kleene.analyses.points_to.library import Model, language
from kleene.base.arrays import I32, I64, Bools, Ints, offsets_of, ragged
from kleene.ir.codes import (
    CALLS,
    ConstantKind,
    Flag,
    GlobalFlag,
    Opcode,
    TypeFlag,
    TypeKind,
    ValueKind,
)
from kleene.ir.program import Program
from kleene.ir.tables import Types
from kleene.kernels.compiled import is_interpreting

_FEW_EDGES = 1 << 14  # so many are followed as fast without compiled code
_NO_VALUES = np.empty(0, np.int64)
_HOLDERS = (
    *(ConstantKind.AGGREGATE, ConstantKind.SPLAT, ConstantKind.EXPRESSION),
    *(ConstantKind.WRAPPED, ConstantKind.UNKNOWN),
)
_JOINS = (Opcode.PHI, Opcode.SELECT, Opcode.FREEZE)
_SHIFTS = (Opcode.SHL, Opcode.LSHR, Opcode.ASHR)
_DIVISIONS = (Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM)
THROUGH = (  # an integer that is wanted wants its operands
    *(*_JOINS, Opcode.ADD, Opcode.SUB, Opcode.AND, Opcode.OR, Opcode.XOR, *_SHIFTS),
    *(Opcode.TRUNC, Opcode.ZEXT, Opcode.SEXT, Opcode.MUL, *_DIVISIONS),
)
_ARITHMETIC = (
    *(Opcode.ADD, Opcode.SUB, Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.SHL, Opcode.LSHR),
    *(Opcode.ASHR, Opcode.ATOMICRMW),
)
_IDLE = (  # what hides an address for good
    *(Opcode.ICMP, Opcode.BR, Opcode.SWITCH, Opcode.UITOFP, Opcode.SITOFP, Opcode.ALLOCA),
    Opcode.GETELEMENTPTR,
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


_NOTHING_OUTSIDE = OutsideParts()


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
class Columns:
    """A program, seen by its operands, opcodes and types."""

    program: Program
    outside: OutsideParts = _NOTHING_OUTSIDE

    @cached_property
    def word_bytes(self) -> int:
        """The size of a pointer."""
        return self.program.types.word_bytes

    @cached_property
    def pointer_type(self) -> Bools:
        """Per type, and once more for -1: its values can hold an address."""
        return np.append(_with_part(self.program.types, self._is_wide()), False)

    def _is_wide(self) -> Bools:
        types = self.program.types
        is_wide: Bools = (types.kind == TypeKind.INT) & (types.bits >= 8 * self.word_bytes)
        is_wide |= types.kind == TypeKind.POINTER
        return is_wide

    @cached_property
    def pointer_typed(self) -> Bools:
        """Per value: it can hold an address, and if it is an integer, that can matter."""
        is_integer = self.program.types.kind == TypeKind.INT
        pointer_typed: Bools = self.pointer_type[self.program.value_types]
        integer = pointer_typed & is_integer[self.program.value_types]
        wanted = np.zeros(len(pointer_typed), bool)
        wanted[: self.program.bases[ValueKind.ARGUMENT]] = True  # constants use one another
        uses = [opcode for opcode in Opcode if opcode not in (*THROUGH, *_IDLE)]
        if self.has_distances:
            uses.append(Opcode.GETELEMENTPTR)
        wanted[self.all_operands(self.rows(*uses))[1]] = True
        rows, operand = self.all_operands(self.rows(*THROUGH))
        inside = is_integer[self.program.value_types[operand]]
        rows, operand = self.results(rows[inside]), operand[inside]
        wanted[operand[pointer_typed[rows] & ~integer[rows]]] = True  # a vector, say
        spread(wanted, operand, rows)
        pointer_typed &= wanted | ~integer
        return pointer_typed

    @cached_property
    def has_distances(self) -> bool:
        """Whether some constant is the difference of two addresses: tables of such are indexed."""
        return len(self.expressions(Opcode.SUB)) > 0

    @cached_property
    def flows(self) -> Bools:
        """Per value: it is pointer-typed or -carrying, and no constant that holds nothing."""
        found = self.pointer_typed | self.pointer_carrying
        first, end = self.program.bases[ValueKind.CONSTANT : ValueKind.ARGUMENT + 1]
        found[first:end] &= np.isin(self.program.constants.kind, _HOLDERS)
        return found

    @cached_property
    def split_types(self) -> Bools:
        """Per type: a struct of scalars, at least two of which can hold an address."""
        types = self.program.types
        owner = np.repeat(np.arange(len(types.kind)), np.diff(types.offsets))
        inside = self.pointer_type[types.elements]
        nested = np.isin(types.kind, (TypeKind.STRUCT, TypeKind.ARRAY))[types.elements]
        n_held = np.bincount(owner[inside], minlength=len(types.kind))
        found: Bools = (types.kind == TypeKind.STRUCT) & (n_held > 1)
        found[owner[nested]] = False
        return found

    @cached_property
    def is_split(self) -> Bools:
        """Per value: an instruction that makes a struct of such a type (see `aggregates`)."""
        found: Bools = self.split_types[self.program.value_types] & self.flows
        found[: self.program.bases[ValueKind.INSTRUCTION]] = False
        return found

    @cached_property
    def counts(self) -> Bools:
        """Per instruction: arithmetic of the C++ library on integers, which are no addresses."""
        program = self.program
        found: Bools = np.isin(program.instructions.opcode, _ARITHMETIC)
        found &= is_library_code(program)[program.instruction_function]
        return found

    @cached_property
    def moves_characters(self) -> Bools:
        """Per function: what it copies are characters, and no parts of pointers."""
        return moves_characters(self.program)

    @cached_property
    def pointer_carrying(self) -> Bools:
        """Per value: it is narrower than a pointer, and may hold a part of one that matters."""
        program = self.program
        narrow = _is_narrow(program.types)[program.value_types] & ~self.pointer_typed
        base = program.bases[ValueKind.INSTRUCTION]
        narrow[base:] &= ~self.moves_characters[program.instruction_function]
        n_values = len(narrow)
        more = np.zeros(_MOST_POSITIONS + 1, bool)  # what `_handed` adds
        narrow = np.append(narrow, more)
        loaded, stored = np.zeros(len(narrow), bool), np.zeros(len(narrow), bool)
        loaded[self.results(self.rows(Opcode.LOAD))] = True
        stored[self.operand(self.rows(Opcode.STORE), 0)] = True
        handed, getting = self._handed(narrow)
        to, source = self._inside(narrow, _MOVES)
        is_cut = np.append(self._cut(), more)
        found = narrow & _between(loaded | is_cut, stored, to, source)
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
            found |= _between(first, last, to[fits], source[fits])
        return found

    @cached_property
    def _variadic(self) -> tuple[I64, I64]:
        """Values passed beyond the named arguments, and those loaded in functions that get such.

        Functions outside that take numbers so, as `printf`, do not put pointers together of them.
        """
        program, calls = self.program, self.calls
        callee = self.operand(calls, 0)
        is_outside = np.append(program.globals.flags & GlobalFlag.DECLARATION != 0, False)
        calls = calls[~is_outside[np.minimum(callee, len(program.globals))]]
        signature = program.instructions.about[calls]
        is_variadic = np.append(program.types.flags & TypeFlag.VARARG != 0, False)
        calls, signature = calls[is_variadic[signature]], signature[is_variadic[signature]]
        n_named = np.diff(program.types.offsets)[signature] - 1  # without the result
        first = program.instructions.offsets[calls] + 1 + n_named
        end = np.maximum(program.instructions.offsets[calls + 1], first)
        passed = program.instructions.operands[ragged(first, end)[1]].astype(np.int64)
        loads = self.rows(Opcode.LOAD)
        owner = program.function_table.value[program.instruction_function[loads]]
        loads = loads[is_variadic[program.globals.type[owner]]]
        return passed, self.results(loads)

    def _resized(self, narrow: Bools) -> tuple[I64, I64]:
        """Return (result, operand) of what integers are widened or cut by, narrow at one end."""
        rows, operand = self.all_operands(self.rows(*_RESIZES))
        result = self.results(rows)
        inside = narrow[result] | narrow[operand]
        return result[inside], operand[inside].astype(np.int64)

    def _kept(self) -> tuple[I64, I64]:
        """Return (to, from) of what numbers are kept in: locals that are loaded and stored alone.

        In between is the local's address.
        """
        program = self.program
        is_local = np.zeros(program.n_values, bool)
        is_local[self.results(self.rows(Opcode.ALLOCA))] = True
        loads, stores = self.rows(Opcode.LOAD), self.rows(Opcode.STORE)
        others = [code for code in Opcode if code not in (Opcode.LOAD, Opcode.STORE)]
        is_local[self.all_operands(self.rows(*others))[1]] = False
        is_local[self.operand(stores, 0)] = False
        place, local = self.operand(loads, 0), self.operand(stores, 1)
        value, result = self.operand(stores, 0), self.results(loads)
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
        calls, callee = self.calls, self.operand(self.calls, 0)
        is_known = callee < len(program.globals)
        function = np.full(len(calls), -1)
        function[is_known] = program.globals.function[callee[is_known]]
        is_direct = function >= 0
        count = _n_operands(self, calls) - 1
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
        rets = self.rows(Opcode.RET)
        rets = rets[_n_operands(self, rets) > 0]
        value, inside = self.operand(rets, 0).astype(np.int64), program.instruction_function[rets]
        pairs.append((value[is_taken[inside]], np.full(int(is_taken[inside].sum()), returned)))
        results = self.results(calls)
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
        result = self.results(rows)
        inside = narrow[result] & narrow[operand]
        return result[inside], operand[inside].astype(np.int64)

    def _data_operands(self, opcodes: tuple[Opcode, ...]) -> tuple[I64, I32]:
        """Return (instruction, operand) of instructions, without the amounts of shifts."""
        shifts = tuple(opcode for opcode in opcodes if opcode in _SHIFTS)
        others = tuple(opcode for opcode in opcodes if opcode not in _SHIFTS)
        rows, operand = self.all_operands(self.rows(*others))
        if not shifts:
            return rows, operand
        more = self.rows(*shifts)
        return np.append(rows, more), np.append(operand, self.operand(more, 0))

    def _passed(self, narrow: Bools) -> tuple[I64, I64]:
        """Return (what is passed or returned, who gets it), narrow both, of calls that are direct.

        What LLVM's own functions are given is passed to their results.
        """
        program, table = self.program, self.program.function_table
        calls = self.calls
        callee = self.operand(calls, 0)
        known = callee < len(program.globals)
        function = np.full(len(calls), -1)
        function[known] = program.globals.function[callee[known]]
        calls, function = calls[function >= 0], function[function >= 0]
        first = program.instructions.offsets[calls] + 1
        count = np.minimum(np.diff(table.argument_offsets)[function], _n_operands(self, calls) - 1)
        owner, position = ragged(np.zeros_like(count), count)
        actual = program.instructions.operands[first[owner] + position].astype(np.int64)
        formal = table.argument_offsets[function][owner] + position
        formal = program.bases[ValueKind.ARGUMENT] + formal
        is_own = np.diff(table.block_offsets)[function] == 0
        formal[is_own[owner]] = self.results(calls)[owner][is_own[owner]]
        inside = narrow[actual] & narrow[formal]
        pairs = [(actual[inside], formal[inside])]
        rets = self.rows(Opcode.RET)
        rets = rets[_n_operands(self, rets) > 0]
        returned = self.operand(rets, 0)
        rets, returned = rets[narrow[returned]], returned[narrow[returned]].astype(np.int64)
        order = np.argsort(function, kind="stable")
        bounds = np.searchsorted(function[order], program.instruction_function[rets])
        ends = np.searchsorted(function[order], program.instruction_function[rets], "right")
        owner, position = ragged(bounds, ends)
        pairs.append((returned[owner], self.results(calls[order[position]])))
        return np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])

    def _widened(self, narrow: Bools, *opcodes: Opcode) -> I32:
        """Return the narrow values that wide ones are made of, which matter."""
        rows, operand = self.all_operands(self.rows(*(opcodes or _WIDENS)))
        return operand[narrow[operand] & self.pointer_typed[self.results(rows)]]

    def _cut(self) -> Bools:
        """Return the values that are cut from pointer-typed ones, of which other bits are cut too.

        Those are shifted down, by a byte or more.
        """
        shifts = self.rows(Opcode.LSHR, Opcode.ASHR)
        known, amount = self.constant(self.operand(shifts, 1))
        shifts = shifts[~known | (amount >= _BYTE)]
        is_split = np.zeros(self.program.n_values, bool)
        is_split[self.operand(shifts, 0)] = True
        rows, operand = self._data_operands((*_JOINS, Opcode.AND, Opcode.LSHR, Opcode.ASHR))
        spread(is_split, operand, self.results(rows))
        spread(is_split, self.results(rows), operand)
        is_split &= self.pointer_typed
        rows, operand = self.all_operands(self.rows(Opcode.TRUNC))
        found = np.zeros(self.program.n_values, bool)
        found[self.results(rows[is_split[operand]])] = True
        rows, operand = self.all_operands(self.rows(*_CUTS))
        found[self.results(rows[self.pointer_typed[operand]])] = True
        return found

    def _joined(self, narrow: Bools) -> Bools:
        """Return the narrow values that are put together with others, or turned into pointers."""
        program = self.program
        shifts = self.rows(Opcode.SHL)
        known, amount = self.constant(self.operand(shifts, 1))
        is_joined = np.zeros(program.n_values, bool)
        is_joined[self.results(shifts[~known | (amount >= _BYTE)])] = True
        rows, operand = self.all_operands(self.rows(*_COMBINES))
        spread(is_joined, self.results(rows), operand)  # what is put together, whole
        is_joined[self.operand(self.rows(Opcode.INTTOPTR), 0)] = True
        is_joined[self._widened(narrow, *(_WIDENS if self.has_distances else _MOVED))] = True
        rows, operand = self._data_operands(THROUGH)
        spread(is_joined, operand, self.results(rows))  # and of what
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

    @cached_property
    def _by_opcode(self) -> tuple[I64, I64]:
        opcode = self.program.instructions.opcode
        starts = offsets_of(np.bincount(opcode, minlength=256))
        return np.argsort(opcode, kind="stable"), starts

    def rows(self, *opcodes: Opcode) -> I64:
        """Return the instructions with one of the opcodes, by opcode and then in their order."""
        order, starts = self._by_opcode
        return np.concatenate([order[starts[o] : starts[o + 1]] for o in opcodes])

    def expressions(self, opcode: Opcode) -> I64:
        """Return the constants (rows) that are expressions with an opcode."""
        table = self.program.constants
        return np.flatnonzero((table.kind == ConstantKind.EXPRESSION) & (table.opcode == opcode))

    def operand(self, rows: I64, position: int) -> I32:
        """Return the operand at `position` of each instruction."""
        table = self.program.instructions
        return table.operands[table.offsets[rows] + position]

    def all_operands(self, rows: I64) -> tuple[I64, I32]:
        """Return every operand of the instructions, without blocks, beside its instruction."""
        table = self.program.instructions
        owner, position = ragged(table.offsets[rows], table.offsets[rows + 1])
        operand = table.operands[position]
        low, high = self.program.bases[ValueKind.BLOCK : ValueKind.INSTRUCTION + 1]
        is_value = (operand < low) | (operand >= high)
        return rows[owner[is_value]], operand[is_value]

    def results(self, rows: I64) -> I64:
        """Return the values of instructions."""
        return self.program.bases[ValueKind.INSTRUCTION] + rows

    @cached_property
    def calls(self) -> I64:
        """The instructions that call."""
        return np.sort(self.rows(*(Opcode(o) for o in CALLS)))

    def constant(self, values: Ints) -> tuple[Bools, I64]:
        """Return which values are plain integer constants, and the integers (0 elsewhere)."""
        kinds, integers = self._constants
        row = self._constant_row(values)
        return kinds[row] == ConstantKind.INT, integers[row]

    def is_constant_of(self, kind: ConstantKind, values: Ints) -> Bools:
        """Return which values are constants of a kind."""
        found: Bools = self._constants[0][self._constant_row(values)] == kind
        return found

    def _constant_row(self, values: Ints) -> Ints:
        """Return the row of each value in `_constants`, the last one for what is no constant."""
        first, end = self.program.bases[ValueKind.CONSTANT : ValueKind.ARGUMENT + 1]
        return np.where((values >= first) & (values < end), values - first, end - first)

    @cached_property
    def _constants(self) -> tuple[I32, I64]:
        """The kinds of constants, wide integers apart, and the plain integers (else 0); a last row.

        The last row, of kind -1, is for values that are no constants.
        """
        table = self.program.constants
        is_int = table.kind == ConstantKind.INT
        is_wide = is_int & (table.flags & Flag.WIDE != 0)
        kinds = np.where(is_wide, -1, table.kind.astype(np.int32))
        integers = np.where(is_int & ~is_wide, table.payload, 0)
        return np.append(kinds, np.int32(-1)), np.append(integers, 0)

    def opcode_of(self, values: Ints) -> I32:
        """Return the opcode behind each value, -1 where it is no instruction."""
        row = values.astype(np.int64) - self.program.bases[ValueKind.INSTRUCTION]
        if not len(self.program.instructions):
            return np.full(len(values), -1, np.int32)
        is_one = (row >= 0) & (row < len(self.program.instructions))  # other nodes lie behind them
        found = self.program.instructions.opcode[np.where(is_one, row, 0)].astype(np.int32)
        return np.where(is_one, found, np.int32(-1))


def _with_part(types: Types, found: Bools) -> Bools:
    """Return the types that are found or, aggregates and vectors, contain one that is."""
    has_parts = np.isin(types.kind, (TypeKind.ARRAY, TypeKind.VECTOR, TypeKind.STRUCT))
    owner = np.repeat(np.arange(len(types.kind)), np.diff(types.offsets))
    inside = has_parts[owner]
    owner, element = owner[inside], types.elements[inside]
    found = found.copy()
    spread(found, owner, element)
    return found


def _is_narrow(types: Types) -> Bools:
    """Return which types have bytes that memory is copied by; conditions have not."""
    kinds = (TypeKind.INT, TypeKind.FLOAT, TypeKind.VECTOR)
    return np.isin(types.kind, kinds) & (types.size > 0) & (types.bits > 1)


def _n_operands(columns: Columns, rows: I64) -> I64:
    offsets = columns.program.instructions.offsets
    return (offsets[rows + 1] - offsets[rows]).astype(np.int64)


def _between(first: Bools, last: Bools, to: I64, source: I64) -> Bools:
    """Return what lies on a way from `first` to `last`, both included, along edges source → to."""
    reached = first.copy()
    spread(reached, to, source)
    reaching, inside = last & reached, reached[source]
    spread(reaching, source[inside], to[inside])
    return reaching


def spread(marked: Bools, destination: Ints, source: Ints) -> None:
    """Mark every destination of a marked source, over and over."""
    if len(destination) > _FEW_EDGES and not is_interpreting():
        _spread(marked, destination.astype(np.int64), source.astype(np.int64))
        return
    while True:
        is_open = ~marked[destination]
        destination, source = destination[is_open], source[is_open]
        new = destination[marked[source]]
        if not len(new):
            return
        marked[new] = True


@entry_point
def _spread(marked: Bools, destination: I64, source: I64) -> None:
    """Do as `spread` says: there and back, since ways lead along the program or against it."""
    is_open, end = True, len(destination)
    while is_open:
        is_open = False
        for i in range(end):
            if marked[source[i]] and not marked[destination[i]]:
                marked[destination[i]] = is_open = True
        for k in range(end):
            i = end - 1 - k
            if marked[source[i]] and not marked[destination[i]]:
                marked[destination[i]] = is_open = True

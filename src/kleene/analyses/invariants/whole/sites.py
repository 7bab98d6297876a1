"""The checks of a whole program as columns, and what facts on values say about them.

A check is a question about the operands of one instruction. Each of the methods of `Checker` asks
one kind of question for all instructions at once; what holds of operands is what holds of their
names, which are others behind each branch and each access.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.values_needed import must_have_values
from kleene.analyses.invariants.calls import assertion
from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.expressions import Kind
from kleene.analyses.invariants.floats import fits_message
from kleene.analyses.invariants.library import calls_by_model
from kleene.analyses.invariants.models import Bound, Touch
from kleene.analyses.invariants.whole.addresses import accesses, constant_numbers
from kleene.analyses.invariants.whole.contents import Contents
from kleene.analyses.invariants.whole.floats import FloatRanges, fit
from kleene.analyses.invariants.whole.flow import Flow
from kleene.analyses.invariants.whole.lifetimes import Lifetimes
from kleene.analyses.invariants.whole.origins import Origins
from kleene.analyses.invariants.whole.pointers import Pointers
from kleene.analyses.invariants.whole.storage import Storage
from kleene.analyses.invariants.whole.undefined_values import used_bits
from kleene.base.arrays import I64, U8, Bools
from kleene.base.collector import paused_collector
from kleene.ir.codes import CALLS, ConstantKind, Flag, GlobalKind, Opcode, TypeKind, ValueKind

KINDS = tuple(CheckKind)
SAFE, MAY_FAIL, FAILS, UNREACHABLE = range(4)  # verdicts
_SIGNS = {Opcode.ADD: "+", Opcode.SUB: "-", Opcode.MUL: "*", Opcode.SHL: "<<"}
_DIVISIONS = (Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM)
_SHIFTS = (Opcode.SHL, Opcode.LSHR, Opcode.ASHR)
_LARGE = 1 << 61  # sums of two numbers below it do not overflow


class _Asked(NamedTuple):
    """What checks are about: columns of `Checks`."""

    name: I64
    n_bytes: I64 | int = -1
    counted_by: I64 | int = -1


Integers = NDArray[np.object_]  # Python's: products of 64-bit numbers are exact


@dataclass(frozen=True, eq=False)
class Checks:
    """Checks of a program, sorted by instruction.

    Attributes:
        kind: the place in `KINDS`.
        row: the instruction.
        message: the place in `messages`.
        verdict: SAFE, MAY_FAIL, FAILS or UNREACHABLE.
        name: what it is about, a name of `dataflow`; -1 if it is the operands of the instruction.
        n_bytes: how many bytes from there on it is about, -1 if that is not known.
        count: the name that says how many bytes these are; -1 for none.
        messages: what is asked, as sentences without their full stop.
    """

    kind: U8
    row: I64
    message: I64
    verdict: U8
    name: I64
    n_bytes: I64
    count: I64
    messages: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.row)


class Checker:
    """Asks all questions about a program, and answers them by facts on values."""

    def __init__(self, context: Context, pointers: Pointers) -> None:
        self._context, self._pointers = context, pointers
        self._program, self._table = context.program, context.program.instructions
        self._facts = context.facts
        self._is_reached = context.block_is_reached
        self._messages: dict[str, int] = {}
        self._columns: list[tuple[U8, I64, I64, U8, I64, I64, I64]] = []

    def run(self) -> Checks:
        """Return all checks."""
        if not self._context.wraps:
            for opcode in _SIGNS:
                self._overflow(opcode)
            self._division_overflow()
        self._division()
        self._shift()
        self._conversions()
        self._accesses()
        self._assertions()
        columns = [
            np.concatenate([np.empty(0, part[0].dtype), *part])
            for part in zip(*self._columns, strict=True)
        ]
        order = np.lexsort((columns[0], columns[1]))
        kind, row, message, verdict, name, n_bytes, count = (one[order] for one in columns)
        messages = tuple(self._messages)
        return Checks(kind, row, message, verdict, name, n_bytes, count, messages)

    def _add(
        self,
        kind: CheckKind,
        rows: I64,
        message: str,
        safe: Bools,
        fails: Bools,
        asked: _Asked | None = None,
    ) -> None:
        number = self._messages.setdefault(message, len(self._messages))
        verdict = np.where(safe, SAFE, np.where(fails, FAILS, MAY_FAIL))
        name, n_bytes, count = (
            np.zeros(len(rows), np.int64) + one for one in asked or (-1, -1, -1)
        )
        verdict = np.where(self._is_reached[self._table.block[rows]], verdict, UNREACHABLE)
        self._columns.append(
            (
                np.full(len(rows), KINDS.index(kind), np.uint8),
                rows.astype(np.int64),
                np.full(len(rows), number, np.int64),
                verdict.astype(np.uint8),
                name,
                n_bytes,
                count,
            )
        )

    def _rows(self, *opcodes: int) -> I64:
        """Return the instructions with one of some opcodes whose result is an integer."""
        rows = np.flatnonzero(np.isin(self._table.opcode, opcodes))
        types = self._program.value_types[rows + self._program.bases[ValueKind.INSTRUCTION]]
        found: I64 = rows[self._program.types.kind[types] == TypeKind.INT]
        return found

    def _width(self, rows: I64) -> I64:
        types = self._program.value_types[rows + self._program.bases[ValueKind.INSTRUCTION]]
        return self._program.types.bits[types].astype(np.int64)

    def _operand(self, rows: I64, place: int) -> I64:
        return self._context.split.operand[self._table.offsets[rows] + place].astype(np.int64)

    def _is_known(self, names: I64) -> Bools:
        """Return which names have facts: integers of up to 64 bits, and pointers."""
        return self._context.is_tracked(names)

    def _signed(self, rows: I64, place: int) -> tuple[Integers, Integers]:
        """Return the least and the greatest number of operands, as Python's integers."""
        names = self._operand(rows, place)
        low, high = self._facts.low[names].astype(object), self._facts.high[names].astype(object)
        strange = ~self._is_known(names)
        full = 1 << (self._width(rows)[strange] - 1).astype(object)
        low[strange], high[strange] = -full, full - 1
        return low, high

    # Arithmetic

    def _overflow(self, opcode: Opcode) -> None:
        """The result of exact arithmetic lies between the least and the greatest number."""
        rows = self._rows(opcode)
        rows = rows[self._table.flags[rows] & Flag.NSW != 0]
        width = self._width(rows)
        (a_low, a_high), (b_low, b_high) = self._signed(rows, 0), self._signed(rows, 1)
        if opcode == Opcode.ADD:
            low, high = a_low + b_low, a_high + b_high
        elif opcode == Opcode.SUB:
            low, high = a_low - b_high, a_high - b_low
        else:
            if opcode == Opcode.SHL:  # by an amount that `_shift` asks about, below the width
                most = width.astype(object) - 1
                b_low, b_high = (
                    1 << np.maximum(np.minimum(one, most), 0) for one in (b_low, b_high)
                )
            ends = [a * b for a in (a_low, a_high) for b in (b_low, b_high)]
            low = np.minimum.reduce(ends) if len(rows) else a_low
            high = np.maximum.reduce(ends) if len(rows) else a_low
        for bits in np.unique(width).tolist():
            mine, half = width == bits, 1 << bits - 1
            safe = (low[mine] >= -half) & (high[mine] < half)
            fails = (high[mine] < -half) | (low[mine] >= half)
            message = f"'{_SIGNS[opcode]}' of {bits} bits does not overflow"
            self._add(
                CheckKind.OVERFLOW, rows[mine], message, safe.astype(bool), fails.astype(bool)
            )

    def _division_overflow(self) -> None:
        """Of a signed division, the least number is not divided by -1."""
        rows = self._rows(Opcode.SDIV, Opcode.SREM)
        is_number, number = constant_numbers(
            self._program, self._table.operands[self._table.offsets[rows] + 1].astype(np.int64)
        )
        rows = rows[~is_number | (number == -1)]
        width = self._width(rows)
        (a_low, a_high), (b_low, b_high) = self._signed(rows, 0), self._signed(rows, 1)
        for bits in np.unique(width).tolist():
            mine, least = width == bits, -(1 << bits - 1)
            safe = (a_low[mine] > least) | (b_low[mine] > -1) | (b_high[mine] < -1)
            fails = (a_high[mine] == least) & (b_low[mine] == -1) & (b_high[mine] == -1)
            message = f"'/' of {bits} bits does not overflow"
            self._add(
                CheckKind.OVERFLOW, rows[mine], message, safe.astype(bool), fails.astype(bool)
            )

    def _division(self) -> None:
        rows = self._rows(*_DIVISIONS)
        safe, fails = self._not_zero(self._operand(rows, 1))
        self._add(CheckKind.DIVISION, rows, "the divisor is not 0", safe, fails)

    def _not_zero(self, names: I64) -> tuple[Bools, Bools]:
        """Return which names are never 0, and which always."""
        known, facts = self._is_known(names), self._facts
        is_zero = facts.has_value[names] & (facts.most[names] == 0)
        return known & (facts.least[names] != 0), known & is_zero

    def _shift(self) -> None:
        rows = self._rows(*_SHIFTS)
        width, names = self._width(rows), self._operand(rows, 1)
        known = self._is_known(names)
        for bits in np.unique(width).tolist():
            mine = width == bits
            safe = known[mine] & (self._facts.most[names[mine]] < bits)
            fails = known[mine] & (self._facts.least[names[mine]] >= bits)
            message = f"the shift is by 0 to {bits - 1} bits"
            self._add(CheckKind.SHIFT, rows[mine], message, safe, fails)

    def _conversions(self) -> None:
        """A floating-point number fits the integer that it is converted to."""
        rows, ranges = self._rows(Opcode.FPTOSI, Opcode.FPTOUI), FloatRanges(self._context)
        kinds: dict[Kind, list[tuple[int, bool, bool]]] = {}
        for row, width in zip(rows.tolist(), self._width(rows).tolist(), strict=True):
            kind = Kind(width, bool(self._table.opcode[row] == Opcode.FPTOUI))
            found = ranges.at(row, 0)
            answers = (False, False) if found is None else fit(found, kind)
            kinds.setdefault(kind, []).append((row, *answers))
        for kind, answered in kinds.items():
            chosen, safe, fails = (np.array(one) for one in zip(*answered, strict=True))
            self._add(CheckKind.CONVERSION, chosen, fits_message(kind), safe, fails)

    # Memory

    def _accesses(self) -> None:
        rows, places, n_bytes = accesses(self._program)
        names = self._context.split.operand[places].astype(np.int64)
        is_made = self._is_made(names)
        safe, fails = self._not_zero(names)
        self._add(
            CheckKind.NULL,
            rows[~is_made],
            "the pointer is not null",
            safe[~is_made],
            fails[~is_made],
            _Asked(names[~is_made]),
        )
        self._inside(rows, names, n_bytes, "the access is inside of its object")
        self._callees()
        with paused_collector():  # an event for each use of memory
            self._lifetimes()
        for model, calls in calls_by_model(self._program):
            for touch in model.touches:
                self._touched(calls, touch)

    def _lifetimes(self) -> None:
        """Storage that is used was not freed before; what is freed is a whole heap object."""
        storage = Storage(self._context)
        flow = Flow(self._context)
        lifetimes = Lifetimes(self._context, storage, flow)
        self._contents(storage, flow)
        rows, places, _ = accesses(self._program)
        used = list(zip(rows.tolist(), self._table.operands[places].tolist(), strict=True))
        for model, calls in calls_by_model(self._program):
            for touch in model.touches:
                mine = calls[np.diff(self._table.offsets)[calls] > 1 + touch.argument]
                at = self._table.operands[self._table.offsets[mine] + 1 + touch.argument]
                used += zip(mine.tolist(), at.tolist(), strict=True)
        used = [(row, value) for row, value in used if storage.may_end(row, value)]
        safe = np.array([lifetimes.is_alive(row, value) for row, value in used], bool)
        rows = np.array([row for row, _ in used], np.int64)
        nowhere = np.zeros(len(rows), bool)
        asked = _Asked(np.array([value for _, value in used], np.int64))
        message = "the storage is still alive"
        self._add(CheckKind.FREED, rows, message, safe, nowhere, asked)
        freed = np.array(
            [one for one in storage.calls.tolist() if storage.freed(one) == 0], np.int64
        )
        names = self._operand(freed, 1)
        values = self._table.operands[self._table.offsets[freed] + 1].tolist()
        offset = self._pointers.offset
        safe = self._is_known(names) & offset.has_value[names]
        safe &= (offset.low[names] == 0) & (offset.high[names] == 0)
        safe &= np.array(
            [
                storage.is_heap_alone(value) and lifetimes.is_alive(row, value)
                for row, value in zip(freed.tolist(), values, strict=True)
            ],
            bool,
        )
        safe |= self._is_known(names) & (self._facts.most[names] == 0)
        message = "what is freed was allocated, and not freed before"
        self._add(CheckKind.FREED, freed, message, safe, np.zeros(len(freed), bool), _Asked(names))

    def _contents(self, storage: Storage, flow: Flow) -> None:
        """What is read was written before; what is computed with has a value."""
        origins = Origins(self._context, storage, flow, self._pointers)
        contents = Contents(origins)
        rows = np.flatnonzero(self._table.opcode == Opcode.LOAD)
        addresses = self._table.operands[self._table.offsets[rows]].tolist()
        asked = [origins.may_be_unwritten(value) for value in addresses]
        rows = rows[np.array(asked, bool)]
        safe = np.array([contents.is_written(row) for row in rows.tolist()], bool)
        nowhere = np.zeros(len(rows), bool)
        message = "what is read was written before"
        self._add(CheckKind.UNINITIALISED, rows, message, safe, nowhere)
        rows = np.array(contents.copies(), np.int64)
        safe = np.array([contents.is_written(row) for row in rows.tolist()], bool)
        nowhere = np.zeros(len(rows), bool)
        message = "what is copied was written before"
        self._add(CheckKind.UNINITIALISED, rows, message, safe, nowhere)
        owner = np.repeat(np.arange(len(self._table)), np.diff(self._table.offsets))
        undefined, operands = origins.undefined, self._table.operands
        is_moved = np.isin(self._table.opcode[owner], (Opcode.RET, Opcode.STORE))  # with its parts
        used = must_have_values(self._program) & ~is_moved
        used &= undefined.bits[operands] & used_bits(self._program) != 0
        moved = is_moved & must_have_values(self._program)
        used |= moved & undefined.whole[operands]
        used |= self._leave_the_function(origins) & (undefined.stored[operands] != 0)
        rows = np.unique(owner[used])
        nowhere = np.zeros(len(rows), bool)
        self._add(CheckKind.UNINITIALISED, rows, "what is used has a value", nowhere, nowhere)

    def _leave_the_function(self, origins: Origins) -> Bools:
        """Return the operands that are stored where it is not followed whether they had values."""
        table = self._table
        found = np.zeros(len(table.operands), bool)
        rows = np.flatnonzero(table.opcode == Opcode.STORE)
        at = np.array(origins.origin)[table.operands[table.offsets[rows] + 1]]
        found[table.offsets[rows[~np.isin(at, list(origins.of))]]] = True
        return found

    def _callees(self) -> None:
        """A pointer that is called through is not null; inline assembly is none."""
        program, bases = self._program, self._program.bases
        rows = np.flatnonzero(np.isin(self._table.opcode, tuple(CALLS)))
        callee = self._table.operands[self._table.offsets[rows]].astype(np.int64)
        first, end = bases[ValueKind.CONSTANT], bases[ValueKind.ARGUMENT]
        is_constant = (callee >= first) & (callee < end)
        is_null = is_constant.copy()
        kinds = program.constants.kind[callee[is_constant] - first]
        is_null[is_constant] = kinds == ConstantKind.NULL
        rows = rows[(callee >= end) | is_null]
        names = self._operand(rows, 0)
        safe, fails = self._not_zero(names)
        message = "the pointer to a function is not null"
        self._add(CheckKind.NULL, rows, message, safe, fails, _Asked(names))

    def _touched(self, calls: I64, touch: Touch) -> None:
        """Ask whether the bytes that a model reads or writes are inside of an object."""
        n_operands = np.diff(self._table.offsets)[calls]
        calls = calls[n_operands > 1 + touch.argument]
        if not touch.may_be_null:
            names = self._operand(calls, 1 + touch.argument)
            safe, fails = self._not_zero(names)
            message = "the pointers are not null"
            self._add(CheckKind.NULL, calls, message, safe, fails, _Asked(names))
        size = touch.size
        if (size is None and touch.has_end) or size == Bound(0):
            return
        message = f"all bytes {'written' if touch.is_write else 'read'} are inside of an object"
        if size is None:
            nowhere = np.zeros(len(calls), bool)
            asked = _Asked(self._operand(calls, 1 + touch.argument))
            self._add(CheckKind.BOUNDS, calls, message, nowhere, nowhere, asked)
            return
        n_operands = np.diff(self._table.offsets)[calls]
        last = max(touch.argument, *size.arguments, *size.lengths, size.room or 0)
        calls = calls[n_operands > 1 + last]
        n_bytes = np.full(len(calls), int(bool(size.arguments)), object)
        count = self._operand(calls, 1 + size.arguments[0]) if len(size.arguments) == 1 else -1
        for place in size.arguments:
            names = self._operand(calls, 1 + place)
            most = self._facts.most[names].astype(object)
            most[~self._is_known(names)] = _LARGE
            n_bytes = n_bytes * most
        for place in size.lengths:  # a string has a byte less than there is room for it
            n_bytes = n_bytes + self._room(self._operand(calls, 1 + place)) - 1
        if size.room is not None:
            n_bytes = self._room(self._operand(calls, 1 + size.room))
        n_bytes = np.minimum(n_bytes + size.constant, _LARGE).astype(np.int64)
        names = self._operand(calls, 1 + touch.argument)
        self._inside(
            calls, names, n_bytes, message, is_exact=False, is_null=touch.may_be_null, count=count
        )

    def _room(self, names: I64) -> Integers:
        """Return how many bytes there are at most behind pointers, in their objects."""
        offset, size = self._pointers.offset, self._pointers.size
        known = self._is_known(names) & offset.has_value[names] & size.has_value[names]
        low, most = offset.low[names].astype(object), size.high[names].astype(object)
        return np.where(known, np.maximum(most - low, 0), _LARGE)

    def _inside(
        self,
        rows: I64,
        names: I64,
        n_bytes: I64,
        message: str,
        *,
        is_exact: bool = True,
        is_null: bool = False,
        count: I64 | int = -1,
    ) -> None:
        """Ask whether so many bytes at pointers are inside of their objects.

        Args:
            rows: instructions that access them.
            names: of the pointers.
            n_bytes: how many, -1 where that is not known.
            message: what is asked.
            is_exact: whether it is always so many, or perhaps fewer.
            is_null: whether a null pointer is no fault.
            count: names that say how many bytes it is, or -1.
        """
        offset, size, room = (self._pointers.offset, self._pointers.size, self._pointers.room)
        known = self._is_known(names) & (n_bytes >= 0) & self._facts.has_value[names]
        low, high = offset.low[names], offset.high[names]
        least, most = size.low[names], size.high[names]
        has_offset = offset.has_value[names] & size.has_value[names] & room.has_value[names]
        # Where 0 <= offset, as a signed number, size - offset does not wrap around: it is the room.
        inside = known & has_offset & (low >= 0) & (room.low[names] >= n_bytes)
        plain = known & has_offset & (low > -_LARGE) & (high < _LARGE) & (least > -_LARGE)
        inside |= plain & (low >= 0) & (high <= np.where(plain, least - n_bytes, -1))
        if is_exact:  # a pointer that is always null has no offset: runs stop at the other check
            inside |= known & ~has_offset
        elif is_null:
            inside |= known & (self._facts.most[names] == 0)
        last = np.where(plain & (most < _LARGE), most - n_bytes, _LARGE)
        outside = plain & is_exact & ((high < 0) | (low > last))
        asked = _Asked(names, n_bytes, count)
        self._add(CheckKind.BOUNDS, rows, message, inside, outside, asked)

    def _is_made(self, names: I64) -> Bools:
        """Return which names are addresses of locals and global variables themselves."""
        program, first = self._program, self._program.bases[ValueKind.INSTRUCTION]
        is_global = names < len(program.globals)
        is_global[is_global] = program.globals.kind[names[is_global]] == GlobalKind.VARIABLE
        is_local = (names >= first) & (names < program.n_values)
        is_local[is_local] = self._table.opcode[names[is_local] - first] == Opcode.ALLOCA
        return is_global | is_local

    # Assertions

    def _assertions(self) -> None:
        table = self._table
        for model, calls in calls_by_model(self._program):
            if model.effect == "fails":
                for row in calls.tolist():
                    self._error(row)
            elif model.effect == "checks":
                checks = calls[np.diff(table.offsets)[calls] > 1]
                safe, never = self._not_zero(self._operand(checks, 1))
                asked = _Asked(self._operand(checks, 1))
                self._add(CheckKind.ASSERT, checks, "the condition holds", safe, never, asked)

    def _error(self, row: int) -> None:
        """Ask whether the report of an error is reached; if not, its test may be."""
        block = int(self._table.block[row])
        rows, is_reached = np.array([row]), self._is_reached[[block]]
        _, *arguments = self._table.operands_of(row).tolist()
        message = assertion(self._program, arguments)
        self._add(CheckKind.ASSERT, rows, message, ~is_reached, ~is_reached)
        if self._predecessors_reached(block) and not is_reached[0]:
            self._columns[-1][3][:] = SAFE

    def _predecessors_reached(self, block: int) -> bool:
        offsets, edges = self._context.split.flow.incoming
        sources, _ = self._context.split.flow.blocks.edges()
        before = sources[edges[offsets[block] : offsets[block + 1]]]
        return bool(self._is_reached[before].any())

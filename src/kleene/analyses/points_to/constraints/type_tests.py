"""Which virtual tables a virtual call reads, and which functions it then calls, by type metadata.

For `p->f()` with `Base *p`, clang (`-fwhole-program-vtables`) writes

    %table = load ptr, ptr %p
    %ok = call i1 @llvm.type.test(ptr %table, metadata !"_ZTS4Base")
    %slot = getelementptr ptr, ptr %table, i64 1
    %f = load ptr, ptr %slot

and attaches to every table where in it objects of which classes point. In a program without
undefined behaviour the test holds, and so:

1. The table that was loaded is filtered: what is no address point for the class is no object's
   table, but in the set for want of precision.
2. The functions are filtered: of those that are in tables, the ones at this slot behind an address
   point for the class. (A table of the library's own, about which there is no metadata, leads to
   functions that are in no table of the program.)
3. A call that reads no table does not reach functions whose address is in tables alone.

A call through a pointer to a virtual member function tests the address of the slot, for a type of
its own (`!"_ZTSM4BaseFivE.virtual"`), and computes the address anew to load from it.

1 and 2 need the test alone. 3 needs that every virtual call of a function has one: `TYPE_TESTS`.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

import numpy as np

from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.constraints.reachability import spread
from kleene.analyses.points_to.constraints.storage import leaves_of
from kleene.analyses.points_to.object_layout import ANY_SLOT, NO_TABLE
from kleene.base.arrays import I32, I64, Bools, Ints
from kleene.ir.codes import CALLS, GlobalFlag, Opcode, ValueKind

_TESTS = (b"llvm.type.test", b"llvm.public.type.test")
_FILTERED = (Opcode.LOAD, Opcode.GETELEMENTPTR)


class TypeTests:
    """The type tests of a program, and what they say of its calls and functions."""

    def __init__(self, columns: Columns) -> None:
        self._columns, self._program = columns, columns.program
        self._base = columns.program.bases[ValueKind.INSTRUCTION]

    @cached_property
    def class_of(self) -> dict[int, int]:
        """The class (a symbol of type metadata) for which each tested value is tested."""
        columns, program = self._columns, self._program
        names = program.globals.name
        is_test = np.logical_or.reduce([program.strings.begin_with(names, n) for n in _TESTS])
        tests = np.flatnonzero(is_test)
        calls = columns.calls[np.isin(columns.operand(columns.calls, 0), tests)]
        types = columns.operand(calls, 2) - program.bases[ValueKind.CONSTANT]
        classes = program.constants.payload[types].tolist()
        found: dict[int, int] = {}
        for value, class_ in zip(columns.operand(calls, 1).tolist(), classes, strict=True):
            for equal in self._computed_alike(value):
                found.setdefault(equal, class_)
        return found

    def _computed_alike(self, value: int) -> list[int]:
        """Return a value, and other addresses that are computed of the same operands."""
        table, (offsets, users) = self._program.instructions, self._program.users
        row = value - self._base
        if row < 0 or table.opcode[row] != Opcode.GETELEMENTPTR:
            return [value]
        operands = table.operands_of(row)
        return [
            self._base + user
            for user in users[offsets[operands[0]] : offsets[operands[0] + 1]].tolist()
            if table.opcode[user] == Opcode.GETELEMENTPTR
            and table.about[user] == table.about[row]
            and np.array_equal(table.operands_of(user), operands)
        ]

    def generate(self, builder: PointerBuilder) -> I32:
        """Filter tables; what makes a tested value makes its node `untested` from now on.

        Return (value, that node, class) of each.
        """
        value = np.array(list(self.class_of), np.int64)
        class_ = np.array(list(self.class_of.values()), np.int64)
        known = np.isin(self._columns.opcode_of(value), _FILTERED)
        known &= np.isin(class_, self._program.address_points.type)
        raw = builder.nodes(int(known.sum()))
        builder.untested[value[known]] = raw
        if len(raw):
            builder.of_class(value[known], raw, class_[known])
        return np.stack([value[known], raw, class_[known]], axis=1).astype(np.int32)

    @cached_property
    def _slot_numbers(self) -> dict[tuple[int, int], int]:
        """The slots that calls read, as (class, byte behind the address point), numbered."""
        return {}

    @cached_property
    def _slot_at(self) -> dict[int, int]:
        """For each load of a function from a tested table: the slot, -1 where it varies."""
        table, found = self._program.instructions, {}
        offsets, users = self._program.users
        described = set(self._program.address_points.type.tolist())
        for value, class_ in self.class_of.items():
            reads: list[tuple[int, int | None]] = [(value, 0)]
            for user in users[offsets[value] : offsets[value + 1]].tolist():
                if table.opcode[user] == Opcode.GETELEMENTPTR:
                    reads.append((self._base + user, self._constant_offset(user)))
            for address, byte in reads:
                for user in users[offsets[address] : offsets[address + 1]].tolist():
                    if table.opcode[user] == Opcode.LOAD:
                        number = -1
                        if byte is not None and class_ in described:
                            numbers = self._slot_numbers
                            number = numbers.setdefault((class_, byte), len(numbers))
                        found[self._base + user] = number
        return found

    def _constant_offset(self, row: int) -> int | None:
        """Return how many bytes getelementptr adds; None if that is not one constant index."""
        table, types = self._program.instructions, self._program.types
        indices = table.operands_of(row)[1:]
        known, amount = self._columns.constant(indices)
        if len(indices) != 1 or not known[0]:
            return None
        return int(amount[0]) * int(types.size[table.about[row]])

    def slots_of_calls(self, calls: I64) -> I64:
        """Return for each call (instruction): NO_TABLE, ANY_SLOT, or the slot that it reads.

        In a function of `TYPE_TESTS` a callee that comes from a table is loaded from there, or may
        be: a pointer to a member function is a function, or the byte of its slot.
        """
        program, table = self._program, self._program.instructions
        caller = program.function_table.value[program.instruction_function[calls]]
        is_open = program.globals.flags[caller] & GlobalFlag.TYPE_TESTS == 0
        found = np.where(is_open, ANY_SLOT, NO_TABLE)
        for position, row in enumerate(calls.tolist() if self.class_of else ()):
            callee = int(table.operands_of(row)[0])
            if callee in self._slot_at:
                found[position] = self._slot_at[callee]
            elif callee >= self._base and table.opcode[callee - self._base] == Opcode.PHI:
                values = table.operands_of(callee - self._base)[::2].tolist()
                if any(value in self._slot_at for value in values):
                    found[position] = ANY_SLOT
        return found

    @cached_property
    def _functions_in_tables(self) -> Bools:
        """Per value: it is in a virtual table with metadata."""
        tables = np.unique(self._program.address_points.table)
        return self._parts_of(self._program.globals.initializer[tables])

    @cached_property
    def only_in_tables(self) -> Bools:
        """The functions (rows) whose address is in virtual tables with metadata, and only there."""
        program = self._program
        table, code = program.globals, program.instructions
        if not len(program.address_points.table):
            return np.zeros(len(program.function_table), bool)
        owner = np.repeat(np.arange(len(code)), np.diff(code.offsets))
        is_callee = np.isin(code.opcode[owner], list(CALLS))
        is_callee &= np.arange(len(owner)) == code.offsets[owner]
        is_table = np.isin(np.arange(len(table)), program.address_points.table)
        roots = (code.operands[~is_callee], table.initializer[~is_table], program.bundles.operands)
        taken = self._parts_of(np.concatenate([*roots, program.function_table.personality]))
        value = program.function_table.value
        found: Bools = self._functions_in_tables[value] & ~taken[value]
        return found

    def _parts_of(self, roots: Ints) -> Bools:
        """Return per value whether it is one of the roots (-1: none), or a part of what is."""
        constants, base = self._program.constants, self._program.bases[ValueKind.CONSTANT]
        owner = np.repeat(np.arange(len(constants.kind)), np.diff(constants.offsets))
        found = np.zeros(self._program.n_values, bool)
        found[roots[roots >= 0]] = True
        spread(found, constants.operands, base + owner)
        return found

    def slots_of_functions(self) -> dict[int, frozenset[int]]:
        """Return for each function (row) that is in tables the slots that it is at."""
        program, points = self._program, self._program.address_points
        if not len(points.table):
            return {}
        names = program.globals.name
        is_table = program.strings.begin_with(names, b"_ZTV")
        is_table |= program.strings.begin_with(names, b"_ZTC")
        is_table[points.table] = False
        elsewhere = self._parts_of(program.globals.initializer[is_table])
        chosen = np.flatnonzero(self._functions_in_tables & ~elsewhere)
        chosen = chosen[chosen < len(names)]
        function = program.globals.function
        found = {int(function[v]): set[int]() for v in chosen.tolist() if function[v] >= 0}
        asked: dict[int, list[tuple[int, int]]] = defaultdict(list)
        assert self._slot_at is not None  # which numbers the slots
        for (class_, byte), number in self._slot_numbers.items():
            asked[class_].append((byte, number))
        tables = np.unique(points.table)
        owner, bytes_, values = leaves_of(self._columns, program.globals.initializer[tables])
        places = zip(tables[owner].tolist(), bytes_.tolist(), strict=True)
        at = dict(zip(places, values.tolist(), strict=True))
        columns = (points.table, points.byte, points.type)
        for table, start, class_ in zip(*(c.tolist() for c in columns), strict=True):
            for byte, number in asked[class_]:
                value = at.get((table, start + byte), len(names))
                if value < len(names) and int(function[value]) in found:
                    found[int(function[value])].add(number)
        return {row: frozenset(slots) for row, slots in found.items()}

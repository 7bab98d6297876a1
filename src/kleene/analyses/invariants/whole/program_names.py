"""What things of a whole program are called in sentences: values, places, storage."""

from __future__ import annotations

import os
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.invariants.library import model_of
from kleene.analyses.invariants.whole.losses import Bound
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.arrays import I64
from kleene.base.demangling import demangled, without_parameters
from kleene.base.errors import Span
from kleene.ir.codes import CALLS, ConstantKind, Opcode, ValueKind
from kleene.ir.views import span_of


class Storage(NamedTuple):
    """What a pointer may hold: a text, objects, and whether also what nobody knows."""

    text: str
    objects: I64
    is_unknown: bool


class ProgramNames:
    """Names what is in a program."""

    def __init__(self, context: Context) -> None:
        self._context, self._program = context, context.program
        self._table, self._bases = context.program.instructions, context.program.bases
        self._first = self._bases[ValueKind.INSTRUCTION]
        self._split, self._points_to = context.split, context.points_to
        self._memory: dict[tuple[int, bool], Storage] = {}
        self._writers: dict[tuple[int, Bound], tuple[int | None, bool]] = {}

    # Places

    def span(self, row: int) -> Span | None:
        """Return where an instruction is in the source, if that is known."""
        found = span_of(self._program, int(self._table.span[row]))
        return found if found is not None and found.line else None

    def _near(self, row: int) -> Span | None:
        """Return where an instruction is, or the next one of its block that is somewhere."""
        found = self.span(row)
        end = int(self._program.blocks.instruction_offsets[int(self._table.block[row]) + 1])
        while found is None and row + 1 < end:
            row += 1
            found = self.span(row)
        return found

    def _function(self, row: int) -> str:
        view = self._program.functions[int(self._program.instruction_function[row])]
        return view.source_name or view.name

    def _at(self, row: int) -> str:
        """Return `at file.c:12`, or `in f` where the program has no lines."""
        span = self._near(row)
        if span is None:
            return f"in {self._function(row)}"
        return f"at {os.path.basename(span.file)}:{span.line}"

    def _who(self, row: int) -> str:
        """Return `file.c:12`, or the name of the function."""
        return self._at(row).split(" ", 1)[1]

    def _place(self, row: int) -> tuple[str, int] | None:
        span = self._near(row)
        return None if span is None else (span.file, span.line)

    # Values

    def value_of(self, name: int) -> int:
        """Return the value that a name is of; -1 of a helper."""
        if name >= self._split.n_names:
            return -1
        return int(self._split.value_of(np.array([name]))[0])

    def named(self, name: int, default: str) -> str:
        """Return what a name is called in the source."""
        value = self.value_of(name)
        if value < 0:
            return default
        constant = value - self._bases[ValueKind.CONSTANT]
        if 0 <= constant < len(self._program.constants):
            return self._number(value)
        if found := self._program.variables_of(value):
            return found[0]
        if value < len(self._program.globals):
            return self._program.strings[int(self._program.globals.name[value])]
        row = value - self._first
        if row >= 0 and self._table.opcode[row] in CALLS:
            return f"the result of {self._callee(row)}"
        if row >= 0 and self._table.opcode[row] in (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC):
            return self.named(int(self._table.operands_of(row)[0]), default)
        if row >= 0 and self._table.opcode[row] == Opcode.LOAD:
            address = int(self._table.operands_of(row)[0])
            if address < len(self._program.globals) or self._is_local(address):
                return self.named(address, default)
        return default

    def quoted(self, name: int, default: str) -> str:
        """Return what a name is called in the source, in quotes; the default without."""
        found = self.named(name, "")
        return f"'{found}'" if found else default

    def _is_local(self, value: int) -> bool:
        row = value - self._first
        return row >= 0 and self._table.opcode[row] == Opcode.ALLOCA

    def _number(self, value: int) -> str:
        fact = self._context.facts[value]
        constant = value - self._bases[ValueKind.CONSTANT]
        if self._program.constants.kind[constant] == ConstantKind.NULL:
            return "null"
        return "a value" if fact.constant is None else str(fact.constant)

    def _callee(self, row: int) -> str:
        callee = int(self._table.operands_of(row)[0])
        if callee >= len(self._program.globals):
            return "a function pointer"
        name = self._program.strings[int(self._program.globals.name[callee])]
        return without_parameters(demangled(name) or name)

    # Storage

    def _storage(self, address: int) -> Storage:
        """Return what storage a pointer may hold."""
        solution = self._points_to.solution
        key = int(solution.row_of[address]), bool(solution.unknown[address])
        if key not in self._memory:
            objects = solution.rows.objects(key[0]).astype(np.int64)
            system = self._points_to.system
            found = np.unique(system.locations.allocation[objects])
            is_heap = system.allocations.kind[found] == AllocationKind.HEAP
            found = np.concatenate([found[is_heap], found[~is_heap]])  # what most of it is
            texts = [self._points_to.naming.allocation(one) for one in found[:1].tolist()]
            others = " and others" * (len(found) > 1) + " or unknown storage" * key[1]
            text = texts[0] + others if texts else "unknown storage"
            self._memory[key] = Storage(text, objects, key[1])
        return self._memory[key]

    @cached_property
    def _stores(self) -> I64:
        rows = np.flatnonzero(self._table.opcode == Opcode.STORE)
        return rows[self._context.block_is_reached[self._table.block[rows]]]

    def _writer_of(self, address: int, bound: Bound) -> tuple[int | None, bool]:
        """Return a store that may have written what a pointer holds: see `_writer`."""
        solution = self._points_to.solution
        key = int(solution.row_of[address]), bound
        if key not in self._writers:
            self._writers[key] = self._writer(self._storage(address).objects, bound)
        return self._writers[key]

    def storage_keys(self, rows: I64, names: I64) -> I64:
        """Return numbers that are alike for instructions that use the same storage.

        Args:
            rows: the instructions.
            names: of the pointers, or -1 for their first operands.
        """
        solution = self._points_to.solution
        first = self._table.offsets[rows].astype(np.int64)
        operand = self._table.operands[np.minimum(first, len(self._table.operands) - 1)]
        value = np.where(names >= 0, self._split.value_of(np.maximum(names, 0)), operand)
        found: I64 = solution.row_of[value].astype(np.int64) * 2 + solution.unknown[value]
        return found

    def _writer(self, objects: I64, bound: Bound) -> tuple[int | None, bool]:
        """Return a store that may have written an object, and whether its value may be any.

        Such a one is returned if there is any.
        """
        if not len(objects):
            return None, False
        solution, rows = self._points_to.solution, self._stores
        address = self._table.operands[self._table.offsets[rows] + 1]
        hits = solution.rows.with_any(objects)[solution.row_of[address]]
        rows = rows[hits]
        if not len(rows):
            return None, False
        names = self._split.operand[self._table.offsets[rows]].astype(np.int64)
        facts = self._context.facts
        wide = {
            Bound.LOW: facts.low[names] < 0, Bound.LEAST: facts.least[names] == 0,
            Bound.HIGH: facts.high[names] >= 1 << 30, Bound.MOST: facts.most[names] >= 1 << 30,
        }[bound]  # fmt: skip
        is_any = bool(wide.any())
        return int(rows[wide][0] if is_any else rows[0]), is_any

    @cached_property
    def _frees(self) -> list[tuple[int, int]]:
        """Calls that free something, and the pointer that they free."""
        found = []
        rows = np.flatnonzero(np.isin(self._table.opcode, list(CALLS)))
        for row in rows.tolist():
            _, *arguments = self._table.operands_of(row).tolist()
            place = model_of(self._program, int(self._table.operands_of(row)[0])).frees
            if place is not None and place < len(arguments):
                found.append((row, arguments[place]))
        return found

    def _freeing_call(self, objects: I64) -> int | None:
        solution, locations = self._points_to.solution, self._points_to.system.locations
        allocations = np.unique(locations.allocation[objects])
        for call, value in self._frees:
            if solution.unknown[value]:
                return call
            held = solution.rows.objects(int(solution.row_of[value]))
            if np.isin(locations.allocation[held], allocations).any():
                return call
        return None

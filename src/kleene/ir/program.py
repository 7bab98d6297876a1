"""A whole program as tables of integers, with thin views on top."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, I64, Bools, offsets_of
from kleene.ir.analysis_methods import ProgramAnalyses
from kleene.ir.codes import (
    ADDRESS_OPERAND,
    CALLS,
    TERMINATORS,
    Binding,
    GlobalKind,
    Opcode,
    TypeKind,
    ValueKind,
)
from kleene.ir.names import Names, grouped
from kleene.ir.tables import (
    AddressPoints,
    Arguments,
    Bindings,
    Blocks,
    Bundles,
    Constants,
    Functions,
    Globals,
    Instructions,
    Notices,
    Passed,
    SourceTypes,
    Spans,
    Strings,
    Table,
    Types,
    Variables,
)

if TYPE_CHECKING:
    from kleene.ir.text.printer import Printer
    from kleene.ir.views import FunctionRows, Instruction, Value


@dataclass(frozen=True, eq=False, repr=False)
class Program(ProgramAnalyses):
    """One linked program. Everything is in the tables; the rest are views and derived columns."""

    name: str
    triple: str
    data_layout: str
    strings: Strings
    types: Types
    source_types: SourceTypes
    globals: Globals
    function_table: Functions
    arguments: Arguments
    blocks: Blocks
    instructions: Instructions
    constants: Constants
    spans: Spans
    variables: Variables
    bindings: Bindings
    bundles: Bundles
    passed: Passed
    address_points: AddressPoints
    notice_table: Notices
    # What reads the loops of the sources, for who asks: tables do not have them. Not stored.
    loop_reader: Callable[[], list[Any]] | None = field(default=None, metadata={"stored": False})

    def __repr__(self) -> str:
        sizes = (self.function_table, self.instructions)
        n_functions, n_instructions = (len(table) for table in sizes)
        return f"<Program {self.name!r}: {n_functions} functions, {n_instructions} instructions>"

    @cached_property
    def bases(self) -> tuple[int, int, int, int, int, int]:
        """The first value id of each `ValueKind`, and the number of values at the end."""
        counts = (self.globals, self.constants, self.arguments, self.blocks, self.instructions)
        ends = np.cumsum([0, *(len(table) for table in counts)])
        first, constants, arguments, blocks, instructions, end = (int(e) for e in ends)
        return first, constants, arguments, blocks, instructions, end

    @property
    def n_values(self) -> int:
        """How many values there are."""
        return self.bases[len(ValueKind)]

    def value(self, kind: ValueKind, row: int) -> int:
        """Return the value id of a table's row."""
        return self.bases[kind] + row

    def locate(self, value: int) -> tuple[ValueKind, int]:
        """Return the table of a value and its row there."""
        kind = bisect_right(self.bases, value) - 1
        assert 0 <= kind < len(ValueKind), f"no value {value}"
        while self.bases[kind + 1] == self.bases[kind]:  # empty tables share a base
            kind -= 1
        return ValueKind(kind), value - self.bases[kind]

    @cached_property
    def value_types(self) -> I32:
        """The type of every value; globals are pointers, blocks are labels."""
        kinds = self.types.kind
        parts = [
            self._global_types(),
            self.constants.type,
            self.arguments.type,
            np.full(len(self.blocks), _first(kinds == TypeKind.LABEL), np.int32),
            self.instructions.type,
        ]
        return np.concatenate(parts).astype(np.int32)

    def _global_types(self) -> I32:
        """Return the pointer type of each global's address space."""
        types = self.types
        by_space = {
            int(types.bits[t]): int(t) for t in np.flatnonzero(types.kind == TypeKind.POINTER)
        }
        spaces, index = np.unique(self.globals.space, return_inverse=True)
        table = np.array([by_space.get(int(space), -1) for space in spaces], np.int32)
        return table[index] if len(index) else np.empty(0, np.int32)

    @cached_property
    def instruction_function(self) -> I32:
        """The function of each instruction."""
        return self.blocks.function[self.instructions.block]

    @cached_property
    def store_size(self) -> I64:
        """The bytes that a load or a store of each type accesses; -1 where unsized.

        Fewer than `types.size`, from one to the next in an array, where that is rounded up to the
        alignment: 6 of 8 for i48, 10 of 16 for x86_fp80, 12 of 16 for <3 x i32>. C's structs of 3,
        5, 6 and 7 bytes are passed as such integers.
        """
        types = self.types
        is_number = np.isin(types.kind, (TypeKind.INT, TypeKind.FLOAT))
        n_bits = np.where(is_number, types.bits, 8 * types.size)
        vectors = np.flatnonzero((types.kind == TypeKind.VECTOR) & (types.size >= 0))
        n_bits[vectors] = types.bits[vectors] * n_bits[types.elements[types.offsets[vectors]]]
        return np.where(types.size < 0, -1, (n_bits + 7) // 8)

    @cached_property
    def successors(self) -> tuple[I32, I32]:
        """The control-flow graph of all functions, as CSR over blocks (offsets, targets).

        An opaque instruction at the end of a block may go to every block that it names.
        """
        table = self.instructions
        last = self.blocks.instruction_offsets[1:] - 1
        may_end = [*TERMINATORS, Opcode.OPAQUE]
        ends = np.isin(table.opcode[last], may_end) if len(last) else last.astype(bool)
        low, high = self.bases[ValueKind.BLOCK], self.bases[ValueKind.INSTRUCTION]
        is_target = (table.operands >= low) & (table.operands < high)
        owner = np.repeat(np.arange(len(table), dtype=np.int32), np.diff(table.offsets))
        from_end = np.zeros(len(table), bool)
        from_end[last[ends]] = True
        chosen = is_target & from_end[owner]
        targets = (table.operands[chosen] - low).astype(np.int32)
        sources = table.block[owner[chosen]]
        counts = np.bincount(sources, minlength=len(self.blocks))
        return offsets_of(counts).astype(np.int32), targets

    @cached_property
    def predecessors(self) -> tuple[I32, I32]:
        """The control-flow graph turned round, as CSR over blocks (offsets, sources)."""
        offsets, targets = self.successors
        sources = np.repeat(np.arange(len(self.blocks), dtype=np.int32), np.diff(offsets))
        return grouped(targets, sources, len(self.blocks))

    @cached_property
    def users(self) -> tuple[I32, I32]:
        """Who uses each value, once per operand, as CSR over values (offsets, instructions)."""
        table = self.instructions
        owner = np.repeat(np.arange(len(table), dtype=np.int32), np.diff(table.offsets))
        return grouped(table.operands, owner, self.n_values)

    @cached_property
    def begins_storage(self) -> Bools:
        """Whether an instruction begins storage without a value: alloca, `llvm.lifetime.start`."""
        found: Bools = self.instructions.opcode == Opcode.ALLOCA
        return found | self._calls_of(b"llvm.lifetime.start")

    @cached_property
    def ends_storage(self) -> Bools:
        """Whether an instruction ends the lifetime of a local: `llvm.lifetime.end`."""
        return self._calls_of(b"llvm.lifetime.end")

    @cached_property
    def scoped_locals(self) -> I32:
        """The values (alloca) whose lifetime ends before their function does, as the code says."""
        table = self.instructions
        found: I32 = np.unique(table.operands[table.offsets[self.ends_storage.nonzero()[0]] + 1])
        return found

    def _calls_of(self, prefix: bytes) -> Bools:
        """Return which instructions call a global by a name that begins so."""
        table = self.instructions
        found = np.zeros(len(table), bool)
        symbols = self.strings.begin_with(self.globals.name, prefix)
        calls = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
        callee = table.operands[table.offsets[calls]]
        found[calls[np.isin(callee, np.flatnonzero(symbols))]] = True
        return found

    def address_taken(self) -> Bools:
        """Return which globals are used other than as a callee or as the address of an access."""
        table = self.instructions
        owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
        position = np.arange(len(owner)) - table.offsets[owner]
        harmless_position = np.full(len(Opcode), -1)
        harmless_position[list(CALLS)] = 0
        for opcode, of_address in ADDRESS_OPERAND.items():
            harmless_position[opcode] = of_address
        harmless = position == harmless_position[table.opcode[owner]]
        uses = [
            table.operands[~harmless],
            self.constants.operands,
            self.globals.initializer,
            self.bundles.operands,
        ]
        taken = np.zeros(len(self.globals), bool)
        values = np.concatenate(uses)
        taken[values[(values >= 0) & (values < len(taken))]] = True
        return taken

    @cached_property
    def _bindings_by_value(self) -> tuple[I32, I32]:
        """The bindings of each value that is the variable, or a local that is its address."""
        table = self.bindings
        is_alloca = np.zeros(self.n_values + 1, bool)  # the last is for -1
        is_alloca[self.bases[ValueKind.INSTRUCTION] : -1] = (
            self.instructions.opcode == Opcode.ALLOCA
        )
        tells = (table.kind != Binding.DECLARE) | is_alloca[table.value]
        rows = np.flatnonzero(tells & (table.exact != 0) & (table.value >= 0)).astype(np.int32)
        return grouped(table.value[rows], rows, self.n_values)

    def variable_rows_of(self, value: int) -> list[int]:
        """Return the source variables (rows) that a value is, or is the address of, each once."""
        offsets, rows = self._bindings_by_value
        bound = self.bindings.variable[rows[offsets[value] : offsets[value + 1]]]
        return list(dict.fromkeys(bound.tolist()))

    def variables_of(self, value: int) -> list[str]:
        """Return the names of the source variables that a value is, or is the address of."""
        symbols = self.variables.name[self.variable_rows_of(value)]
        return list(dict.fromkeys(self.strings[s] for s in symbols.tolist()))

    @cached_property
    def functions(self) -> FunctionRows:
        """The functions by place or name, as in `program.functions["main"]`."""
        from kleene.ir.views import Function, FunctionRows

        return FunctionRows(self, range(len(self.function_table)), Function)

    def value_view(self, value: int) -> Value:
        """Return the view of a value."""
        from kleene.ir.views import value_view

        return value_view(self, value)

    def instruction_view(self, row: int) -> Instruction:
        """Return the view of an instruction, given by its row."""
        from kleene.ir.views import instruction_view

        return instruction_view(self, row)

    @cached_property
    def printer(self) -> Printer:
        """What writes parts of this program as text."""
        from kleene.ir.text.printer import Printer

        return Printer(self)

    @cached_property
    def names(self) -> Names:
        """What the values are called, in views and in text."""
        return Names(self)

    @property
    def notices(self) -> list[tuple[int, str]]:
        """What the reader did not understand, and how often."""
        table = self.notice_table
        return [(int(n), self.strings[t]) for n, t in zip(table.count, table.text, strict=True)]

    def stats(self) -> dict[str, int]:
        """Return the sizes of the program."""
        defined = np.diff(self.function_table.block_offsets) > 0
        return {
            "functions": int(defined.sum()),
            "declarations": int((~defined).sum()),
            "global_variables": int((self.globals.kind == GlobalKind.VARIABLE).sum()),
            "blocks": len(self.blocks),
            "instructions": len(self.instructions),
            "operands": len(self.instructions.operands),
            "constants": len(self.constants),
            "types": len(self.types),
            "spans": len(self.spans),
            "variables": len(self.variables),
            "notices": int(self.notice_table.count.sum()),
            "bytes": sum(
                column.nbytes for table in self.tables().values() for _, column in table.columns()
            ),
        }

    def tables(self) -> dict[str, Table]:
        """Return every table, by its name here."""
        return {name: value for name, value in vars(self).items() if isinstance(value, Table)}


def _first(found: NDArray[np.bool_]) -> int:
    """Return the first position that holds, or -1."""
    places = np.flatnonzero(found)
    return int(places[0]) if len(places) else -1

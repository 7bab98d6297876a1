"""What constraint generation asks of a program's tables, found once, a whole column at a time.

**Pointer-typed** are values that can hold an address: pointers, integers at least as wide,
aggregates and vectors that contain these. An integer counts only on a way to where an address
matters: memory, a call, a return, a pointer again; one that is compared or an index alone does not.
**Pointer-carrying** are narrower values that may hold some bits of an address (`pointer_parts`).
Nothing else has a set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kleene.analyses.points_to.constraints.characters import is_library_code, moves_characters
from kleene.analyses.points_to.constraints.pointer_parts import (
    NOTHING_OUTSIDE,
    THROUGH,
    OutsideParts,
    PointerParts,
)
from kleene.analyses.points_to.constraints.reachability import spread
from kleene.base.arrays import I32, I64, Bools, Ints, offsets_of, ragged
from kleene.ir.codes import (
    CALLS,
    ConstantKind,
    Flag,
    Opcode,
    TypeKind,
    ValueKind,
)
from kleene.ir.program import Program
from kleene.ir.tables import Types

_HOLDERS = (
    *(ConstantKind.AGGREGATE, ConstantKind.SPLAT, ConstantKind.EXPRESSION),
    *(ConstantKind.WRAPPED, ConstantKind.UNKNOWN),
)
_ARITHMETIC = (
    *(Opcode.ADD, Opcode.SUB, Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.SHL, Opcode.LSHR),
    *(Opcode.ASHR, Opcode.ATOMICRMW),
)
_IDLE = (  # what hides an address for good
    *(Opcode.ICMP, Opcode.BR, Opcode.SWITCH, Opcode.UITOFP, Opcode.SITOFP, Opcode.ALLOCA),
    Opcode.GETELEMENTPTR,
)


@dataclass(frozen=True, eq=False)
class Columns:
    """A program, seen by its operands, opcodes and types."""

    program: Program
    outside: OutsideParts = NOTHING_OUTSIDE

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
        return PointerParts(self, self.outside).found()

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

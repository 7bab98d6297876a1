"""Values that nobody gave: which operands must have one, and the check that they do.

C says what a value must be there for: what is computed, compared, branched on, converted or used
as an address; what is passed to a parameter, returned, or stored of a local by its name. A struct
may be copied, passed and returned with members that have no value: LLVM's `noundef` tells a
parameter of a scalar type from a part of such a struct.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kleene.analyses.invariants.builder import FlatFunctionBuilder
from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.expressions import (
    BOOL,
    ONE,
    ZERO,
    Both,
    Condition,
    Form,
    Relation,
    only,
)
from kleene.analyses.invariants.flat import Base, Block
from kleene.base.arrays import Bools, Ints
from kleene.ir import Program
from kleene.ir.codes import CALLS, ArgumentFlag, Binding, ConstantKind, Opcode, TypeKind, ValueKind

_DEFINED = -(1 << 60)  # variables for whether a phi has a value, by the phi
_COMPUTES = (
    Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM,
    Opcode.XOR, Opcode.ASHR, Opcode.ICMP, Opcode.SEXT, Opcode.GETELEMENTPTR,
    Opcode.FADD, Opcode.FSUB, Opcode.FMUL, Opcode.FDIV, Opcode.FREM, Opcode.FNEG, Opcode.FCMP,
    Opcode.SITOFP, Opcode.UITOFP, Opcode.FPTOSI, Opcode.FPTOUI, Opcode.FPEXT, Opcode.FPTRUNC,
)  # fmt: skip
_FIRST = (Opcode.BR, Opcode.SWITCH, Opcode.SELECT, Opcode.LOAD)  # of these the first operand
# What has no value where an operand has none. LLVM puts parts of structs together by these, too.
PASSES_ON = (
    Opcode.TRUNC, Opcode.ZEXT, Opcode.AND, Opcode.OR, Opcode.SHL, Opcode.LSHR, Opcode.BITCAST,
    Opcode.PTRTOINT, Opcode.INTTOPTR,
)  # fmt: skip
_SCALARS = (TypeKind.INT, TypeKind.POINTER, TypeKind.FLOAT)
_DEEPEST = 8  # operations on a value that are looked behind


@lru_cache(maxsize=1)
def must_have_values(program: Program) -> Bools:
    """Return which operands of instructions must have a value."""
    table, value = program.instructions, program.instructions.operands
    owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
    place, opcode = np.arange(len(owner)) - table.offsets[owner], table.opcode[owner]
    found = np.isin(opcode, _COMPUTES)
    found |= np.isin(opcode, _FIRST) & (place == 0)
    found |= (opcode == Opcode.STORE) & ((place == 1) | _is_scalar_variable(program)[value])
    kind = program.types.kind[program.value_types[value]]
    found |= (opcode == Opcode.RET) & np.isin(kind, _SCALARS)
    calls = np.isin(opcode, list(CALLS))
    found[calls] = np.isin(kind[calls], _SCALARS) & _is_passed_whole(
        program, table.operands[table.offsets[owner[calls]]], place[calls]
    )
    return found


def _is_passed_whole(program: Program, callee: Ints, place: Ints) -> Bools:
    """Return which operands of calls are no parts of structs, of each the callee and its place."""
    found = np.ones(len(callee), bool)
    named = np.flatnonzero(callee < len(program.globals))
    symbol, row = program.globals.name[callee[named]], program.globals.function[callee[named]]
    is_llvm = program.strings.begin_with(symbol, b"llvm.")
    found[named] = ~is_llvm | program.strings.begin_with(symbol, b"llvm.mem")
    chosen = (row >= 0) & ~is_llvm & (place[named] > 0)
    named, row = named[chosen], row[chosen]
    offsets = program.function_table.argument_offsets
    formal = offsets[row] + place[named] - 1
    is_formal = formal < offsets[row + 1]
    flags = program.arguments.flags[formal[is_formal]]
    found[named[is_formal]] = flags & ArgumentFlag.NOUNDEF != 0
    return found


def _is_scalar_variable(program: Program) -> Bools:
    """Return which values are those of a variable by its name, and not of a part of one."""
    bindings = program.bindings
    found = np.zeros(program.n_values, bool)
    found[bindings.value[(bindings.kind == Binding.VALUE) & bindings.exact.astype(bool)]] = True
    found[: program.bases[ValueKind.INSTRUCTION]] = False
    return found


@lru_cache(maxsize=1)
def are_words(program: Program) -> Bools:
    """Return which instructions make room for parts in a word, or put them there.

    So bit-fields are assigned, and small structs passed: `(undef & 0xff) | (high << 8)`, then
    `(that & ~0xff) | low`. The other parts of such a word may have a value or none.
    """
    table = program.instructions
    offsets, users = program.users
    is_or = np.concatenate((table.opcode == Opcode.OR, [False]))
    first = program.bases[ValueKind.INSTRUCTION]
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    other = np.zeros(len(offsets) - 1, bool)
    other[owner[~is_or[users]]] = True
    found: Bools = (table.opcode == Opcode.AND) & ~other[first : first + len(table)]
    places = table.offsets[:-1][table.opcode == Opcode.OR]
    for place in (places, places + 1):
        inner = table.operands[place].astype(np.int64) - first
        is_room = (inner >= 0) & (table.opcode[np.maximum(inner, 0)] == Opcode.AND)
        is_room &= found[np.maximum(inner, 0)]
        found[np.flatnonzero(table.opcode == Opcode.OR)[is_room]] = True
    return found


class UndefinedValues:
    """Follows, for each phi that may be undefined, a flag that is 1 where it has a value."""

    def __init__(self, builder: FlatFunctionBuilder) -> None:
        self._builder = builder
        self._program, self._table = builder.program, builder.table
        self._values, self._flat = builder.values, builder.flat
        self._must_have, self._words = must_have_values(self._program), are_words(self._program)
        self._phis: dict[int, set[int]] = {}

    def phis(self, context: int) -> set[int]:
        """Return the phis of a function that may have no value: one of theirs is undefined."""
        function = self._values.contexts[context].function
        if function not in self._phis:
            found: set[int] = set()
            blocks = self._program.function_table.block_offsets[function : function + 2]
            first, end = self._program.blocks.instruction_offsets[blocks].tolist()
            opcodes = self._table.opcode[first:end]
            phis = [first + int(one) for one in (opcodes == Opcode.PHI).nonzero()[0]]
            given = {
                row: [source for one in self._table.operands_of(row).tolist()[::2]
                      for source in self._sources(one)]
                for row in phis
            }  # fmt: skip
            changed = True
            while changed:
                more = {
                    row
                    for row, values in given.items()
                    if row not in found
                    and any(
                        self._has_no_value(one) or one - self._builder.first_instruction in found
                        for one in values
                    )
                }
                found |= more
                changed = bool(more)
            self._phis[function] = found
        return self._phis[function]

    def _sources(self, value: int, depth: int = 0) -> list[int]:
        """Return the constants and phis without which a value has none."""
        row = value - self._builder.first_instruction
        if row < 0 or depth > _DEEPEST:
            return [value]
        opcode = int(self._table.opcode[row])
        if opcode == Opcode.SELECT:
            operands = self._table.operands_of(row).tolist()[1:]
        elif opcode in PASSES_ON and not self._words[row]:
            operands = self._table.operands_of(row).tolist()
        else:
            return [value]
        return [source for one in operands for source in self._sources(one, depth + 1)]

    def _has_no_value(self, value: int) -> bool:
        row = value - self._program.bases[ValueKind.CONSTANT]
        kinds = self._program.constants.kind
        return 0 <= row < len(kinds) and kinds[row] in (ConstantKind.UNDEF, ConstantKind.POISON)

    def flag(self, context: int, value: int) -> Base:
        """Return the variable that is 1 where a phi has a value."""
        key = Base(context, _DEFINED - value)
        self._flat.kinds[key] = BOOL
        return key

    def is_defined(self, context: int, value: int) -> Form:
        """Return 1 where a value is defined, else 0; 0 where that depends on several."""
        flags = self._flags(context, value)
        if len(flags) > 1:
            return ZERO
        return flags[0] if flags else ONE

    def _flags(self, context: int, value: int) -> list[Form]:
        """Return the forms that are 1 where a value is defined."""
        found: dict[Form, None] = {}
        for one in self._sources(value):
            if self._has_no_value(one):
                found[ZERO] = None
            elif one - self._builder.first_instruction in self.phis(context):
                found[only(self.flag(context, one))] = None
        return list(found)

    def check(self, block: Block, context: int, row: int, operands: list[int]) -> None:
        """Check that what an instruction uses has a value."""
        place = int(self._table.offsets[row])
        must = self._must_have[place : place + len(operands)].tolist()
        missing = [
            Relation(flag, "ne")
            for one, is_used in zip(operands, must, strict=True)
            if is_used
            for flag in self._flags(context, one)
        ]
        if missing:
            condition: Condition = missing[0]
            for one in missing[1:]:
                condition = Both(condition, one)
            message = "what is used has a value"
            self._builder.check(block, CheckKind.UNINITIALISED, row, condition, message)

"""Values that nobody gave: which phis may have none, and the check of what uses them."""

from __future__ import annotations

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
from kleene.ir.codes import ConstantKind, Opcode, ValueKind

_DEFINED = -(1 << 60)  # variables for whether a phi has a value, by the phi
COMPUTES = {
    Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM,
    Opcode.XOR, Opcode.ASHR, Opcode.ICMP, Opcode.SEXT, Opcode.GETELEMENTPTR, Opcode.BR,
    Opcode.SWITCH, Opcode.FADD, Opcode.FSUB, Opcode.FMUL, Opcode.FDIV, Opcode.FCMP, Opcode.SITOFP,
    Opcode.UITOFP,
}  # fmt: skip


class UndefinedValues:
    """Follows, for each phi that may be undefined, a flag that is 1 where it has a value."""

    def __init__(self, builder: FlatFunctionBuilder) -> None:
        self._builder = builder
        self._program, self._table = builder.program, builder.table
        self._values, self._flat = builder.values, builder.flat
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
            given = {row: self._table.operands_of(row).tolist()[::2] for row in phis}
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
        """Return 1 where a value is defined, else 0."""
        if self._has_no_value(value):
            return ZERO
        row = value - self._builder.first_instruction
        if row >= 0 and row in self.phis(context):
            return only(self.flag(context, value))
        return ONE

    def check(self, block: Block, context: int, row: int, opcode: int, operands: list[int]) -> None:
        """Check that what something is computed from has a value.

        Masks and shifts are left out: LLVM puts small integers into the undefined bits of larger
        ones by them.
        """
        if opcode not in COMPUTES:
            return
        used = operands[:1] if opcode in (Opcode.BR, Opcode.SWITCH) else operands
        flags = [
            self.is_defined(context, one)
            for one in used
            if one < self._builder.first_block or (one >= self._builder.first_instruction)
        ]
        missing = [Relation(flag, "ne") for flag in flags if flag != ONE]
        if missing:
            condition: Condition = missing[0]
            for one in missing[1:]:
                condition = Both(condition, one)
            message = "what is used has a value"
            self._builder.check(block, CheckKind.UNINITIALISED, row, condition, message)

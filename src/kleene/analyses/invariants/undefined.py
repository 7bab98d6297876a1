"""Values that nobody gave: which phis may have none, and the check of what uses them."""

from __future__ import annotations

from kleene.analyses.dataflow.values_needed import (
    PASSES_ON,
    are_words,
    must_have_values,
    temporaries,
)
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
_DEEPEST = 8  # operations on a value that are looked behind


class UndefinedValues:
    """Follows, for each phi that may be undefined, a flag that is 1 where it has a value."""

    def __init__(self, builder: FlatFunctionBuilder) -> None:
        self._builder = builder
        self._program, self._table = builder.program, builder.table
        self._values, self._flat = builder.values, builder.flat
        self._must_have, self._words = must_have_values(self._program), are_words(self._program)
        self._temporaries = temporaries(self._program)
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
                row: [
                    source
                    for one in self._table.operands_of(row).tolist()[::2]
                    if not self._is_ignored(row, one)
                    for source in self._sources(one)
                ]
                for row in phis
            }
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

    def _is_ignored(self, row: int, value: int) -> bool:
        """Return whether a phi is of a temporary of LLVM that has no value yet."""
        return self._has_no_value(value) and bool(self._temporaries[row])

    def given(self, context: int, row: int, value: int) -> Form:
        """Return 1 where a value that a phi gets is defined, else 0."""
        return ONE if self._is_ignored(row, value) else self.is_defined(context, value)

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

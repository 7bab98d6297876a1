"""Values that nobody gave: which phis may have none, and the check of what uses them."""

from __future__ import annotations

from collections.abc import Iterator

from kleene.analyses.dataflow.values_needed import (
    PASSES_ON,
    are_words,
    may_lack_bits,
    must_have_values,
    temporaries,
)
from kleene.analyses.invariants.builder import FlatFunctionBuilder
from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.expressions import (
    BOOL,
    ONE,
    ZERO,
    Always,
    Both,
    Condition,
    Either,
    Form,
    Relation,
    Unknown,
    only,
)
from kleene.analyses.invariants.flat import Base, Block
from kleene.ir.codes import CALLS, ConstantKind, Opcode, ValueKind
from kleene.ir.parts import EXTRACTS, INSERTS, element_offsets, part_offsets

_DEFINED = -(1 << 60)  # variables for whether a phi has a value, by the phi
_DEEPEST = 8  # operations on a value that are looked behind
_MOST_BYTES = 64  # of a value that is stored, that are told apart


class UndefinedValues:
    """Follows, for each phi that may be undefined, a flag that is 1 where it has a value."""

    def __init__(self, builder: FlatFunctionBuilder) -> None:
        self._builder = builder
        self._program, self._table = builder.program, builder.table
        self._values, self._flat = builder.values, builder.flat
        self._must_have, self._words = must_have_values(self._program), are_words(self._program)
        self._temporaries = temporaries(self._program)
        self._may_lack = may_lack_bits(self._program)
        self._part_offsets = part_offsets(self._program)
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

    def defined_parts(self, context: int, value: int, size: int) -> tuple[tuple[int, Form], ...]:
        """Return, of the bytes of a value that is stored, so many and 1 where they have a value.

        That is 0 where it is not known; and nothing is returned if all have a value.
        """
        if not self._may_lack[value]:
            return ()
        found: list[tuple[int, Form]] = []
        for place in range(min(size, _MOST_BYTES)):
            needed = self._have_values(context, value, 255 << 8 * place)
            form = ZERO if needed else ONE
            if len(needed) == 1 and isinstance(one := needed[0], Relation):
                form = one.form
            if found and found[-1][1] == form:
                found[-1] = found[-1][0] + 1, form
            else:
                found.append((1, form))
        if size > _MOST_BYTES:
            found.append((size - _MOST_BYTES, ZERO))
        return () if [form for _, form in found] == [ONE] else tuple(found)

    def _have_values(self, context: int, value: int, bits: int) -> list[Condition]:
        """Return the conditions under which bits of a value are defined.

        Of a phi of words, it is not known which of them it is. Bits of structs, arrays and vectors
        are those of their bytes.
        """
        found: dict[Condition, None] = {}
        todo = [(context, value, bits, True)] if self._may_lack[value] else []
        seen = set(todo)
        while todo:
            context, value, bits, is_sure = todo.pop()
            row = value - self._builder.first_instruction
            opcode = self._table.opcode[row] if row >= 0 else -1
            condition: Condition | None = None
            more = list(self._parts(context, value, bits))
            if self._has_no_value(value):
                condition = Always(False)
            elif opcode == Opcode.PHI:
                if row in self.phis(context):
                    condition = Relation(only(self.flag(context, value)), "ne")
                given = self._table.operands_of(row).tolist()[::2]
                more = [(context, one, bits) for one in given if not self._has_no_value(one)]
            elif opcode in CALLS and not more and self._has_body(row):
                condition, is_sure = Always(False), False  # it is not inlined
            if condition is not None:
                found[condition if is_sure else Either(condition, Unknown())] = None
            is_choice = opcode in (Opcode.PHI, Opcode.SELECT) or (opcode in CALLS and len(more) > 1)
            is_sure &= not is_choice
            new = {(*one, is_sure) for one in more if one[2] and self._may_lack[one[1]]}
            todo += sorted(new - seen)
            seen |= new
        return list(found)

    def _used_bits(self, row: int, position: int, value: int) -> int:
        """Return the bits of an operand that count: of a shift to the right, the higher ones."""
        bits = self._all_bits(value)
        if self._table.opcode[row] == Opcode.ASHR and not position:
            by = self._values.constant(int(self._table.operands_of(row)[1]))
            bits &= -1 << (by or 0)
        return bits

    def _all_bits(self, value: int) -> int:
        size = int(self._program.store_size[self._program.value_types[value]])
        return (1 << (self._values.width(value) or 8 * max(size, 1))) - 1

    def _parts(self, context: int, value: int, bits: int) -> Iterator[tuple[int, int, int]]:
        """Yield the operands, each with its bits, that bits of a value are made of."""
        row = value - self._builder.first_instruction
        if row < 0:
            yield from ((context, *one) for one in self._elements(value, bits))
            yield from ((*one, bits) for one in self._passed(context, value))
            return
        opcode, operands = int(self._table.opcode[row]), self._table.operands_of(row).tolist()
        if opcode in CALLS:
            yield from ((*one, bits) for one in self._returned(context, row))
        elif opcode == Opcode.SELECT:
            yield from ((context, one, bits) for one in operands[1:])
        elif opcode in (Opcode.AND, Opcode.OR):
            for one, other in (operands, operands[::-1]):
                number = self._values.constant(other)
                if number is not None:
                    yield context, one, bits & (number if opcode == Opcode.AND else ~number)
                else:
                    yield context, one, bits
        elif opcode in (Opcode.SHL, Opcode.LSHR) and (
            (by := self._values.constant(operands[1])) is not None
        ):
            yield context, operands[0], bits >> by if opcode == Opcode.SHL else bits << by
        elif opcode in (Opcode.TRUNC, Opcode.ZEXT):
            yield context, operands[0], bits & self._all_bits(operands[0])
        elif opcode == Opcode.BITCAST:
            yield context, operands[0], bits
        elif opcode in (*EXTRACTS, *INSERTS) and (offset := 8 * int(self._part_offsets[row])) >= 0:
            if opcode in EXTRACTS:
                yield context, operands[0], bits << offset
            else:
                part = self._all_bits(operands[1]) << offset
                yield context, operands[0], bits & ~part
                yield context, operands[1], (bits & part) >> offset
        elif opcode in (*PASSES_ON, *EXTRACTS, *INSERTS, Opcode.SHUFFLEVECTOR):
            yield from ((context, one, self._all_bits(one)) for one in operands)

    def _elements(self, value: int, bits: int) -> Iterator[tuple[int, int]]:
        """Yield the elements of a constant that bits of it are of, each with its bits."""
        constants, row = self._program.constants, value - self._program.bases[ValueKind.CONSTANT]
        if 0 <= row < len(constants) and constants.kind[row] == ConstantKind.AGGREGATE:
            starts = element_offsets(self._program, int(self._program.value_types[value]))
            for place, one in enumerate(constants.operands_of(row).tolist()):
                inside = bits >> 8 * starts[place] if starts else -1
                yield one, inside & self._all_bits(one)

    def _passed(self, context: int, value: int) -> Iterator[tuple[int, int]]:
        """Yield what the call that is inlined passes for a part of a struct."""
        function, call, parent = self._flat.contexts[context]
        offsets, first = (
            self._program.function_table.argument_offsets,
            self._program.bases[ValueKind.ARGUMENT],
        )
        place = value - first - int(offsets[function]) + 1
        operands = self._table.operands_of(call).tolist() if parent >= 0 else []
        is_argument = 1 <= place < len(operands) and value < first + offsets[function + 1]
        if is_argument and not self._must_have[int(self._table.offsets[call]) + place]:
            yield parent, operands[place]  # else it is checked at the call

    def _has_body(self, call: int) -> bool:
        callee, globals_ = int(self._table.operands_of(call)[0]), self._program.globals
        return callee < len(globals_) and bool(globals_.function[callee] >= 0)

    def _returned(self, context: int, call: int) -> Iterator[tuple[int, int]]:
        """Yield what a function that is inlined returns."""
        for place, (function, row, parent) in enumerate(self._flat.contexts):
            if (row, parent) == (call, context):
                first, end = self._program.blocks.instruction_offsets[
                    self._program.function_table.block_offsets[function : function + 2]
                ].tolist()
                rows = first + (self._table.opcode[first:end] == Opcode.RET).nonzero()[0]
                for one in rows:
                    yield from ((place, value) for value in self._table.operands_of(one).tolist())

    def check(self, block: Block, context: int, row: int, operands: list[int]) -> None:
        """Check that what an instruction uses has a value."""
        place = int(self._table.offsets[row])
        must = self._must_have[place : place + len(operands)].tolist()
        missing: list[Condition] = []
        for position, (one, is_used) in enumerate(zip(operands, must, strict=True)):
            if not is_used:
                continue
            if self._table.opcode[row] in (Opcode.RET, Opcode.STORE):  # with its parts
                missing += [Relation(flag, "ne") for flag in self._flags(context, one)]
            else:
                bits = self._used_bits(row, position, one)
                missing += self._have_values(context, one, bits)
        if missing:
            condition = missing[0]
            for each in missing[1:]:
                condition = Both(condition, each)
            message = "what is used has a value"
            self._builder.check(block, CheckKind.UNINITIALISED, row, condition, message)

"""What the values of the IR are: linear forms, conditions, addresses.

The expression of a value is pure: it is asked for in any order, and says which values are variables
(`Base`) that an operation sets where the instruction stands (`instructions.py`). In SSA form an
expression of a value holds wherever the value may be used: whoever comes to the use after its
variables have been set anew passes the value's own instruction again.
"""

from __future__ import annotations

from typing import NamedTuple

from kleene.algebra.float_interval import FORMATS, FloatFormat, rank_of_double_bits
from kleene.analyses.invariants.choices import Choices
from kleene.analyses.invariants.comparisons import Comparisons
from kleene.analyses.invariants.expressions import (
    BOOL,
    ZERO,
    Always,
    Both,
    Condition,
    Congruent,
    Either,
    Form,
    Kind,
    Relation,
    Unknown,
    negation,
    only,
)
from kleene.analyses.invariants.flat import Base, FlatFunction
from kleene.analyses.invariants.kinds import Readings
from kleene.analyses.invariants.library import character_table, has_others, model_of
from kleene.analyses.invariants.loads import REPEATABLE, repeated_values
from kleene.analyses.invariants.objects import Address, Objects
from kleene.ir import Program
from kleene.ir.codes import (
    CALLS,
    ConstantKind,
    Flag,
    Opcode,
    TypeKind,
    ValueKind,
)

_MOST_TERMS = 6  # of a form; a longer one becomes a variable
_COPIES = (Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE)

Expression = Form | Condition | Address | None  # None: nothing is known


class Context(NamedTuple):
    """A function inlined: its arguments are expressions of the caller; of the root, variables."""

    function: int
    arguments: list[Expression] | None
    stack: tuple[int, ...]


class Values:
    """The expressions of all values of a function with its callees."""

    def __init__(self, program: Program, flat: FlatFunction, readings: Readings, wraps: bool):
        self.program, self.flat, self.readings, self.wraps = program, flat, readings, wraps
        self.contexts: list[Context] = []
        self.flags: dict[Base, Condition] = {}  # variables that are 1 where a condition holds
        self._bases = program.bases
        self._table = program.instructions
        self._kinds = program.types.kind.tolist()
        self._bits = program.types.bits.tolist()
        words = (program.strings[one] for one in program.types.name.tolist())
        self._formats = [
            FORMATS.get(word) if kind == TypeKind.FLOAT else None
            for word, kind in zip(words, self._kinds, strict=True)
        ]
        self._repeated: dict[int, dict[int, int]] = {}
        self._has_others = has_others(program)
        self.objects, self.choices = Objects(self), Choices(self)
        self._comparisons = Comparisons(self)

    # Types

    def width(self, value: int) -> int:
        """Return how many bits an integer has; 0 for what is none."""
        type_id = int(self.program.value_types[value])
        return self._bits[type_id] if self._kinds[type_id] == TypeKind.INT else 0

    def format(self, value: int) -> FloatFormat | None:
        """Return the format of a floating-point number; None for what is none that is followed."""
        return self._formats[int(self.program.value_types[value])]

    def is_number(self, value: int) -> bool:
        """Return whether a value is an integer, or a floating-point number that is followed."""
        return bool(self.width(value)) or self.format(value) is not None

    def is_alike(self, value: int, other: int) -> bool:
        """Return whether two values have one type."""
        return bool(self.program.value_types[value] == self.program.value_types[other])

    def is_pointer(self, value: int) -> bool:
        """Return whether a value is a pointer."""
        return bool(self._kinds[int(self.program.value_types[value])] == TypeKind.POINTER)

    def is_pointer_type(self, type_id: int) -> bool:
        """Return whether a type is that of pointers."""
        return bool(self._kinds[type_id] == TypeKind.POINTER)

    def kind(self, value: int) -> Kind:
        """Return how a number is kept."""
        width, format = self.width(value), self.format(value)
        if format is not None:
            return Kind.of_format(format)
        return BOOL if width == 1 else Kind(width, self.readings.is_unsigned(value))

    def base(self, context: int, value: int) -> Base:
        """Return the variable of a value: a number, or whether a pointer is not null."""
        key = Base(context, value)
        if key not in self.flat.kinds:
            self.flat.kinds[key] = BOOL if self.is_pointer(value) else self.kind(value)
        return key

    # Expressions

    def of(self, context: int, value: int) -> Expression:
        """Return what a value is."""
        key = Base(context, value)
        known = self.flat.expressions
        if key not in known:
            known[key] = self._of(context, value)
        found: Expression = known[key]
        return found

    def number(self, context: int, value: int, kind: Kind) -> Form | None:
        """Return an integer or a rank as a form; a constant as a value of the kind given."""
        number = self.constant(value)
        if number is not None:
            return Form((), kind.wrap(number))
        found = self.of(context, value)
        return found if isinstance(found, Form) else None

    def condition(self, context: int, value: int) -> Condition:
        """Return an integer of one bit as a condition."""
        found = self.of(context, value)
        if isinstance(found, Form):
            return Relation(found, "ne")
        return Unknown() if found is None or isinstance(found, Address) else found

    def address(self, context: int, value: int) -> Address:
        """Return where a pointer points."""
        found = self.of(context, value)
        return found if isinstance(found, Address) else Address(None, ZERO, Unknown())

    def constant(self, value: int) -> int | None:
        """Return the integer that a constant is, or the rank of a floating-point number."""
        row = value - self._bases[ValueKind.CONSTANT]
        table = self.program.constants
        if not 0 <= row < len(table) or not self.is_number(value):
            return None
        kind = int(table.kind[row])
        if kind in (ConstantKind.NULL, ConstantKind.ZERO):
            return 0
        if kind == ConstantKind.FLOAT:
            return rank_of_constant(self.program, row)
        if kind != ConstantKind.INT:
            return None
        payload = int(table.payload[row])
        return int(self.program.strings[payload]) if table.flags[row] & Flag.WIDE else payload

    def _of(self, context: int, value: int) -> Expression:
        if value < self._bases[ValueKind.CONSTANT]:
            return self.objects.of_global(value)
        if value < self._bases[ValueKind.ARGUMENT]:
            return self._constant(context, value)
        if value < self._bases[ValueKind.BLOCK]:
            return self._argument(context, value)
        return self._instruction(context, value)

    def _constant(self, context: int, value: int) -> Expression:
        number = self.constant(value)
        if number is not None:
            return Always(bool(number & 1)) if self.width(value) == 1 else Form((), number)
        row = value - self._bases[ValueKind.CONSTANT]
        table = self.program.constants
        kind = int(table.kind[row])
        if kind == ConstantKind.NULL:
            return Address(None, ZERO, Always(False))
        if kind == ConstantKind.EXPRESSION:
            operands = table.operands_of(row).tolist()
            if table.opcode[row] == Opcode.GETELEMENTPTR:
                return self.objects.of_element(context, value, operands, int(table.about[row]))
            if table.opcode[row] in _COPIES and self.is_copy(value, operands[0]):
                return self.of(context, operands[0])
        return None

    def is_copy(self, value: int, other: int) -> bool:
        """Return whether two values have one type, or are pointers: one may be the other."""
        return self.is_alike(value, other) or (self.is_pointer(value) and self.is_pointer(other))

    def _argument(self, context: int, value: int) -> Expression:
        row = value - self._bases[ValueKind.ARGUMENT]
        first = int(self.program.function_table.argument_offsets[self.contexts[context].function])
        arguments = self.contexts[context].arguments
        if arguments is not None:
            return arguments[row - first] if row - first < len(arguments) else None
        if self.is_pointer(value) and (made := self.objects.of_arguments(context, value)):
            return made
        found = self._variable(context, value)
        if isinstance(found, Address):
            return found._replace(extent=self.objects.extent(context, value, row))
        return found

    def _variable(self, context: int, value: int) -> Expression:
        """Return a value of which no more is known than that it is a variable."""
        if self.is_pointer(value):
            key = self.base(context, value)
            return Address(None, ZERO, Relation(only(key), "ne"), root=key)
        width = self.width(value)
        if not self.is_number(value):
            return None
        form = only(self.base(context, value))
        return Relation(form, "ne") if width == 1 else form

    def _instruction(self, context: int, value: int) -> Expression:
        row = value - self._bases[ValueKind.INSTRUCTION]
        opcode = int(self._table.opcode[row])
        operands = self._table.operands_of(row).tolist()
        if opcode in (Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.SHL):
            made: Expression = self._linear(context, value, row, opcode, operands)
        elif self.width(value) == 1 and opcode in (Opcode.AND, Opcode.OR, Opcode.XOR):
            made = self._logical(context, opcode, operands)
        elif opcode in (Opcode.ICMP, Opcode.FCMP):
            made = self._comparisons.condition(context, row, operands)
        elif opcode in (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC):
            made = self._cast(context, value, opcode, operands[0])
        elif opcode == Opcode.LOAD and (table := character_table(self.program, operands[0])):
            made = self.objects.of_characters(*table)
        elif opcode in _COPIES:
            is_copy = self.is_copy(value, operands[0])
            made = self.of(context, operands[0]) if is_copy else None
        elif opcode == Opcode.GETELEMENTPTR:
            made = self.objects.of_element(context, value, operands, int(self._table.about[row]))
        elif opcode == Opcode.LOAD and (other := self.repeated(value)) is not None:
            made = self.of(context, other)
        elif opcode == Opcode.LOAD and self.is_pointer(value):
            made = self.choices.of_load(context, value, operands[0])
        elif opcode == Opcode.ALLOCA:
            made = self.objects.of_local(context, value, row, operands)
        elif opcode in (Opcode.PHI, Opcode.SELECT) and self.is_pointer(value):
            made = self.choices.of(context, value)
        elif opcode == Opcode.SELECT and self.width(value) == 1:
            chosen, left, right = (self.condition(context, one) for one in operands)
            made = Either(Both(chosen, left), Both(negation(chosen), right))
        elif opcode in CALLS and model_of(self.program, operands[0]).computes == "class":
            made = self._comparisons.is_of_class(context, operands)
        elif opcode in CALLS:
            made = self.objects.of_call(context, value, operands)
            if made is None and self.is_pointer(value) and self.choices.is_from_arguments(value):
                made = self.choices.of(context, value)
        else:
            made = None
        if made is None and opcode in REPEATABLE and (other := self.repeated(value)) is not None:
            made = self.of(context, other)
        return self._variable(context, value) if made is None else made

    def repeated(self, value: int) -> int | None:
        """Return the value that a load or operation is known to give, if both are kept alike."""
        row = value - self._bases[ValueKind.INSTRUCTION]
        function = int(self.program.instruction_function[row])
        if function not in self._repeated:
            is_alone = not self._has_others
            self._repeated[function] = repeated_values(self.program, function) if is_alone else {}
        other = self._repeated[function].get(row)
        if other is None or not (self.is_pointer(value) or self.is_number(value)):
            return None
        is_alike = self.is_pointer(value) or self.kind(value) == self.kind(other)
        return other if is_alike and self.width(value) != 1 else None

    def _linear(
        self, context: int, value: int, row: int, opcode: int, operands: list[int]
    ) -> Form | None:
        """Return the form of an operation that cannot overflow, or may not; None if it may wrap."""
        form = self.unbounded(context, value, opcode, operands)
        if form is None or len(form.terms) > _MOST_TERMS:
            return None
        is_free = self.wraps or not self._table.flags[row] & Flag.NSW
        return None if is_free or self.kind(value).is_unsigned else form

    def subtracted(self, context: int, operands: list[int]) -> tuple[Address, Address] | None:
        """Return the pointers whose difference a `sub` is; None if it is none."""
        pointers = []
        for one in operands:
            row = one - self._bases[ValueKind.INSTRUCTION]
            if row < 0 or self._table.opcode[row] != Opcode.PTRTOINT or self.width(one) != 64:
                return None
            pointers.append(self.address(context, int(self._table.operands_of(row)[0])))
        return pointers[0], pointers[1]

    def unbounded(self, context: int, value: int, opcode: int, operands: list[int]) -> Form | None:
        """Return the mathematical result of an operation, if it is linear."""
        kind = self.kind(value)
        if kind.width <= 1:
            return None
        left, right = (self.number(context, one, kind) for one in operands)
        if left is None or right is None:
            return None
        if opcode in (Opcode.ADD, Opcode.SUB):
            return left.plus(right, 1 if opcode == Opcode.ADD else -1)
        if opcode == Opcode.MUL and not left.terms:
            return right.scaled(left.constant)
        if opcode == Opcode.MUL and not right.terms:
            return left.scaled(right.constant)
        if opcode == Opcode.SHL and not right.terms and 0 <= right.constant < kind.width:
            return left.scaled(1 << right.constant)
        return None

    def _logical(self, context: int, opcode: int, operands: list[int]) -> Condition:
        left, right = (self.condition(context, one) for one in operands)
        if opcode == Opcode.AND:
            return Both(left, right)
        if opcode == Opcode.OR:
            return Either(left, right)
        if isinstance(right, Always):
            return negation(left) if right.holds else left
        return Either(Both(left, negation(right)), Both(negation(left), right))

    def flag_condition(self, form: Form, number: int) -> Condition | None:
        """Return the condition for which a variable that is 0 or 1 has the value given."""
        if len(form.terms) != 1 or form.constant or form.terms[0][1] != 1 or number not in (0, 1):
            return None
        known = self.flags.get(form.keys[0])
        return known if known is None or number else negation(known)

    def _cast(self, context: int, value: int, opcode: int, operand: int) -> Expression:
        source, kind = self.kind(operand), self.kind(value)
        if source.width == 1:
            if opcode == Opcode.ZEXT and kind.width > 1:
                key = self.base(context, value)
                self.flags[key] = self.condition(context, operand)
                return only(key)
            return None
        form = self.number(context, operand, source)
        if form is None or not kind.width:
            return None
        if opcode == Opcode.TRUNC and kind.width == 1:
            return self.flag_condition(form, 1) or Congruent(form, 2, 1)
        if opcode == Opcode.ZEXT and source.is_unsigned:
            return form
        return (
            form if opcode == Opcode.SEXT and not (source.is_unsigned or kind.is_unsigned) else None
        )


def rank_of_constant(program: Program, row: int) -> int | None:
    """Return the rank of a floating-point constant; None of a format that is not followed."""
    table = program.constants
    format = FORMATS.get(program.strings[int(program.types.name[table.type[row]])])
    if format is None:
        return None
    payload = int(table.payload[row])
    if not table.flags[row] & Flag.WIDE:
        return rank_of_double_bits(format, payload)
    text = program.strings[payload]
    return format.rank_of_bits(int(text[3:], 16)) if text.startswith("0xK") else None

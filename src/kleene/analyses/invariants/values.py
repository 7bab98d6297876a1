"""What the values of the IR are: linear forms, conditions, addresses.

The expression of a value is pure: it is asked for in any order, and says which values are variables
(`Base`) that an operation sets where the instruction stands (`instructions.py`). In SSA form an
expression of a value holds wherever the value may be used: whoever comes to the use after its
variables have been set anew passes the value's own instruction again.
"""

from __future__ import annotations

from functools import cached_property
from math import isqrt
from typing import NamedTuple

from kleene.analyses.invariants.expressions import (
    BOOL,
    ZERO,
    Always,
    Both,
    Compared,
    Condition,
    Congruent,
    Either,
    Form,
    Kind,
    Relation,
    Same,
    Unknown,
    negation,
    only,
)
from kleene.analyses.invariants.flat import Base, FlatFunction, Object
from kleene.analyses.invariants.kinds import Readings
from kleene.analyses.invariants.library import model_of
from kleene.ir import Program
from kleene.ir.codes import (
    ADDRESS_OPERAND,
    CALLS,
    ConstantKind,
    Flag,
    GlobalFlag,
    GlobalKind,
    Linkage,
    Opcode,
    Predicate,
    TypeKind,
    ValueKind,
)

_MOST_TERMS = 6  # of a form; a longer one becomes a variable
_WORDS = {
    Predicate.EQ: "eq", Predicate.NE: "ne", Predicate.SLT: "slt", Predicate.SLE: "sle",
    Predicate.SGT: "sgt", Predicate.SGE: "sge", Predicate.ULT: "ult", Predicate.ULE: "ule",
    Predicate.UGT: "ugt", Predicate.UGE: "uge",
}  # fmt: skip
_INDICES, _MOST_INDICES = -(1 << 40), 8
_COPIES = (Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE)


class Extent(NamedTuple):
    """The supposed size of what a parameter points to: as many elements as another parameter says.

    Attributes:
        size: in bytes, from offset 0 on.
        text: what is supposed, as a sentence.
    """

    size: Form
    text: str


class Address(NamedTuple):
    """Where a pointer points: some bytes into an object, or into none that is known."""

    object: int | None
    offset: Form | None  # None if it is not known
    is_present: Condition  # that it is not null
    extent: Extent | None = None  # how far the storage goes, if that is supposed


Expression = Form | Condition | Address | None  # None: nothing is known


class Context(NamedTuple):
    """A function laid in: its arguments are expressions of the caller; of the root, variables."""

    function: int
    arguments: list[Expression] | None
    stack: tuple[int, ...]


class Values:
    """The expressions of all values of a function with its callees."""

    def __init__(self, program: Program, flat: FlatFunction, readings: Readings, wraps: bool):
        self.program, self.flat, self.readings, self.wraps = program, flat, readings, wraps
        self.contexts: list[Context] = []
        self.flags: dict[Base, Condition] = {}  # variables that are 1 where a condition holds
        self._objects: dict[Base, int] = {}
        self._bases = program.bases
        self._table = program.instructions
        self._kinds = program.types.kind.tolist()
        self._bits = program.types.bits.tolist()

    @cached_property
    def _stored_to(self) -> frozenset[int]:
        """The globals that some instruction of the program writes to by name."""
        table, found = self._table, set()
        for opcode, place in ADDRESS_OPERAND.items():
            if opcode != Opcode.LOAD:
                rows = (table.opcode == opcode).nonzero()[0]
                found.update(table.operands[table.offsets[rows] + place].tolist())
        n_globals = len(self.program.globals)
        return frozenset(one for one in found if one < n_globals)

    # Types

    def width(self, value: int) -> int:
        """Return how many bits an integer has; 0 for what is none."""
        type_id = int(self.program.value_types[value])
        return self._bits[type_id] if self._kinds[type_id] == TypeKind.INT else 0

    def is_pointer(self, value: int) -> bool:
        """Return whether a value is a pointer."""
        return bool(self._kinds[int(self.program.value_types[value])] == TypeKind.POINTER)

    def kind(self, value: int) -> Kind:
        """Return how an integer is kept."""
        width = self.width(value)
        return BOOL if width == 1 else Kind(width, self.readings.is_unsigned(value))

    def base(self, context: int, value: int) -> Base:
        """Return the variable of a value: an integer, or whether a pointer is not null."""
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

    def integer(self, context: int, value: int, kind: Kind) -> Form | None:
        """Return an integer as a form; a constant as a value of the kind given."""
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
        """Return the number that a constant is."""
        row = value - self._bases[ValueKind.CONSTANT]
        table = self.program.constants
        if not 0 <= row < len(table) or not self.width(value):
            return None
        kind = int(table.kind[row])
        if kind in (ConstantKind.NULL, ConstantKind.ZERO):
            return 0
        if kind != ConstantKind.INT:
            return None
        payload = int(table.payload[row])
        return int(self.program.strings[payload]) if table.flags[row] & Flag.WIDE else payload

    def _of(self, context: int, value: int) -> Expression:
        if value < self._bases[ValueKind.CONSTANT]:
            return self._global(value)
        if value < self._bases[ValueKind.ARGUMENT]:
            return self._constant(context, value)
        if value < self._bases[ValueKind.BLOCK]:
            return self._argument(context, value)
        return self._instruction(context, value)

    def _global(self, value: int) -> Expression:
        table = self.program.globals
        if table.kind[value] != GlobalKind.VARIABLE:
            return Address(None, ZERO, Always(True))
        key = Base(-1, value)
        if key not in self._objects:
            size = int(self.program.types.size[table.type[value]])
            is_known = size >= 0 and not table.flags[value] & GlobalFlag.DECLARATION
            name = self.program.strings[int(table.name[value])]
            made = Object(name, Form((), size) if is_known else None, True, True, value)
            is_hidden = table.linkage[value] in (Linkage.INTERNAL, Linkage.PRIVATE)
            is_taken = bool(table.flags[value] & GlobalFlag.ADDRESS_TAKEN)
            is_written = is_taken or not is_hidden or value in self._stored_to
            flags = int(table.flags[value])
            made.is_constant = bool(flags & GlobalFlag.CONSTANT) or not is_written
            made.is_constant &= not flags & GlobalFlag.EXTERNALLY_INITIALIZED
            made.is_global = not made.is_constant
            made.is_exposed = (is_taken or not is_hidden) and not made.is_constant
            self._objects[key] = self._new_object(made)
        return Address(self._objects[key], ZERO, Always(True))

    def _new_object(self, made: Object) -> int:
        self.flat.objects.append(made)
        return len(self.flat.objects) - 1

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
                return self._element(context, value, operands, int(table.about[row]))
            if table.opcode[row] in _COPIES:
                return self.of(context, operands[0])
        return None

    def _argument(self, context: int, value: int) -> Expression:
        row = value - self._bases[ValueKind.ARGUMENT]
        first = int(self.program.function_table.argument_offsets[self.contexts[context].function])
        arguments = self.contexts[context].arguments
        if arguments is not None:
            return arguments[row - first] if row - first < len(arguments) else None
        found = self._variable(context, value)
        if isinstance(found, Address):
            return found._replace(extent=self._supposed(context, value, row))
        return found

    def _supposed(self, context: int, value: int, row: int) -> Extent | None:
        """Return as many elements as the integer behind a pointer among the parameters says.

        The size of an element is that by which the function steps from the pointer.
        """
        function = self.contexts[context].function
        end = int(self.program.function_table.argument_offsets[function + 1])
        if row + 1 >= end or self.width(value + 1) not in (32, 64):
            return None
        names = [self.program.variables_of(one) for one in (value, value + 1)]
        sizes = self._steps.get(value, set())
        form = self.integer(context, value + 1, self.kind(value + 1))
        if len(sizes) != 1 or form is None or not all(names):
            return None
        (pointer, *_), (count, *_) = names
        return Extent(form.scaled(next(iter(sizes))), f"'{pointer}' points to '{count}' elements")

    @cached_property
    def _steps(self) -> dict[int, set[int]]:
        """The sizes of elements that addresses are stepped by, by base."""
        found: dict[int, set[int]] = {}
        table = self._table
        for row in (table.opcode == Opcode.GETELEMENTPTR).nonzero()[0].tolist():
            operands = table.operands_of(row).tolist()
            size = int(self.program.types.size[int(table.about[row])])
            if self.constant(operands[1]) is None:
                found.setdefault(operands[0], set()).add(size)
        return found

    def _variable(self, context: int, value: int) -> Expression:
        """Return a value of which no more is known than that it is a variable."""
        if self.is_pointer(value):
            return Address(None, ZERO, Relation(only(self.base(context, value)), "ne"))
        width = self.width(value)
        if not width:
            return None
        form = only(self.base(context, value))
        return Relation(form, "ne") if width == 1 else form

    def _instruction(self, context: int, value: int) -> Expression:
        row = value - self._bases[ValueKind.INSTRUCTION]
        opcode = int(self._table.opcode[row])
        operands = self._table.operands_of(row).tolist()
        if opcode in (Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.SHL):
            made: Expression = self.linear(context, value, row, opcode, operands)
        elif self.width(value) == 1 and opcode in (Opcode.AND, Opcode.OR, Opcode.XOR):
            made = self._logical(context, opcode, operands)
        elif opcode == Opcode.ICMP:
            made = self._compared(context, row, operands)
        elif opcode in (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC):
            made = self._cast(context, value, opcode, operands[0])
        elif opcode in _COPIES:
            made = self.of(context, operands[0])
        elif opcode == Opcode.GETELEMENTPTR:
            made = self._element(context, value, operands, int(self._table.about[row]))
        elif opcode == Opcode.ALLOCA:
            made = self._local(context, value, row, operands)
        elif opcode == Opcode.SELECT and self.width(value) == 1:
            chosen, left, right = (self.condition(context, one) for one in operands)
            made = Either(Both(chosen, left), Both(negation(chosen), right))
        elif opcode in CALLS:
            made = self._call(context, value, operands)
        else:
            made = None
        return self._variable(context, value) if made is None else made

    def linear(
        self, context: int, value: int, row: int, opcode: int, operands: list[int]
    ) -> Form | None:
        """Return the form of an operation that cannot overflow, or may not; None if it may wrap."""
        form = self.unbounded(context, value, opcode, operands)
        if form is None or len(form.terms) > _MOST_TERMS:
            return None
        is_free = self.wraps or not self._table.flags[row] & Flag.NSW
        return None if is_free or self.kind(value).is_unsigned else form

    def unbounded(self, context: int, value: int, opcode: int, operands: list[int]) -> Form | None:
        """Return the mathematical result of an operation, if it is linear."""
        kind = self.kind(value)
        if kind.width <= 1:
            return None
        left, right = (self.integer(context, one, kind) for one in operands)
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

    def _compared(self, context: int, row: int, operands: list[int]) -> Condition:
        predicate = _WORDS[Predicate(int(self._table.sub[row]))]
        left, right = operands
        if self.is_pointer(left):
            return self._compared_pointers(context, predicate, left, right)
        if self.width(left) == 1:
            return self._compared_bits(context, predicate, left, right)
        if not self.width(left):
            return Unknown()
        kind = self.kind(left if self.constant(left) is None else right)
        a, b = self.integer(context, left, kind), self.integer(context, right, kind)
        if a is None or b is None:
            return Unknown()
        plain = compared(predicate, a, b, kind)
        if predicate in ("eq", "ne") and not b.terms:
            extra = self._flag(a, b.constant) or self._remainder(context, left, b.constant)
            if extra is not None:
                return Same(extra, plain) if predicate == "eq" else Same(negation(extra), plain)
        square = None if b.terms else self._square(context, left, predicate, b.constant)
        return plain if square is None else Same(square, plain)

    def _compared_bits(self, context: int, predicate: str, left: int, right: int) -> Condition:
        if predicate not in ("eq", "ne"):
            return Unknown()
        a, b = self.condition(context, left), self.condition(context, right)
        differ: Condition = Either(Both(a, negation(b)), Both(negation(a), b))
        if isinstance(b, Always):
            differ = negation(a) if b.holds else a
        return differ if predicate == "ne" else negation(differ)

    def _compared_pointers(self, context: int, predicate: str, left: int, right: int) -> Condition:
        a, b = self.address(context, left), self.address(context, right)
        if predicate not in ("eq", "ne"):
            return Unknown()
        for one, other in ((a, b), (b, a)):
            if other.is_present == Always(False):
                return one.is_present if predicate == "ne" else negation(one.is_present)
        return Unknown()

    def _flag(self, form: Form, number: int) -> Condition | None:
        """Return the condition for which a variable that is 0 or 1 has the value given."""
        if len(form.terms) != 1 or form.constant or form.terms[0][1] != 1 or number not in (0, 1):
            return None
        known = self.flags.get(form.keys[0])
        return known if known is None or number else negation(known)

    def _remainder(self, context: int, value: int, rest: int) -> Condition | None:
        """Return what x % k == rest says about x; exactly that, or nothing."""
        row = value - self._bases[ValueKind.INSTRUCTION]
        if row < 0 or self._table.opcode[row] not in (Opcode.UREM, Opcode.SREM):
            return None
        dividend, divisor = self._table.operands_of(row).tolist()
        kind = self.kind(dividend)
        by, form = self.constant(divisor), self.integer(context, dividend, kind)
        is_exact = kind.is_unsigned == (self._table.opcode[row] == Opcode.UREM)
        if by is None or form is None or by <= 1 or not is_exact or not 0 <= rest < by:
            return None
        return Congruent(form, by, rest) if kind.is_unsigned or rest == 0 else None

    def _square(self, context: int, value: int, predicate: str, number: int) -> Condition | None:
        """Return what a comparison of x * x with a number says about x.

        x * x <= d is -r <= x <= r for the whole root r of d: signed overflow is excluded before.
        """
        row = value - self._bases[ValueKind.INSTRUCTION]
        is_product = row >= 0 and self._table.opcode[row] == Opcode.MUL
        if self.wraps or not is_product or not self._table.flags[row] & Flag.NSW:
            return None
        left, right = self._table.operands_of(row).tolist()
        form = self.integer(context, left, self.kind(left))
        if left != right or form is None or predicate not in ("slt", "sle", "sgt", "sge"):
            return None
        most = number - (predicate in ("slt", "sge"))
        inside: Condition = Always(False)
        if most >= 0:
            root = isqrt(most)
            below = Relation(form.scaled(-1).shifted(-root), "le")
            inside = Both(below, Relation(form.shifted(-root), "le"))
        return inside if predicate in ("slt", "sle") else negation(inside)

    def _cast(self, context: int, value: int, opcode: int, operand: int) -> Expression:
        source, kind = self.kind(operand), self.kind(value)
        if source.width == 1:
            if opcode == Opcode.ZEXT and kind.width > 1:
                key = self.base(context, value)
                self.flags[key] = self.condition(context, operand)
                return only(key)
            return None
        form = self.integer(context, operand, source)
        if form is None or not kind.width:
            return None
        if opcode == Opcode.TRUNC and kind.width == 1:
            return self._flag(form, 1) or Congruent(form, 2, 1)
        if opcode == Opcode.ZEXT and source.is_unsigned:
            return form
        return (
            form if opcode == Opcode.SEXT and not (source.is_unsigned or kind.is_unsigned) else None
        )

    # Memory

    def _local(self, context: int, value: int, row: int, operands: list[int]) -> Expression:
        key = Base(context, value)
        if key not in self._objects:
            each = int(self.program.types.size[self._table.about[row]])
            count = self.constant(operands[0]) if operands else 1
            size = Form((), each * count) if count is not None and each >= 0 else None
            entry = self.program.function_table.block_offsets[self.contexts[context].function]
            is_single = int(self._table.block[row]) == int(entry)
            names = self.program.variables_of(value)
            self._objects[key] = self._new_object(
                Object(names[0] if names else "", size, is_single, base=key)
            )
        return Address(self._objects[key], ZERO, Always(True))

    def index(self, context: int, value: int, place: int) -> Base:
        """Return the variable for an unsigned index of an element's address, read as signed."""
        return Base(context, _INDICES - value * _MOST_INDICES - place)

    def _element(self, context: int, value: int, operands: list[int], about: int) -> Address:
        """Return the address of an element: the base plus each index times a size."""
        base = self.address(context, operands[0])
        unknown = Address(base.object, None, base.is_present, base.extent)
        types, offset, type_id = self.program.types, base.offset, about
        for place, index in enumerate(operands[1:]):
            number = self.constant(index)
            if place and self._kinds[type_id] == TypeKind.STRUCT:
                if number is None or offset is None:
                    return unknown
                offset = offset.shifted(int(types.field_offsets_of(type_id)[number]))
                type_id = int(types.elements_of(type_id)[number])
                continue
            if place:
                type_id = int(types.elements_of(type_id)[0])
            form = self.integer(context, index, Kind(self.width(index), False))
            if form is None or offset is None or types.size[type_id] < 0:
                return unknown
            if number is None and self.kind(index).is_unsigned:
                if place >= _MOST_INDICES:
                    return unknown
                key = self.index(context, value, place)
                self.flat.kinds[key] = Kind(self.width(index), False)
                form = only(key)
            offset = offset.plus(form, int(types.size[type_id]))
        return Address(base.object, offset, base.is_present, base.extent)

    def _call(self, context: int, value: int, operands: list[int]) -> Expression:
        model, arguments = model_of(self.program, operands[0]), operands[1:]
        if model.is_copy and model.returns is not None:
            return self.of(context, arguments[model.returns])
        if not self.is_pointer(value):
            return None
        key = self.base(context, value)
        is_present = Relation(only(key), "ne")
        if model.returns is not None:
            address = self.address(context, arguments[model.returns])
            offset = address.offset
            if model.is_inside and offset is not None:
                inside = Base(context, ~value)  # how many bytes behind the argument
                self.flat.kinds[inside] = Kind(64, False)
                offset = offset.plus(only(inside))
            return Address(address.object, offset, is_present)
        if model.heap is None:
            return None
        if key not in self._objects:
            size = self._allocated(context, [arguments[one] for one in model.heap.arguments])
            self._objects[key] = self._new_object(Object("heap", size, False, base=key))
        return Address(self._objects[key], ZERO, is_present)

    def _allocated(self, context: int, operands: list[int]) -> Form | None:
        """Return how many bytes a call allocates."""
        forms = [self.integer(context, one, Kind(64, True)) for one in operands]
        if any(form is None for form in forms):
            return None
        if len(forms) == 1:
            return forms[0]
        first, second = forms[:2]
        assert first is not None
        assert second is not None
        if not first.terms:
            return second.scaled(first.constant)
        return first.scaled(second.constant) if not second.terms else None


def compared(predicate: str, left: Form, right: Form, kind: Kind) -> Condition:
    """Return a comparison of two forms of one kind."""
    difference = left.plus(right, -1)
    if predicate in ("eq", "ne"):
        return Relation(difference, predicate)
    if predicate.startswith("u") != kind.is_unsigned:
        return Compared(predicate, left, right, kind)
    if predicate.endswith(("lt", "le")):
        return Relation(difference.shifted(predicate.endswith("lt")), "le")
    return Relation(difference.scaled(-1).shifted(predicate.endswith("gt")), "le")

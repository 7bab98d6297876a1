"""From instructions of the IR, other than calls, to operations and the checks that they need."""

from __future__ import annotations

from dataclasses import replace
from math import gcd

from kleene.analyses.invariants.aspects import Aspects
from kleene.analyses.invariants.builder import FlatFunctionBuilder
from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.expressions import (
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
from kleene.analyses.invariants.flat import Access, Base, Block, End, Escape, Unwritten
from kleene.analyses.invariants.floats import (
    ARITHMETIC,
    LOOSE,
    FloatOperation,
    FromInteger,
    ToInteger,
    fits,
    fits_message,
)
from kleene.analyses.invariants.objects import Address, Extent
from kleene.analyses.invariants.operations import AnyValue, Assign, Binary, Choose, Guard, Wrap
from kleene.analyses.invariants.rooms import is_compared, room_of
from kleene.analyses.invariants.strings import length_from_start
from kleene.analyses.invariants.undefined import UndefinedValues
from kleene.ir.codes import BINARY, Flag, Opcode, ValueKind

SUPPOSED = "the access is inside, if "  # how messages of checks begin that suppose something
PLAIN = "the access is inside of its object"
_NAMES = {
    Opcode.UDIV: "udiv", Opcode.SDIV: "sdiv", Opcode.UREM: "urem", Opcode.SREM: "srem",
    Opcode.SHL: "shl", Opcode.LSHR: "lshr", Opcode.ASHR: "ashr", Opcode.AND: "and",
    Opcode.OR: "or", Opcode.XOR: "xor", Opcode.MUL: "mul", Opcode.ADD: "add", Opcode.SUB: "sub",
}  # fmt: skip
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "shl": "<<", "sdiv": "/", "srem": "%"}
_TELL_NOBODY = (
    Opcode.ICMP,
    Opcode.FCMP,
    Opcode.BITCAST,
    Opcode.ADDRSPACECAST,
    Opcode.FREEZE,
)
ACCESSES = (Opcode.LOAD, Opcode.STORE, Opcode.ATOMICRMW, Opcode.CMPXCHG)
_PLAIN = (Opcode.LOAD, Opcode.STORE)  # unless they are flagged as atomic
_DIVISIONS = (Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM)
_SHIFTS = (Opcode.SHL, Opcode.LSHR, Opcode.ASHR)


class InstructionLowering:
    """Lowers one instruction after the other into the block where control is."""

    def __init__(self, builder: FlatFunctionBuilder, undefined: UndefinedValues) -> None:
        self._builder, self._undefined = builder, undefined
        self._program, self._table = builder.program, builder.table
        self._values, self._flat = builder.values, builder.flat
        self._aspects = Aspects(builder)

    def lower(self, context: int, row: int, opcode: int, operands: list[int], block: Block) -> None:
        """Append the checks and operations of the instruction `row` to a block."""
        value = self._builder.first_instruction + row
        if opcode in BINARY and self._values.width(value):
            self._binary(block, context, row, opcode, operands)
        elif opcode in (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC) and self._values.width(value):
            self._cast(block, context, row, opcode, operands)
        elif opcode in ARITHMETIC and self._values.format(value) is not None:
            self._float(block, context, row, ARITHMETIC[Opcode(opcode)], operands)
        elif opcode in (Opcode.SITOFP, Opcode.UITOFP) and self._values.format(value) is not None:
            self._from_integer(block, context, row, opcode, operands[0])
        elif opcode in (Opcode.FPTOSI, Opcode.FPTOUI) and self._values.width(value):
            self._to_integer(block, context, row, opcode, operands[0])
        elif opcode == Opcode.SELECT:
            self._select(block, context, row, operands)
        elif opcode in ACCESSES:
            is_atomic = bool(self._table.flags[row] & Flag.ATOMIC) or opcode not in _PLAIN
            if is_atomic:  # what other threads have written until now is seen, and after a store
                self._builder.emit(block, Escape())
            self._access(block, context, row, opcode, operands)
            if is_atomic and opcode != Opcode.LOAD:
                self._builder.emit(block, Escape())
        elif opcode == Opcode.FENCE:
            self._builder.emit(block, Escape())
        elif opcode == Opcode.ALLOCA:
            self.begin_storage(block, context, value)
        elif opcode == Opcode.GETELEMENTPTR:
            self._indices(block, context, value, operands)
        else:
            is_distance = opcode == Opcode.PTRTOINT and row in self._values.objects.distances
            if opcode not in _TELL_NOBODY and not is_distance:
                for one in operands:
                    self._builder.expose(context, one)
            self._any(block, context, value)

    def begin_storage(self, block: Block, context: int, value: int) -> None:
        """Make the object of an address a new one, whatever it held before."""
        address = self._values.address(context, value)
        self._builder.emit(block, Access(None, address.object, ZERO, -1, True, is_new=True))

    def end_storage(self, block: Block, context: int, value: int) -> None:
        """End the lifetime of the local that an address is of."""
        address = self._values.address(context, value)
        if address.object is not None:
            self._builder.emit(block, End(address.object))

    def _indices(self, block: Block, context: int, value: int, operands: list[int]) -> None:
        """Set the variables for unsigned indices of an element's address."""
        self._values.of(context, value)
        for place, index in enumerate(operands[1:]):
            key = self._values.objects.index_variable(context, value, place)
            if key in self._flat.kinds:
                form = self._values.number(context, index, self._values.kind(index))
                assert form is not None
                self._builder.emit(block, Wrap(key, form, self._flat.kinds[key]))

    def _any(self, block: Block, context: int, value: int) -> None:
        """Give a variable that no operation sets any value."""
        key = Base(context, value)
        expression = self._values.of(context, value)
        if key in self._flat.kinds and expression is not None:
            self._builder.emit(block, AnyValue(key))

    def _binary(
        self, block: Block, context: int, row: int, opcode: int, operands: list[int]
    ) -> None:
        value, name = self._builder.first_instruction + row, _NAMES.get(Opcode(opcode), "")
        kind = self._values.kind(value)
        if kind.width == 1 or not name:
            return
        left_kind, right_kind = (self._kind_of(one, kind) for one in operands)
        left = self._values.number(context, operands[0], left_kind)
        right = self._values.number(context, operands[1], right_kind)
        key = self._values.base(context, value)
        if left is None or right is None:
            self._builder.emit(block, AnyValue(key))
            return
        self._checks(block, row, opcode, (left, right), right_kind)
        exact = self._values.unbounded(context, value, opcode, operands)
        is_signed = bool(self._table.flags[row] & Flag.NSW) and not self._builder.wraps
        if is_signed and exact is not None and not kind.is_unsigned:
            self._builder.check(
                block, CheckKind.OVERFLOW, row, _within(exact, kind), _no_overflow(name, kind)
            )
        if self._values.of(context, value) != only(key):
            return
        if exact is not None:
            self._builder.emit(block, Wrap(key, exact, kind))
            if opcode == Opcode.SUB and not kind.is_unsigned:
                self._distance(block, context, key, operands)
            return
        made = Binary(key, name, left, right, left_kind, right_kind, kind)
        if is_signed and name in ("mul", "shl") and not kind.is_unsigned:
            wide = Base(context, ~value)  # the product before it is known to fit
            self._flat.kinds[wide] = Kind(2 * kind.width, False)
            self._builder.emit(
                block, Binary(wide, name, left, right, *(Kind(2 * kind.width, False),) * 3)
            )
            condition = _within(only(wide), kind)
            self._builder.check(block, CheckKind.OVERFLOW, row, condition, _no_overflow(name, kind))
            self._builder.emit(block, Assign(key, only(wide)))
            return
        self._builder.emit(block, made)

    def _distance(self, block: Block, context: int, key: Base, operands: list[int]) -> None:
        """Say what the difference of two pointers into one object is, unless one is null.

        That is less than 2**63 bytes: no object is larger.
        """
        pointers = self._values.subtracted(context, operands)
        distance = None if pointers is None else pointers[0].distance(pointers[1])
        if pointers is None or distance is None:
            return
        condition: Condition = Relation(only(key).plus(distance, -1), "eq")
        for one in pointers:
            if one.is_present != Always(True):
                condition = Either(negation(one.is_present), condition)
        self._builder.emit(block, Guard(condition))

    def _kind_of(self, value: int, kind: Kind) -> Kind:
        return kind if self._values.constant(value) is not None else self._values.kind(value)

    def _checks(
        self, block: Block, row: int, opcode: int, forms: tuple[Form, Form], kind: Kind
    ) -> None:
        """Add what must hold before a division or shift."""
        left, right = forms
        if opcode in _DIVISIONS:
            self._builder.check(
                block, CheckKind.DIVISION, row, Relation(right, "ne"), "the divisor is not 0"
            )
            least = Relation(left.shifted(1 << kind.width - 1), "ne")
            may_be = opcode in (Opcode.SDIV, Opcode.SREM) and not kind.is_unsigned
            divisor = self._values.constant(self._table.operands_of(row)[1])  # for all callers
            if may_be and (divisor is None or right.constant == -1):
                either = negation(Both(negation(least), Relation(right.shifted(1), "eq")))
                self._builder.check(
                    block, CheckKind.OVERFLOW, row, either, _no_overflow("sdiv", kind)
                )
        elif opcode in _SHIFTS:
            inside = Both(
                Relation(right.scaled(-1), "le"), Relation(right.shifted(1 - kind.width), "le")
            )
            message = f"the shift is by 0 to {kind.width - 1} bits"
            self._builder.check(block, CheckKind.SHIFT, row, inside, message)

    def _cast(self, block: Block, context: int, row: int, opcode: int, operands: list[int]) -> None:
        value = self._builder.first_instruction + row
        key = Base(context, value)
        if key in self._values.flags or self._values.of(context, value) is None:
            condition = self._values.flags.get(key, Unknown())
            self._builder.emit(block, Choose(key, condition, Form((), 1), ZERO))
            return
        if self._values.of(context, value) != only(key):
            return
        source, kind = self._values.kind(operands[0]), self._values.kind(value)
        form = self._values.number(context, operands[0], source)
        if form is None or source.width == 1:
            self._builder.emit(block, AnyValue(key))
        elif opcode == Opcode.ZEXT and not source.is_unsigned:
            unsigned = Base(context, ~value)  # the unsigned reading of the bits
            self._flat.kinds[unsigned] = Kind(source.width, True)
            self._builder.emit(block, Wrap(unsigned, form, Kind(source.width, True)))
            self._builder.emit(block, Assign(key, only(unsigned)))
        elif opcode == Opcode.SEXT and source.is_unsigned:
            signed = Base(context, ~value)
            self._flat.kinds[signed] = Kind(source.width, False)
            self._builder.emit(block, Wrap(signed, form, Kind(source.width, False)))
            self._builder.emit(block, Wrap(key, only(signed), kind))
        else:
            self._builder.emit(block, Wrap(key, form, kind))

    def _select(self, block: Block, context: int, row: int, operands: list[int]) -> None:
        value = self._builder.first_instruction + row
        if self._values.is_pointer(value):
            self._select_pointer(block, context, value, operands)
            return
        kind = self._values.kind(value)
        if kind.width <= 1:
            return
        left, right = (self._values.number(context, one, kind) for one in operands[1:])
        key = self._values.base(context, value)
        if left is None or right is None:
            self._builder.emit(block, AnyValue(key))
        else:
            condition = self._values.condition(context, operands[0])
            self._builder.emit(block, Choose(key, condition, left, right))
            self.restrict(block, context, row)

    def _select_pointer(self, block: Block, context: int, value: int, operands: list[int]) -> None:
        """Choose one of two pointers: an offset in one object, or one to nobody knows what."""
        choices = self._values.choices
        choice = choices.chosen(context, value)
        key = self._values.base(context, value)
        if choice is None:
            for one in operands[1:]:
                self._builder.expose(context, one)
            self._builder.emit(block, AnyValue(key))
            return
        condition = self._values.condition(context, operands[0])
        left, right = (self._values.address(context, one) for one in operands[1:])
        if choice.which is not None:
            given = choices.which(choice, left), choices.which(choice, right)
            self._choose(block, choice.which, condition, *given)
        offsets = choices.offset(choice, left), choices.offset(choice, right)
        self._choose(block, choice.offset, condition, *offsets)
        if self._values.address(context, value).is_present == Relation(only(key), "ne"):
            is_left = Both(condition, left.is_present)
            present = Either(is_left, Both(negation(condition), right.is_present))
            self._builder.emit(block, Choose(key, present, Form((), 1), ZERO))

    def _choose(
        self, block: Block, key: Base, condition: Condition, left: Form | None, right: Form | None
    ) -> None:
        if left is None or right is None:
            self._builder.emit(block, AnyValue(key))
        else:
            self._builder.emit(block, Choose(key, condition, left, right))

    # Floating point

    def _float(
        self, block: Block, context: int, row: int, operation: str, operands: list[int]
    ) -> None:
        """Set a floating-point number to the result of an operation, or to any if it is loose."""
        value = self._builder.first_instruction + row
        source, format = self._values.format(operands[0]), self._values.format(value)
        assert format is not None
        key, flags = self._values.base(context, value), int(self._table.flags[row])
        forms = []
        for one in operands if source is not None else ():
            forms.append(self._values.number(context, one, self._values.kind(one)))
        if source is None or None in forms or flags & LOOSE:
            self._builder.emit(block, AnyValue(key))
            return
        given = [one for one in forms if one is not None]
        made = FloatOperation.of(key, operation, format, given, flags, source)
        self._builder.emit(block, made)

    def restrict(self, block: Block, context: int, row: int) -> None:
        """Let a number that is chosen be any where the flags of its instruction exclude it."""
        value, flags = self._builder.first_instruction + row, int(self._table.flags[row])
        format = self._values.format(value)
        if format is not None and flags & (Flag.NNAN | Flag.NINF):
            key = self._values.base(context, value)
            made = FloatOperation.of(key, "copy", format, [only(key)], flags)
            self._builder.emit(block, made)

    def _from_integer(
        self, block: Block, context: int, row: int, opcode: int, operand: int
    ) -> None:
        value = self._builder.first_instruction + row
        format, key = self._values.format(value), self._values.base(context, value)
        assert format is not None
        width, is_unsigned = self._values.width(operand), opcode == Opcode.UITOFP
        if width == 1:
            one = Form((), format.below(1)).scaled(1 if is_unsigned else -1)
            condition = self._values.condition(context, operand)
            self._builder.emit(block, Choose(key, condition, one, ZERO))
            return
        form = self._values.number(context, operand, self._values.kind(operand)) if width else None
        if form is None:
            self._builder.emit(block, AnyValue(key))
        else:
            self._builder.emit(block, FromInteger(key, form, Kind(width, is_unsigned), format))

    def _to_integer(self, block: Block, context: int, row: int, opcode: int, operand: int) -> None:
        """Check that a number fits an integer, whose value is undefined else, and set it."""
        value = self._builder.first_instruction + row
        format, width = self._values.format(operand), self._values.width(value)
        form = self._values.number(context, operand, self._values.kind(operand))
        reading = Kind(width, opcode == Opcode.FPTOUI)
        condition: Condition = Unknown()
        if form is not None and format is not None:
            condition = fits(form, format, reading)
        self._builder.check(block, CheckKind.CONVERSION, row, condition, fits_message(reading))
        key = self._values.base(context, value)
        if form is None or format is None or width == 1:
            self._builder.emit(block, AnyValue(key))
        else:
            kind = self._values.kind(value)
            self._builder.emit(block, ToInteger(key, form, format, kind))

    # Memory

    def _access(
        self, block: Block, context: int, row: int, opcode: int, operands: list[int]
    ) -> None:
        value = self._builder.first_instruction + row
        stored = operands[0] if opcode == Opcode.STORE else None
        place = operands[1] if opcode == Opcode.STORE else operands[0]
        address = self._builder.address(context, place)
        typed = value if stored is None else stored
        if opcode in (Opcode.ATOMICRMW, Opcode.CMPXCHG):
            typed = operands[1]
        type_id = int(self._program.value_types[typed])
        size = int(self._program.store_size[type_id])
        self._check_address(block, row, address, size, self._builder.named(context, place))
        if stored is not None:
            self._builder.expose(context, stored)
            is_followed = self._values.width(stored) > 1 or self._values.format(stored) is not None
            kind = self._values.kind(stored) if is_followed else None
            source = self._builder.source(context, stored, kind) if kind is not None else None
            access = Access(None, address.object, address.offset, size, True, source, kind)
            defined = self._undefined.defined_parts(context, stored, size)
            self._builder.emit(block, replace(access, root=address.root, defined=defined))
            if self._values.is_pointer(stored):
                self._aspects.store(block, context, address, stored)
            return
        is_plain = opcode == Opcode.LOAD and not self._table.flags[row] & Flag.VOLATILE
        if opcode != Opcode.LOAD:
            for one in operands[1:]:
                self._builder.expose(context, one)
            self._builder.emit(block, Access(None, address.object, address.offset, size, True))
        if not (self._values.is_number(value) or self._values.is_pointer(value)):
            return
        if opcode == Opcode.LOAD and self._values.repeated(value) is not None:
            access = Access(None, address.object, address.offset, size, False)
            self._builder.emit(block, access)
            return
        key = self._values.base(context, value)
        if is_plain and self._values.is_number(value) and self._values.width(value) != 1:
            kind = self._values.kind(value)
            self._builder.emit(
                block, Access(key, address.object, address.offset, size, False, None, kind)
            )
        else:
            self._builder.emit(block, AnyValue(key))
            if self._values.is_pointer(value):
                self._aspects.load(block, context, address, value, is_plain=is_plain)
            if address.object is not None and self._values.is_pointer(value):
                self._known_pointer(block, key, address.object, address.offset)

    def _known_pointer(self, block: Block, key: Base, place: int, offset: Form | None) -> None:
        """Say what is known of a pointer that is read: from a stream, or from `argv`.

        With the offset o in bytes, a multiple of 8, and n = 8 * argc: o <= n - 8 if and only if the
        argument is not null. It is a string: it ends inside of its object.
        """
        object = self._flat.objects[place]
        if self._values.objects.is_stream(place):
            self._builder.emit(block, Guard(Relation(only(key), "ne")))
        if not object.is_arguments or object.size is None or offset is None:
            return
        present = Relation(only(key), "ne")
        before = Relation(offset.plus(object.size, -1).shifted(16), "le")
        known: list[Condition] = [Either(negation(before), present)]
        known.append(Either(before, negation(present)))
        if gcd(offset.divisor, offset.constant) % 8:
            is_odd = Congruent(offset, 8, 0, holds=False)
            known = [Either(is_odd, one) for one in known]
        pointer = Address(None, ZERO, present, root=key)
        length = length_from_start(self._flat, pointer)
        ends = only(length).plus(only(room_of(self._flat, key)), -1).shifted(1)
        for condition in (*known, Relation(ends, "le")):
            self._builder.emit(block, Unwritten(place, condition))

    def _check_address(
        self, block: Block, row: int, address: Address, size: int, name: str
    ) -> None:
        if address.is_present != Always(True):
            self._builder.check(
                block, CheckKind.NULL, row, address.is_present, "the pointer is not null"
            )
        reason = self._builder.not_known(address)
        extent, is_exact = None, True
        message = f"the access is inside of {name}" if name else PLAIN
        if address.object is not None:
            extent = self._flat.objects[address.object].size
        elif address.root is not None and address.offset is not None:
            if is_compared(address.offset):
                extent = only(room_of(self._flat, address.root))
            elif least := self._builder.outside.bytes_behind(address.root, row):
                extent, is_exact = Form((), least), False
        supposed = address.extent or self._string(address, size)
        if address.object is None and supposed is not None and address.offset is not None:
            end = Relation(address.offset.shifted(size).plus(supposed.size, -1), "le")
            inside: Condition = Both(Relation(address.offset.scaled(-1), "le"), end)
            self._builder.check(
                block,
                CheckKind.BOUNDS,
                row,
                inside,
                f"{SUPPOSED}{supposed.text}",
                is_stop=False,  # what is supposed is no reason for others to hold
                part="supposed",
            )
        if extent is None or size < 0 or address.offset is None:
            self._builder.check(block, CheckKind.BOUNDS, row, Unknown(), message, reason=reason)
            return
        end = Relation(address.offset.shifted(size).plus(extent, -1), "le")
        inside = Both(self._builder.not_in_front(address, row), end)
        if not is_exact:
            inside = Either(inside, Unknown())
        self._builder.check(block, CheckKind.BOUNDS, row, inside, message, reason=reason)

    def _string(self, address: Address, size: int) -> Extent | None:
        """Return the extent of the string that a parameter of the analysed function points to."""
        root = address.root
        if root is None or size != 1 or address.offset is None or root.context:
            return None
        kind, _ = self._program.locate(root.value)
        names = self._program.variables_of(root.value)
        length = length_from_start(self._flat, address)
        if kind != ValueKind.ARGUMENT or not names or length is None:
            return None
        return Extent(only(length).shifted(1), f"'{names[0]}' points to a string")


def _within(form: Form, kind: Kind) -> Condition:
    """Return the condition that the value of a form is one of a kind."""
    low = Relation(form.scaled(-1).shifted(kind.low), "le")
    return Both(low, Relation(form.shifted(-kind.high), "le"))


def _no_overflow(name: str, kind: Kind) -> str:
    return f"'{_SIGNS[name]}' of {kind.width} bits does not overflow"

"""Calls of functions outside of the program, as their models tell: checks, memory and results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

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
    Key,
    Kind,
    Relation,
    Unknown,
    negation,
    only,
)
from kleene.analyses.invariants.flat import Access, Base, Block
from kleene.analyses.invariants.floats import LOOSE, FloatOperation, n_operands
from kleene.analyses.invariants.formats import text_of, with_format
from kleene.analyses.invariants.models import Bound, Model, Touch
from kleene.analyses.invariants.objects import Address
from kleene.analyses.invariants.operations import AnyValue, Assign, Guard
from kleene.analyses.invariants.storage import Filled, MayFree, freed
from kleene.analyses.invariants.strings import length_of
from kleene.ir import Program
from kleene.ir.views import Constant

_MEASURED = -(1 << 58)  # variables for lengths before a call, by the call
_MOST = 1 << 40  # bytes of an object, at most: what is inside of one is less far from its start


def lower_call(
    builder: FlatFunctionBuilder,
    block: Block,
    context: int,
    row: int,
    model: Model,
    arguments: list[int],
) -> Model:
    """Add what a model says; return it, which says less if a format is not known."""
    if model.format is not None:
        given = arguments[model.format] if model.format < len(arguments) else -1
        model = with_format(model, text_of(builder.program, given))
    call = _Call(builder, block, context, row, model, arguments)
    if model.is_unknown:
        call.check_memory()
    else:
        call.lower()
    return model


class _Call:
    def __init__(
        self,
        builder: FlatFunctionBuilder,
        block: Block,
        context: int,
        row: int,
        model: Model,
        arguments: list[int],
    ) -> None:
        self.builder, self.values = builder, builder.values
        self.block, self.context, self.row = block, context, row
        self.model, self.arguments = model, arguments
        self.value = builder.first_instruction + row
        callee, names = int(builder.table.operands_of(row)[0]), builder.program.globals.name
        self.name = "the call"  # through a pointer
        if callee < len(names):
            self.name = builder.program.strings[int(names[callee])]

    def lower(self) -> None:
        """Add checks, then what is written, then the result."""
        model, builder = self.model, self.builder
        if model.effect:
            self._effect()
        self._end_strings()
        touches = self.check_memory()
        made = self._measured()
        for one in touches:
            if one.is_write:
                self._write(one)  # what was there may be gone
        if model.keeps is not None and model.keeps < len(self.arguments):
            builder.expose(self.context, self.arguments[model.keeps])
        if model.frees is not None:
            self._check_freed(self._address(model.frees))
        self._result()
        self._make_string(made)
        for one in touches:
            if one.until is not None:
                self._write_until(one, one.until)
        if model.frees is not None:
            self._free(self._address(model.frees))

    def check_memory(self) -> list[Touch]:
        """Add checks of what is read and written; return it."""
        touches = [one for one in self.model.touches if one.argument < len(self.arguments)]
        present = _all(map(self._not_null, touches))
        if present is not None:
            message = "the pointers are not null"
            self.builder.check(self.block, CheckKind.NULL, self.row, present, message)
        name = self.name.split(".p0")[0]
        made = []
        for is_write, verb in ((False, "reads"), (True, "writes")):
            inside = _all(self._inside(one) for one in touches if one.is_write == is_write)
            if inside is not None:
                message = f"{name} {verb} inside of its objects"
                self.builder.check(
                    self.block,
                    CheckKind.BOUNDS,
                    self.row,
                    inside,
                    message,
                    is_stop=False,
                    part=verb,
                )
                made.append(inside)
        for inside in made:  # behind both: one does not hide the other
            self.builder.emit(self.block, Guard(inside))
        return touches

    def _write_until(self, touch: Touch, arguments: tuple[int, ...]) -> None:
        """Note how many bytes were written, as the result says; none of a negative one."""
        kind = self.values.kind(self.value)
        assert self.model.result is not None
        if kind.is_unsigned and self.model.result[0].constant < 0:
            return
        numbers = [self.values.constant(self.arguments[one]) for one in arguments]
        address = self._address(touch.argument)
        if address.object is None or None in numbers:
            return
        length = only(self.values.base(self.context, self.value))
        for number in numbers:
            length = length.scaled(number or 0)
        self.builder.emit(self.block, Filled(address.object, address.offset, length))

    def _write(self, touch: Touch) -> None:
        """Write to the object of an argument; how many bytes, and which, if that is known."""
        address = self._address(touch.argument)
        length = self._bound(touch.size) if touch.size and self._is_exact(touch) else None
        is_zero = touch.content is not None and (
            self.values.constant(self.arguments[touch.content]) == 0
        )
        source = ZERO if is_zero else None
        access = Access(None, address.object, address.offset, -1, True, source, length=length)
        self.builder.emit(self.block, access)

    # Lifetimes

    def _check_freed(self, address: Address) -> None:
        """Check that what is freed is null, or was allocated and not freed yet."""
        if address.object is None:
            return
        key = freed(address.object)
        is_allocated: Condition = Always(False)
        if key in self.builder.flat.kinds:
            is_allocated = Relation(only(key), "eq")
            if address.offset is not None:
                is_allocated = Both(is_allocated, Relation(address.offset, "eq"))
        is_null = negation(address.is_present)
        whole = is_allocated if is_null == Always(False) else Either(is_null, is_allocated)
        message = "what is freed was allocated, and not freed before"
        self.builder.check(self.block, CheckKind.FREED, self.row, whole, message)

    def _free(self, address: Address) -> None:
        """End an object; `realloc` does so if it has given another."""
        condition = address.is_present
        if self.model.heap is not None:
            made = Relation(only(self.values.base(self.context, self.value)), "ne")
            condition = Both(condition, made)
        if address.object is None:
            self.builder.emit(self.block, MayFree(None))
        elif freed(address.object) in self.builder.flat.kinds:
            self.builder.emit(self.block, MayFree(address.object, condition))

    def _effect(self) -> None:
        builder, model = self.builder, self.model
        if model.effect == "fails":
            message = assertion(builder.program, self.arguments)
            builder.check(self.block, CheckKind.ASSERT, self.row, Always(False), message)
        elif model.effect != "stops":  # behind a call that does not come back is no edge
            first = self.arguments[:1]
            condition = builder.truth(self.context, first[0]) if first else Unknown()
            if model.effect == "assumes":
                builder.emit(self.block, Guard(condition))
            else:
                message = "the condition holds"
                builder.check(self.block, CheckKind.ASSERT, self.row, condition, message)

    # Memory

    def _address(self, argument: int) -> Address:
        return self.values.address(self.context, self.arguments[argument])

    def _not_null(self, touch: Touch) -> Condition | None:
        return None if touch.may_be_null else self._address(touch.argument).is_present

    def _inside(self, touch: Touch) -> Condition | None:
        """Return that the bytes of one argument are inside of its object; None where that is so."""
        address = self._address(touch.argument)
        if touch.size is None and touch.has_end:
            return None
        length = None if touch.size is None else self._bound(touch.size)
        size = None
        if address.object is not None:
            size = self.builder.flat.objects[address.object].size
        if length is not None and not length.terms and length.constant == 0:
            return None
        if length is None or size is None or address.offset is None:
            return Unknown()
        inside: Condition = Both(
            Relation(address.offset.scaled(-1), "le"),
            Relation(address.offset.plus(length).plus(size, -1), "le"),
        )
        if length.terms:  # a negative length is a large one; none at all is always inside
            inside = Either(Relation(length, "eq"), Both(Relation(length.scaled(-1), "le"), inside))
        if touch.may_be_null:
            inside = Either(negation(address.is_present), inside)
        return inside if self._is_exact(touch) else Either(inside, Unknown())

    def _is_exact(self, touch: Touch) -> bool:
        """Return whether all bytes are touched: those of strings, where their lengths are known."""
        lengths = touch.size.lengths if touch.size is not None else ()
        return touch.is_exact or (bool(lengths) and None not in map(self._length, lengths))

    def _bound(self, bound: Bound) -> Form | None:
        """Return a number of the model as a form; None where it is not linear or not known."""
        if bound.lengths:
            lengths = [self._length(one) for one in bound.lengths]
            if None in lengths:  # one string is no longer than there is room for it
                is_one = len(lengths) == 1
                room = Bound(bound.constant - 1, room=bound.lengths[0])
                return self._bound(room) if is_one else None
            total = Form((), bound.constant)
            for key in lengths:
                total = total.plus(only(key))
            return total
        if bound.room is not None:
            address = self._address(bound.room)
            size = None
            if address.object is not None:
                size = self.builder.flat.objects[address.object].size
            if size is None or address.offset is None:
                return None
            return size.plus(address.offset, -1).shifted(bound.constant)
        found = ONE if bound.arguments else Form()
        for argument in bound.arguments:
            value = self.arguments[argument]
            form = self.values.number(self.context, value, self.values.kind(value))
            if form is None or (found.terms and form.terms):
                return None
            found = found.scaled(form.constant) if not form.terms else form.scaled(found.constant)
        return found.shifted(bound.constant)

    # Strings

    def _length(self, argument: int) -> Key | None:
        """Return the variable for the length of the string at an argument."""
        if argument >= len(self.arguments):
            return None
        return length_of(self.builder.flat, self._address(argument))

    def _end_strings(self) -> None:
        """Go on only where strings that are measured end inside of their objects."""
        bounds = [one.size for one in self.model.touches if one.size is not None]
        measured = {one for bound in bounds for one in bound.lengths}
        if self.model.measures is not None:
            measured.add(self.model.measures)
        for argument in sorted(measured):
            key, address = self._length(argument), self._address(argument)
            if key is not None and address.object is not None:
                size = self.builder.flat.objects[address.object].size
                if size is not None:
                    inside = Relation(only(key).plus(size, -1).shifted(1), "le")
                    self.builder.emit(self.block, Guard(inside))

    def _measured(self) -> Form | None:
        """Set a variable to the length of the string that will be made; return it if it is known.

        Lengths are those before the call writes anything.
        """
        string = self.model.string
        if string is None or string.how == "below":
            return None
        bound = Bound(0, lengths=(string.source,)) if string.how == "copies" else string.bound
        keys = [self._length(one) for one in bound.lengths]
        if None in keys or self._length(string.argument) is None:
            return None
        total = self._bound(bound)
        assert total is not None
        key = Base(self.context, _MEASURED - self.value)
        self.builder.flat.kinds[key] = Kind(64, False)
        self.builder.emit(self.block, Assign(key, total))
        return only(key)

    def _make_string(self, length: Form | None) -> None:
        """Say how long the string is that the call has made, where writes have made it any."""
        string = self.model.string
        key = None if string is None else self._length(string.argument)
        if string is None or key is None:
            return
        if string.how == "is" and length is not None:
            self.builder.emit(self.block, Assign(key, length))
            return
        most = self._bound(string.bound)
        if most is None:
            return
        unless: Condition
        if string.how == "copies" and length is not None:  # unless n <= length
            holds: Condition = Relation(only(key).plus(length, -1), "eq")
            unless = Relation(most.plus(length, -1), "le")
        elif string.how == "below":  # unless n <= 0, or null is returned
            holds = Relation(only(key).plus(most, -1).shifted(1), "le")
            unless = Relation(most, "le")
            if self.model.may_be_null:
                result = Relation(only(self.values.base(self.context, self.value)), "eq")
                unless = Either(unless, result)
        else:
            return
        self.builder.emit(self.block, Guard(Either(unless, holds)))

    # Results

    def _result(self) -> None:
        model, builder = self.model, self.builder
        if model.is_copy:
            return
        if self._computed():
            return
        builder.emit_any(self.block, self.context, self.value)
        if model.heap is not None and self.values.is_pointer(self.value):
            object = self.values.address(self.context, self.value).object
            assert object is not None
            source = ZERO if model.is_zero else None
            access = Access(None, object, ZERO, -1, True, source=source, is_new=True)
            builder.emit(self.block, access)
            builder.flat.kinds[freed(object)] = BOOL
            builder.emit(self.block, Assign(freed(object), ZERO))
        elif model.is_inside:
            self._place_inside()
        elif model.measures is not None and (key := self._length(model.measures)) is not None:
            result = only(self.values.base(self.context, self.value))
            builder.emit(self.block, Guard(Relation(result.plus(only(key), -1), "eq")))
        elif model.result is not None and self.values.width(self.value) > 1:
            for condition in self._within(*model.result):
                builder.emit(self.block, Guard(condition))

    def _computed(self) -> bool:
        """Set a floating-point result, if more is known of it than its type."""
        model, values = self.model, self.values
        format, flags = values.format(self.value), int(self.builder.table.flags[self.row])
        given = self.arguments[: n_operands(model.computes)]
        if format is None or not model.computes or flags & LOOSE:
            return False
        forms = [values.number(self.context, one, values.kind(one)) for one in given]
        is_alike = all(values.is_alike(one, self.value) for one in given)
        if not is_alike or None in forms or len(given) < n_operands(model.computes):
            return False
        key = values.base(self.context, self.value)
        known = [one for one in forms if one is not None]
        made = FloatOperation.of(key, model.computes, format, known, flags)
        self.builder.emit(self.block, made)
        return True

    def _place_inside(self) -> None:
        """Set how far from its argument the result points: until the end of the object."""
        key = Base(self.context, ~self.value)  # as `values.py` names it
        builder = self.builder
        self.values.of(self.context, self.value)
        if key not in builder.flat.kinds:
            return
        assert self.model.returns is not None
        builder.emit(self.block, AnyValue(key, (0, _MOST)))
        room = self._bound(Bound(-1, room=self.model.returns))
        if room is not None:
            builder.emit(self.block, Guard(Relation(only(key).plus(room, -1), "le")))

    def _within(self, low: Bound, high: Bound) -> Iterator[Condition]:
        """Yield what holds of the result.

        A length that is kept as signed and negative is a large one, of which nothing follows. Of a
        result that is kept as unsigned, -1 is the greatest value.
        """
        kind = self.values.kind(self.value)
        result = only(self.values.base(self.context, self.value))
        least, most = low.constant, self._bound(high)
        if most is None:
            most = Form((), kind.high)
        below: Condition = Relation(result.plus(most, -1), "le")
        if most.terms and self._is_signed(high):
            below = Either(Relation(most.shifted(1), "le"), below)
        if kind.is_unsigned and least < 0:
            yield Either(below, Relation(result.shifted(-kind.wrap(least)), "eq"))
        else:
            yield Relation(result.scaled(-1).shifted(least), "le")
            yield below

    def _is_signed(self, bound: Bound) -> bool:
        kinds = [self.values.kind(self.arguments[one]) for one in bound.arguments]
        return any(not kind.is_unsigned for kind in kinds)


def _all(parts: Iterable[Condition | None]) -> Condition | None:
    """Return the condition that all parts hold; None if they all trivially do."""
    found = [one for one in parts if one is not None and one != Always(True)]
    return reduce(Both, found) if found else None


def assertion(program: Program, arguments: list[int]) -> str:
    """Return the text of an assertion, which glibc's `assert` passes first."""
    table = program.globals
    if len(arguments) == 4 and arguments[0] < len(table):
        text = int(table.initializer[arguments[0]])
        view = program.value_view(text) if text >= 0 else None
        if isinstance(view, Constant) and view.string is not None:
            return "assertion " + view.string.split(b"\0")[0].decode("utf-8", "replace")
    return "the error is not reached"

"""Calls of functions outside of the program, as their models tell: checks, memory and results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce

from kleene.analyses.invariants.builder import FlatFunctionBuilder
from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.expressions import (
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
from kleene.analyses.invariants.flat import Access, Base, Block, freed
from kleene.analyses.invariants.floats import LOOSE, FloatOperation, n_operands
from kleene.analyses.invariants.formats import text_of, with_format
from kleene.analyses.invariants.library import model_of
from kleene.analyses.invariants.models import Bound, Model, Touch
from kleene.analyses.invariants.objects import Address, duplicated
from kleene.analyses.invariants.operations import AnyValue, Assign, Guard
from kleene.analyses.invariants.rooms import is_compared, room_of
from kleene.analyses.invariants.storage import Filled, MayFree
from kleene.analyses.invariants.strings import (
    LONGEST,
    length_from_start,
    length_of,
    length_of_object,
)
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
) -> None:
    """Add what the model of a call says."""
    call = _Call(builder, block, context, row, model, arguments)
    if model.is_unknown:
        call.check_memory()
    else:
        call.lower()


def model_of_call(program: Program, callee: int, arguments: list[int]) -> Model:
    """Return the model of a call, which says less if a format is not known."""
    model = model_of(program, callee)
    if model.format is None:
        return model
    given = arguments[model.format] if model.format < len(arguments) else -1
    return with_format(model, text_of(program, given))


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
        name = self.name.removeprefix("llvm.").split(".p0")[0]
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
                    reason=self._not_known(one for one in touches if one.is_write == is_write),
                )
                made.append(inside)
            for one in touches if not is_write else ():
                ends = self._ends(one) if one.is_string else None
                if ends is not None:  # whoever writes a string has read it
                    self.builder.emit(self.block, Guard(ends))
        for inside in made:  # behind both: one does not hide the other
            self.builder.emit(self.block, Guard(inside))
        return touches

    def _not_known(self, touches: Iterable[Touch]) -> str:
        """Return why it cannot be told whether bytes are inside; empty if a constraint would."""
        for one in touches:
            if one.size is None and one.has_end:
                continue
            if one.size is None or self._bound(one.size) is None:
                verb = "writes" if one.is_write else "reads"
                return f"it is not known how many bytes {self.name} {verb}"
            if one.size != Bound(0) and (
                reason := self.builder.not_known(self._address(one.argument))
            ):
                return reason
        return ""

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
        self.builder.emit(self.block, replace(access, copied=self._copied(touch)))

    def _copied(self, touch: Touch) -> tuple[int, Form | None] | None:
        """Return the object, and where, whose bytes are written, and no others."""
        string = self.model.string
        if string is None or string.how != "copies" or touch.size is None or touch.size.lengths:
            return None
        for one in self.model.touches:
            if not one.is_write and one.argument == string.source and one.size == touch.size:
                address = self._address(one.argument)
                return None if address.object is None else (address.object, address.offset)
        return None

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
        return self.builder.address(self.context, self.arguments[argument])

    def _not_null(self, touch: Touch) -> Condition | None:
        return None if touch.may_be_null else self._address(touch.argument).is_present

    def _inside(self, touch: Touch) -> Condition | None:
        """Return that the bytes of one argument are inside of its object; None where that is so."""
        address = self._address(touch.argument)
        if touch.is_string:
            return self._ends(touch)
        length = None if touch.size is None else self._bound(touch.size)
        size = None
        if address.object is not None:
            size = self.builder.flat.objects[address.object].size
        elif address.root is not None and None not in (length, address.offset):
            assert length is not None
            assert address.offset is not None
            if is_compared(address.offset.plus(length)):
                size = only(room_of(self.builder.flat, address.root))
        if length is not None and not length.terms and length.constant == 0:
            return None
        if length is None or size is None or address.offset is None:
            unknown = Unknown()
            return Either(negation(address.is_present), unknown) if touch.may_be_null else unknown
        low = self.builder.not_in_front(address, self.row)
        inside: Condition = Both(low, Relation(address.offset.plus(length).plus(size, -1), "le"))
        is_count = touch.size is not None and not touch.size.lengths
        if length.terms and is_count:  # a negative one is large; none at all is always inside
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

    def _ends(self, touch: Touch) -> Condition | None:
        """Return that a string ends inside of its object; None where that is assumed.

        With L the length of the string that the object begins with, and n its size, a string that
        begins at i ends inside if 0 <= i <= L < n. Behind L nothing is known of it. Assumed is
        that strings of constants end, those in unknown objects, and those in fields of structs.
        """
        if text_of(self.builder.program, self.arguments[touch.argument]) is not None:
            return None
        address = self._address(touch.argument)
        if (
            address.object is None
            or (size := self.builder.flat.objects[address.object].size) is None
        ):
            return None
        if address.offset is None:
            return Unknown()
        offset = address.offset
        if offset.constant and not offset.terms:
            return None
        length = only(length_of_object(self.builder.flat, address.object))
        ends: Condition = Relation(length.plus(size, -1).shifted(1), "le")
        if offset != ZERO:
            inside = Both(
                Relation(offset.scaled(-1), "le"), Relation(offset.plus(length, -1), "le")
            )
            ends = Either(Both(inside, ends), Unknown())
        if touch.limit is not None:
            most = self._bound(touch.limit)
            if most is None:
                return Either(ends, Unknown())
            fits = Both(
                Relation(most.scaled(-1), "le"), Relation(most.plus(offset).plus(size, -1), "le")
            )
            ends = Either(ends, Both(Relation(offset.scaled(-1), "le"), fits))
        if touch.may_be_null and address.is_present != Always(True):
            ends = Either(negation(address.is_present), ends)
        return ends

    def _measured(self) -> Form | None:
        """Set a variable to the length of the string that will be made; return it if it is known.

        Lengths are those before the call writes anything.
        """
        string = self.model.string
        if string is None or (string.how == "below" and not string.bound.lengths):
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
        most = length if string.bound.lengths else self._bound(string.bound)
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
            copied = self._duplicated() if model.heap.lengths else None
            object = self.values.address(self.context, self.value).object
            assert object is not None
            if model.always_allocates:
                is_present = self.values.address(self.context, self.value).is_present
                builder.emit(self.block, Guard(is_present))
            source = ZERO if model.is_zero else None
            access = Access(None, object, ZERO, -1, True, source=source, is_new=True)
            builder.emit(self.block, access)
            builder.emit(self.block, Assign(freed(object), ZERO))
            if copied is not None:
                access = Access(None, object, ZERO, -1, True, length=copied.shifted(1))
                builder.emit(self.block, access)
                length = length_of_object(builder.flat, object)
                builder.emit(self.block, Assign(length, copied))
        elif model.is_inside:
            self._place_inside()
        elif model.place is not None and self.values.is_pointer(self.value):
            self._place_of_library(model.place)
        elif model.measures is not None and (key := self._length(model.measures)) is not None:
            result = only(self.values.base(self.context, self.value))
            builder.emit(self.block, Guard(Relation(result.plus(only(key), -1), "eq")))
        elif model.result is not None and self.values.width(self.value) > 1:
            for condition in self._within(*model.result):
                builder.emit(self.block, Guard(condition))

    def _place_of_library(self, n_bytes: int) -> None:
        """Say how many bytes there are at the result, and whether it may be null."""
        address = self.values.address(self.context, self.value)
        assert address.root is not None
        if self.model.reuses_place:
            self.builder.emit(self.block, Access(None, None, None, -1, True))
        if not self.model.may_be_null:
            self.builder.emit(self.block, Guard(address.is_present))
        room = only(room_of(self.builder.flat, address.root))
        condition = Relation(room.scaled(-1).shifted(n_bytes), "le")
        self.builder.emit(self.block, Guard(condition))

    def _duplicated(self) -> Form:
        """Set how many bytes of a string are copied: all, or as many as the limit says."""
        heap, limit = self.model.heap, self.model.heap_limit
        assert heap is not None
        key = duplicated(self.context, self.value)
        self.builder.emit(self.block, AnyValue(key, (0, LONGEST)))
        length, sign = self._length(heap.lengths[0]), "eq" if limit is None else "le"
        if length is not None:
            relation = Relation(only(key).plus(only(length), -1), sign)
            self.builder.emit(self.block, Guard(relation))
        most = None if limit is None else self._bound(limit)
        if most is not None and limit is not None:
            below: Condition = Relation(only(key).plus(most, -1), "le")
            if most.terms and self._is_signed(limit):
                below = Either(Relation(most.shifted(1), "le"), below)
            self.builder.emit(self.block, Guard(below))
        return only(key)

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
        returned = self.model.returns
        room = self._bound(Bound(-1, room=returned))
        if room is not None:
            builder.emit(self.block, Guard(Relation(only(key).plus(room, -1), "le")))
        touches = self.model.touches
        is_text = any(one.argument == returned and one.is_string for one in touches)
        address = self._address(returned)
        length = length_from_start(builder.flat, address) if is_text else None
        if length is None or address.offset is None:
            return
        # From 0 <= i <= L on, the string ends at L, and the result is one of its bytes, or the end:
        # i + k <= L. That can be had where the result is null, too: then k tells nothing.
        behind = address.offset.plus(only(length), -1)  # i - L
        within: Condition = Relation(behind.plus(only(key)), "le")
        if address.offset != ZERO:
            before = Relation(address.offset.shifted(1), "le")
            within = Either(Either(before, Relation(behind.scaled(-1).shifted(1), "le")), within)
        builder.emit(self.block, Guard(within))

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

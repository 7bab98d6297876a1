"""The objects of memory that a function uses, and where pointers point into them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from kleene.analyses.invariants.expressions import (
    ZERO,
    Always,
    Condition,
    Form,
    Kind,
    Relation,
    only,
)
from kleene.analyses.invariants.flat import Base, Object
from kleene.analyses.invariants.library import model_of
from kleene.ir.codes import ADDRESS_OPERAND, GlobalFlag, GlobalKind, Linkage, Opcode, TypeKind

if TYPE_CHECKING:
    from kleene.analyses.invariants.values import Expression, Values

_INDICES, _MOST_INDICES = -(1 << 40), 8


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


class Objects:
    """Adds globals, locals and allocations to a function; returns the addresses of their bytes."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._program, self._flat = values.program, values.flat
        self._table = values.program.instructions
        self._numbers: dict[Base, int] = {}  # of objects, by the value that is their address

    def of_global(self, value: int) -> Address:
        """Return the address that a global is; of a function, in no object."""
        table = self._program.globals
        if table.kind[value] != GlobalKind.VARIABLE:
            return Address(None, ZERO, Always(True))
        key = Base(-1, value)
        if key not in self._numbers:
            size = int(self._program.types.size[table.type[value]])
            is_declared = bool(table.flags[value] & GlobalFlag.DECLARATION)
            is_known = size > 0 or (size == 0 and not is_declared)  # not that of `extern int a[];`
            name = self._program.strings[int(table.name[value])]
            made = Object(name, Form((), size) if is_known else None, True, True, value)
            is_hidden = table.linkage[value] in (Linkage.INTERNAL, Linkage.PRIVATE)
            is_taken = bool(table.flags[value] & GlobalFlag.ADDRESS_TAKEN)
            is_written = is_taken or not is_hidden or value in self._stored_to
            flags = int(table.flags[value])
            made.is_constant = bool(flags & GlobalFlag.CONSTANT) or not is_written
            made.is_constant &= not flags & GlobalFlag.EXTERNALLY_INITIALIZED
            made.is_global = not made.is_constant
            made.is_exposed = (is_taken or not is_hidden) and not made.is_constant
            self._numbers[key] = self._add(made)
        return Address(self._numbers[key], ZERO, Always(True))

    @cached_property
    def _stored_to(self) -> frozenset[int]:
        """The globals that some instruction of the program writes to by name."""
        table, found = self._table, set()
        for opcode, place in ADDRESS_OPERAND.items():
            if opcode != Opcode.LOAD:
                rows = (table.opcode == opcode).nonzero()[0]
                found.update(table.operands[table.offsets[rows] + place].tolist())
        n_globals = len(self._program.globals)
        return frozenset(one for one in found if one < n_globals)

    def of_local(self, context: int, value: int, row: int, operands: list[int]) -> Address:
        """Return the address that the `alloca` of instruction `row` gives."""
        key = Base(context, value)
        if key not in self._numbers:
            each = int(self._program.types.size[self._table.about[row]])
            count = self._values.constant(operands[0]) if operands else 1
            size = Form((), each * count) if count is not None and each >= 0 else None
            function = self._values.contexts[context].function
            entry = int(self._program.function_table.block_offsets[function])
            is_single = int(self._table.block[row]) == entry
            names = self._program.variables_of(value)
            made = Object(names[0] if names else "", size, is_single, base=key)
            self._numbers[key] = self._add(made)
        return Address(self._numbers[key], ZERO, Always(True))

    def of_call(self, context: int, value: int, operands: list[int]) -> Expression:
        """Return the result of a call, if a model says that it is an argument or an address."""
        model, arguments = model_of(self._program, operands[0]), operands[1:]
        if model.is_copy and model.returns is not None:
            return self._values.of(context, arguments[model.returns])
        if not self._values.is_pointer(value):
            return None
        key = self._values.base(context, value)
        is_present = Relation(only(key), "ne")
        if model.returns is not None:
            address = self._values.address(context, arguments[model.returns])
            offset = address.offset
            if model.is_inside and offset is not None:
                inside = Base(context, ~value)  # how many bytes behind the argument
                self._flat.kinds[inside] = Kind(64, False)
                offset = offset.plus(only(inside))
            return Address(address.object, offset, is_present)
        if model.heap is None:
            return None
        if key not in self._numbers:
            size = self._allocated(context, [arguments[one] for one in model.heap.arguments])
            self._numbers[key] = self._add(Object("heap", size, False, base=key))
        return Address(self._numbers[key], ZERO, is_present)

    def _allocated(self, context: int, operands: list[int]) -> Form | None:
        """Return how many bytes a call allocates."""
        forms = [self._values.number(context, one, Kind(64, True)) for one in operands]
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

    def _add(self, made: Object) -> int:
        self._flat.objects.append(made)
        return len(self._flat.objects) - 1

    def of_element(self, context: int, value: int, operands: list[int], about: int) -> Address:
        """Return the address of an element: the base plus each index times a size."""
        base = self._values.address(context, operands[0])
        unknown = Address(base.object, None, base.is_present, base.extent)
        types, offset, type_id = self._program.types, base.offset, about
        for place, index in enumerate(operands[1:]):
            number = self._values.constant(index)
            if place and types.kind[type_id] == TypeKind.STRUCT:
                if number is None or offset is None:
                    return unknown
                offset = offset.shifted(int(types.field_offsets_of(type_id)[number]))
                type_id = int(types.elements_of(type_id)[number])
                continue
            if place:
                type_id = int(types.elements_of(type_id)[0])
            form = self._values.number(context, index, Kind(self._values.width(index), False))
            if form is None or offset is None or types.size[type_id] < 0:
                return unknown
            if number is None and self._values.kind(index).is_unsigned:
                if place >= _MOST_INDICES:
                    return unknown
                key = self.index_variable(context, value, place)
                self._flat.kinds[key] = Kind(self._values.width(index), False)
                form = only(key)
            offset = offset.plus(form, int(types.size[type_id]))
        return Address(base.object, offset, base.is_present, base.extent)

    def index_variable(self, context: int, value: int, place: int) -> Base:
        """Return the variable for an unsigned index of an element's address, read as signed."""
        return Base(context, _INDICES - value * _MOST_INDICES - place)

    def extent(self, context: int, value: int, row: int) -> Extent | None:
        """Return as many elements as the integer behind a pointer among the parameters says.

        The size of an element is that by which the function steps from the pointer.
        """
        function = self._values.contexts[context].function
        end = int(self._program.function_table.argument_offsets[function + 1])
        if row + 1 >= end or self._values.width(value + 1) not in (32, 64):
            return None
        names = [self._program.variables_of(one) for one in (value, value + 1)]
        sizes = self._steps.get(value, set())
        form = self._values.number(context, value + 1, self._values.kind(value + 1))
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
            size = int(self._program.types.size[int(table.about[row])])
            if self._values.constant(operands[1]) is None:
                found.setdefault(operands[0], set()).add(size)
        return found

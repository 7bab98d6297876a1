"""The objects of memory that a function uses, and where pointers point into them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kleene.analyses.invariants.command_line import POINTER_BYTES, command_line
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
from kleene.analyses.invariants.library import model_of, stored_to, streams
from kleene.ir.codes import (
    REPLACEABLE,
    ConstantKind,
    GlobalFlag,
    GlobalKind,
    Linkage,
    Opcode,
    TypeKind,
    ValueKind,
)

if TYPE_CHECKING:
    from kleene.analyses.invariants.values import Expression, Values

_INDICES, _MOST_INDICES = -(1 << 40), 8
_DUPLICATED = -(1 << 57)  # variables for how long strings are that calls duplicate, by the call


class Extent(NamedTuple):
    """The supposed size of what a parameter points to: as many elements as another parameter says.

    Attributes:
        size: in bytes, from offset 0 on.
        text: what is supposed, as a sentence.
    """

    size: Form
    text: str


class Address(NamedTuple):
    """Where a pointer points: some bytes into an object, or behind where an unknown one points.

    Attributes:
        object: which one; None if it is not known.
        offset: how many bytes from its first, or from where `root` points; None if not known.
        is_present: that the pointer is not null.
        extent: how far the storage goes, if that is supposed.
        root: the pointer that this one was made from, where the object is not known.
    """

    object: int | None
    offset: Form | None
    is_present: Condition
    extent: Extent | None = None
    root: Base | None = None

    def distance(self, other: Address) -> Form | None:
        """Return how many bytes this is behind another in one object, if neither is null."""
        is_known = self.object is not None or self.root is not None
        is_one = (self.object, self.root) == (other.object, other.root)
        if not is_known or not is_one or self.offset is None or other.offset is None:
            return None
        return self.offset.plus(other.offset, -1)


def duplicated(context: int, value: int) -> Base:
    """Return the variable for the length of the string that a call has made a copy of."""
    return Base(context, _DUPLICATED - value)


class Objects:
    """Adds globals, locals and allocations to a function; returns the addresses of their bytes."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._program, self._flat = values.program, values.flat
        self._table = values.program.instructions
        self._numbers: dict[Base, int] = {}  # of objects, by the value that is their address
        self._roots_of: dict[int, tuple[tuple[int, ...], bool]] = {}

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
            made.is_constant &= table.linkage[value] not in REPLACEABLE
            made.is_global = not made.is_constant
            made.is_exposed = (is_taken or not is_hidden) and not made.is_constant
            self._numbers[key] = self._add(made)
        return Address(self._numbers[key], ZERO, Always(True))

    @cached_property
    def _stored_to(self) -> frozenset[int]:
        """The globals that some instruction of the program writes to by name."""
        return stored_to(self._program)

    def is_stream(self, object: int) -> bool:
        """Return whether an object is `stdin`, `stdout` or `stderr`, which nobody sets."""
        return self._flat.objects[object].value in self._streams

    @cached_property
    def _command_line(self) -> tuple[int, int] | None:
        return command_line(self._program)

    @cached_property
    def _streams(self) -> frozenset[int]:
        return streams(self._program)

    def of_arguments(self, context: int, value: int) -> Address | None:
        """Return the address that `argv` of `main` is; None if the value is another parameter."""
        if self._command_line is None or value != self._command_line[1]:
            return None
        key = Base(context, value)
        if key not in self._numbers:
            argc = only(self._values.base(context, self._command_line[0]))
            size = argc.scaled(POINTER_BYTES).shifted(POINTER_BYTES)
            made = Object("argv", size, True, is_arguments=True)
            self._numbers[key] = self._add(made)
        return Address(self._numbers[key], ZERO, Always(True))

    def of_characters(self, behind: int, size: int) -> Address:
        """Return an address in a table of the C library, so many bytes behind its start."""
        key = Base(-1, -size)  # all tables of a size are one object, which holds anything
        if key not in self._numbers:
            table = Object("a table of characters", Form((), size), False, True, is_exposed=True)
            self._numbers[key] = self._add(table)
        return Address(self._numbers[key], Form((), behind), Always(True))

    def of_local(self, context: int, value: int, row: int, operands: list[int]) -> Address:
        """Return the address that the `alloca` of instruction `row` gives."""
        key = Base(context, value)
        if key not in self._numbers:
            each = int(self._program.types.size[self._table.about[row]])
            size = self._allocated(context, operands[:1]) if operands else Form((), 1)
            size = size.scaled(each) if size is not None and each >= 0 else None
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
            return Address(address.object, offset, is_present, address.extent, address.root)
        if model.heap is None:
            return None
        if key not in self._numbers:
            size: Form | None
            if model.heap.lengths:
                copied = duplicated(context, value)
                self._flat.kinds[copied] = Kind(64, False)
                size = only(copied).shifted(1)
            else:
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
        unknown = base._replace(offset=None)
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
        return base._replace(offset=offset)

    @cached_property
    def distances(self) -> frozenset[int]:
        """The rows of `ptrtoint` that are subtracted from one another, and used for nothing else.

        These tell nobody where an object is.
        """
        table, first = self._table, self._program.bases[ValueKind.INSTRUCTION]
        rows = set((table.opcode == Opcode.PTRTOINT).nonzero()[0].tolist())
        if not rows:
            return frozenset()
        users = np.repeat(np.arange(len(table)), np.diff(table.offsets))
        places = np.flatnonzero(np.isin(table.operands, [first + row for row in rows]))
        for user, used in zip(users[places].tolist(), table.operands[places].tolist(), strict=True):
            given = [one - first for one in table.operands_of(user).tolist()]
            if table.opcode[user] != Opcode.SUB or not rows.issuperset(given):
                rows.discard(int(used) - first)
        return frozenset(rows)

    # Pointers that are chosen

    def of_choice(self, context: int, value: int) -> Address | None:
        """Return the address that a phi or `select` is, if all it is made from is in one object.

        Its offset is a variable of its own, `offset_variable`. That the object is the one which its
        root r stands for now, and no older one of the same call or `alloca`, needs a proof: if
        r strictly dominates a value x that is made from it, no run comes from a later execution
        of r to a use of x without executing x again. Else the way from the entry to the first r,
        where no x is yet, and from there to the use, would be one to the use without x, though
        x dominates its uses. r dominates all that is made from it alone, and all there is
        if it is an argument, a global or in the first block: then others may be chosen, too.
        """
        roots, may_be_null = self._roots(value)
        addresses = [self._values.address(context, one) for one in roots]
        if not addresses or len({(one.object, one.root) for one in addresses}) > 1:
            return None
        first = addresses[0]
        is_known = first.object is not None or first.root is not None
        is_lasting = all(map(self._is_lasting, roots)) or (len(roots) == 1 and not may_be_null)
        if not is_known or not is_lasting:
            return None
        present: Condition = first.is_present
        if may_be_null or any(one.is_present != present for one in addresses):
            present = Relation(only(self._values.base(context, value)), "ne")
        is_alike = all(one.extent == first.extent for one in addresses)
        key = self.offset_variable(context, value)
        self._flat.kinds[key] = Kind(64, False)
        extent = first.extent if is_alike else None
        return Address(first.object, only(key), present, extent, first.root)

    def offset_variable(self, context: int, value: int) -> Base:
        """Return the variable for the offset of a pointer that is chosen."""
        return Base(context, ~value)

    def chosen(self, context: int, value: int) -> Address | None:
        """Return the address of a phi or `select`, if its offset is followed."""
        found = self._values.of(context, value)
        key = self.offset_variable(context, value)
        is_followed = isinstance(found, Address) and found.offset == only(key)
        return found if is_followed and isinstance(found, Address) else None

    def _is_lasting(self, value: int) -> bool:
        """Return whether a value is there from the entry of its function on."""
        row = value - self._program.bases[ValueKind.INSTRUCTION]
        if row < 0:
            return True
        function = int(self._program.instruction_function[row])
        entry = int(self._program.function_table.block_offsets[function])
        return int(self._table.block[row]) == entry

    def _roots(self, value: int) -> tuple[tuple[int, ...], bool]:
        """Return the pointers that a pointer is made from, null apart: whether it may be that."""
        if value not in self._roots_of:
            seen, todo, roots, may_be_null = {value}, [value], [], False
            while todo:
                one = todo.pop()
                if self._is_null(one):
                    may_be_null = True
                    continue
                given = self._made_from(one)
                if given is None:
                    roots.append(one)
                    continue
                may_be_null |= self._may_give_null(one)
                todo += [each for each in dict.fromkeys(given) if each not in seen]
                seen.update(given)
            self._roots_of[value] = tuple(sorted(roots)), may_be_null
        return self._roots_of[value]

    def _made_from(self, value: int) -> list[int] | None:
        """Return the pointers that one is chosen from, or steps from; None if it is a root."""
        row = value - self._program.bases[ValueKind.INSTRUCTION]
        if row < 0 or not self._values.is_pointer(value):
            return None
        opcode, operands = int(self._table.opcode[row]), self._table.operands_of(row).tolist()
        if opcode == Opcode.PHI:
            found = operands[::2]
        elif opcode == Opcode.SELECT:
            found = operands[1:]
        elif opcode in (Opcode.GETELEMENTPTR, Opcode.BITCAST, Opcode.FREEZE):
            found = operands[:1]
        elif opcode == Opcode.CALL:
            returned = model_of(self._program, operands[0]).returns
            if returned is None or 1 + returned >= len(operands):
                return None
            found = [operands[1 + returned]]
        else:
            return None
        return found if all(map(self._values.is_pointer, found)) else None

    def _may_give_null(self, value: int) -> bool:
        row = value - self._program.bases[ValueKind.INSTRUCTION]
        if row < 0 or self._table.opcode[row] != Opcode.CALL:
            return False
        return model_of(self._program, int(self._table.operands_of(row)[0])).may_be_null

    def _is_null(self, value: int) -> bool:
        row = value - self._program.bases[ValueKind.CONSTANT]
        kinds = self._program.constants.kind
        return 0 <= row < len(kinds) and kinds[row] == ConstantKind.NULL

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

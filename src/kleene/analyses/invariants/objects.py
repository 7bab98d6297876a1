"""The objects of memory that a function uses, and where pointers point into them."""

from __future__ import annotations

import os
from functools import cached_property, reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kleene.analyses.invariants.command_line import POINTER_BYTES, command_line
from kleene.analyses.invariants.expressions import (
    BOOL,
    ZERO,
    Always,
    Both,
    Condition,
    Form,
    Kind,
    Relation,
    only,
)
from kleene.analyses.invariants.flat import Base, Object, freed
from kleene.analyses.invariants.library import model_of, stored_to, streams
from kleene.ir.codes import (
    REPLACEABLE,
    Binding,
    GlobalFlag,
    GlobalKind,
    Linkage,
    Opcode,
    TypeKind,
    ValueKind,
)
from kleene.ir.views import span_of

if TYPE_CHECKING:
    from kleene.analyses.invariants.values import Expression, Values

_INDICES, _MOST_INDICES = -(1 << 40), 8
OTHER = -1  # the number of a target that is not known
_DUPLICATED = -(1 << 57)  # variables for how long strings are that calls duplicate, by the call


class Extent(NamedTuple):
    """The supposed size of what a parameter points to: as many elements as another parameter says.

    Attributes:
        size: in bytes, from offset 0 on.
        text: what is supposed, as a sentence.
    """

    size: Form
    text: str


class Target(NamedTuple):
    """What a pointer may point into: an object, or what an unknown pointer points to.

    Attributes:
        number: what tells it from all others of the function.
        object: which one; None if it is not known.
        root: the pointer that offsets count from, where the object is not known.
        extent: how far the storage goes, if that is supposed.
        offsets: where the pointer may point, if that is one of a few places; else none.
        is_open: whether it may point to other places, too.
    """

    number: int
    object: int | None
    root: Base | None
    extent: Extent | None
    offsets: tuple[int, ...]
    is_open: bool = False

    def anywhere(self) -> tuple[Target, int | None]:
        """Return the one case that all cases of the target are together."""
        if self.number == OTHER and self.offsets:
            return self, self.offsets[0]
        return self._replace(offsets=(), is_open=False), None


class Choice(NamedTuple):
    """What a pointer is that is one of others.

    Attributes:
        offset: the variable for its offset.
        which: the number of the target that it points into; None if there is only one.
        targets: what it may point into; last, if need be, `OTHER`: what is not known.
    """

    offset: Base
    which: Base | None
    targets: tuple[Target, ...]

    def cases(self) -> list[tuple[Target, int | None]]:
        """Return what the pointer may point into, and at which offset, if there are a few."""
        return [
            (one, offset)
            for one in self.targets
            for offset in (*one.offsets, *(None,) * (one.is_open or not one.offsets))
        ]

    def is_case(self, target: Target, offset: int | None) -> Condition:
        """Return that the pointer points into a target, and at an offset, if one is given."""
        parts: list[Condition] = []
        if self.which is not None and target.number == OTHER:
            parts = [self._is_not(self.which, one.number) for one in self.targets[:-1]]
        elif self.which is not None:
            parts.append(Relation(only(self.which).shifted(-target.number), "eq"))
        if offset is None:
            parts += [self._is_not(self.offset, one) for one in target.offsets]
        elif len(target.offsets) > 1 or target.is_open:
            parts.append(Relation(only(self.offset).shifted(-offset), "eq"))
        return reduce(Both, parts) if parts else Always(True)

    @staticmethod
    def _is_not(key: Base, number: int) -> Condition:
        return Relation(only(key).shifted(-number), "ne")


class Address(NamedTuple):
    """Where a pointer points: some bytes into an object, or behind where an unknown one points.

    Attributes:
        object: which one; None if it is not known, or one of several.
        offset: how many bytes from its first, or from where `root` points; None if not known.
        is_present: that the pointer is not null.
        extent: how far the storage goes, if that is supposed.
        root: the pointer that this one was made from, where the object is not known.
        choice: the pointer that it was made from, where that is one of others.
    """

    object: int | None
    offset: Form | None
    is_present: Condition
    extent: Extent | None = None
    root: Base | None = None
    choice: Choice | None = None

    def distance(self, other: Address) -> Form | None:
        """Return how many bytes this is behind another in one object, if neither is null."""
        mine, its = ((one.object, one.root, one.which) for one in (self, other))
        if mine != its or mine == (None, None, None) or None in (self.offset, other.offset):
            return None
        assert self.offset is not None
        assert other.offset is not None
        return self.offset.plus(other.offset, -1)

    @property
    def which(self) -> Base | None:
        """The variable for which of several targets it points into."""
        return None if self.choice is None else self.choice.which

    def into(self, target: Target, offset: int | None) -> Address:
        """Return the address if what is chosen points into a target, at an offset if one is given.

        Its own offset may be another one.
        """
        into = Address(target.object, self.offset, self.is_present, target.extent, target.root)
        if offset is None or self.offset is None or self.choice is None:
            return into
        known = {self.choice.offset: Form((), offset)}
        return into._replace(offset=self.offset.replaced(known.get))


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
            is_made = table.linkage[value] == Linkage.PRIVATE and table.span[value] < 0
            name = "" if is_made else self._program.strings[int(table.name[value])]
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
            made = Object(self._name_of_local(value), size, is_single, base=key)
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
            return address._replace(offset=offset, is_present=is_present)
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
            name = f"heap@{self._where(value)}"
            self._numbers[key] = self._add(Object(name, size, False, base=key))
            self._flat.kinds[freed(self._numbers[key])] = BOOL
        return Address(self._numbers[key], ZERO, is_present)

    def _name_of_local(self, value: int) -> str:
        """Return the variable whose storage it is, or `*p` of what `p = alloca(n)` has made."""
        bound = self._program.variables_of(value)
        star = "" if value in self._declared else "*"
        return star + bound[0] if bound else ""

    @cached_property
    def _declared(self) -> frozenset[int]:
        """Values that are addresses of variables."""
        table = self._program.bindings
        return frozenset(table.value[table.kind == Binding.DECLARE].tolist())

    def _where(self, value: int) -> str:
        """Return `file.c:12:9` for the instruction that a value is the result of."""
        row = value - self._program.bases[ValueKind.INSTRUCTION]
        span = span_of(self._program, int(self._table.span[row]))
        return "" if span is None else f"{os.path.basename(span.file)}:{span.line}:{span.column}"

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
        return base._replace(offset=self._stepped(context, value, operands, about, base.offset))

    def constant_step(self, value: int, operands: list[int], about: int) -> int | None:
        """Return how many bytes an element's address is behind its base, if that is a constant."""
        if any(self._values.constant(one) is None for one in operands[1:]):
            return None
        step = self._stepped(0, value, operands, about, ZERO)
        return None if step is None else step.constant

    def _stepped(
        self, context: int, value: int, operands: list[int], about: int, offset: Form | None
    ) -> Form | None:
        """Return the offset of an element's address, from that of its base on."""
        types, type_id = self._program.types, about
        for place, index in enumerate(operands[1:]):
            number = self._values.constant(index)
            if place and types.kind[type_id] == TypeKind.STRUCT:
                if number is None or offset is None:
                    return None
                offset = offset.shifted(int(types.field_offsets_of(type_id)[number]))
                type_id = int(types.elements_of(type_id)[number])
                continue
            if place:
                type_id = int(types.elements_of(type_id)[0])
            form = self._values.number(context, index, Kind(self._values.width(index), False))
            if form is None or offset is None or types.size[type_id] < 0:
                return None
            if number is None and self._values.kind(index).is_unsigned:
                if place >= _MOST_INDICES:
                    return None
                key = self.index_variable(context, value, place)
                self._flat.kinds[key] = Kind(self._values.width(index), False)
                form = only(key)
            offset = offset.plus(form, int(types.size[type_id]))
        return offset

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

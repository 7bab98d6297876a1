"""Pointers in memory: which object one points into that is read from an object.

Beside the bytes of a pointer that is stored to an object, three cells (`ASPECTS`) say into which
target it points, at which offset, and whether it is not null. What may write to the bytes makes
them anything. A pointer that is read may point into any object that the function, or one that
calls it, stores the address of, or passes on; or else to something that is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kleene.analyses.invariants.expressions import ZERO, Always, Condition, Form, only
from kleene.analyses.invariants.objects import OTHER, Address, Target
from kleene.ir.codes import CALLS, ConstantKind, Opcode, ValueKind

if TYPE_CHECKING:
    from kleene.analyses.invariants.choices import Choices
    from kleene.analyses.invariants.values import Values

_MOST_POINTERS = 8  # in a table that does not change


class Held:
    """What pointers that are read from memory may point into."""

    def __init__(self, values: Values, choices: Choices) -> None:
        self._values, self._choices, self._program = values, choices, values.program
        self._table = values.program.instructions
        self._targets: dict[int, tuple[Target, ...]] = {}
        self._given: dict[int, list[int]] = {}

    @cached_property
    def are_read(self) -> bool:
        """Whether the program reads pointers at all."""
        rows = np.flatnonzero(self._table.opcode == Opcode.LOAD)
        types = np.unique(self._table.type[rows])
        pointers = [self._values.is_pointer_type(int(one)) for one in types]
        return any(pointers)

    def targets(self, context: int, place: int) -> tuple[Target, ...]:
        """Return what a pointer may point into that is read at a place, if that is known."""
        found: tuple[Target, ...] = ()
        for root in self._storage(place):
            address = self._values.address(context, root)
            if address.object is None:
                continue
            if self._values.flat.objects[address.object].is_arguments:
                return ()  # strings from outside
            if self._values.flat.objects[address.object].is_constant:
                pointers = self.constants(address.object).values()
                given = [self._values.address(context, one) for one in pointers]
                into = (one for each in given for one in self._choices.targets_of(each))
                found = self._choices.merged((*found, *into))
            else:
                found = self._choices.merged((*found, *self._of_function(context)))
        return found if self._choices.are_few(found) else ()

    def _storage(self, place: int) -> list[int]:
        """Return the locals, globals and allocations that are read at a place.

        These are what the place is made from, or what other pointers are read from that it is made
        from.
        """
        seen, todo, found = {place}, [place], set()
        while todo:
            one = todo.pop()
            found.update(self._choices.made_from_nothing(one))
            more = set(self._choices.places_read(one)) - seen
            seen |= more
            todo += sorted(more)
        return sorted(found)

    def _of_function(self, context: int) -> tuple[Target, ...]:
        """Return the objects that a function, or one that calls it, gives away."""
        if context not in self._targets:
            self._targets[context] = ()
            into = (
                one
                for address in self._stored(context)
                for one in self._choices.targets_of(address)
                if one.object is not None and self.is_made_once(one)
            )
            found = self._choices.merged(into)
            self._targets[context] = tuple(one._replace(is_open=True) for one in found)
        return self._targets[context]

    def _stored(self, context: int) -> Iterator[Address]:
        """Yield the addresses of storage that a function, or one that calls it, gives away."""
        while context >= 0:
            function, _, parent = self._values.flat.contexts[context]
            if function not in self._given:
                self._given[function] = list(self._given_away(function))
            for one in self._given[function]:
                yield self._values.address(context, one)
            context = parent

    def _given_away(self, function: int) -> Iterator[int]:
        """Yield the pointers that are made from nothing, and stored or passed on."""
        blocks = self._program.function_table.block_offsets[function : function + 2]
        first, end = self._program.blocks.instruction_offsets[blocks].tolist()
        seen: set[int] = set()
        for row in range(first, end):
            opcode = int(self._table.opcode[row])
            operands = self._table.operands_of(row).tolist()
            if opcode != Opcode.STORE and not (opcode in CALLS and self._has_body(operands[0])):
                continue
            for one in operands[:1] if opcode == Opcode.STORE else operands[1:]:
                if self._program.value_types[one] >= 0 and self._values.is_pointer(one):
                    seen.update(self._choices.made_from_nothing(one))
        yield from sorted(seen)

    def _has_body(self, callee: int) -> bool:
        table = self._program.globals
        function = int(table.function[callee]) if callee < len(table) else -1
        blocks = self._program.function_table.block_offsets
        return function >= 0 and bool(blocks[function] < blocks[function + 1])

    def is_made_once(self, target: Target) -> bool:
        """Return whether there is only one such object while the analysed function runs."""
        if target.object is None:
            return False
        base, flat = self._values.flat.objects[target.object].base, self._values.flat
        if base is None:
            return True
        context, row = base.context, base.value - self._choices.first
        while context >= 0:
            if self._choices.is_in_loop[int(self._table.block[row])]:
                return False
            _, row, context = flat.contexts[context]
        return True

    def described(self, context: int, one: Address) -> tuple[Form | None, Form | None, Condition]:
        """Return which target a pointer that is stored points into, its offset, and its presence.

        Of an object that may be made again nothing is said: others may then have its number.
        """
        targets, present = self._choices.targets_of(one), one.is_present
        if not targets and present == Always(False):
            first = next(iter(self._of_function(context)), None)
            number = OTHER if first is None else first.number
            offset = 0 if first is None else (*first.offsets, 0)[0]
            return Form((), number), Form((), offset), present
        if all(target.number == OTHER or target.object is None for target in targets):
            return Form((), OTHER), ZERO, present
        if not all(target.number == OTHER or self.is_made_once(target) for target in targets):
            return None, None, present
        if one.choice is not None and one.choice.which is not None:
            return only(one.choice.which), one.offset, present
        return Form((), targets[0].number), one.offset, present

    # Tables that do not change

    def constants(self, object: int) -> dict[int, int]:
        """Return the pointers that a constant global holds, by offset, if they are a few."""
        value = self._values.flat.objects[object].value
        initializer = int(self._program.globals.initializer[value]) if value >= 0 else -1
        found = dict(self._pointers(initializer, 0)) if initializer >= 0 else {}
        return found if len(found) <= _MOST_POINTERS else {}

    def _pointers(self, value: int, offset: int) -> Iterator[tuple[int, int]]:
        if self._values.is_pointer(value):
            yield offset, value
            return
        row, types, table = (
            value - self._program.bases[ValueKind.CONSTANT],
            self._program.types,
            self._program.constants,
        )
        if not 0 <= row < len(table) or table.kind[row] != ConstantKind.AGGREGATE:
            return
        type_id, elements = int(table.type[row]), table.operands_of(row).tolist()
        places = types.field_offsets_of(type_id).tolist()
        if len(elements) != len(places):
            step = int(types.size[types.elements_of(type_id)[0]])
            places = [step * place for place in range(len(elements))]
        for place, element in zip(places[: 4 * _MOST_POINTERS], elements, strict=False):
            yield from self._pointers(element, offset + place)

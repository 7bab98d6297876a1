"""Stores and loads of pointers: where they point is kept beside their bytes (`held.py`)."""

from __future__ import annotations

from functools import reduce

from kleene.analyses.invariants.builder import FlatFunctionBuilder
from kleene.analyses.invariants.expressions import (
    ONE,
    ZERO,
    Condition,
    Either,
    Form,
    Kind,
    Relation,
    only,
)
from kleene.analyses.invariants.flat import ASPECTS, Access, Base, Block, Source
from kleene.analyses.invariants.objects import OTHER, Address, Choice
from kleene.analyses.invariants.operations import AnyValue, Assign, Choose

_READ = (-(1 << 54), -(1 << 53), -(1 << 52))  # variables for what is read, by the load
_KIND = Kind(64, False)
_SIZE = 8  # bytes of a pointer


class Aspects:
    """Appends accesses to what is kept of pointers in memory."""

    def __init__(self, builder: FlatFunctionBuilder) -> None:
        self._builder, self._flat = builder, builder.flat
        self._values, self._choices = builder.values, builder.values.choices

    def store(self, block: Block, context: int, address: Address, stored: int) -> None:
        """Say where a pointer points that was stored to a known place."""
        if address.object is None or address.offset is None or not self._choices.held.are_read:
            return
        given = self._values.address(context, stored)
        for aspect, source in zip(ASPECTS, self._described(context, given), strict=True):
            offset = address.offset.shifted(aspect)
            made = Access(None, address.object, offset, _SIZE, True, source, _KIND, is_aspect=True)
            self._builder.emit(block, made)

    def _described(self, context: int, given: Address) -> tuple[Source, Source, Source]:
        return self._choices.held.described(context, given)

    def load(
        self, block: Block, context: int, address: Address, value: int, *, is_plain: bool
    ) -> None:
        """Say where a pointer points that was read, if it may point into known objects."""
        choice = self._choices.chosen(context, value)
        if choice is None or choice.which is None:
            return
        read = [Base(context, number - value) for number in _READ]
        for key, aspect in zip(read, ASPECTS, strict=True):
            self._flat.kinds[key] = _KIND
            if is_plain and address.object is not None and address.offset is not None:
                offset = address.offset.shifted(aspect)
                made = Access(
                    key, address.object, offset, _SIZE, False, None, _KIND, is_aspect=True
                )
                self._builder.emit(block, made)
            else:
                self._builder.emit(block, AnyValue(key))
        if is_plain:
            self._constant(block, context, address, read)
        self._set(block, choice, self._values.base(context, value), read)

    def _constant(self, block: Block, context: int, address: Address, read: list[Base]) -> None:
        """Say where a pointer points that is in a table which does not change."""
        object, offset = address.object, address.offset
        if object is None or offset is None or offset.terms:
            return
        if not self._flat.objects[object].is_constant:
            return
        held = self._choices.held.constants(object).get(offset.constant)
        if held is not None:
            given = self._described(context, self._values.address(context, held))
            for key, source in zip(read, given, strict=True):
                if isinstance(source, Form):
                    self._builder.emit(block, Assign(key, source))
                elif source is not None:
                    self._builder.emit(block, Choose(key, source, ONE, ZERO))

    def _set(self, block: Block, choice: Choice, key: Base, read: list[Base]) -> None:
        """Set what is read: of a target that is none of the known ones, the offset is 0."""
        assert choice.which is not None
        known: list[Condition] = [
            Relation(only(read[0]).shifted(-one.number), "eq")
            for one in choice.targets
            if one.number != OTHER
        ]
        is_known = reduce(Either, known)
        present = Relation(only(read[2]), "ne")
        for made in (
            Choose(choice.which, is_known, only(read[0]), Form((), OTHER)),
            Choose(choice.offset, is_known, only(read[1]), ZERO),
            Choose(key, present, ONE, ZERO),
        ):
            self._builder.emit(block, made)

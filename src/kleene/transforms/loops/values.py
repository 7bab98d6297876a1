"""What the symbolic execution of a function knows about a value, and arithmetic on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kleene.base.expression import ZERO, Atom, Expression, of
from kleene.ir.loops.symbols import loops_of
from kleene.ir.loops.tables import InRange, Obligations, Path, Root
from kleene.ir.loops.tree import Type


@dataclass(frozen=True, slots=True)
class Place:
    """An address: where in which storage. As a pointer, its last step is a subscript.

    The same is told in two ways, either of which may be unknown: as steps through arrays and
    fields, and as bytes from the beginning of the storage, which casts leave as they are.
    """

    root: Root
    path: Path | None  # None: anywhere in it
    offset: Expression | None = None  # in bytes

    def moved(self, by: Expression | None, element: Expression | None) -> Place:
        """Return the address so many elements of `element` bytes further on."""
        if by is not None and by == 0:
            return self
        offset = None
        if self.offset is not None and by is not None and element is not None:
            offset = self.offset + by * element
        if self.path is None or by is None or not self.path or isinstance(self.path[-1], str):
            return Place(self.root, None, offset)
        return Place(self.root, (*self.path[:-1], self.path[-1] + by), offset)

    def inside(self, step: Expression | str, by: int | None) -> Place:
        """Return the address of a part, `by` bytes after the whole."""
        offset = None if self.offset is None or by is None else self.offset + by
        path = None if self.path is None else (*self.path, step)
        return Place(self.root, path, offset)


@dataclass(frozen=True, slots=True)
class Value:
    """An integer (`number`), a pointer (`place`), or neither: nothing is known about it.

    The number is right if the obligations hold.
    """

    number: Expression | None = None
    place: Place | None = None
    obligations: Obligations = ()

    @property
    def loops(self) -> frozenset[int]:
        """The loops in which the value changes, as far as it is known."""
        found = loops_of(self.number) if self.number is not None else frozenset()
        if self.place is not None:
            found |= self.place.root.loops
            for step in (*(self.place.path or ()), self.place.offset or ZERO):
                if not isinstance(step, str):
                    found |= loops_of(step)
        return found

    def substitute(self, values: Mapping[Atom, Expression]) -> Value:
        """Return the value with atoms replaced."""
        place, number = self.place, self.number
        if number is not None:
            number = number.substitute(values)
        if place is not None:
            path = place.path and tuple(
                one if isinstance(one, str) else one.substitute(values) for one in place.path
            )
            offset = None if place.offset is None else place.offset.substitute(values)
            place = Place(place.root, path, offset)
        return Value(number, place, substituted(self.obligations, values))


UNKNOWN = Value()


def substituted(obligations: Obligations, values: Mapping[Atom, Expression]) -> Obligations:
    """Return obligations with atoms replaced."""
    return tuple(replace(one, value=one.value.substitute(values)) for one in obligations)


def number(value: int) -> Value:
    """Return a constant."""
    return Value(of(value))


def fitted(found: Expression, obligations: Obligations, kind: Type, source: Type | None) -> Value:
    """Return `found` as a value of an integer type.

    A value that does not fit wraps (unsigned), or is what the implementation makes of it
    (converted to a narrower type): that it fits is an obligation. What `source`, the type
    converted from, rules out need not be proved. Arithmetic in a signed type (`source` is None)
    does not overflow in a program that C gives a meaning.
    """
    if kind.bits == 0:
        return UNKNOWN
    low, high = kind.range
    if source is None and kind.signed:
        return Value(found, None, obligations)
    if source is not None and source.bits:
        least, greatest = source.range
        if least >= low and greatest <= high:
            return Value(found, None, obligations)
    constant = found.integer
    if constant is not None:
        if low <= constant <= high:
            return Value(found, None, obligations)
        if kind.bits == 1:
            return UNKNOWN
        wrapped = (constant - low) % (high - low + 1) + low
        return Value(of(wrapped), None, obligations)
    return Value(found, None, (*obligations, InRange(found, low, high)))

"""What the symbolic execution of a function knows about a value, and arithmetic on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kleene.base.expression import Atom, Expression, of
from kleene.ir.loops.symbols import loops_of
from kleene.ir.loops.tables import InRange, Obligations, Path, Root
from kleene.ir.loops.tree import Type


@dataclass(frozen=True, slots=True)
class Place:
    """An address: where in which storage. As a pointer, its last step is a subscript."""

    root: Root
    path: Path | None  # None: anywhere in it

    def moved(self, by: Expression | None) -> Place:
        """Return the address so many elements further on."""
        if self.path is None or by is None or not self.path or isinstance(self.path[-1], str):
            unchanged = by is not None and by == 0
            return self if unchanged else Place(self.root, None)
        return Place(self.root, (*self.path[:-1], self.path[-1] + by))

    def inside(self, *steps: Expression | str) -> Place:
        """Return the address of a part."""
        return self if self.path is None else Place(self.root, (*self.path, *steps))


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
            for step in self.place.path or ():
                if not isinstance(step, str):
                    found |= loops_of(step)
        return found

    def substitute(self, values: Mapping[Atom, Expression]) -> Value:
        """Return the value with atoms replaced."""
        place, number = self.place, self.number
        if number is not None:
            number = number.substitute(values)
        if place is not None and place.path is not None:
            steps = [one if isinstance(one, str) else one.substitute(values) for one in place.path]
            place = Place(place.root, tuple(steps))
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

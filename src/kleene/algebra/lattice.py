"""What an abstract domain must offer: a lattice, and a way to reach fixed points in finite time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, Self


class Lattice(Protocol):
    """Sets of states, ordered by inclusion."""

    def is_bottom(self) -> bool:
        """Return whether no state is left."""

    def join(self, other: Self, /) -> Self:
        """Return a value that holds the states of both."""

    def meet(self, other: Self, /) -> Self:
        """Return a value that holds the states that both hold."""

    def __le__(self, other: Self, /) -> bool:
        """Return whether every state of this is known to be one of the other."""


class Widening(Lattice, Protocol):
    """A lattice with endless chains, and operators that end them."""

    def widen(self, other: Self, /, *, thresholds: Iterable[Any] = ()) -> Self:
        """Return a value that holds both; `x = x.widen(f(x))` becomes stable after some steps.

        Bounds that grow stop at the thresholds on their way, if the domain knows any.
        """

    def narrow(self, other: Self, /) -> Self:
        """Return a value between this and the smaller `other`; repeated, it becomes stable."""

"""Bounded disjunctions: numbers apart for each value of some flags.

Rival and Mauborgne, "The trace partitioning abstract domain", 2007. A flag is a variable of few
values: a Boolean, a state of a `switch`, or whether a loop has run before. States with
different flags are not joined as long as there are not too many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kleene.analyses.invariants.numbers import Numbers

Flags = tuple[int | None, ...]  # the value of each flag, None where it has several
MOST_STATES = 16


class Partitioned:
    """Numbers by the values of flags; the key `None` is that of all, if there were over `most`."""

    __slots__ = ("most", "states")

    def __init__(self, states: dict[Flags | None, Numbers], most: int = MOST_STATES) -> None:
        self.states, self.most = states, most

    @classmethod
    def of(
        cls, found: Iterable[Numbers], flags: Sequence[int], most: int = MOST_STATES
    ) -> Partitioned:
        """Return the given numbers, joined where their flags agree."""
        states: dict[Flags | None, Numbers] = {}
        for one in found:
            key = tuple(_value(one, flag) for flag in flags)
            states[key] = one if key not in states else states[key].join(one)
        return cls(states, most)._bounded()

    def _bounded(self) -> Partitioned:
        if len(self.states) <= self.most and (None not in self.states or len(self.states) == 1):
            return self
        found = iter(self.states.values())
        whole = next(found)
        for one in found:
            whole = whole.join(one)
        return Partitioned({None: whole}, self.most)

    def is_bottom(self) -> bool:
        """Return whether no point is left."""
        return not self.states

    def __iter__(self) -> Iterator[Numbers]:
        return iter(self.states.values())

    def __le__(self, other: Partitioned) -> bool:
        for key, one in self.states.items():
            around = other.states.get(key) or other.states.get(None)
            if around is None or not (one is around or one.is_within(around)):
                return False
        return True

    def join(self, other: Partitioned) -> Partitioned:
        """Return what holds the points of both."""
        made = dict(self.states)
        for key, one in other.states.items():
            made[key] = one if key not in made else made[key].join(one)
        return Partitioned(made, max(self.most, other.most))._bounded()

    def meet(self, other: Partitioned) -> Partitioned:
        """Return this: no meet is needed for fixed points."""
        return self

    def widen(self, other: Partitioned, thresholds: Iterable[Any] = ()) -> Partitioned:
        """Return what holds both, so that chains end: there are finitely many values of flags."""
        if None in other.states and None not in self.states:
            return other
        made = dict(self.states)
        for key, one in other.states.items():
            made[key] = one if key not in made else made[key].widen(one, tuple(thresholds))
        return Partitioned(made, other.most)._bounded()

    def narrow(self, other: Partitioned) -> Partitioned:
        """Return what is between this and the smaller other."""
        made: dict[Flags | None, Numbers] = {}
        for key, one in other.states.items():
            mine = self.states.get(key) or self.states.get(None)
            made[key] = one if mine is None or None in self.states else mine.narrow(one)
        return Partitioned(made, other.most)._bounded()


def _value(numbers: Numbers, flag: int) -> int | None:
    low, high = numbers.range(flag)
    return low if low == high else None


BOTTOM = Partitioned({})

"""Sets of named objects: what a pointer may hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.points_to.answers.naming import KIND_WORDS, Naming
from kleene.analyses.points_to.memory_model import AllocationKind, ConstraintSystem
from kleene.base.arrays import I64
from kleene.ir import Program

_MANY = 3  # so many places of one storage are written as one


@dataclass(frozen=True, slots=True)
class Object:
    """A place in storage of the program."""

    name: str
    kind: str  # global, function, local, heap, …
    place: str | None  # where it is made: file:line:column
    type: str | None  # what its storage holds, where known

    def __str__(self) -> str:
        return self.name


class ObjectSet(Set[Object]):
    """Objects by name; `unknown` says that what escaped, and things outside, may be there too.

    Iterating gives every object of the program that may be meant, those the unknown stands for
    included; `known` are the others. Names may be asked for: `"table" in answer`.
    """

    def __init__(
        self, makes: Objects, known: I64, escaped: NDArray[np.bool_], *, unknown: bool
    ) -> None:
        self._makes = makes
        self._known = known
        self._all = np.union1d(known, np.flatnonzero(escaped)) if unknown else known
        self.unknown = unknown

    @property
    def known(self) -> list[Object]:
        """The objects that were followed here, without those only the unknown stands for."""
        return [self._makes.object(index) for index in self._known.tolist()]

    @property
    def names(self) -> list[str]:
        """The names of all objects, in the order of the program."""
        return [self._makes.naming.object(index) for index in self._all.tolist()]

    @property
    def ids(self) -> I64:
        """The numbers of all objects, ascending."""
        return self._all

    def as_json(self) -> dict[str, object]:
        """Return the set as plain data; `objects` are the known ones."""
        objects = [
            {"name": o.name, "kind": o.kind, "place": o.place, "type": o.type} for o in self.known
        ]
        return {"objects": objects, "unknown": self.unknown}

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Object]:
        return (self._makes.object(index) for index in self._all.tolist())

    def __contains__(self, item: object) -> bool:
        name = item.name if isinstance(item, Object) else item
        return isinstance(name, str) and name in self.names

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ObjectSet):
            return self.unknown == other.unknown and set(self.names) == set(other.names)
        return (
            isinstance(other, Set) and not self.unknown and set(self.names) == set(map(str, other))
        )

    def __hash__(self) -> int:
        return hash((self.unknown, frozenset(self.names)))

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        """Return what set operations give: a plain set of objects."""
        return frozenset(it)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def __str__(self) -> str:
        return "{" + ", ".join([*self.shown(), *(["unknown"] if self.unknown else [])]) + "}"

    def shown(self) -> list[str]:
        """Return the known objects as people read them: many places of one storage as `x+*`."""
        allocations = self._makes.system.locations.allocation
        shown: list[str] = []
        for allocation, group in groupby(self._known.tolist(), key=lambda o: int(allocations[o])):
            places = list(group)
            n_all = len(self._makes.naming.suffixes(allocation))
            if len(places) > _MANY or 1 < len(places) == n_all:
                whole = "*" if len(places) == n_all else f"({len(places)} places)"
                shown.append(f"{self._makes.naming.allocation(allocation)}+{whole}")
            else:
                shown += [self._makes.naming.object(place) for place in places]
        return shown


class Objects:
    """Makes objects from their numbers."""

    def __init__(self, program: Program, system: ConstraintSystem, naming: Naming) -> None:
        self.program = program
        self.system = system
        self.naming = naming

    def object(self, index: int) -> Object:
        """Return an object by its number."""
        allocation = int(self.system.locations.allocation[index])
        table = self.system.allocations
        site, type_id = int(table.site[allocation]), int(table.type[allocation])
        return Object(
            self.naming.object(index),
            KIND_WORDS[AllocationKind(table.kind[allocation])],
            self.naming.place_of(site) if site >= 0 else None,
            self.program.printer.types[type_id].removeprefix("$") if type_id >= 0 else None,
        )

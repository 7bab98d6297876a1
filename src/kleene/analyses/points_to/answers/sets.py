"""What pointers may hold: sets of objects by number (columns), by name, and as tables.

The solver keeps one bit row for all nodes with equal sets. Here rows become lists of object ids
(CSR): list `i` is `values[offsets[i] : offsets[i + 1]]`, ascending.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from kleene.analyses.points_to.answers.naming import KIND_WORDS, Naming
from kleene.analyses.points_to.memory_model import AllocationKind, ConstraintSystem
from kleene.base.arrays import I32, I64, Bools, Ints, offsets_of, ragged
from kleene.graphs import Rows
from kleene.ir import Program
from kleene.ir.codes import GlobalFlag, TypeKind, ValueKind
from kleene.results import Coded, Table
from kleene.results.drawing import Edge, Graph, Node
from kleene.solvers.inclusion import Solution

_MANY = 3  # so many objects of one allocation are written as one
_UNPACKED_WORDS = 1 << 20  # unpacking takes 64 bytes for each
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """What each of several pointers may hold, as numbers of objects.

    `sets[i]` are the objects that were followed to pointer i, ascending. Where `unknown[i]` holds,
    it may also hold each of the `escaped` objects, and things outside the program.
    """

    known: Rows
    unknown: Bools
    escaped: I32

    @property
    def offsets(self) -> I64:
        """Where each pointer's objects begin in `objects`, and the end."""
        return self.known.offsets

    @property
    def objects(self) -> I32:
        """The known objects of all pointers, one pointer after the other."""
        return self.known.values

    def __len__(self) -> int:
        return len(self.known)

    def __getitem__(self, pointer: int) -> I32:
        return self.known[pointer]


def sets_of(solved: Solved, groups: Rows) -> Sets:
    """Return what each group of nodes may hold, all its nodes together."""
    solution = solved.solution
    nodes, owners = groups.values, np.repeat(np.arange(len(groups)), groups.lengths())
    rows, which = np.unique(solution.row_of[nodes], return_inverse=True)
    known = take(unpacked(solution, rows), which)
    if len(nodes) != len(groups) or not (groups.lengths() == 1).all():
        owner = np.repeat(owners, known.lengths())
        pairs = np.unique(owner.astype(np.int64) << 32 | known.values)
        offsets = np.searchsorted(pairs >> 32, np.arange(len(groups) + 1))
        known = Rows(offsets.astype(np.int64), (pairs & 0xFFFFFFFF).astype(np.int32))
    unknown = np.zeros(len(groups), bool)
    unknown[owners[solution.unknown[nodes]]] = True
    return Sets(known, unknown, solved.escaped)


def singles(ids: Ints) -> Rows:
    """Return each number as a list of its own."""
    return Rows(np.arange(len(ids) + 1), ids.astype(np.int32))


def explicit(solution: Solution, nodes: Ints) -> I32:
    """Return the objects that nodes hold, without those only the unknown stands for; ascending."""
    rows = np.unique(solution.row_of[nodes])
    if len(rows) == 1:
        return solution.rows.objects(int(rows[0])).astype(np.int32)
    return np.unique(unpacked(solution, rows).values)


def unpacked(solution: Solution, rows: Ints) -> Rows:
    """Return the objects in rows of a solution."""
    table = solution.rows
    owner, words = ragged(table.offsets[rows], table.offsets[rows + 1])
    objects = [np.empty(0, np.int32)]
    for first in range(0, len(words), _UNPACKED_WORDS):
        here = words[first : first + _UNPACKED_WORDS]
        as_bytes = table.word[here].astype("<u8").view(np.uint8).reshape(-1, 8)
        word, bit = np.nonzero(np.unpackbits(as_bytes, axis=1, bitorder="little"))
        objects.append((table.index[here][word].astype(np.int64) * 64 + bit).astype(np.int32))
    lengths = np.bincount(owner, np.bitwise_count(table.word[words]), len(rows))
    return Rows(offsets_of(lengths.astype(np.int64)), np.concatenate(objects))


def take(rows: Rows, which: Ints) -> Rows:
    """Return some of the lists, in the order given; one may be given several times."""
    _, positions = ragged(rows.offsets[which], rows.offsets[which + 1])
    return Rows(offsets_of(rows.lengths()[which]), rows.values[positions])


@dataclass(frozen=True, slots=True)
class Object:
    """An abstract location: an allocation of the program, and an offset in it."""

    name: str
    kind: str  # global, function, local, heap, …
    location: str | None  # where it is made: file:line:column
    type: str | None  # what its storage holds, where known

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False, repr=False)
class Solved:
    """A program with its constraints and their solution: what every question is asked of."""

    program: Program
    system: ConstraintSystem
    solution: Solution

    @cached_property
    def naming(self) -> Naming:
        """What pointers and objects are called."""
        return Naming(self.program, self.system)

    def object(self, index: int) -> Object:
        """Return an object by its number."""
        allocation = int(self.system.locations.allocation[index])
        table = self.system.allocations
        site, type_id = int(table.site[allocation]), int(table.type[allocation])
        return Object(
            self.naming.object(index),
            KIND_WORDS[AllocationKind(table.kind[allocation])],
            self.naming.value_location(site) if site >= 0 else None,
            self.program.printer.types[type_id].removeprefix("$") if type_id >= 0 else None,
        )

    @cached_property
    def escaped(self) -> I32:
        """The objects that code outside the program may hold."""
        return np.flatnonzero(self.solution.escaped).astype(np.int32)

    @cached_property
    def known_outside(self) -> Bools:
        """Per object: code outside knows its address, and an unknown pointer may hold it.

        That is so of what escaped, and of what is the outside's own: functions and variables that
        the program only declares, storage that a library keeps, the command line.
        """
        table, flags = self.system.allocations, self.program.globals.flags
        is_symbol = np.isin(table.kind, (AllocationKind.GLOBAL, AllocationKind.FUNCTION))
        is_own = np.isin(table.kind, (AllocationKind.STATIC, AllocationKind.COMMAND_LINE))
        is_own[is_symbol] = flags[table.site[is_symbol]] & GlobalFlag.DECLARATION != 0
        found: Bools = self.solution.escaped | is_own[self.system.locations.allocation]
        return found

    @cached_property
    def pointers(self) -> I64:
        """The registers (values) that are pointers."""
        first = self.program.bases[ValueKind.ARGUMENT]
        kinds = self.program.types.kind[self.program.value_types]
        is_pointer = self.system.may_hold_pointer[: len(kinds)] & (kinds == TypeKind.POINTER)
        return first + np.flatnonzero(is_pointer[first:])


class ObjectSet(Set[Object]):
    """Objects by name; `unknown` says that what escaped, and things outside, may be there too.

    Iterating gives every object of the program that may be meant, those the unknown stands for
    included; `known` are the others. Names may be asked for: `"table" in answer`.
    """

    def __init__(self, solved: Solved, known: I32, *, unknown: bool) -> None:
        self._solved = solved
        self._known = known
        self._all = np.union1d(known, solved.escaped) if unknown else known
        self.unknown = unknown

    @property
    def known(self) -> list[Object]:
        """The objects that were followed here, without those only the unknown stands for."""
        return [self._solved.object(index) for index in self._known.tolist()]

    @property
    def names(self) -> list[str]:
        """The names of all objects, in the order of the program."""
        return [self._solved.naming.object(index) for index in self._all.tolist()]

    @property
    def ids(self) -> I32:
        """The numbers of all objects, ascending."""
        return self._all

    def as_json(self) -> dict[str, object]:
        """Return the set as plain data; `objects` are the known ones."""
        return {"objects": [asdict(o) for o in self.known], "unknown": self.unknown}

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Object]:
        return (self._solved.object(index) for index in self._all.tolist())

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
        """Return the known objects as people read them: many of one allocation as `x+*`."""
        allocations, naming = self._solved.system.locations.allocation, self._solved.naming
        shown: list[str] = []
        for allocation, group in groupby(self._known.tolist(), key=lambda o: int(allocations[o])):
            objects = list(group)
            n_all = len(naming.suffixes(allocation))
            if len(objects) > _MANY or 1 < len(objects) == n_all:
                whole = "*" if len(objects) == n_all else f"({len(objects)} offsets)"
                shown.append(f"{naming.allocation(allocation)}+{whole}")
            else:
                shown += [naming.object(object) for object in objects]
        return shown


def facts_of(solved: Solved) -> Table:
    """Return what every register, storage and function result may hold, a pair for each row.

    The columns are `pointer`, `object`, and the object's `kind` and `location`. The object
    `unknown` stands for all that escaped, and what is outside the program.
    """
    nodes = _named_nodes(solved)
    sets = sets_of(solved, singles(nodes))
    unknown = np.flatnonzero(sets.unknown)
    is_used = np.zeros(solved.system.problem.n_objects, bool)
    is_used[sets.objects] = True
    used, number = np.flatnonzero(is_used), np.cumsum(is_used, dtype=np.int32) - 1
    held = np.append(number[sets.objects], np.full(len(unknown), len(used), np.int32))
    pointer = np.append(np.repeat(np.arange(len(nodes)), sets.known.lengths()), unknown)
    objects = [*map(solved.object, used.tolist()), Object(UNKNOWN, UNKNOWN, None, None)]
    return Table(
        {
            "pointer": Coded(pointer.astype(np.int32), solved.naming.nodes(nodes)),
            "object": Coded(held, [object.name for object in objects]),
            "kind": Coded(held, [object.kind for object in objects]),
            "location": Coded(held, [object.location or "" for object in objects]),
        }
    )


def by_name(solved: Solved) -> dict[str, list[str]]:
    """Return the facts of `facts_of` as a list of objects for each pointer.

    Pointers with equal sets share one list: in large programs, most do.
    """
    nodes, solution, naming = _named_nodes(solved), solved.solution, solved.naming
    key = solution.row_of[nodes].astype(np.int64) << 1 | solution.unknown[nodes]
    distinct, which = np.unique(key, return_inverse=True)
    sets = unpacked(solution, distinct >> 1)
    names = {object: naming.object(object) for object in np.unique(sets.values).tolist()}
    lists = [
        [*map(names.__getitem__, sets[i].tolist()), *[UNKNOWN] * bool(distinct[i] & 1)]
        for i in range(len(sets))
    ]
    found: dict[str, list[str]] = {}
    for name, i in zip(naming.nodes(nodes), which.tolist(), strict=True):
        held = lists[i]
        if name in found:  # a local variable and a static one of the same function, say
            held = sorted(found[name] + held, key=lambda object: object == UNKNOWN)
        found[name] = held
    return found


def _named_nodes(solved: Solved) -> I64:
    """Return the nodes that have a name and hold something, in the order of the program."""
    system, solution, end = solved.system, solved.solution, solved.program.n_values
    named = np.zeros(system.problem.n_nodes, bool)
    first = solved.program.bases[ValueKind.ARGUMENT]
    named[first:end] = system.may_hold_pointer[first:end]
    for group in (system.problem.contents, system.result_node):
        named[group[group >= 0]] = True
    holds = (solution.rows.sizes() > 0)[solution.row_of] | solution.unknown
    return np.flatnonzero(named & holds)


@dataclass(frozen=True, slots=True, eq=False)
class PointsToGraph:
    """What the pointers of one function lead to: registers, then objects through memory.

    `held[i]` are the objects that `values[i]` may hold, `contents[j]` those that memory at
    `objects[j]` may hold; every object of either is among `objects`, which ascend.
    """

    naming: Naming
    values: I32
    held: Sets
    objects: I32
    contents: Sets

    def edges(self) -> list[tuple[str, str]]:
        """Return who may hold whose address, by name; `unknown` stands for all that escaped."""
        values = [self.naming.value(value) for value in self.values.tolist()]
        objects = [self.naming.object(object) for object in self.objects.tolist()]
        found: list[tuple[str, str]] = []
        for names, sets in ((values, self.held), (objects, self.contents)):
            for i, name in enumerate(names):
                found += [(name, self.naming.object(object)) for object in sets[i].tolist()]
                found += [(name, UNKNOWN)] * bool(sets.unknown[i])
        return found

    def to_dot(self) -> str:
        """Return the graph in DOT: boxes are objects, ellipses are registers."""
        edges = self.edges()
        used = {name for edge in edges for name in edge}
        objects = [self.naming.object(object) for object in self.objects.tolist()]
        nodes = [Node(name) for name in objects if name in used]
        registers = dict.fromkeys(holder for holder, _ in edges if holder not in set(objects))
        nodes += [Node(name, attributes={"shape": "ellipse"}) for name in registers]
        arrows = tuple(Edge(holder, object) for holder, object in edges)
        return Graph("points-to graph", tuple(nodes), arrows).dot()


def points_to_graph(solved: Solved, values: I32) -> PointsToGraph:
    """Return what these values lead to."""
    contents_of = solved.system.problem.contents
    held = sets_of(solved, singles(values))
    is_reached = np.zeros(len(contents_of), bool)
    new = held.objects
    while len(new):
        is_reached[new] = True
        nodes = contents_of[new]
        new = explicit(solved.solution, nodes[nodes >= 0])
        new = new[~is_reached[new]]
    objects = np.flatnonzero(is_reached).astype(np.int32)
    has_contents = contents_of[objects] >= 0
    groups = Rows(offsets_of(has_contents), contents_of[objects][has_contents])
    return PointsToGraph(solved.naming, values, held, objects, sets_of(solved, groups))

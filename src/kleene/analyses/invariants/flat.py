"""A function as the analysis runs it: blocks of operations, callees inlined into their callers.

Variables are still keys here: `Base` for a value of the IR in one context of calls, `Cell` for
bytes of an object in memory. `compile.py` numbers them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.expressions import Condition, Form, Key, Kind
from kleene.analyses.invariants.operations import Operation


class Base(NamedTuple):
    """A value of the IR, in one context of inlined calls."""

    context: int
    value: int


class Cell(NamedTuple):
    """Some bytes of an object in memory that are always accessed together."""

    object: int
    offset: int
    size: int

    @property
    def is_aspect(self) -> bool:
        """Whether it says where a pointer points, and is no bytes."""
        return self.offset >= ASPECTS[0]

    @property
    def place(self) -> int:
        """The offset of its bytes, or of those of the pointer that it is about."""
        return self.offset % ASPECTS[0] if self.is_aspect else self.offset


ASPECTS = (1 << 40, 2 << 40, 3 << 40)  # behind a pointer's offset: cells that tell where it points
FREED, ENDED = -1, -5  # offsets of cells that are no bytes


def freed(object: int) -> Cell:
    """Return the variable that is 1 where an object was freed."""
    return Cell(object, FREED, 0)


def ended(object: int) -> Cell:
    """Return the variable that is 1 where the lifetime of a local has ended."""
    return Cell(object, ENDED, 0)


Source = Form | Condition | None  # a value, 1 where a condition holds, or any value


@dataclass
class Edge:
    """A way from one block to another: what must hold, then what is set, all at once."""

    target: int
    condition: Condition | None = None
    assignments: list[tuple[Key, Source]] = field(default_factory=list)


@dataclass
class Block:
    """Operations, the instruction (context and row) that each came from, and where control goes.

    Attributes:
        context: the chain of calls that it was inlined for.
        row: the block of the program that it is, or a part of.
        first: the first instruction of the part. A call that is inlined ends a part, and the next
            instruction begins another one.
    """

    context: int
    row: int
    first: int
    operations: list[Operation] = field(default_factory=list)
    origins: list[tuple[int, int]] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


@dataclass
class Object:
    """Storage of the program: a local, a global variable or what one call allocates.

    Attributes:
        name: what it is called.
        size: in bytes, if that is known.
        is_single: whether there is at most one at any time, so that a store replaces its content.
        is_global: whether functions that are not inlined can reach it by name.
        value: the global's value id, or -1.
        is_constant: whether it holds its initializer as long as the program runs.
        base: the value that is the address of a local or of what a call allocates.
        is_arguments: whether it is the array of arguments that `main` gets.
    """

    name: str
    size: Form | None
    is_single: bool
    is_global: bool = False
    value: int = -1
    is_exposed: bool = False
    is_constant: bool = False
    base: Base | None = None
    is_arguments: bool = False


class Site(NamedTuple):
    """A check that the program needs, wherever its instruction is inlined."""

    kind: CheckKind
    instruction: int
    message: str


@dataclass(frozen=True)
class Access(Operation):
    """A load or store, until it is known which bytes are followed; then it is replaced."""

    target: Key | None
    object: int | None
    offset: Form | None
    size: int
    is_store: bool
    source: Source = None
    kind: Kind | None = None
    length: Form | None = None  # of what a call writes, whose `size` is -1; all bytes are `source`
    copied: tuple[int, Form | None] | None = None  # the object, and where, that a call copies
    is_new: bool = False  # storage begins here
    # Of a store, so many bytes each, and 1 where they have a value, else 0; empty if all have one.
    defined: tuple[tuple[int, Form], ...] = ()
    is_aspect: bool = False  # of a pointer: where it points, and not its bytes
    root: Base | None = None  # the pointer that `offset` counts from, if the object is not known


@dataclass(frozen=True)
class End(Operation):
    """The lifetime of a local ends, until it is known whether it may be used behind that."""

    object: int


@dataclass(frozen=True)
class Unwritten(Operation):
    """What holds here if nobody writes to an object, until it is known who does."""

    object: int
    condition: Condition


@dataclass(frozen=True)
class Escape(Operation):
    """Code that is not inlined: it may write to all that it can reach, or to everything."""

    everything: bool = False


@dataclass
class FlatFunction:
    """A function with its callees inlined.

    Attributes:
        blocks: the first is the entry.
        kinds: of each variable.
        objects: storage that it uses.
        sites: the checks in it.
        reasons: why a check cannot be proved, by its place among these, where no constraint would.
        contexts: for each the function (row) inlined, its call's instruction, and the caller's
            context; -1 and -1 of the root.
        notes: what was not followed, as sentences.
        expressions: what values of the IR are, as far as they are followed.
        not_followed: functions (rows) that are called somewhere and not inlined there.
        cases: blocks that are one instruction each time, for one of several objects each.
        refused: why nothing can be said of the function; empty if something can.
    """

    name: str
    blocks: list[Block] = field(default_factory=list)
    kinds: dict[Key, Kind] = field(default_factory=dict)
    objects: list[Object] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    reasons: dict[int, str] = field(default_factory=dict)
    contexts: list[tuple[int, int, int]] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    expressions: dict[Base, Any] = field(default_factory=dict)
    not_followed: dict[int, None] = field(default_factory=dict)
    cases: list[range] = field(default_factory=list)
    refused: str = ""

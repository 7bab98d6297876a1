"""What to observe, said by whoever knows the program: rows of its tables, and numbers to report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from kleene.base.arrays import I32, I64


class Event(IntEnum):
    """What becomes of an instruction's result, or of an argument on entry."""

    NONE = 0
    VALUE = 1  # a pointer, to be looked up
    LOCAL = 2  # the address of storage that lasts as long as the frame
    STORAGE = 3  # the address of storage that lasts: a variable of this thread
    MADE = 4  # what a call returns: if it was made by the call, storage with this site


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Per row (of instructions, of arguments): the event and its numbers."""

    first_value: int  # row r reports itself as first_value + r
    event: I32
    kind: I32  # for storage: what the facts call it
    site: I32
    n_bytes: I64  # for LOCAL and STORAGE; of one element, where an alloca has a count


@dataclass(frozen=True, slots=True)
class Symbol:
    """A global whose address the facts may name."""

    name: str  # as LLVM writes it, without the sign
    n_bytes: int
    kind: int
    site: int


@dataclass(frozen=True, slots=True)
class Body:
    """A function with a body, in the order of the text."""

    value: int
    first_argument: int  # row


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """All that a traced program reports."""

    instructions: Places
    arguments: Places
    symbols: Sequence[Symbol]
    bodies: Sequence[Body]

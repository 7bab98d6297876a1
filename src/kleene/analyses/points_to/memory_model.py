"""The memory of a C program as objects, and its constraint system: before any solving.

**Memory.** An *allocation* is all storage that is made at one point of the program's text: a
global, a function, a local variable, what one call of an allocator returns. Its *layout* divides it
into *abstract locations* (`object_layout`, `images`), and each is one object of the inclusion
problem:

- An exact location stands for one address: a byte offset from the start. Fields of structs are
  exact, nested ones too; a union has one every few bytes.
- An array has the locations of its first element, exact, and the same locations once more for all
  its other elements. Their contents are one: a location of the first element and that of the others
  share their contents node. So an array is one element, while a pointer to its start is not a
  pointer somewhere into it (structs that start with an array would lose their fields otherwise).
- The location with *unknown offset* stands for every byte at which no field begins. It has no
  contents. A pointer to the inside of a field holds that field and the unknown offset, and every
  offset edge leads from there everywhere in the allocation.

Invariant: at run time, a pointer to byte b of the allocation is covered by the location of b, or by
the unknown offset. A pointer in memory is kept at the location of its first byte.

**Nodes** of the problem: a value of the program is the node of the same number; then come the
results of functions and helpers, as they are asked for, and behind all of these the contents of
locations, allocation by allocation.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, I64, U8
from kleene.ir.tables import Table
from kleene.solvers.inclusion import Problem
from kleene.solvers.inclusion.builder import Origins

UNKNOWN_OFFSET = -1  # in `Locations.byte`


class AllocationKind(IntEnum):
    """What made an allocation; `Allocations.site` says where."""

    GLOBAL = 0  # site: the global's value
    FUNCTION = 1  # site: the function's value
    STACK = 2  # site: the alloca
    HEAP = 3  # site: the call of the allocator, or of the wrapper that was cloned
    STATIC = 4  # storage that a library keeps for itself; site: the declared function's value
    COPY = 5  # of an argument passed by value; site: the argument
    VARIADIC = 6  # arguments beyond the named ones; site: the function's value
    COMMAND_LINE = 7  # argv and the strings in it; site: the argument of main
    EXCEPTION = 8  # site: the call that allocates it


@dataclass(frozen=True, slots=True, eq=False)
class Allocations(Table):
    """Every allocation; its objects are consecutive, as `Problem.allocation_offsets` says."""

    kind: U8
    site: I32  # value of the program, -1 where there is none
    callee: I32  # for HEAP: the allocator's value; else -1
    type: I32  # what it holds, as far as known; -1
    n_bytes: I64  # -1 where unknown
    part: I32  # 0, or which one where a site makes several


@dataclass(frozen=True, slots=True, eq=False)
class Locations(Table):
    """Every object of the problem: an abstract location of an allocation."""

    allocation: I32
    byte: I64  # its offset; of one that repeats, that of its second element; or UNKNOWN_OFFSET
    n_bytes: I32  # its size; 0 for the end and the unknown offset
    stride: I32  # 0 for an exact location: it stands for one address


@dataclass(frozen=True, slots=True)
class External:
    """A function that the program calls and does not contain."""

    name: str
    is_modelled: bool
    n_calls: int


@dataclass(frozen=True, slots=True)
class PassingTable:
    """A virtual table that objects have for a while: see `constraints.construction`."""

    allocation: int
    during: frozenset[int]  # functions in which it may be read
    calls: tuple[int, ...]  # instructions: in what they call, too
    in_calls: bool  # and in what the functions `during` call


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """Functions outside that write to no storage but what some of their arguments point to.

    Attributes:
        is_known: per function of the program.
        arguments: (n, 2): such a function, the number of an argument that it writes behind.
    """

    is_known: NDArray[np.bool_]
    arguments: I32


@dataclass(frozen=True, slots=True, eq=False)
class ConstraintSystem:
    """The constraints on the pointers of a program, and what the numbers in them stand for."""

    problem: Problem
    allocations: Allocations
    locations: Locations
    origins: Origins  # instructions; -1 for globals and models
    result_node: I32  # per function: what it returns, -1 for a declaration
    direct_calls: I32  # (n, 2): instruction, function; the calls that need no solving
    callbacks: I32  # (n, 2): instruction, call rule: an external calls what it was given
    virtual_callbacks: I32  # (n, 2): call rule, actual: an external calls from a table in it
    may_hold_pointer: NDArray[np.bool_]  # per value: its node means something
    externals: tuple[External, ...]
    assumptions: tuple[str, ...]  # what the answer rests on, beyond the meaning of C
    is_converted: NDArray[np.bool_]  # per function: calls of any number of arguments reach it
    open_calls: I32  # instructions: calls that reach all functions they hold
    resolved_calls: I32  # (n, 2): instruction, function: calls by pointer of this allocator alone
    allocators: I32  # functions (rows) each call of which makes new storage
    written: Written
    made_by: I32  # (n, 2): allocator, modelled allocator (rows) that its storage comes from
    returning_new: I32  # wrappers (rows) that return new storage or null, and nothing else
    only_in_tables: NDArray[np.bool_]  # per function: nothing but virtual tables has its address
    passing_tables: tuple[PassingTable, ...]
    overriders: I32  # (n, 2): call rule, function: which virtual calls reach by unknown tables
    tested: I32  # (n, 3): value, its node before the type test, the class tested for (a symbol)

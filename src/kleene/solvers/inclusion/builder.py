"""The one builder of inclusion problems: analyses add constraints, and get the `Problem`.

A constraint is added as single numbers or as whole columns; among columns, a single number stands
for a column of it. Each row of a rule keeps an *origin*: a number that the analysis chooses, such
as an instruction or an expression, by which answers can be explained.

Memory is named by allocation and *offset*. Which object an offset is may be known only in the end:
`Objects` tells then. Where allocations are made by `allocation`, with a contents node for each of
their objects, an offset is simply the object's number in its allocation.

Analyses that know more about an allocation, function or call name further columns when they make
the builder (`ConstraintBuilder(call=("size",))`), give these numbers last, and get them by `notes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.base.arrays import I32, I64, Ints, offsets_of
from kleene.solvers.inclusion.check import check
from kleene.solvers.inclusion.problem import ANY, NONE, Problem

_INT = {int}  # the types of a single row


class Origins(NamedTuple):
    """The origin of each row of the rules of a problem; -1 where there is none."""

    address: I32
    copy: I32
    load: I32
    store: I32
    offset: I32
    call: I32


class Objects(Protocol):
    """The objects of allocations, and which of them an offset is."""

    @property
    def n_nodes(self) -> int:
        """How many nodes there are, contents nodes among them."""

    @property
    def offsets(self) -> I32:
        """The first object of each allocation, and how many objects there are."""

    @property
    def contents(self) -> I32:
        """The contents node of each object, or NONE."""

    def find(self, allocation: Ints, offset: Ints) -> Ints:
        """Return the object at an offset of each allocation."""

    def contents_at(self, allocation: Ints, offset: Ints) -> tuple[Ints, Ints]:
        """Return pairs (row of the arguments, contents node) of what is at these offsets."""


class Images(NamedTuple):
    """The layout of each allocation, and the images of offset kinds, as `Problem` has them."""

    layout: Ints
    rows: I32
    offsets: I32
    images: I32


class ConstraintBuilder:
    """Numbers nodes, allocations, functions and calls, and collects the rows of every table."""

    def __init__(
        self,
        n_nodes: int = 0,
        *,
        allocation: tuple[str, ...] = (),
        function: tuple[str, ...] = (),
        call: tuple[str, ...] = (),
    ) -> None:
        self.n_nodes = n_nodes
        self._names = {"allocation": allocation, "function": function, "call": call}
        self._address = _Table(4)  # node, allocation, offset, origin
        self._fill = _Table(4)  # allocation, offset, source, origin
        self._copy = _Table(3)  # destination, source, origin
        self._load = _Table(3)  # destination, pointer, origin
        self._store = _Table(3)  # pointer, source, origin
        self._offset = _Table(4)  # destination, source, amount, origin
        self._flag = _Table(2)  # node, flags
        self._allocation = _Table(2 + len(allocation))  # layout, number of contents, notes
        self._contents = _Table(1)
        self._function = _Table(5 + len(function))  # allocation, offset, result, rest, n_formals
        self._formal = _Table(1)
        self._call = _Table(4 + len(call))  # callee, result, number of actuals, origin, notes
        self._actual = _Table(1)

    @property
    def n_allocations(self) -> int:
        """How many allocations there are."""
        return self._allocation.n_rows

    def node(self) -> int:
        """Return a new node, which holds nothing yet."""
        self.n_nodes += 1
        return self.n_nodes - 1

    def nodes(self, count: int) -> I64:
        """Return so many new nodes."""
        self.n_nodes += count
        return np.arange(self.n_nodes - count, self.n_nodes)

    def allocation(self, contents: Sequence[int] = (NONE,), layout: int = 0, *notes: int) -> int:
        """Return a new allocation with an object for each contents node."""
        number = self.n_allocations
        self._contents.add(contents)
        self._allocation.add((layout, len(contents), *notes))
        return number

    def allocations(self, layout: ArrayLike, *notes: ArrayLike) -> I64:
        """Return new allocations; `Objects` will tell how they are divided."""
        return self._allocation.add_columns(layout, 0, *notes)

    def function(
        self,
        formals: Sequence[int] = (),
        result: int = NONE,
        rest: int = NONE,
        allocation: int = NONE,
        offset: int = 0,
        *notes: int,
    ) -> int:
        """Return the allocation, new unless given, one object of which is now a function."""
        allocation = self.allocation() if allocation == NONE else allocation
        self._function.add((allocation, offset, result, rest, len(formals), *notes))
        self._formal.add(formals)
        return allocation

    def functions(
        self,
        allocation: ArrayLike,
        result: ArrayLike,
        rest: ArrayLike,
        n_formals: I64,
        formals: I64,
        *notes: ArrayLike,
    ) -> None:
        """Make allocations functions with these nodes; the formals stand one after the other."""
        self._function.add_columns(allocation, 0, result, rest, n_formals, *notes)
        self._formal.add_columns(formals)

    def address(
        self, node: ArrayLike, allocation: ArrayLike, offset: ArrayLike = 0, origin: ArrayLike = -1
    ) -> None:
        """Ask for o ∈ pts(node), o being the object at an offset of an allocation."""
        if {type(node), type(allocation), type(offset), type(origin)} == _INT:
            self._address.add((node, allocation, offset, origin))
        else:
            self._address.add_columns(node, allocation, offset, origin)

    def fill(
        self,
        allocation: ArrayLike,
        offset: ArrayLike,
        source: ArrayLike,
        origin: ArrayLike = -1,
    ) -> None:
        """Ask for pts(source) ⊆ pts(c(o)), o being the object at an offset of an allocation."""
        self._fill.add_columns(allocation, offset, source, origin)

    def copy(self, destination: ArrayLike, source: ArrayLike, origin: ArrayLike = -1) -> None:
        """Ask for pts(source) ⊆ pts(destination)."""
        if {type(destination), type(source), type(origin)} == _INT:
            self._copy.add((destination, source, origin))
        else:
            self._copy.add_columns(destination, source, origin)

    def load(self, destination: ArrayLike, pointer: ArrayLike, origin: ArrayLike = -1) -> None:
        """Ask for what the objects at `pointer` contain to be at `destination`."""
        if {type(destination), type(pointer), type(origin)} == _INT:
            self._load.add((destination, pointer, origin))
        else:
            self._load.add_columns(destination, pointer, origin)

    def store(self, pointer: ArrayLike, source: ArrayLike, origin: ArrayLike = -1) -> None:
        """Ask for the objects at `pointer` to contain what is at `source`."""
        if {type(pointer), type(source), type(origin)} == _INT:
            self._store.add((pointer, source, origin))
        else:
            self._store.add_columns(pointer, source, origin)

    def offset(
        self,
        destination: ArrayLike,
        source: ArrayLike,
        amount: ArrayLike = ANY,
        origin: ArrayLike = -1,
    ) -> None:
        """Ask for what lies `amount` behind the objects at `source` to be at `destination`."""
        if {type(destination), type(source), type(amount), type(origin)} == _INT:
            self._offset.add((destination, source, amount, origin))
        else:
            self._offset.add_columns(destination, source, amount, origin)

    def call(
        self,
        callee: int,
        actuals: Sequence[int] = (),
        result: int = NONE,
        origin: int = -1,
        *notes: int,
    ) -> int:
        """Ask for what is at `callee` to be called; return the call's number."""
        number = self._call.n_rows
        self._actual.add(actuals)
        self._call.add((callee, result, len(actuals), origin, *notes))
        return number

    def calls(
        self,
        callee: ArrayLike,
        offsets: I64,
        actuals: ArrayLike,
        result: ArrayLike = NONE,
        origin: ArrayLike = -1,
        *notes: ArrayLike,
    ) -> I64:
        """Return new calls: call i passes the nodes actuals[offsets[i]:offsets[i + 1]]."""
        self._actual.add_columns(actuals)
        return self._call.add_columns(callee, result, np.diff(offsets), origin, *notes)

    def flag(self, node: ArrayLike, flags: ArrayLike) -> None:
        """Let nodes exchange values with the outside: FROM_OUTSIDE, TO_OUTSIDE or both."""
        self._flag.add_columns(node, flags)

    def layouts(self) -> I64:
        """Return the layout of each allocation."""
        return self._allocation.columns()[0]

    def notes(self, table: str) -> dict[str, I64]:
        """Return the columns that the analysis added to "allocation", "function" or "call"."""
        names, rows = self._names[table], getattr(self, f"_{table}").columns()
        return dict(zip(names, rows[len(rows) - len(names) :], strict=True))

    def problem(self, objects: Objects | None = None, images: Images | None = None) -> Problem:
        """Return all rows so far as a checked problem."""
        problem, _ = self.finish(objects, images)
        check(problem)
        return problem

    def finish(
        self, objects: Objects | None = None, images: Images | None = None
    ) -> tuple[Problem, Origins]:
        """Return all rows so far, unchecked, and their origins.

        Args:
            objects: of allocations that were made without contents nodes.
            images: of the offset kinds; without any, layouts are left out.
        """
        objects = objects or self._given()
        node, allocation, offset, address_origin = self._address.columns()
        address_object = objects.find(allocation, offset)
        destination, source, copy_origin = self._copies(objects)
        load, store, moved = (t.columns() for t in (self._load, self._store, self._offset))
        function, call, flag = (t.columns() for t in (self._function, self._call, self._flag))
        columns = {
            "address_node": node,
            "address_object": address_object,
            "copy_destination": destination,
            "copy_source": source,
            "load_destination": load[0],
            "load_pointer": load[1],
            "store_pointer": store[0],
            "store_source": store[1],
            "offset_destination": moved[0],
            "offset_source": moved[1],
            "offset_amount": moved[2],
            "function_object": objects.find(function[0], function[1]),
            "function_result": function[2],
            "function_rest": function[3],
            "formal_offsets": offsets_of(function[4]),
            "formals": self._formal.columns()[0],
            "call_callee": call[0],
            "call_result": call[1],
            "actual_offsets": offsets_of(call[2]),
            "actuals": self._actual.columns()[0],
            "flagged_node": flag[0],
            "flags": flag[1],
        }
        if images is not None:
            columns |= {
                "allocation_layout": images.layout,
                "image_rows": images.rows,
                "image_offsets": images.offsets,
                "images": images.images,
            }
        problem = Problem(
            objects.n_nodes,
            contents=objects.contents,
            allocation_offsets=objects.offsets,
            **{name: _int32(column) for name, column in columns.items()},
        )
        origins = (address_origin, copy_origin, load[2], store[2], moved[3], call[3])
        return problem, Origins(*map(_int32, origins))

    def _copies(self, objects: Objects) -> list[NDArray[Any]]:
        """Return copies as (destination, source, origin), those into memory last."""
        allocation, offset, source, origin = self._fill.columns()
        row, node = objects.contents_at(allocation, offset)
        filled = (node, source[row], origin[row])
        return [np.concatenate(pair) for pair in zip(self._copy.columns(), filled, strict=True)]

    def _given(self) -> Objects:
        """Return the objects that were given with their contents nodes."""
        offsets = _int32(offsets_of(self._allocation.columns()[1]))
        return _Given(self.n_nodes, offsets, _int32(self._contents.columns()[0]))


class _Given(NamedTuple):
    """Objects with the contents nodes that they were made with."""

    n_nodes: int
    offsets: I32
    contents: I32

    def find(self, allocation: Ints, offset: Ints) -> Ints:
        # One that does not exist is left for `check` to name.
        known = (allocation >= 0) & (allocation < len(self.offsets) - 1)
        return np.where(known, self.offsets[np.where(known, allocation, 0)] + offset, allocation)

    def contents_at(self, allocation: Ints, offset: Ints) -> tuple[Ints, Ints]:
        node = self.contents[self.find(allocation, offset)] if len(allocation) else allocation
        row = np.flatnonzero(node != NONE)
        return row, node[row]


class _Table:
    """Rows in the order they came: parts that are columns, then pending numbers, row by row."""

    __slots__ = ("_n_in_parts", "_parts", "_pending", "_width")

    def __init__(self, width: int) -> None:
        self._width, self._n_in_parts = width, 0
        self._pending: list[Any] = []
        self._parts: list[list[NDArray[Any]]] = []

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self._n_in_parts + len(self._pending) // self._width

    def add(self, rows: Sequence[Any]) -> None:
        """Add rows, their numbers one after the other."""
        self._pending += rows

    def add_columns(self, *columns: ArrayLike) -> I64:
        """Add rows; return which rows of the table they are."""
        self._settle()
        part = broadcast_columns(*columns)
        first = self._n_in_parts
        self._n_in_parts += len(part[0])
        if len(part[0]):
            self._parts.append(part)
        return np.arange(first, self._n_in_parts)

    def columns(self) -> list[NDArray[Any]]:
        """Return the columns."""
        self._settle()
        if not self._parts:
            return [np.empty(0, np.int64) for _ in range(self._width)]
        if len(self._parts) > 1:
            self._parts = [[np.concatenate(same) for same in zip(*self._parts, strict=True)]]
        return self._parts[0]

    def _settle(self) -> None:
        """Make the pending rows a part."""
        if self._pending:
            rows = np.array(self._pending, np.int64).reshape(-1, self._width)
            self._parts.append(list(rows.T))
            self._n_in_parts += len(rows)
            self._pending = []


def broadcast_columns(*columns: ArrayLike) -> list[NDArray[Any]]:
    """Return columns of one length; single numbers are repeated."""
    arrays = [c if isinstance(c, np.ndarray) and c.ndim else np.atleast_1d(c) for c in columns]
    lengths = {len(array) for array in arrays}
    length = max(lengths, key=lambda n: n != 1)
    assert lengths <= {1, length}, "columns of several lengths"
    return [array if len(array) == length else array.repeat(length) for array in arrays]


def _int32(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column as int32 where that loses nothing; `check` refuses what does not fit."""
    if column.dtype == np.int32:
        return np.ascontiguousarray(column)
    narrow = column.astype(np.int32) if column.dtype.kind in "iu" else column
    return narrow if np.array_equal(narrow, column) else column

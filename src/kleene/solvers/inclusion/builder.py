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

from kleene.base.arrays import I32, I64, Ints, offsets_of, ragged
from kleene.solvers.inclusion.check import check
from kleene.solvers.inclusion.problem import ANY, COLUMNS, NONE, Problem

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

    allocation_layout: Ints
    image_rows: I32
    image_offsets: I32
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
        # Columns of the problem have their names there
        self._address = _Table("address_node", "allocation", "offset", "origin")
        self._fill = _Table("allocation", "offset", "source", "origin")
        self._copy = _Table("copy_destination", "copy_source", "origin")
        self._load = _Table("load_destination", "load_pointer", "origin")
        self._store = _Table("store_pointer", "store_source", "origin")
        self._offset = _Table("offset_destination", "offset_source", "offset_amount", "origin")
        self._flag = _Table("flagged_node", "flags")
        self._allocation = _Table("layout", "n_contents", *allocation)
        self._contents = _Table("contents")
        self._constant = _Table("allocation")
        of_function = ("function_result", "function_rest", "n_formals")
        self._function = _Table("allocation", "offset", *of_function, *function)
        self._formal = _Table("formals")
        self._call = _Table("call_callee", "call_result", "n_actuals", "origin", *call)
        self._actual = _Table("actuals")

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
        self._contents.extend(contents)
        self._allocation.extend((layout, len(contents), *notes))
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
        self._function.extend((allocation, offset, result, rest, len(formals), *notes))
        self._formal.extend(formals)
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
        self._address.add(node, allocation, offset, origin)

    def fill(
        self,
        allocation: ArrayLike,
        offset: ArrayLike,
        source: ArrayLike,
        origin: ArrayLike = -1,
    ) -> None:
        """Ask for pts(source) ⊆ pts(c(o)), o being the object at an offset of an allocation."""
        self._fill.add(allocation, offset, source, origin)

    def copy(self, destination: ArrayLike, source: ArrayLike, origin: ArrayLike = -1) -> None:
        """Ask for pts(source) ⊆ pts(destination)."""
        self._copy.add(destination, source, origin)

    def load(self, destination: ArrayLike, pointer: ArrayLike, origin: ArrayLike = -1) -> None:
        """Ask for what the objects at `pointer` contain to be at `destination`."""
        self._load.add(destination, pointer, origin)

    def store(self, pointer: ArrayLike, source: ArrayLike, origin: ArrayLike = -1) -> None:
        """Ask for the objects at `pointer` to contain what is at `source`."""
        self._store.add(pointer, source, origin)

    def offset(
        self,
        destination: ArrayLike,
        source: ArrayLike,
        amount: ArrayLike = ANY,
        origin: ArrayLike = -1,
    ) -> None:
        """Ask for what lies `amount` behind the objects at `source` to be at `destination`."""
        self._offset.add(destination, source, amount, origin)

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
        self._actual.extend(actuals)
        self._call.extend((callee, result, len(actuals), origin, *notes))
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
        self._flag.add(node, flags)

    def constant(self, allocation: ArrayLike) -> None:
        """Let no store change what is in these allocations, nor the outside."""
        self._constant.add(allocation)

    def rows(self, table: str) -> dict[str, I64]:
        """Return the columns of "address", "fill", "copy", "load" or another rule so far."""
        return getattr(self, f"_{table}").columns()  # type: ignore[no-any-return]

    def layouts(self) -> I64:
        """Return the layout of each allocation; it may be changed in place."""
        return self._allocation.columns()["layout"]

    def notes(self, table: str) -> dict[str, I64]:
        """Return the columns that the analysis added to "allocation", "function" or "call"."""
        columns = getattr(self, f"_{table}").columns()
        return {name: columns[name] for name in self._names[table]}

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
        rules = (self._address, self._copy, self._load, self._store, self._offset, self._call)
        columns: dict[str, NDArray[Any]] = {}
        for table in (*rules, self._flag, self._function, self._formal, self._actual):
            columns |= table.columns()
        address, function, filled = (
            table.columns() for table in (self._address, self._function, self._fill)
        )
        constant = self._constant.columns()["allocation"]
        row, node = objects.contents_at(filled["allocation"], filled["offset"])
        columns |= {
            "address_object": objects.find(address["allocation"], address["offset"]),
            "copy_destination": np.append(columns["copy_destination"], node),
            "copy_source": np.append(columns["copy_source"], filled["source"][row]),
            "function_object": objects.find(function["allocation"], function["offset"]),
            "formal_offsets": offsets_of(columns["n_formals"]),
            "actual_offsets": offsets_of(columns["n_actuals"]),
            "contents": objects.contents,
            "constant_object": ragged(objects.offsets[constant], objects.offsets[constant + 1])[1],
            "allocation_offsets": objects.offsets,
        }
        if images is not None:
            columns |= images._asdict()
        named = {name: _int32(columns[name]) for name in COLUMNS if name in columns}
        origins = [table.columns()["origin"] for table in rules]
        origins[1] = np.append(origins[1], filled["origin"][row])
        return Problem(objects.n_nodes, **named), Origins(*map(_int32, origins))

    def _given(self) -> Objects:
        """Return the objects that were given with their contents nodes."""
        offsets = _int32(offsets_of(self._allocation.columns()["n_contents"]))
        return _Given(self.n_nodes, offsets, _int32(self._contents.columns()["contents"]))


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

    __slots__ = ("_n_in_parts", "_names", "_parts", "_pending")

    def __init__(self, *names: str) -> None:
        self._names, self._n_in_parts = names, 0
        self._pending: list[Any] = []
        self._parts: list[list[NDArray[Any]]] = []

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self._n_in_parts + len(self._pending) // len(self._names)

    def extend(self, rows: Sequence[Any]) -> None:
        """Add rows, their numbers one after the other."""
        self._pending += rows

    def add(self, *row: ArrayLike) -> None:
        """Add a row of numbers, or of columns a row for each element."""
        if {*map(type, row)} == _INT:
            self._pending += row
        else:
            self.add_columns(*row)

    def add_columns(self, *columns: ArrayLike) -> I64:
        """Add rows; return which rows of the table they are."""
        self._settle()
        part = broadcast_columns(*columns)
        first = self._n_in_parts
        self._n_in_parts += len(part[0])
        if len(part[0]):
            self._parts.append(part)
        return np.arange(first, self._n_in_parts)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        self._settle()
        if not self._parts:
            return {name: np.empty(0, np.int64) for name in self._names}
        if len(self._parts) > 1:
            self._parts = [[np.concatenate(same) for same in zip(*self._parts, strict=True)]]
        return dict(zip(self._names, self._parts[0], strict=True))

    def _settle(self) -> None:
        """Make the pending rows a part."""
        if self._pending:
            rows = np.array(self._pending, np.int64).reshape(-1, len(self._names))
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

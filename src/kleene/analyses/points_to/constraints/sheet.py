"""The sheet on which the parts write constraints, whole columns at a time.

An address is written as a byte of an allocation, and what an allocation contains likewise: places
exist once all shapes and moves of the program are known, in `finish`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.analyses.points_to.memory_model import AllocationKind, Allocations, Locations, Origins
from kleene.analyses.points_to.moves import Way
from kleene.base.arrays import I32, I64, Ints, offsets_of, ragged
from kleene.solvers.inclusion import ANY, BY_LAYOUT, NONE, Problem

if TYPE_CHECKING:
    from kleene.analyses.points_to.layout import Layout
    from kleene.analyses.points_to.moves import Moves
    from kleene.analyses.points_to.shapes import Shapes

_ALLOCATION = ("kind", "site", "callee", "type", "n_bytes", "part", "shape")


class Finished(NamedTuple):
    """What a sheet says in the end."""

    problem: Problem
    allocations: Allocations
    locations: Locations
    origins: Origins


class Sheet:
    """Rows by table, nodes and allocations numbered as they are asked for.

    Every argument is a column or one number for all rows. Origins are instructions, -1 for none.
    """

    def __init__(self, n_values: int, moves: Moves) -> None:
        self.n_nodes = n_values
        self.n_allocations = 0
        self.n_calls = 0
        self.has_unknown = False  # some pointer is moved by no known amount
        self._moves = moves
        self._rows: defaultdict[str, list[tuple[NDArray[Any], ...]]] = defaultdict(list)

    def nodes(self, count: int) -> I64:
        """Return new nodes, which hold nothing yet."""
        self.n_nodes += count
        return np.arange(self.n_nodes - count, self.n_nodes)

    def node(self) -> int:
        """Return one new node."""
        return int(self.nodes(1)[0])

    def allocate(
        self,
        kind: AllocationKind,
        site: ArrayLike,
        shape: ArrayLike,
        *,
        callee: ArrayLike = -1,
        type: ArrayLike = -1,
        n_bytes: ArrayLike = -1,
        part: ArrayLike = 0,
    ) -> I64:
        """Return new allocations, one for each site."""
        count = self._write("allocation", kind, site, callee, type, n_bytes, part, shape)
        self.n_allocations += count
        return np.arange(self.n_allocations - count, self.n_allocations)

    def address(
        self, node: ArrayLike, allocation: ArrayLike, byte: ArrayLike = 0, origin: ArrayLike = -1
    ) -> None:
        """Let nodes hold the address of a byte of an allocation."""
        self._write("address", node, allocation, byte, origin)

    def contain(
        self, allocation: ArrayLike, byte: ArrayLike, source: ArrayLike, origin: ArrayLike = -1
    ) -> None:
        """Let a byte of an allocation contain what is at the sources; byte -1: all of it."""
        self._write("contain", allocation, byte, source, origin)

    def copy(self, destination: ArrayLike, source: ArrayLike, origin: ArrayLike = -1) -> None:
        """Let destinations hold what the sources do."""
        self._write("copy", destination, source, origin)

    def load(self, destination: ArrayLike, pointer: ArrayLike, origin: ArrayLike = -1) -> None:
        """Let destinations hold what is in memory at the pointers."""
        self._write("load", destination, pointer, origin)

    def store(self, pointer: ArrayLike, source: ArrayLike, origin: ArrayLike = -1) -> None:
        """Put what is at the sources in memory at the pointers."""
        self._write("store", pointer, source, origin)

    def anywhere(self, destination: ArrayLike, source: ArrayLike, origin: ArrayLike = -1) -> None:
        """Let destinations point anywhere into what the sources point to."""
        self.has_unknown = True
        self._write("offset", destination, source, ANY, origin)

    def move(
        self,
        destination: ArrayLike,
        source: ArrayLike,
        constant: ArrayLike,
        stride: ArrayLike = 0,
        origin: ArrayLike = -1,
    ) -> None:
        """Let destinations point `constant` bytes and any number of strides behind the sources."""
        to, source, constant, stride, origin = _columns(
            destination, source, constant, stride, origin
        )
        ways = np.full(len(to), Way.BYTES, np.int64)
        self.reach(to, source, constant, stride.reshape(-1, 1), ways, origin)

    def reach(
        self,
        destination: Ints,
        source: Ints,
        constant: Ints,
        strides: Ints,
        ways: I64,
        origin: Ints,
    ) -> None:
        """Do the same with several strides each, a row of them; -1 in its first: anywhere."""
        distinct, index = distinct_rows(np.column_stack([ways, constant, strides]))
        amounts = np.array([self._amount(*row) for row in distinct.tolist()], np.int64)
        amount = amounts[index]
        stays = amount == 0
        self.copy(destination[stays], source[stays], origin[stays])
        self._write("offset", *(c[~stays] for c in (destination, source, amount, origin)))

    def _amount(self, way: int, constant: int, *strides: int) -> int:
        """Return the amount of an offset that leads so far."""
        if strides[0] < 0:
            self.has_unknown = True
            return ANY
        if not constant and not any(strides):
            return 0
        return BY_LAYOUT - self._moves.number(constant, *strides, way=Way(way))

    def moved(
        self, source: ArrayLike, constant: ArrayLike, stride: ArrayLike, origin: ArrayLike
    ) -> NDArray[Any]:
        """Return nodes that point `constant` bytes and any number of strides behind the sources."""
        source, constant, stride, origin = _columns(source, constant, stride, origin)
        stays = (constant == 0) & (stride == 0)
        found = source.copy()
        found[~stays] = self.nodes(int(np.count_nonzero(~stays)))
        if not stays.all():
            self.move(*(c[~stays] for c in (found, source, constant, stride, origin)))
        return found

    def called(self, callee: ArrayLike, n_arguments: ArrayLike, origin: ArrayLike) -> I64:
        """Return nodes that hold the functions among the callees that so many arguments suffice."""
        callee, n_arguments, origin = _columns(callee, n_arguments, origin)
        distinct, index = np.unique(n_arguments, return_inverse=True)
        moves = np.array([self._moves.called_with(n) for n in distinct.tolist()], np.int64)
        found = self.nodes(len(callee))
        self._write("offset", found, callee, BY_LAYOUT - moves[index.reshape(-1)], origin)
        return found

    def somewhere(self, source: ArrayLike, origin: ArrayLike = -1) -> I64:
        """Return nodes that point anywhere into what the sources point to."""
        source, origin = _columns(source, origin)
        found = self.nodes(len(source))
        self.anywhere(found, source, origin)
        return found

    def loaded(self, pointer: ArrayLike, origin: ArrayLike = -1) -> I64:
        """Return nodes that hold what is in memory at the pointers."""
        pointer, origin = _columns(pointer, origin)
        found = self.nodes(len(pointer))
        self.load(found, pointer, origin)
        return found

    def call(
        self,
        callee: ArrayLike,
        offsets: I64,
        actuals: ArrayLike,
        result: ArrayLike = NONE,
        origin: ArrayLike = -1,
    ) -> I64:
        """Return new calls: the actuals of the i-th are those from offsets[i] to offsets[i + 1]."""
        count = self._write("call", callee, result, np.diff(offsets), origin)
        self._write("actual", actuals)
        self.n_calls += count
        return np.arange(self.n_calls - count, self.n_calls)

    def flag(self, node: ArrayLike, flags: ArrayLike) -> None:
        """Let nodes exchange values with the outside."""
        self._write("flag", node, flags)

    def functions(
        self, place: ArrayLike, result: ArrayLike, rest: ArrayLike, n_formals: I64, formals: I64
    ) -> None:
        """Make allocations functions with these nodes; formals stand one after the other."""
        self._write("function", place, result, rest, n_formals)
        self._write("formal", formals)

    def _write(self, table: str, *columns: ArrayLike) -> int:
        """Add rows to a table; return how many."""
        rows = _columns(*columns)
        self._rows[table].append(tuple(rows))
        return len(rows[0])

    def _table(self, table: str, width: int) -> list[I64]:
        """Return the columns of a table."""
        parts = self._rows.get(table)
        if not parts:
            return [np.empty(0, np.int64) for _ in range(width)]
        return [np.concatenate(column) for column in zip(*parts, strict=True)]

    def finish(self, shapes: Shapes) -> Finished:
        """Return everything written, with places and contents of the shapes that are there."""
        allocation = dict(
            zip(_ALLOCATION, self._table("allocation", len(_ALLOCATION)), strict=True)
        )
        used, shape = np.unique(_i32(allocation.pop("shape")), return_inverse=True)
        layout = shapes.finish(self._moves, only=used.tolist(), has_unknown=self.has_unknown)
        memory = _Memory(shape, layout, self.n_nodes)
        address = self._table("address", 4)
        contained = memory.contained(*self._table("contain", 4))
        copies = [
            np.concatenate(pair) for pair in zip(self._table("copy", 3), contained, strict=True)
        ]
        load, store, offset = (
            self._table("load", 3),
            self._table("store", 3),
            self._table("offset", 4),
        )
        call, function, flag = (
            self._table("call", 4),
            self._table("function", 4),
            self._table("flag", 2),
        )
        problem = Problem(
            memory.n_nodes,
            contents=memory.contents,
            allocation_offsets=memory.first_place,
            address_node=_i32(address[0]),
            address_object=memory.object(address[1], address[2]),
            copy_destination=_i32(copies[0]),
            copy_source=_i32(copies[1]),
            load_destination=_i32(load[0]),
            load_pointer=_i32(load[1]),
            store_pointer=_i32(store[0]),
            store_source=_i32(store[1]),
            offset_destination=_i32(offset[0]),
            offset_source=_i32(offset[1]),
            offset_amount=_i32(offset[2]),
            allocation_layout=_i32(shape),
            image_rows=layout.image_rows,
            image_offsets=layout.image_offsets,
            images=layout.images,
            function_object=memory.first_place[function[0]],
            function_result=_i32(function[1]),
            function_rest=_i32(function[2]),
            formal_offsets=_i32(offsets_of(function[3])),
            formals=_i32(self._table("formal", 1)[0]),
            call_callee=_i32(call[0]),
            call_result=_i32(call[1]),
            actual_offsets=_i32(offsets_of(call[2])),
            actuals=_i32(self._table("actual", 1)[0]),
            flagged_node=_i32(flag[0]),
            flags=_i32(flag[1]),
        )
        origins = (address[3], copies[2], load[2], store[2], offset[3], call[3])
        return Finished(
            problem,
            Allocations(
                kind=allocation.pop("kind").astype(np.uint8),
                n_bytes=allocation.pop("n_bytes").astype(np.int64),
                **{name: _i32(column) for name, column in allocation.items()},
            ),
            memory.places(),
            Origins(*(_i32(column) for column in origins)),
        )


class _Memory:
    """The places of all allocations: objects, and their contents nodes behind all other nodes."""

    def __init__(self, shape: I64, layout: Layout, n_nodes: int) -> None:
        self.shape, self.layout = shape, layout
        self.first_place = _i32(offsets_of(layout.n_places[shape]))
        self.first_contents = n_nodes + _i32(offsets_of(layout.n_classes[shape]))
        self.n_nodes = int(self.first_contents[-1])
        self.owner, self._row = ragged(layout.place_offsets[shape], layout.place_offsets[shape + 1])
        inside = layout.contents_class[self._row]
        self.contents = _i32(np.where(inside < 0, NONE, self.first_contents[self.owner] + inside))

    def places(self) -> Locations:
        """Return every place."""
        layout, row = self.layout, self._row
        return Locations(
            _i32(self.owner), layout.byte[row], layout.n_bytes[row], layout.stride[row]
        )

    def object(self, allocation: I64, byte: I64) -> I32:
        """Return the object at a byte of each allocation."""
        inside = self.layout.places(self.shape[allocation], byte)
        assert (inside >= 0).all(), "an address lies outside its allocation"
        return _i32(self.first_place[allocation] + inside)

    def contained(
        self, allocation: I64, byte: I64, source: I64, origin: I64
    ) -> tuple[I64, I64, I64]:
        """Return the copies (destination, source, origin) that fill memory as written."""
        exact = byte >= 0
        inside = np.full(len(byte), -1, np.int32)
        inside[exact] = self.layout.places(self.shape[allocation[exact]], byte[exact])
        node = self.contents[self.first_place[allocation] + np.maximum(inside, 0)]
        exact = (inside >= 0) & (node >= 0)
        rest = allocation[~exact]  # no place has that byte: all places get it
        owner, everywhere = ragged(self.first_contents[rest], self.first_contents[rest + 1])
        return (
            np.concatenate([node[exact], everywhere]),
            np.concatenate([source[exact], source[~exact][owner]]),
            np.concatenate([origin[exact], origin[~exact][owner]]),
        )


def _columns(*columns: ArrayLike) -> list[NDArray[Any]]:
    """Return columns of one length; single numbers are repeated."""
    arrays = [c if isinstance(c, np.ndarray) and c.ndim else np.atleast_1d(c) for c in columns]
    lengths = {len(array) for array in arrays}
    length = max(lengths, key=lambda n: n != 1)
    assert lengths <= {1, length}, "columns of several lengths"
    return [array if len(array) == length else array.repeat(length) for array in arrays]


def _i32(column: NDArray[Any]) -> I32:
    return np.ascontiguousarray(column, np.int32)


def distinct_rows(rows: Ints) -> tuple[Ints, I64]:
    """Return the distinct rows, and which of them each row is."""
    mixed = rows.astype(np.int64) @ (0x9E3779B97F4A7C1 ** np.arange(1, rows.shape[1] + 1))
    _, first, index = np.unique(mixed, return_index=True, return_inverse=True)
    if (rows[first[index]] == rows).all():
        return rows[first], index
    distinct, index = np.unique(rows, axis=0, return_inverse=True)  # two rows mixed alike
    return distinct, index.reshape(-1)

"""A core under construction: rows are made from the top down, and filled in as they become known.

A *slot* is a place for one operand. Whoever expands a datum is given the slot to put the row into,
so that nothing waits for a result and no depth of nesting needs a stack of Python's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import offsets_of
from kleene.ir.scheme import core
from kleene.ir.scheme.core import NONE, Core
from kleene.ir.scheme.sources import Sources

_FIRST_ROOM = 256  # rows, slots and variables

_COLUMNS: dict[str, tuple[str, type[np.generic]]] = {
    "kind": ("rows", np.uint8),
    "at": ("rows", np.int32),
    "end": ("rows", np.int32),
    "reference": ("rows", np.int32),
    "n_bound": ("rows", np.int32),
    "has_rest": ("rows", np.uint8),
    "first_slot": ("rows", np.int32),
    "operands": ("slots", np.int32),
    "variable_at": ("variables", np.int32),
    "variable_end": ("variables", np.int32),
    "owner": ("variables", np.int32),
    "starts_as": ("variables", np.int32),
    "is_defined": ("variables", np.uint8),
    "is_assigned": ("variables", np.uint8),
}


class CoreBuilder:
    """Columns that grow.

    Python reads and writes them through memory views, which is faster than through NumPy; compiled
    loops (`frontends.scheme.bulk`) are given the same arrays, `columns`. Only the first `n_rows`,
    `n_slots` or `n_variables` entries of each count.
    """

    kind: memoryview[Any]
    at: memoryview[Any]
    end: memoryview[Any]
    reference: memoryview[Any]
    n_bound: memoryview[Any]  # 0 but for rows that bind variables
    has_rest: memoryview[Any]
    first_slot: memoryview[Any]
    operands: memoryview[Any]
    variable_at: memoryview[Any]
    variable_end: memoryview[Any]
    owner: memoryview[Any]
    starts_as: memoryview[Any]
    is_defined: memoryview[Any]
    is_assigned: memoryview[Any]

    def __init__(self) -> None:
        self.columns: dict[str, NDArray[Any]] = {}
        self.room: dict[str, int] = {}
        self.n_rows = self.n_slots = self.n_variables = 0
        self.top_slots: list[int] = []
        self.constants: list[Any] = []
        self.primitives: dict[str, int] = {}
        self.names: list[str] = []
        for of in ("rows", "slots", "variables"):
            self.make_room(of, _FIRST_ROOM)

    def make_room(self, of: str, n_entries: int) -> None:
        """Let the columns of rows, slots or variables have room for so many entries in all."""
        room = self.room.get(of, 0)
        if n_entries <= room:
            return
        self.room[of] = n_entries = max(n_entries, 2 * room)
        for name, (each, dtype) in _COLUMNS.items():
            if each == of:
                column = np.zeros(n_entries, dtype)
                column[:room] = self.columns.get(name, column[:room])
                self.columns[name] = column
                setattr(self, name, column.data)

    def row(
        self, kind: int, at: int, end: int, slot: int, reference: int = NONE, n_operands: int = 0
    ) -> int:
        """Put a new row into `slot`; return the first slot of its operands."""
        row, first = self.n_rows, self.n_slots
        if row == self.room["rows"]:
            self.make_room("rows", row + 1)
        if first + n_operands > self.room["slots"]:
            self.make_room("slots", first + n_operands)
        self.operands[slot] = row
        self.kind[row] = kind
        self.at[row] = at
        self.end[row] = end
        self.reference[row] = reference
        self.first_slot[row] = first
        self.n_rows = row + 1
        self.n_slots = first + n_operands
        return first

    def top_slot(self) -> int:
        """Return the slot of one more form of the top level."""
        slot = self.n_slots
        self.make_room("slots", slot + 1)
        self.top_slots.append(slot)
        self.n_slots = slot + 1
        return slot

    def constant(self, value: Any, at: int, end: int, slot: int) -> None:
        """Put a constant into `slot`."""
        self.row(core.CONSTANT, at, end, slot, len(self.constants))
        self.constants.append(value)

    def primitive(self, name: str, at: int, end: int, slot: int) -> None:
        """Put a reference to a primitive into `slot`."""
        self.row(core.PRIMITIVE, at, end, slot, self.primitive_number(name))

    def primitive_number(self, name: str) -> int:
        """Return which of the core's primitives `name` is."""
        return self.primitives.setdefault(name, len(self.primitives))

    def binder(self, variables: list[int], has_rest: bool = False) -> None:
        """Let the newest row bind `variables`, which follow each other."""
        row = self.n_rows - 1
        if not variables:
            return
        assert variables[-1] - variables[0] == len(variables) - 1, "variables follow each other"
        self.reference[row] = variables[0]
        self.n_bound[row] = len(variables)
        for variable in variables:
            self.owner[variable] = row
        self.has_rest[row] = has_rest

    def bound(self) -> int:
        """Return the first variable that the newest row binds."""
        first: int = self.reference[self.n_rows - 1]
        return first

    def variable(self, name: str, at: int, end: int, starts_as: int = NONE) -> int:
        """Return a new variable, which belongs to no row yet."""
        number = self.n_variables
        self.make_room("variables", number + 1)
        self.names.append(name)
        self.variable_at[number] = at
        self.variable_end[number] = end
        self.owner[number] = NONE
        self.starts_as[number] = starts_as
        self.n_variables = number + 1
        return number

    def finish(self, sources: Sources) -> Core:
        """Return the core so far: globals that nothing defines or assigns become primitives."""
        n_rows, n_top = self.n_rows, len(self.top_slots)
        of_variables = {
            name: self.columns[name][: self.n_variables].copy()
            for name, (of, _) in _COLUMNS.items()
            if of == "variables"
        }
        for name in ("is_defined", "is_assigned"):
            of_variables[name] = of_variables[name].astype(np.bool_)
        starts_as = of_variables["starts_as"]
        fixed = (starts_as != NONE) & ~of_variables["is_defined"] & ~of_variables["is_assigned"]
        kind, reference = self._rows("kind", core.SEQUENCE), self._rows("reference", NONE)
        uses = np.flatnonzero(kind == core.VARIABLE)
        uses = uses[fixed[reference[uses]]]
        kind[uses], reference[uses] = core.PRIMITIVE, starts_as[reference[uses]]
        slots = self.columns["operands"][: self.n_slots]
        is_operand = np.ones(len(slots), np.bool_)
        is_operand[self.top_slots] = False
        offsets = offsets_of(is_operand)[self._rows("first_slot", len(slots))]
        return Core(
            sources=sources,
            root=n_rows,
            kind=kind,
            at=self._rows("at", 0),
            end=self._rows("end", 0),
            reference=reference,
            n_bound=self._rows("n_bound", 0),
            has_rest=self._rows("has_rest", 0).astype(np.bool_),
            operand_offsets=np.append(offsets, offsets[-1] + n_top).astype(np.int32),
            operands=np.concatenate((slots[is_operand], slots[self.top_slots])),
            constants=tuple(self.constants),
            primitives=tuple(self.primitives),
            names=tuple(self.names),
            **of_variables,
        )

    def _rows(self, name: str, of_root: int) -> NDArray[Any]:
        """Return a column of the rows, with an entry for the root behind them."""
        column = self.columns[name][: self.n_rows + 1].copy()
        if len(column) == self.n_rows:
            column = np.append(column, column.dtype.type(0))
        column[-1] = of_root
        return column

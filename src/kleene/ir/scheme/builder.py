"""A core under construction: rows are made from the top down, and filled in as they become known.

A *slot* is a place for one operand. Whoever expands a datum is given the slot to put the row into,
so that nothing waits for a result and no depth of nesting needs a stack of Python's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.base.arrays import Bools, offsets_of
from kleene.ir.scheme import core
from kleene.ir.scheme.core import NONE, Core
from kleene.ir.scheme.sources import Sources


class CoreBuilder:
    """Columns that grow."""

    def __init__(self) -> None:
        self.kind: list[int] = []
        self.at: list[int] = []
        self.end: list[int] = []
        self.reference: list[int] = []
        self.n_bound: dict[int, int] = {}  # of the rows that bind variables
        self.rest_rows: list[int] = []
        self.first_slot: list[int] = []
        self.operands: list[int] = []
        self.top_slots: list[int] = []
        self.constants: list[Any] = []
        self.primitives: dict[str, int] = {}
        self.names: list[str] = []
        self.variable_at: list[int] = []
        self.variable_end: list[int] = []
        self.owner: list[int] = []
        self.starts_as: list[int] = []
        self.defined: set[int] = set()
        self.assigned: list[int] = []

    def row(
        self, kind: int, at: int, end: int, slot: int, reference: int = NONE, n_operands: int = 0
    ) -> int:
        """Put a new row into `slot`; return the first slot of its operands."""
        operands = self.operands
        first = len(operands)
        operands[slot] = len(self.kind)
        self.kind.append(kind)
        self.at.append(at)
        self.end.append(end)
        self.reference.append(reference)
        self.first_slot.append(first)
        if n_operands:
            operands.extend([NONE] * n_operands)
        return first

    def top_slot(self) -> int:
        """Return the slot of one more form of the top level."""
        self.top_slots.append(len(self.operands))
        self.operands.append(NONE)
        return len(self.operands) - 1

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
        row = len(self.kind) - 1
        if not variables:
            return
        assert variables[-1] - variables[0] == len(variables) - 1, "variables follow each other"
        self.reference[row] = variables[0]
        self.n_bound[row] = len(variables)
        for variable in variables:
            self.owner[variable] = row
        if has_rest:
            self.rest_rows.append(row)

    def variable(self, name: str, at: int, end: int, starts_as: int = NONE) -> int:
        """Return a new variable, which belongs to no row yet."""
        self.names.append(name)
        self.variable_at.append(at)
        self.variable_end.append(end)
        self.owner.append(NONE)
        self.starts_as.append(starts_as)
        return len(self.names) - 1

    def finish(self, sources: Sources) -> Core:
        """Return the core so far: globals that nothing defines or assigns become primitives."""
        n_rows, n_top = len(self.kind), len(self.top_slots)
        defined, assigned = self._flags(list(self.defined)), self._flags(self.assigned)
        kind = np.array([*self.kind, core.SEQUENCE], np.uint8)
        reference = np.array([*self.reference, NONE], np.int32)
        starts_as = np.array(self.starts_as, np.int32)
        fixed = (starts_as != NONE) & ~defined & ~assigned
        uses = np.flatnonzero(kind == core.VARIABLE)
        uses = uses[fixed[reference[uses]]]
        kind[uses], reference[uses] = core.PRIMITIVE, starts_as[reference[uses]]
        n_bound = np.zeros(n_rows + 1, np.int32)
        n_bound[list(self.n_bound)] = list(self.n_bound.values())
        has_rest = np.zeros(n_rows + 1, np.bool_)
        has_rest[self.rest_rows] = True
        slots = np.array(self.operands, np.int32)
        is_operand = np.ones(len(slots), np.bool_)
        is_operand[self.top_slots] = False
        before = offsets_of(is_operand)
        offsets = before[np.array([*self.first_slot, len(slots)], np.int64)]
        return Core(
            sources=sources,
            root=n_rows,
            kind=kind,
            at=np.array([*self.at, 0], np.int32),
            end=np.array([*self.end, 0], np.int32),
            reference=reference,
            n_bound=n_bound,
            has_rest=has_rest,
            operand_offsets=np.append(offsets, offsets[-1] + n_top).astype(np.int32),
            operands=np.concatenate((slots[is_operand], slots[self.top_slots])),
            constants=tuple(self.constants),
            primitives=tuple(self.primitives),
            names=tuple(self.names),
            variable_at=np.array(self.variable_at, np.int32),
            variable_end=np.array(self.variable_end, np.int32),
            owner=np.array(self.owner, np.int32),
            is_defined=defined,
            is_assigned=assigned,
            starts_as=starts_as,
        )

    def _flags(self, variables: list[int]) -> Bools:
        flags = np.zeros(len(self.names), np.bool_)
        flags[variables] = True
        return flags

"""A core made from another, from the top down, that knows what its parts stand for.

A *slot* is a place for one operand, as in the expander: whoever makes a row is told the slot to put
it into, so that operands have greater numbers than the rows they belong to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import I32, NONE, Core, Flags

Formal = int | str  # a variable of the program that is read, or the name of a new one


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    """A program made from a first one.

    Lambdas and calls have the row of the first program that they stand for, variables theirs;
    `NONE` for what the first program does not have. Other rows have `NONE` as well. Lambdas that
    are continuations, and calls of them, are known as such: they never meet procedures.
    """

    core: Core
    row_origin: I32
    variable_origin: I32
    is_return: Flags  # per row

    @classmethod
    def of(cls, core: Core) -> Derived:
        """Return a program as made from itself."""
        rows = np.arange(core.n_rows, dtype=np.int32)
        variables = np.arange(core.n_variables, dtype=np.int32)
        return cls(core, rows, variables, np.zeros(core.n_rows, np.bool_))


class Draft:
    """Columns that grow; `about` is always the row of the old core that a new row is made for."""

    def __init__(self, old: Derived) -> None:
        self.old = old
        self.kind: list[int] = []
        self.about: list[int] = []
        self.origin: list[int] = []
        self.returns: list[int] = []
        self.reference: list[int] = []
        self.n_bound: list[int] = []
        self.first_slot: list[int] = []
        self.operands: list[int] = [NONE]
        self.constants = list(old.core.constants)
        self.names: list[str] = []
        self.owner: list[int] = []
        self.from_variable: list[int] = []
        self.made_about: list[int] = []  # per variable: the row it was made for
        self.assigned: set[int] = set()
        self.now: dict[int, int] = {}  # old variables by what they are called now
        for variable in np.flatnonzero(old.core.owner == NONE).tolist():
            self._variable(variable, NONE, old.core.root)

    def row(
        self, kind: int, slot: int, about: int, reference: int = NONE, n_operands: int = 0
    ) -> int:
        """Put a new row into `slot`; return the first slot of its operands."""
        first = len(self.operands)
        self.operands[slot] = len(self.kind)
        self.kind.append(kind)
        self.about.append(about)
        self.origin.append(NONE)
        self.reference.append(reference)
        self.n_bound.append(0)
        self.first_slot.append(first)
        self.operands.extend([NONE] * n_operands)
        return first

    def stands_for(self, row: int) -> None:
        """Let the newest row stand for what a row of the old core stands for."""
        self.origin[-1] = int(self.old.row_origin[row])

    def returning(self) -> None:
        """Let the newest row be a continuation, or the call of one."""
        self.returns.append(len(self.kind) - 1)

    def binder(
        self, kind: int, slot: int, about: int, formals: Sequence[Formal], n_operands: int = 1
    ) -> tuple[int, list[int]]:
        """Put a new LAMBDA or LETREC into `slot`; return its first slot, and what it binds."""
        first = self.row(kind, slot, about, len(self.names) if formals else NONE, n_operands)
        self.n_bound[-1] = len(formals)
        row = len(self.kind) - 1
        return first, [self._variable(formal, row, about) for formal in formals]

    def variable(self, slot: int, about: int, variable: int) -> None:
        """Put a reference to a new variable into `slot`."""
        self.row(columns.VARIABLE, slot, about, variable)

    def constant(self, slot: int, about: int, value: Any) -> None:
        """Put a constant into `slot`."""
        self.row(columns.CONSTANT, slot, about, len(self.constants))
        self.constants.append(value)

    def assignment(self, kind: int, slot: int, about: int, variable: int) -> int:
        """Put a SET or DEFINE of a new variable into `slot`; return the slot of the value."""
        if kind == columns.SET:
            self.assigned.add(variable)
        return self.row(kind, slot, about, variable, 1)

    def finish(self) -> Derived:
        """Return the new program; slot 0 is its only top-level form."""
        old = self.old.core
        about = np.array([*self.about, old.root], np.int32)
        variable = np.array(self.from_variable, np.int32)
        is_old, made = variable != NONE, np.array(self.made_about, np.int32)
        assigned = np.zeros(len(variable), np.bool_)
        assigned[list(self.assigned)] = True
        core = Core(
            sources=old.sources,
            root=len(self.kind),
            kind=np.array([*self.kind, columns.SEQUENCE], np.uint8),
            at=old.at[about],
            end=old.end[about],
            reference=np.array([*self.reference, NONE], np.int32),
            n_bound=np.array([*self.n_bound, 0], np.int32),
            has_rest=np.zeros(len(about), np.bool_),
            operand_offsets=np.array(
                [*(slot - 1 for slot in self.first_slot), *self._ends()], np.int32
            ),
            operands=np.array([*self.operands[1:], self.operands[0]], np.int32),
            constants=tuple(self.constants),
            primitives=old.primitives,
            names=tuple(self.names),
            variable_at=np.where(is_old, old.variable_at[variable], old.at[made]),
            variable_end=np.where(is_old, old.variable_end[variable], old.end[made]),
            owner=np.array(self.owner, np.int32),
            is_defined=is_old & old.is_defined[variable],
            is_assigned=assigned,
            starts_as=np.full(len(variable), NONE, np.int32),
        )
        origin = np.where(is_old, self.old.variable_origin[variable], NONE).astype(np.int32)
        is_return = np.zeros(core.n_rows, np.bool_)
        is_return[self.returns] = True
        return Derived(core, np.array([*self.origin, NONE], np.int32), origin, is_return)

    def _ends(self) -> tuple[int, int]:
        return len(self.operands) - 1, len(self.operands)

    def _variable(self, formal: Formal, owner: int, about: int) -> int:
        number = len(self.names)
        is_new = isinstance(formal, str)
        self.names.append(formal if isinstance(formal, str) else self.old.core.names[formal])
        self.from_variable.append(NONE if isinstance(formal, str) else formal)
        self.owner.append(owner)
        self.made_about.append(about)
        if not is_new:
            self.now[int(formal)] = number
        return number

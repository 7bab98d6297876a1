"""A core made from another, from the top down, that knows what its parts stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.base.arrays import I32, Bools
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.builder import CoreBuilder
from kleene.ir.scheme.core import NONE, Core

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
    is_return: Bools  # per row

    @classmethod
    def of(cls, core: Core) -> Derived:
        """Return a program as made from itself."""
        rows = np.arange(core.n_rows, dtype=np.int32)
        variables = np.arange(core.n_variables, dtype=np.int32)
        return cls(core, rows, variables, np.zeros(core.n_rows, np.bool_))


class DerivedBuilder:
    """Builds a program from an old one.

    `about` is always the row of the old core that a new row is made for, and gives it its place in
    the source; `slot` is where the new row becomes an operand, as in `CoreBuilder`.
    """

    def __init__(self, old: Derived) -> None:
        self.old = old
        self.current: dict[int, int] = {}  # old variable -> the new one that stands for it
        self._new = CoreBuilder()
        self._new.constants = list(old.core.constants)
        self._new.primitives = {name: i for i, name in enumerate(old.core.primitives)}
        self._row_origin: list[int] = []
        self._variable_origin: list[int] = []
        self._returns: list[int] = []
        self.top = self._new.top_slot()  # the slot of the only top-level form
        for variable in np.flatnonzero(old.core.owner == NONE).tolist():
            self._variable(variable, old.core.root)

    @property
    def n_rows(self) -> int:
        """How many rows there are so far."""
        return len(self._row_origin)

    def row(
        self, kind: int, slot: int, about: int, reference: int = NONE, n_operands: int = 0
    ) -> int:
        """Put a new row into `slot`; return the first slot of its operands."""
        old = self.old.core
        self._row_origin.append(NONE)
        at, end = int(old.at[about]), int(old.end[about])
        return self._new.row(kind, at, end, slot, reference, n_operands)

    def stands_for(self, about: int, row: int = -1) -> None:
        """Let a new row, or the newest, stand for what a row of the old core stands for."""
        self._row_origin[row] = int(self.old.row_origin[about])

    def returning(self) -> None:
        """Let the newest row be a continuation, or the call of one."""
        self._returns.append(self.n_rows - 1)

    def binder(
        self, kind: int, slot: int, about: int, formals: Sequence[Formal], n_operands: int = 1
    ) -> tuple[int, list[int]]:
        """Put a new LAMBDA or LETREC into `slot`; return its first slot, and what it binds."""
        first = self.row(kind, slot, about, n_operands=n_operands)
        bound = [self._variable(formal, about) for formal in formals]
        self._new.binder(bound)
        return first, bound

    def variable(self, slot: int, about: int, variable: int) -> None:
        """Put a reference to a new variable into `slot`."""
        self.row(columns.VARIABLE, slot, about, variable)

    def constant(self, slot: int, about: int, value: Any) -> None:
        """Put a constant into `slot`."""
        self.row(columns.CONSTANT, slot, about, len(self._new.constants))
        self._new.constants.append(value)

    def assignment(self, kind: int, slot: int, about: int, variable: int) -> int:
        """Put a SET or DEFINE of a new variable into `slot`; return the slot of the value."""
        if kind == columns.SET:
            self._new.is_assigned[variable] = True
        return self.row(kind, slot, about, variable, 1)

    def finish(self) -> Derived:
        """Return the new program."""
        core = self._new.finish(self.old.core.sources)
        is_return = np.zeros(core.n_rows, np.bool_)
        is_return[self._returns] = True
        rows = np.array([*self._row_origin, NONE], np.int32)
        return Derived(core, rows, np.array(self._variable_origin, np.int32), is_return)

    def _variable(self, formal: Formal, about: int) -> int:
        """Return a new variable, which stands for an old one or is made for a row."""
        old = self.old.core
        if isinstance(formal, str):
            self._variable_origin.append(NONE)
            return self._new.variable(formal, int(old.at[about]), int(old.end[about]))
        self._variable_origin.append(int(self.old.variable_origin[formal]))
        place = int(old.variable_at[formal]), int(old.variable_end[formal])
        self.current[formal] = number = self._new.variable(old.names[formal], *place)
        if old.is_defined[formal]:
            self._new.is_defined[number] = True
        return number

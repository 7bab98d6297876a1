"""Contexts by cloning: a program in which procedures have a copy for each place that names them.

A variable is *fixed* if its only value ever is one lambda, and *shared* if two references or more,
outside that lambda, read it. With m = 1 each reference to a shared variable reads a copy of its
lambda, made for that reference; inside a copy the procedure names itself, and other references in
it read the copies that belong to them, whichever copy they are in. With m = 2 a copy belongs to a
reference and to the reference that the copy around was made for. What a copy binds is its own:
procedures inside procedures are copied along, but have no further copies there, which keeps nested
procedures from being copied exponentially often.

Dropping the last reference of every context maps the program with m onto that with m - 1: answers
can only become smaller. Calls of procedures that no variable names are not told apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.cfa.index import Index
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import NONE, Core

I32 = NDArray[np.int32]
Context = tuple[int, ...]
Environment = dict[int, int]  # what a copy calls the variables that it binds, and itself


@dataclass(frozen=True, slots=True, eq=False)
class Cloned:
    """A program with copies; each row and variable has one of the first program as its origin."""

    core: Core
    row_origin: I32
    variable_origin: I32


def cloned(core: Core, m: int, only_local: bool = False) -> Cloned:
    """Return the program with copies for contexts of length m; see the head of this file."""
    if m == 0:
        rows, variables = np.arange(core.n_rows), np.arange(core.n_variables)
        return Cloned(core, rows.astype(np.int32), variables.astype(np.int32))
    work = _Cloner(core, m, only_local)
    work.base()
    return work.finish()


class _Cloner:
    def __init__(self, core: Core, m: int, only_local: bool) -> None:
        self.core = core
        self.m = m
        self.index = index = Index(core)
        self.kind = index.kind[:-1]
        self.reference = index.reference[:-1]
        self.operands = [index.below(row) for row in range(core.n_rows - 1)]
        self.tops = list(index.below(core.root))
        self.origin = list(range(core.n_rows - 1))
        self.owner: list[int] = core.owner.tolist()
        self.variable_origin = list(range(core.n_variables))
        self.value, self.first, self.last = _fixed(core, index), *_spans(core, index)
        if only_local:
            self.value = {v: row for v, row in self.value.items() if core.owner[v] != NONE}
        self.shared = self._shared()
        self.copies: dict[Context, int] = {}  # the variables whose values they are
        self.waiting: list[tuple[int, int, Context]] = []

    def base(self) -> None:
        """Let the references of the program itself read copies, then make all copies."""
        for row in range(self.core.n_rows - 1):
            if self.kind[row] == columns.VARIABLE:
                self.reference[row] = self._read(row, {}, ())
        while self.waiting:
            self._copy(*self.waiting.pop())

    def finish(self) -> Cloned:
        """Return the program."""
        kind = np.array([*self.kind, columns.SEQUENCE], np.uint8)
        origin = np.array([*self.origin, self.core.root], np.int32)
        operands = [*self.operands, self.tops]
        offsets = np.cumsum([0, *(len(rows) for rows in operands)])
        variable = np.array(self.variable_origin, np.int32)
        core = replace(
            self.core,
            root=len(self.kind),
            kind=kind,
            reference=np.array([*self.reference, NONE], np.int32),
            at=self.core.at[origin],
            end=self.core.end[origin],
            n_bound=np.where(kind == columns.DEFINE, 0, self.core.n_bound[origin]),
            has_rest=self.core.has_rest[origin],
            operand_offsets=offsets.astype(np.int32),
            operands=np.array([row for rows in operands for row in rows], np.int32),
            names=tuple(self.core.names[v] for v in self.variable_origin),
            variable_at=self.core.variable_at[variable],
            variable_end=self.core.variable_end[variable],
            owner=np.array(self.owner, np.int32),
            is_defined=self.core.is_defined[variable],
            is_assigned=self.core.is_assigned[variable],
            starts_as=self.core.starts_as[variable],
        )
        return Cloned(core, origin, variable)

    def _shared(self) -> set[int]:
        """Return the fixed variables that are read twice or more outside their lambdas."""
        count: dict[int, int] = {}
        for row in range(self.core.n_rows - 1):
            if self.kind[row] == columns.VARIABLE:
                variable = self.reference[row]
                if variable in self.value and not self._is_inside(row, variable):
                    count[variable] = count.get(variable, 0) + 1
        return {variable for variable, n in count.items() if n > 1}

    def _is_inside(self, row: int, variable: int) -> bool:
        value = self.value[variable]
        return self.first[value] <= self.first[row] <= self.last[value]

    def _read(self, row: int, names: Environment, context: Context) -> int:
        """Return the variable that a reference of the first program reads in a copy."""
        variable = self.index.reference[row]
        is_own = variable in names or variable not in self.shared
        if is_own or self._is_inside(row, variable):
            return names.get(variable, variable)
        longer = (row, *context)[: self.m]
        if longer not in self.copies:
            self.copies[longer] = made = self._variable(variable)
            self.waiting.append((self.value[variable], made, longer))
        return self.copies[longer]

    def _variable(self, origin: int) -> int:
        self.variable_origin.append(origin)
        self.owner.append(NONE)
        return len(self.variable_origin) - 1

    def _row(self, origin: int, kind: int, reference: int) -> int:
        self.kind.append(kind)
        self.reference.append(reference)
        self.operands.append([])
        self.origin.append(origin)
        return len(self.kind) - 1

    def _copy(self, value: int, made: int, context: Context) -> None:
        """Define `made` as a copy of a lambda."""
        names = {self.variable_origin[made]: made}
        define = self._row(value, columns.DEFINE, made)
        self.tops.append(define)
        stack = [(value, define)]
        while stack:
            row, parent = stack.pop()
            copy = self._row(row, self.index.kind[row], self._renamed(row, names, context))
            self.operands[parent].append(copy)
            first = self.reference[copy]
            for variable in range(first, first + self.index.n_bound[row]):
                self.owner[variable] = copy
            stack += [(operand, copy) for operand in reversed(self.index.below(row))]

    def _renamed(self, row: int, names: Environment, context: Context) -> int:
        """Return what a row refers to in a copy; what it binds is new."""
        kind, reference = self.index.kind[row], self.index.reference[row]
        if kind == columns.VARIABLE:
            return self._read(row, names, context)
        if kind == columns.SET:
            return names.get(reference, reference)
        if kind not in (columns.LAMBDA, columns.LETREC) or not self.index.n_bound[row]:
            return reference
        bound = [self._variable(variable) for variable in self.index.formals(row)]
        names.update(zip(self.index.formals(row), bound, strict=True))
        return bound[0]


def _fixed(core: Core, index: Index) -> dict[int, int]:
    """Return the variables with one value ever, a lambda, and its row."""
    found: dict[int, list[int]] = {}
    for row in range(core.n_rows - 1):
        kind, operands = index.kind[row], index.below(row)
        if kind == columns.DEFINE:
            found.setdefault(index.reference[row], []).append(operands[0])
        elif kind == columns.LETREC:
            for variable, value in zip(index.formals(row), operands, strict=False):
                found.setdefault(variable, []).append(value)
        elif kind == columns.CALL and index.is_let[operands[0]]:
            for variable, value in zip(index.formals(operands[0]), operands[1:], strict=True):
                found.setdefault(variable, []).append(value)
    return {
        variable: values[0]
        for variable, values in found.items()
        if len(values) == 1
        and index.kind[values[0]] == columns.LAMBDA
        and not core.is_assigned[variable]
        and core.starts_as[variable] == NONE
    }


def _spans(core: Core, index: Index) -> tuple[list[int], list[int]]:
    """Return for each row its number in a walk through the program, and the last one below it."""
    first, last = [0] * core.n_rows, [0] * core.n_rows
    n, stack = 0, [core.root]
    while stack:
        row = stack.pop()
        if row < 0:
            last[~row] = n - 1
            continue
        first[row] = n
        n += 1
        stack.append(~row)
        stack += reversed(index.below(row))
    return first, last

"""A core as Python lists, and what is looked up in it while constraints are written."""

from __future__ import annotations

import numpy as np

from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core

ROOT = -1  # the procedure that top-level code belongs to


class Index:
    """The columns of a core; `procedure` says for each row whose code it is.

    A *let* is the call of a lambda that is written right there and takes its arguments one by one:
    it makes no closure, and its body is code of the procedure around.
    """

    def __init__(self, core: Core) -> None:
        self.core = core
        self.kind: list[int] = core.kind.tolist()
        self.reference: list[int] = core.reference.tolist()
        self.n_bound: list[int] = core.n_bound.tolist()
        self.has_rest: list[bool] = core.has_rest.tolist()
        self._offsets: list[int] = core.operand_offsets.tolist()
        self._operands: list[int] = core.operands.tolist()
        self.is_let = self._lets()
        self.procedure = self._procedures()
        self.value_sizes = self._value_sizes()
        self.record_procedures = self._record_procedures()

    def below(self, row: int) -> list[int]:
        """Return the operands of a row."""
        return self._operands[self._offsets[row] : self._offsets[row + 1]]

    def formals(self, row: int) -> range:
        """Return the variables that a lambda or letrec binds."""
        first = self.reference[row]
        return range(first, first + self.n_bound[row])

    def inside(self, row: int) -> int:
        """Return the procedure that a row's own variables belong to: itself, if it is one."""
        is_closure = self.kind[row] == columns.LAMBDA and not self.is_let[row]
        return row if is_closure else self.procedure[row]

    def primitive(self, row: int) -> str | None:
        """Return the name of the primitive that a row is, or None."""
        if self.kind[row] != columns.PRIMITIVE:
            return None
        return self.core.primitives[self.reference[row]]

    def record_key(self, row: int) -> int:
        """Return what tells records apart: the variable of their type, if nothing assigns it."""
        variable = self.reference[row]
        fixed = self.kind[row] == columns.VARIABLE and not self.core.is_assigned[variable]
        return variable if fixed else -1

    def constant(self, row: int) -> int:
        """Return the integer that a row is."""
        value = self.core.constants[self.reference[row]]
        assert isinstance(value, int), "fields of records are known by their number"
        return value

    def _lets(self) -> list[bool]:
        """Return for each lambda whether it is only the operator of one fitting call."""
        found = [False] * len(self.kind)
        for row in np.flatnonzero(self.core.kind == columns.CALL).tolist():
            operator, *arguments = self.below(row)
            fits = len(arguments) == self.n_bound[operator] and not self.has_rest[operator]
            found[operator] = self.kind[operator] == columns.LAMBDA and fits
        return found

    def _procedures(self) -> list[int]:
        """Return the lambda, or ROOT, that each row is code of; a lambda is code of its maker."""
        owner = [ROOT] * len(self.kind)
        for row in range(len(self.kind) - 1):  # operands come behind; the root is last
            is_closure = self.kind[row] == columns.LAMBDA and not self.is_let[row]
            inside = row if is_closure else owner[row]
            if inside != ROOT:
                for operand in self.below(row):
                    owner[operand] = inside
        return owner

    def _record_procedures(self) -> dict[int, int]:
        """Return the lambdas that use records, by the variables that never hold anything else.

        They are those of `define-record-type`: their body is one call of `%record`, `%record-ref`
        or `%record-set!` with the formals. Text that is evaluated may assign any global variable.
        """
        core, found = self.core, dict[int, int]()
        if not {"%record", "%record-ref", "%record-set!"} & set(core.primitives):
            return found
        is_closed = {"eval", "load"}.isdisjoint(core.primitives)
        binds = (core.kind == columns.DEFINE) | (core.kind == columns.LETREC)
        for row in np.flatnonzero(binds).tolist():
            is_global = self.kind[row] == columns.DEFINE
            variables = [self.reference[row]] if is_global else self.formals(row)
            for variable, value in zip(variables, self.below(row), strict=False):
                is_fixed = not core.is_assigned[variable] and (is_closed or not is_global)
                if is_fixed and self._uses_record(value):
                    found[variable] = value
        return found

    def _uses_record(self, row: int) -> bool:
        if self.kind[row] != columns.LAMBDA or self.has_rest[row]:
            return False
        body = self.below(row)[0]
        name = self.primitive(self.below(body)[0]) if self.kind[body] == columns.CALL else None
        return name in ("%record", "%record-ref", "%record-set!")

    def _value_sizes(self) -> set[int]:
        """Return how many values the program returns at once."""
        sizes = {2}
        for row in np.flatnonzero(self.core.kind == columns.CALL).tolist():
            operator, *arguments = self.below(row)
            if self.primitive(operator) == "values":
                sizes.add(len(arguments))
        return sizes

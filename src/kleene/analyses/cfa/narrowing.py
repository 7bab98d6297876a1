"""What tests tell about the types of local variables that nothing assigns.

In `(if (pair? x) A B)`, x is a pair in A and none in B, and `(if x A B)` takes A only if x is not
#f. Names that `let` gives to a test stand for it.
"""

from __future__ import annotations

import numpy as np

from kleene.analyses.cfa.index import Index
from kleene.analyses.cfa.type_sets import ANY, BITS, predicates
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core
from kleene.solvers.inclusion.problem import NONE

MOST_DEPTH = 12  # how deep tests nest that are looked at
_MOST_FACTS = 16  # variables that tests tell about
Facts = dict[int, int]  # variables and the types that they may still have
_NEVER: Facts = {NONE: 0}  # what is known where a test never leads


class Tests:
    """The tests of a program."""

    def __init__(self, index: Index, core: Core) -> None:
        self._index, self._core = index, core
        self._bound = self._let_values()

    def narrowed(self) -> list[Facts | None]:
        """Return what the tests around each row tell about local variables."""
        index, core = self._index, self._core
        found: list[Facts | None] = [None] * core.n_rows
        kinds, below = index.kind, index.below
        for row in [core.root, *range(core.n_rows)]:  # all others come behind what they are in
            facts = found[row]
            if kinds[row] == columns.IF:
                test, *branches = below(row)
                found[test] = facts
                for branch, told in zip(branches, self._told(test, MOST_DEPTH), strict=True):
                    told = _NEVER if told is None else told
                    found[branch] = _both(facts or {}, told) if told else facts
            elif facts is not None:
                for operand in below(row):
                    found[operand] = facts
        return found

    def _let_values(self) -> dict[int, int]:
        """Return the values of variables that `let` binds and nothing assigns."""
        index, core = self._index, self._core
        calls = np.flatnonzero(core.kind == columns.CALL)
        operators = core.operands[core.operand_offsets[calls]]
        found: dict[int, int] = {}
        for row in calls[np.array(index.is_let, np.bool_)[operators]].tolist():
            operator, *arguments = index.below(row)
            found.update(zip(index.formals(operator), arguments, strict=True))
        return {variable: row for variable, row in found.items() if not core.is_assigned[variable]}

    def _told(self, test: int, depth: int) -> tuple[Facts | None, Facts | None]:
        """Return what is known where a test is true and where it is false; None: it never is."""
        index, kind = self._index, self._index.kind[test]
        if kind == columns.CONSTANT:
            is_false = self._core.constants[index.reference[test]] is False
            return (None, {}) if is_false else ({}, None)
        if not depth:
            return {}, {}
        if kind == columns.VARIABLE:
            variable = index.reference[test]
            told = self._told(self._bound[variable], depth - 1) if variable in self._bound else None
            true, false = told or ({}, {})
            if not self._is_fixed(variable):
                return true, false
            no, yes = {variable: BITS["false"]}, {variable: ANY & ~BITS["false"]}
            return (
                true if true is None else _both(true, yes),
                false if false is None else _both(false, no),
            )
        if kind == columns.IF:
            return self._told_by_if(index.below(test), depth)
        if kind == columns.SEQUENCE and index.below(test):
            return self._told(index.below(test)[-1], depth - 1)
        if kind == columns.CALL:
            return self._told_by_call(*index.below(test), depth=depth)
        return {}, {}

    def _told_by_if(self, operands: list[int], depth: int) -> tuple[Facts | None, Facts | None]:
        test, first, second = (self._told(operand, depth - 1) for operand in operands)
        ways = [(test[0], first), (test[1], second)]
        true, false = (
            [
                _both(before, told[which])
                for before, told in ways
                if before is not None and told[which] is not None
            ]
            for which in (0, 1)
        )
        return _joined(true), _joined(false)

    def _told_by_call(
        self, operator: int, *operands: int, depth: int
    ) -> tuple[Facts | None, Facts | None]:
        index = self._index
        if index.is_let[operator]:
            return self._told(index.below(operator)[0], depth - 1)
        name = index.primitive(operator)
        if name == "not" and len(operands) == 1:
            true, false = self._told(operands[0], depth - 1)
            return false, true
        kept = predicates().get(name or "")
        if kept is None or len(operands) != 1 or index.kind[operands[0]] != columns.VARIABLE:
            return {}, {}
        variable = index.reference[operands[0]]
        if not self._is_fixed(variable):
            return {}, {}
        return {variable: kept}, {variable: ANY & ~kept}

    def _is_fixed(self, variable: int) -> bool:
        """Return whether all that read a variable in one call of its procedure read the same."""
        return bool(self._core.owner[variable] != NONE and not self._core.is_assigned[variable])


def _both(first: Facts, second: Facts | None) -> Facts:
    """Return what two lists of facts say together; of too many variables, not all."""
    found = dict(first)
    for variable, kept in (second or {}).items():
        if variable in found or len(found) < _MOST_FACTS:
            found[variable] = found.get(variable, ANY) & kept
    return found


def _joined(ways: list[Facts]) -> Facts | None:
    """Return what holds whichever way was taken; None if there is none."""
    if len(ways) < 2:
        return ways[0] if ways else None
    one, other = ways
    return {variable: one[variable] | other[variable] for variable in one if variable in other}

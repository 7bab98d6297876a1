"""Of which types the value of each expression may be: numbers and strings are followed here.

The types of an expression or variable are a set (`type_sets`) and cover every run; no bit at all
means that nothing ever gets there. Who calls whom is taken from the solved control flow
(`type_flows`). What comes out of data, or from primitives that call, may be of any type. Tests
narrow the types of local variables (`narrowing`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from kleene.analyses.cfa.builder import CONTINUATION, INSTANCE, LAMBDA
from kleene.analyses.cfa.index import Index
from kleene.analyses.cfa.narrowing import MOST_DEPTH, Facts, Tests
from kleene.analyses.cfa.reach import Reach
from kleene.analyses.cfa.type_flows import Flows
from kleene.analyses.cfa.type_sets import ANY, OPEN, signatures
from kleene.base.arrays import offsets_of
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core
from kleene.solvers.inclusion.problem import NONE


class Types:
    """The types of a solved program; `row` and `variable` have them by number."""

    def __init__(self, reach: Reach) -> None:
        self._reach, self._system = reach, reach.system
        self._index: Index = reach.system.index
        self._core: Core = reach.system.core
        self._n_rows = self._core.n_rows
        self._facts: list[Facts | None] = Tests(self._index, self._core).narrowed()
        self._masks = self._solved()

    def row(self, row: int) -> int:
        """Return the types of an expression's value; 0 where it never has one."""
        return self._masks[row]

    def variable(self, variable: int) -> int:
        """Return the types of what a variable may hold."""
        return self._masks[self._n_rows + variable]

    def is_live(self, row: int) -> bool:
        """Return whether a row may be evaluated, as far as types tell.

        It is not if a test around it never comes out that way, or if what is evaluated before it
        never returns.
        """
        if not self._is_possible(row):
            return False
        while (parent := self._parents[row]) != NONE:
            before = self._index.below(parent)
            if self._index.kind[parent] == columns.IF:
                before = before[:1]
            for other in before:
                if other == row:
                    break
                if not self._index.is_let[other] and not self._returns(other, MOST_DEPTH):
                    return False
            row = parent
        return True

    def _is_possible(self, row: int) -> bool:
        """Return whether all tests around a row may come out as they must for it."""
        facts = self._facts[row] or {}
        return all(kept & self._masks[self._n_rows + variable] for variable, kept in facts.items())

    def _returns(self, row: int, depth: int) -> bool:
        """Return whether the evaluation of a row may come to its end."""
        if not self._masks[row] or not depth:
            return self._masks[row] != 0
        below = self._index.below(row)
        if self._index.kind[row] == columns.IF:
            branches = (branch for branch in below[1:] if self._is_possible(branch))
            return any(self._returns(branch, depth - 1) for branch in branches)
        if self._index.kind[row] == columns.SEQUENCE:
            return all(self._returns(form, depth - 1) for form in below)
        return True

    def results(self, functions: Iterable[int]) -> int:
        """Return the types of what any of these functions may return."""
        found, s = 0, self._system
        for function in functions:
            kind, which = int(s.function_kind[function]), int(s.function_which[function])
            if kind == LAMBDA:
                found |= self._masks[self._index.below(which)[0]]
            elif kind == INSTANCE:
                found |= signatures().get(s.instances[which], OPEN).result
            elif kind != CONTINUATION:
                found = ANY
        return found

    def only_primitive(self, site: int) -> str | None:
        """Return the primitive that a call reaches through a variable, and nothing else; or None.

        What does not take so many arguments counts: that it fails is another finding.
        """
        name = self._primitives.get(site, "")
        return name or None

    @cached_property
    def _primitives(self) -> dict[int, str]:
        """The primitives that calls through variables reach; no name where there are others."""
        s, (call, function) = self._system, self._reach.solution.call_edges.T
        found: dict[int, str] = {}
        is_instance = s.function_kind[function] == INSTANCE
        sites = s.call_site[call]
        mixed = set(sites[~is_instance].tolist())
        columns = (sites[is_instance].tolist(), s.function_which[function[is_instance]].tolist())
        for site, which in set(zip(*columns, strict=True)):
            name = s.instances[which]
            is_first = site not in mixed and found.get(site, name) == name
            found[site] = name if is_first else ""
        return found

    @cached_property
    def _parents(self) -> list[int]:
        parents = np.full(self._n_rows, NONE, np.int32)
        sizes = np.diff(self._core.operand_offsets)
        parents[self._core.operands] = np.repeat(np.arange(self._n_rows), sizes)
        found: list[int] = parents.tolist()
        return found

    def _solved(self) -> list[int]:
        """Return the types of all rows, and of all variables behind those."""
        flows = Flows(self._reach, self._facts)
        order = np.argsort(flows.source, kind="stable")
        target, kept, masks = flows.target[order], flows.kept[order], flows.masks
        offsets = offsets_of(np.bincount(flows.source, minlength=len(masks)))
        changed = np.flatnonzero(masks)
        while len(changed):
            sizes = offsets[changed + 1] - offsets[changed]
            edge = np.repeat(offsets[changed] - (np.cumsum(sizes) - sizes), sizes)
            edge += np.arange(len(edge))
            reached = target[edge]
            before = masks[reached]
            np.bitwise_or.at(masks, reached, np.repeat(masks[changed], sizes) & kept[edge])
            changed = np.unique(reached[masks[reached] != before])
        found: list[int] = masks.tolist()
        return found

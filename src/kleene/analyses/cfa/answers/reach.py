"""Who calls whom: the engine's calls and functions as sites and lambdas of the program.

A call that a primitive makes belongs to the site that calls the primitive, however it got there: the
site reaches the primitive's own site, and whatever that reaches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kleene.analyses.cfa.calling import takes
from kleene.analyses.cfa.index import ROOT
from kleene.analyses.cfa.statement import Statement
from kleene.analyses.cfa.writer import INSTANCE, LAMBDA
from kleene.ir.scheme import core as columns
from kleene.solvers.inclusion import Solution
from kleene.solvers.inclusion.problem import NONE


@dataclass(eq=False)
class Reach:
    """What runs, and what calls what."""

    statement: Statement
    solution: Solution

    @cached_property
    def reached(self) -> set[int]:
        """The lambdas that make closures and can be called, and ROOT; all where every call counts."""
        s = self.statement
        if not s.counts_reachable:
            return {ROOT, *s.function_row[s.function_kind == LAMBDA].tolist()}
        sizes, row_of = self.solution.rows.sizes(), self.solution.row_of
        return {ROOT, *(row for row, node in s.here_of.items() if sizes[row_of[node]])}

    def runs(self, row: int) -> bool:
        """Return whether the code of a row can be reached."""
        return self.statement.index.procedure[row] in self.reached

    @cached_property
    def targets(self) -> dict[int, list[int]]:
        """The lambdas that each reached site may call, by row; sites that call none are absent."""
        direct, through = self._steps
        found: dict[int, set[int]] = {}
        for site in {*direct, *through}:
            if site < self.statement.core.n_rows:
                found[site] = set().union(*(direct[s] for s in _closure(site, through)))
        for site, row in self.statement.lets.tolist():
            if self.runs(site):
                found.setdefault(site, set()).add(row)
        return {site: sorted(rows) for site, rows in sorted(found.items()) if rows}

    @cached_property
    def mismatches(self) -> list[tuple[int, int]]:
        """Sites and lambdas that meet there without the right number of arguments."""
        s, edges = self.statement, self._edges
        kind, row = s.function_kind[edges[:, 1]], s.function_row[edges[:, 1]]
        lambdas = np.flatnonzero(kind == LAMBDA)
        found = {
            (int(s.call_site[edges[i, 0]]), int(row[i]))
            for i in lambdas.tolist()
            if not self._fits(int(edges[i, 0]), int(row[i]))
        }
        clauses = self._clauses
        return sorted(pair for pair in found if pair[1] not in clauses and pair[0] < s.core.n_rows)

    @cached_property
    def _clauses(self) -> set[int]:
        """Lambdas that are clauses of a `case-lambda`: others take over where they do not fit."""
        index, found = self.statement.index, set()
        for row in np.flatnonzero(self.statement.core.kind == columns.CALL).tolist():
            operator, *operands = index.below(row)
            if index.primitive(operator) == "%case-lambda":
                found.update(operands)
        return found

    @property
    def _edges(self) -> np.ndarray:
        return self.solution.call_edges

    @cached_property
    def _steps(self) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
        """Lambdas called by each site itself, and sites of primitives that it calls."""
        s = self.statement
        direct: defaultdict[int, set[int]] = defaultdict(set)
        through: defaultdict[int, set[int]] = defaultdict(set)
        for call, function in self._edges.tolist():
            site, row = int(s.call_site[call]), int(s.function_row[function])
            if s.function_kind[function] == INSTANCE:
                through[site].add(row)
            elif s.function_kind[function] == LAMBDA and self._fits(call, row):
                direct[site].add(row)
        for site in s.evaluations:
            through[site].add(s.evaluator)
        return direct, through

    def _fits(self, call: int, row: int) -> bool:
        s = self.statement
        size, rest = int(s.call_size[call]), s.index.has_rest[row]
        return size == NONE or takes(s.index.n_bound[row] - rest, rest, size)


def _closure(site: int, through: dict[int, set[int]]) -> Iterable[int]:
    """Return a site and all sites of primitives that it reaches."""
    found, waiting = {site}, [site]
    while waiting:
        for other in through.get(waiting.pop(), ()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found

"""Who calls whom: the engine's calls and functions as sites and targets of the program.

A call that a primitive makes belongs to the site that calls the primitive, however it got there:
the site reaches the primitive's own site, and whatever that reaches.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kleene.analyses.cfa.builder import HIDDEN, INSTANCE, PARAMETER, TEXT, UNBOUND
from kleene.analyses.cfa.constraints import ConstraintSystem
from kleene.analyses.cfa.index import ROOT
from kleene.analyses.cfa.primitives import RAISE_AGAIN
from kleene.base.arrays import I32, Bools, distinct
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.primitives import table
from kleene.solvers.inclusion import Solution
from kleene.solvers.inclusion.problem import NONE


@dataclass(eq=False)
class Reach:
    """What runs, and what calls what."""

    system: ConstraintSystem
    solution: Solution
    coarser: Reach | None = None  # of shorter contexts, which may know more in places

    @cached_property
    def reached(self) -> set[int]:
        """The closures' lambdas that can be called, and ROOT; all where every call counts."""
        s = self.system
        if not s.counts_reachable:
            return {ROOT, *s.function_which[s.is_lambda].tolist()}
        sizes, row_of = self.solution.rows.sizes(), self.solution.row_of
        found = {row for row, nodes in s.here_of.items() if sizes[row_of[nodes]].any()}
        return {ROOT, *(found if self.coarser is None else found & self.coarser.reached)}

    def runs(self, row: int) -> bool:
        """Return whether the code of a row can be reached."""
        return self.system.index.procedure[row] in self.reached

    @cached_property
    def targets(self) -> dict[int, list[int]]:
        """What each reached site may call, in the numbers of `target_of_function`.

        A primitive that the site names itself is not among them: `(map f x)` has the targets of f.
        Sites that call nothing are absent.
        """
        s, direct = self.system, _grouped(*self._pairs(self.fits))
        found = {each: rows for each, rows in direct.items() if each < s.core.n_rows}
        for each, others in self._closures.items():
            found[each] = sorted(set().union(*(direct.get(other, ()) for other in others)))
        found.update((call, [row]) for call, row in s.lets.tolist() if self.runs(call))
        if self.coarser is not None:
            known = self.coarser.targets
            found = {
                site: [t for t in rows if t in known.get(site, ())] for site, rows in found.items()
            }
        return {each: rows for each, rows in sorted(found.items()) if rows}

    @cached_property
    def from_outside(self) -> set[int]:
        """The targets that code outside of the program may call, through a name or as a library."""
        s = self.system
        if s.outside_site == NONE:
            return set()
        direct = _grouped(*self._pairs(self.fits))
        sites = _closure(s.outside_site, self._through)
        return set().union(*(direct.get(site, ()) for site in sites))

    def behind(self, site: int) -> set[int]:
        """Return a site, and those of primitives as values and of text that it calls."""
        return self._closures.get(site, {site})

    @cached_property
    def evaluating(self) -> list[int]:
        """The sites that evaluate text, whether they name `eval` or come by it as a value.

        Those that call a procedure of such a text do not.
        """
        texts = {text for _, text in self.system.evaluations}
        through, n_rows = self._sites_behind((INSTANCE,)), self.system.core.n_rows
        return sorted(s for s in through if s < n_rows and texts & _closure(s, through))

    @cached_property
    def _closures(self) -> dict[int, set[int]]:
        """For sites that call primitives as values, or evaluate: all the sites behind them."""
        through, n_rows = self._through, self.system.core.n_rows
        return {site: _closure(site, through) for site in through if site < n_rows}

    @cached_property
    def mismatches(self) -> dict[int, list[tuple[int, int]]]:
        """Targets that sites, or primitives called there, meet with a number they do not take.

        Each comes with the number of arguments. Clauses of a `case-lambda` do not count, and what
        is called there with a right number as well does not.
        """
        s, (call, function) = self.system, self.solution.call_edges.T
        site, size = s.call_site[call], s.call_size[call]
        target = s.target_of_function[function]
        clauses = np.fromiter(self.clauses, np.int64)
        chosen = ~self.fits & (site < s.core.n_rows) & ~np.isin(target, clauses)
        chosen &= s.function_kind[function] != HIDDEN
        found: dict[int, list[tuple[int, int]]] = {}
        columns = (column[chosen].tolist() for column in (site, target, size))
        for at, what, n in sorted(set(zip(*columns, strict=True))):
            if what not in self.targets.get(at, ()):
                found.setdefault(at, []).append((what, n))
        return found

    def _pairs(self, chosen: Bools) -> tuple[I32, I32]:
        """Return the sites and targets of the chosen edges; text that calls text is none."""
        s, (call, function) = self.system, self.solution.call_edges.T
        kind, site = s.function_kind[function], s.call_site[call]
        texts = [s.outside_site, *(text for _, text in s.evaluations)]
        chosen = chosen & (kind != HIDDEN) & ~((kind == TEXT) & np.isin(site, texts))
        return site[chosen], s.target_of_function[function[chosen]]

    @cached_property
    def fits(self) -> Bools:
        """Whether each edge passes as many arguments as the function takes, as far as is known."""
        call, function = self.solution.call_edges.T
        size, (least, most) = self.system.call_size[call], self.arities
        found: Bools = (size == NONE) | (least[function] <= size) & (size <= most[function])
        return found

    @cached_property
    def arities(self) -> tuple[I32, I32]:
        """How many arguments each function takes at least and at most."""
        s, n_most = self.system, np.iinfo(np.int32).max
        least = np.zeros(len(s.function_kind), np.int32)
        most = np.full(len(least), n_most, np.int32)
        row = s.function_which[s.is_lambda]
        least[s.is_lambda] = s.core.n_bound[row] - s.core.has_rest[row]
        most[s.is_lambda] = np.where(s.core.has_rest[row], n_most, s.core.n_bound[row])
        most[s.function_kind == PARAMETER] = 0
        for function in np.flatnonzero(s.function_kind == INSTANCE).tolist():
            name = s.instances[int(s.function_which[function])]
            if name == RAISE_AGAIN:
                most[function] = 0
                continue
            facts = table()[name]
            least[function] = facts.n_least
            most[function] = n_most if facts.n_most is None else facts.n_most
        return least, most

    @cached_property
    def clauses(self) -> set[int]:
        """Lambdas that are clauses of a `case-lambda`: others take over where they do not fit."""
        index, found = self.system.index, set[int]()
        for row in np.flatnonzero(self.system.core.kind == columns.CALL).tolist():
            operator, *operands = index.below(row)
            if index.primitive(operator) == "%case-lambda":
                found.update(operands)
        return found

    @cached_property
    def _through(self) -> dict[int, list[int]]:
        """The sites of primitives used as values, and of unseen code, that each site calls."""
        return self._sites_behind((INSTANCE, TEXT, UNBOUND))

    def _sites_behind(self, kinds: tuple[int, ...]) -> dict[int, list[int]]:
        """Return the sites behind functions of some kinds, and of text, by the site that calls."""
        s, (call, function) = self.system, self.solution.call_edges.T
        kind = s.function_kind[function]
        behind = np.where(kind == UNBOUND, s.outside_site, s.function_which[function])
        chosen = np.isin(kind, kinds)
        found = _grouped(s.call_site[call[chosen]], behind[chosen].astype(np.int32))
        for site, text in s.evaluations:
            found.setdefault(site, []).append(text)
        return found


def _grouped(keys: I32, values: I32) -> dict[int, list[int]]:
    """Return the values of each key, ascending, each once."""
    pairs = distinct(keys.astype(np.int64) << 32 | values)
    unique, first = np.unique(pairs >> 32, return_index=True)
    parts = np.split(pairs & 0xFFFFFFFF, first[1:])
    return {int(k): part.tolist() for k, part in zip(unique, parts, strict=False)}


def _closure(site: int, through: dict[int, list[int]]) -> set[int]:
    """Return a site and all sites of primitives that it reaches."""
    found, waiting = {site}, [site]
    while waiting:
        for other in through.get(waiting.pop(), ()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found

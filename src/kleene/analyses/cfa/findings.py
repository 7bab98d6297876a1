"""What is wrong with a program, or cannot be known, as far as control flow shows it.

Sets hold every procedure that may come to an expression in any run, so *never* is sound; *may* is
a note, for sets hold more than any one run. Only code that can be reached has findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from kleene import analyses
from kleene.analyses.cfa import rules
from kleene.analyses.cfa.evaluated import sees_libraries_only
from kleene.analyses.cfa.naming import Value
from kleene.base.errors import Span
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core
from kleene.ir.scheme.primitives import table
from kleene.results import Finding, Location, Rule, apply_suppressions, rules_in
from kleene.solvers.inclusion import NONE

if TYPE_CHECKING:
    from kleene.analyses.cfa.result import CFAResult

_SHOWN = 3


def findings_of(result: CFAResult, may: bool) -> list[Finding]:
    """Return the findings in reached code, and about procedures that are not, by place.

    With `may`, those are among them that may be no fault at all. Suppressions are applied.
    """
    found = _Findings(result)
    every = [
        *(each for each in found.mismatches() if may or each.rule is not rules.MAY_CALL_ARITY),
        *found.primitives(),
        *found.no_procedures(),
        *found.others(),
        *found.unreachable(result.dead),
    ]
    files = files_of(result.core)
    inside = set(files)
    own = [finding for finding in every if finding.span is None or finding.span.file in inside]
    return apply_suppressions(dict.fromkeys(own), files, rules_in(rules), analyses.all_rules)


def files_of(core: Core) -> list[str]:
    """Return the paths of all files of a program, those of its own libraries included."""
    return [source.file for source in core.sources.all if not source.is_bundled]


class _Findings:
    def __init__(self, result: CFAResult) -> None:
        self._system, self._solution = result.system, result.solution
        self._reach, self._naming = result.reach, result.naming
        calls = np.flatnonzero(result.core.kind == columns.CALL).tolist()
        self._calls = [call for call in calls if self._reach.runs(call)]

    def mismatches(self) -> Iterator[Finding]:
        """Yield calls of what takes another number of arguments, by the program or a primitive."""
        index, naming = self._system.index, self._naming
        for site, pairs in self._reach.mismatches.items():
            if not self._reach.runs(site):
                continue
            others = len(self._reach.targets.get(site, ()))
            by = index.primitive(index.below(site)[0])
            values = sorted({naming.target(target) for target, _ in pairs}, key=attrgetter("name"))
            names = [value.name for value in values]
            given = " or ".join(_arguments(n) for n in sorted({n for _, n in pairs}))
            message = f"{_listed(names)} {'does' if len(names) == 1 else 'do'} not take {given}"
            if by is not None:
                message += f", with which {by} calls {'it' if len(names) == 1 else 'them'}"
            if others:
                message += "; others that may be called here do"
            written = [
                Location(self._span(value.row), f"{value.name} is written here")
                for value in values[:_SHOWN]
                if value.row >= 0
            ]
            rule = rules.MAY_CALL_ARITY if others else rules.CALL_ARITY
            yield self._about(rule, site, message, tuple(written))

    def primitives(self) -> Iterator[Finding]:
        """Yield calls of primitives by name that take other numbers of arguments."""
        for site in self._calls:
            operator, *operands = self._system.index.below(site)
            name = self._system.index.primitive(operator)
            if name is not None and not table()[name].accepts(len(operands)):
                message = f"{name} is called with {_arguments(len(operands))}"
                yield self._about(rules.CALL_ARITY, site, message)

    def no_procedures(self) -> Iterator[Finding]:
        """Yield calls of what is never a procedure: no lambda, primitive or continuation."""
        s, edges = self._system, self._solution.call_edges
        calling = set(s.call_site[edges[:, 0]].tolist())
        unbound = set(s.core.unbound().tolist())
        operator_node = dict(zip(s.call_site.tolist(), s.call_operator.tolist(), strict=True))
        for site in self._calls:
            operator = s.index.below(site)[0]
            is_known = s.index.primitive(operator) is not None or s.index.is_let[operator]
            is_literal = s.core.kind[operator] == columns.CONSTANT
            if site in calling or is_known or operator in unbound:
                continue
            if not is_literal and site not in operator_node:
                continue
            node = operator_node.get(site, NONE)
            objects = self._solution.of(node).tolist() if node != NONE else []
            data = sorted({self._naming.object(o) for o in set(objects) - s.hidden})
            message = "what is called here is never a procedure"
            if data:
                message += f": it may be {_listed(data)}"
            yield self._about(rules.NOT_A_PROCEDURE, site, message)

    def others(self) -> Iterator[Finding]:
        """Yield text that is evaluated, and variables that nothing defines."""
        s = self._system
        for site in self._reach.evaluating:
            if self._reach.runs(site):
                message = "text is evaluated: it may call and change all that it is given"
                if not sees_libraries_only(s.index, tuple(s.index.below(site)[1:])):
                    message += ", and all that global variables lead to"
                yield self._about(rules.EVALUATES, site, message)
        for row in s.core.unbound().tolist():
            if self._reach.runs(row):
                name = s.core.names[s.core.reference[row]]
                yield self._about(rules.UNBOUND, row, f"nothing defines '{name}'")

    def unreachable(self, dead: Iterable[Value]) -> Iterator[Finding]:
        """Yield the procedures that nothing can call."""
        for procedure in dead:
            message = f"{procedure.name} is never called: no call that may run leads to it"
            yield self._about(rules.UNREACHABLE_PROCEDURE, procedure.row, message)

    def _about(
        self, rule: Rule, row: int, message: str, related: tuple[Location, ...] = ()
    ) -> Finding:
        inside = self._naming.procedure(self._system.index.procedure[row]).name
        return Finding(rule, self._span(row), message, inside, related)

    def _span(self, row: int) -> Span | None:
        return self._naming.span(self._naming.call_location(row))


def _listed(names: list[str]) -> str:
    """Return names as a list, as far as people read it."""
    more = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def _arguments(n: int) -> str:
    return "1 argument" if n == 1 else f"{n} arguments"

"""The steps of a derivation in the words of Scheme: what each flow does, and where."""

from __future__ import annotations

from kleene.analyses.cfa.constraints import ConstraintSystem
from kleene.analyses.cfa.naming import Naming
from kleene.results.explanation import Step
from kleene.solvers.inclusion.problem import NONE
from kleene.solvers.inclusion.why import Flow, Rule

_TEXTS = {
    Rule.ADDRESS: "is made",
    Rule.COPY: "flows on",
    Rule.LOAD: "is taken out of data",
    Rule.STORE: "is put into data",
    Rule.ARGUMENT: "is passed as an argument",
    Rule.RESULT: "is returned",
}


class Steps:
    """Describes flows of one solved program as steps."""

    def __init__(self, system: ConstraintSystem, naming: Naming) -> None:
        self._system = system
        self._naming = naming
        problem = system.problem
        self._gates = set(problem.offset_destination[problem.offset_amount >= 0].tolist())
        cells = problem.contents[: system.n_data].tolist()
        rows = system.object_row[: system.n_data].tolist()
        self._cells = dict(zip(cells, rows, strict=True))

    def of(self, flows: list[Flow]) -> tuple[Step, ...]:
        """Return the steps that have a location or a variable: others are only bookkeeping."""
        steps = []
        for flow in flows:
            rule = flow.rule
            if flow.rule is Rule.LOAD and flow.via in self._gates:
                rule = Rule.COPY
            if (row := self._cells.get(flow.node, NONE)) >= 0:
                steps.append(self._step(row, "is kept in data", "", flow))
                continue
            row, node = self._row(flow), self._naming.node(flow.node) or ""
            if row >= 0 or node:
                steps.append(self._step(row, _TEXTS.get(rule, rule.value), node, flow))
        return tuple(steps)

    def _step(self, row: int, text: str, node: str, flow: Flow) -> Step:
        location = int(self._system.core.at[row]) if row >= 0 else NONE
        return Step(
            self._naming.location(location),
            f"{text}: {node}" if node else text,
            node,
            flow.rule.value,
            self._naming.span(location),
        )

    def _row(self, flow: Flow) -> int:
        """Return the row of the expression that a flow is about: of a call, the call; or NONE."""
        s = self._system
        if flow.rule in (Rule.ARGUMENT, Rule.RESULT):
            site = int(s.call_site[flow.via])
            return site if site < s.core.n_rows else NONE
        return s.row_of.get(flow.node, NONE)

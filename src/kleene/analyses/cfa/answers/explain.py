"""Why may a call reach a procedure? The shortest chain of flows that carries it there, checked."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from kleene.analyses.cfa.answers.naming import Naming
from kleene.analyses.cfa.constraints import ConstraintSystem
from kleene.solvers.inclusion import Solution
from kleene.solvers.inclusion.why import Flow, Flows, Rule, chain

_SAYS = {
    Rule.ADDRESS: "is made",
    Rule.COPY: "flows on",
    Rule.LOAD: "is taken out of data",
    Rule.STORE: "is put into data",
    Rule.ARGUMENT: "is passed as an argument",
    Rule.RESULT: "is returned",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One flow on the way: where, what happens, and who holds the procedure then."""

    place: str
    says: str
    holder: str

    def __str__(self) -> str:
        return f"{self.place or '-'}: {self.says}" + (f": {self.holder}" if self.holder else "")

    def as_json(self) -> dict[str, str]:
        """Return the step as plain data."""
        return {"place": self.place, "says": self.says, "holder": self.holder}


class Teller:
    """Finds chains, and tells them in places of the program."""

    def __init__(self, system: ConstraintSystem, solution: Solution, naming: Naming) -> None:
        self.system = system
        self.naming = naming
        self.flows = Flows(system.problem, solution)
        problem = system.problem
        self._gates = set(problem.offset_destination[problem.offset_amount >= 0].tolist())
        cells = problem.contents[: system.n_data].tolist()
        rows = system.object_row[: system.n_data].tolist()
        self._cells = dict(zip(cells, rows, strict=True))

    def chain(self, nodes: list[int], objects: list[int]) -> list[Flow] | None:
        """Return the shortest flows from where one of the objects is made to one of the nodes."""
        found = chain(self.flows, nodes, objects, self.system.problem.n_nodes)
        assert found is None or self.holds(found, nodes, objects), "a chain that does not hold"
        return found

    def holds(self, found: list[Flow], nodes: list[int], objects: list[int]) -> bool:
        """Return whether each flow begins where the one before ends, and each fact is one."""
        linked = all((a.node, a.object) == (b.source, b.from_object) for a, b in pairwise(found))
        facts = all(self.flows.holders(flow.object)[flow.node] for flow in found)
        ends = found[-1].node in nodes and found[-1].object in objects
        return linked and facts and ends and found[0].rule is Rule.ADDRESS

    def steps(self, found: list[Flow]) -> list[Step]:
        """Return the steps that have a place in the program: others are only bookkeeping."""
        steps = []
        for flow in found:
            if flow.node in self._cells and self._cells[flow.node] >= 0:
                place = self.naming.place(self._cells[flow.node])
                steps.append(Step(place, "is kept in data", ""))
                continue
            place, holder = self._told(flow)
            if place or holder:
                is_gate = flow.rule is Rule.LOAD and flow.via in self._gates
                rule = Rule.COPY if is_gate else flow.rule
                steps.append(Step(place, _SAYS.get(rule, str(rule)), holder))
        return steps

    def _told(self, flow: Flow) -> tuple[str, str]:
        s, naming = self.system, self.naming
        if flow.rule in (Rule.ARGUMENT, Rule.RESULT):
            site = int(s.call_site[flow.via])
            place = naming.place(site) if site < s.core.n_rows else ""
        else:
            place = naming.place(s.row_of.get(flow.node, -1))
        variable = s.variable_of.get(flow.node)
        return place, "" if variable is None else naming.variable(variable)

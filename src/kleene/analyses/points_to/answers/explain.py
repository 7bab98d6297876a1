"""The steps of a derivation in the words of C: what each flow of the engine does, and where."""

from __future__ import annotations

from kleene.analyses.points_to.answers.sets import Solved
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.results.explanation import Step
from kleene.solvers.inclusion import NONE
from kleene.solvers.inclusion.why import OUTSIDE, Flow, Rule


class Steps:
    """Describes flows of one solved program as steps."""

    def __init__(self, solved: Solved) -> None:
        self._program, self._system = solved.program, solved.system
        self._naming = solved.naming

    def of(self, flows: list[Flow]) -> tuple[Step, ...]:
        """Return the steps of a derivation.

        Flows into and out of a node without a name are one step. That a function's name is its
        address is no step if there are others.
        """
        if len(flows) > 1 and flows[0].rule == Rule.ADDRESS and self._is_symbol(flows[0].node):
            flows = flows[1:]
        steps, first = [], 0
        for i, flow in enumerate(flows):
            if self._is_named(flow.node) or flow is flows[-1]:
                text = self._text(flow) if i == first else self._text_of_both(flows[first], flow)
                span = self._span(flow)
                location, node = self._naming.location(span), self._name(flow.node)
                steps.append(Step(location, text, node, flow.rule.value, self._naming.span(span)))
                first = i + 1
        return tuple(steps)

    def _is_named(self, node: int) -> bool:
        return node == OUTSIDE or self._naming.node(node) is not None

    def _is_symbol(self, node: int) -> bool:
        return 0 <= node < len(self._program.globals)

    def _text_of_both(self, first: Flow, last: Flow) -> str:
        """Return what flows through nodes without a name do together."""
        return f"{self._name(last.node)} gets {self._name(first.source)}"

    def _span(self, flow: Flow) -> int:
        """Return the row in the spans of the statement behind a flow, or -1."""
        instruction = self._instruction(flow)
        if instruction >= 0:
            return int(self._program.instructions.span[instruction])
        owner = self._owner(flow.node)
        if owner < 0:
            made = flow.source if flow.rule == Rule.ESCAPE else flow.node
            owner = made if 0 <= made < self._program.n_values else -1
        return self._naming.span_row(owner) if owner >= 0 else -1

    def _instruction(self, flow: Flow) -> int:
        origins, row = self._system.origins, flow.row
        if row == NONE or flow.rule in (Rule.ESCAPE, Rule.ENTER):
            return -1
        column = {
            Rule.ADDRESS: origins.address,
            Rule.COPY: origins.copy,
            Rule.LOAD: origins.load,
            Rule.STORE: origins.store,
            Rule.OFFSET: origins.offset,
        }.get(flow.rule, origins.call)
        return int(column[row])

    def _owner(self, node: int) -> int:
        """Return the value that storage belongs to, for objects of initialisers; or -1."""
        if node == OUTSIDE or (object := int(self._naming.object_of_contents[node])) < 0:
            return -1
        allocation = self._system.locations.allocation[object]
        if self._system.allocations.kind[allocation] != AllocationKind.GLOBAL:
            return -1
        return int(self._system.allocations.site[allocation])

    def _text(self, flow: Flow) -> str:
        object = self._naming.object(flow.object)
        node, source = self._name(flow.node), self._name(flow.source)
        if flow.rule == Rule.ADDRESS:
            if self._owner(flow.node) >= 0 and self._instruction(flow) < 0:
                return f"{node} is initialised with {object}"
            return f"{node} is the address of {object}"
        if self._owner(flow.node) >= 0 and self._instruction(flow) < 0 and flow.rule == Rule.COPY:
            return f"{node} is initialised with {source.removeprefix('&')}"
        via = self._name(flow.via) if flow.rule in (Rule.LOAD, Rule.STORE) else "&"
        is_variable = not via.startswith("&") and "%" not in via and self._is_named(flow.via)
        through = f" through {via}" if is_variable else ""
        return {
            Rule.COPY: f"{node} gets {source}",
            Rule.LOAD: f"{node} is loaded from {source}{through}",
            Rule.STORE: f"{source} is stored in {node}{through}",
            Rule.OFFSET: f"{node} is {source}, moved to {object}",
            Rule.ARGUMENT: f"{source} is passed to {node}",
            Rule.RESULT: f"{source} is returned to {node}",
            Rule.ESCAPE: f"{source} escapes to code outside the program",
            Rule.ENTER: f"{node} comes from code outside the program",
        }[flow.rule]

    def _name(self, node: int) -> str:
        return "the outside" if node == OUTSIDE else self._naming.readable(node)

"""The answer of a control-flow analysis, and the questions it takes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from kleene.analyses.cfa.answers.call_graph import CallGraph, Site
from kleene.analyses.cfa.answers.explain import Step, Teller
from kleene.analyses.cfa.answers.naming import Naming, Value
from kleene.analyses.cfa.answers.reach import Reach
from kleene.analyses.cfa.builder import INSTANCE, LAMBDA
from kleene.analyses.cfa.constraints import ConstraintSystem
from kleene.analyses.cfa.findings import Finding, findings_of
from kleene.analyses.cfa.index import ROOT
from kleene.base.errors import SourceError, Span
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core
from kleene.solvers.inclusion import Solution
from kleene.solvers.inclusion.problem import NONE


@dataclass(frozen=True, eq=False, repr=False)
class CFAResult:
    """Which procedures each variable may hold, and which each call may reach.

    All are may-answers that cover every run. Numbers, strings and the like are not followed: a
    variable that holds only those holds nothing here.
    """

    core: Core
    system: ConstraintSystem
    solution: Solution

    def __repr__(self) -> str:
        p = self.system.problem
        return f"<CFAResult: {len(self.procedures)} procedures, {p.n_constraints} constraints>"

    def flows(self, name: str) -> list[Value]:
        """Return what a variable may hold: procedures, and data that may hold some.

        A name stands for every variable of that name; `12:name` for those bound in line 12.

        Raises:
            SourceError: `cfa/no-such-name`, with the nearest names.
        """
        return self.held(self._variables(name))

    def held(self, variables: list[int]) -> list[Value]:
        """Return what any of these variables, given by number, may hold."""
        live = [v for v in variables if self._is_live(v)]
        found = {
            o for v in live for n in self.system.nodes_of[v] for o in self.solution.of(n).tolist()
        }
        return sorted({self.value(o) for o in found - self.system.hidden})

    def calls(self, place: str) -> list[Value]:
        """Return the procedures that the call at `file:line:column`, or `line:column`, may reach.

        Raises:
            SourceError: `cfa/no-such-call`, with the calls in that line.
        """
        return self.targets(self._sites_at(place))

    def targets(self, sites: list[int]) -> list[Value]:
        """Return the procedures that any of these calls, given by row, may reach."""
        rows = {row for site in sites for row in self.reach.targets.get(site, ())}
        return [self.naming.procedure(row) for row in sorted(rows)]

    def call_graph(self) -> CallGraph:
        """Return who may call whom, and where."""
        return self._graph

    def callers(self, name: str, depth: int = 1) -> list[tuple[int, Value]]:
        """Return who may call a procedure: how many calls away at least, and the caller."""
        found: dict[Value, int] = {}
        for procedure in self._named(name):
            for distance, caller in self._graph.callers(procedure, depth):
                found[caller] = min(distance, found.get(caller, distance))
        return sorted((distance, caller) for caller, distance in found.items())

    def why(self, call: str, target: str) -> list[Step]:
        """Return the shortest way, step by step, on which a procedure comes to be called.

        Raises:
            SourceError: the call cannot reach the procedure (`cfa/no-such-fact`).
        """
        sites = self._sites_at(call)
        rows = {procedure.row for procedure in self._named(target)}
        s = self.system
        behind = set().union(*(self.reach.behind(site) for site in sites))
        calls = np.flatnonzero(np.isin(s.call_site, list(behind)))
        nodes = np.unique(s.call_operator[calls]).tolist()
        objects = [o for o, what in s.procedures.items() if what[0] == LAMBDA and what[1] in rows]
        found = self._teller.chain(nodes, objects) if nodes and objects else None
        if found is not None:
            return self._teller.steps(found)
        if any(rows & set(self.reach.targets.get(site, ())) for site in sites):
            return [Step(call, "is called right where it is written", "")]
        reached = ", ".join(map(str, self.targets(sites))) or "nothing"
        message = f"the call at {call} cannot reach '{target}'"
        raise SourceError(None, "cfa/no-such-fact", message, f"it may reach {reached}")

    @cached_property
    def procedures(self) -> list[Value]:
        """Every procedure that is written in the program and makes closures."""
        index = self.system.index
        rows = np.flatnonzero(self.core.kind == columns.LAMBDA).tolist()
        return [self.naming.procedure(row) for row in rows if not index.is_let[row]]

    @cached_property
    def dead(self) -> list[Value]:
        """The procedures that nothing can call."""
        called = {row for rows in self.reach.targets.values() for row in rows}
        return [procedure for procedure in self.procedures if procedure.row not in called]

    @cached_property
    def known_calls(self) -> list[Site]:
        """The calls that can reach one procedure only: it could be put in their place."""
        lets = set(self.system.lets[:, 0].tolist())
        sites = (site for site in self._graph.sites if site.row not in lets)
        return [site for site in sites if len(site.targets) == 1]

    @cached_property
    def escaping(self) -> list[Value]:
        """The procedures that are kept in data, raised, or seen by text that is evaluated."""
        s = self.system
        nodes = set(s.problem.contents[: s.n_data].tolist()) - {NONE, *s.variable_of}
        found = {o for node in nodes for o in self.solution.of(node).tolist()}
        values = {self.value(int(o)) for o in found}
        return sorted(value for value in values if value.kind == "procedure")

    @cached_property
    def findings(self) -> list[Finding]:
        """What is wrong or cannot be known: wrong numbers of arguments, `eval`, unbound names."""
        return findings_of(self.system, self.reach, self.naming)

    def to_json(self) -> str:
        """Return everything as JSON text, the same on every run and device."""
        return json.dumps(self.as_json(), sort_keys=True, indent=2)

    def as_json(self) -> dict[str, object]:
        """Return everything as plain data."""
        variables = {
            self.naming.variable(v): [value.as_json() for value in held]
            for v in range(self.core.n_variables)
            if (held := self.held([v]))
        }
        return {
            "call_graph": self._graph.as_json(),
            "variables": variables,
            "dead": [value.as_json() for value in self.dead],
            "escaping": [value.as_json() for value in self.escaping],
            "findings": [finding.as_json() for finding in self.findings],
        }

    def value(self, object: int) -> Value:
        """Return an object of the problem as a value of the program."""
        if object not in self._values:
            self._values[object] = self._value(object)
        return self._values[object]

    @cached_property
    def naming(self) -> Naming:
        """What things are called."""
        return Naming(self.core, self.system.index)

    @cached_property
    def reach(self) -> Reach:
        """What runs, and what calls what, by row."""
        return Reach(self.system, self.solution)

    @cached_property
    def _values(self) -> dict[int, Value]:
        return {}

    @cached_property
    def _kinds(self) -> list[str]:
        """The kinds of data by the number of their shapes."""
        return [tag if isinstance(tag, str) else tag[0] for tag, _ in self.system.shapes]

    def _value(self, object: int) -> Value:
        s, row = self.system, int(self.system.object_row[object])
        allocation = np.searchsorted(s.problem.allocation_offsets, object, side="right") - 1
        kind = self._kinds[s.problem.allocation_layout[allocation]]
        if object not in s.procedures:
            return Value(kind, kind, self.naming.place(row), row)
        what, which = s.procedures[object]
        if what == LAMBDA:
            return self.naming.procedure(row)
        if what == INSTANCE:
            return Value("primitive", s.instances[which], "", NONE)
        name = "continuation" if row != NONE else "evaluated"
        return Value(name, name, self.naming.place(row), row)

    @cached_property
    def _graph(self) -> CallGraph:
        naming, index = self.naming, self.system.index
        sites = [
            Site(
                row,
                naming.place(row),
                naming.procedure(index.procedure[row]),
                tuple(naming.procedure(target) for target in targets),
            )
            for row, targets in self.reach.targets.items()
        ]
        top = naming.procedure(ROOT)
        reached = {target for site in sites for target in site.targets}
        callers = {site.caller for site in sites} - {top}
        others = sorted(reached | callers, key=lambda procedure: procedure.row)
        return CallGraph((top, *others), tuple(sites))

    @cached_property
    def _teller(self) -> Teller:
        return Teller(self.system, self.solution, self.naming)

    def _is_live(self, variable: int) -> bool:
        owner = int(self.core.owner[variable])
        if owner == NONE:
            return True
        return self.system.index.inside(owner) in self.reach.reached

    def _variables(self, text: str) -> list[int]:
        line, _, name = text.rpartition(":")
        if not line.rpartition(":")[2].isdigit():
            line, name = "", text
        found = [v for v, known in enumerate(self.core.names) if known == name]
        if line:
            number = line.rpartition(":")[2]
            found = [v for v in found if self.naming.variable(v).split(":")[-2] == number]
        if not found:
            near = get_close_matches(name, set(self.core.names), 3)
            notes = [f"did you mean {', '.join(sorted(near))}?"] if near else []
            raise SourceError(None, "cfa/no-such-name", f"no variable is called '{text}'", *notes)
        return found

    def _named(self, text: str) -> list[Value]:
        """Return the procedures of that name, or at that place; by place, lambdas of `let` too."""
        lets = map(self.naming.procedure, self.system.lets[:, 1].tolist())
        found = [p for p in self.procedures if p.name == text]
        found += [
            p
            for p in (*self.procedures, *lets)
            if text in (p.place, str(p)) or p.place.endswith(f":{text}")
        ]
        if not found:
            near = get_close_matches(text, {p.name for p in self.procedures}, 3)
            notes = [f"did you mean {', '.join(sorted(near))}?"] if near else []
            message = f"no procedure is called '{text}'"
            raise SourceError(None, "cfa/no-such-procedure", message, *notes)
        return found

    def _sites_at(self, place: str) -> list[int]:
        """Return the calls at a place."""
        rows = self._calls_by_place
        found = [row for known, row in rows if known == place or known.endswith(f":{place}")]
        if not found:
            line = place.rpartition(":")[0]
            lines = ((known, f":{known.rpartition(':')[0]}") for known, _ in rows)
            near = sorted({known for known, at in lines if at.endswith(f":{line}")})[:5]
            notes = [f"there are calls at {', '.join(near)}"] if line and near else []
            raise SourceError(Span(place), "cfa/no-such-call", "no call begins there", *notes)
        return found

    @cached_property
    def _calls_by_place(self) -> list[tuple[str, int]]:
        rows = np.flatnonzero(self.core.kind == columns.CALL).tolist()
        return [(self.naming.place(row), row) for row in rows]

"""The answer of a control-flow analysis, and the questions it takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from kleene.analyses.cfa.constraints import ConstraintSystem
from kleene.analyses.cfa.contexts import captured_anywhere
from kleene.analyses.cfa.findings import findings_of
from kleene.analyses.cfa.index import ROOT
from kleene.analyses.cfa.naming import Naming, Steps, Value
from kleene.analyses.cfa.reach import Reach
from kleene.base import json
from kleene.base.arrays import offsets_of
from kleene.base.errors import SourceError, Span
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core
from kleene.results import Finding, Table, findings_json
from kleene.results.call_graph import CALLBACK, DIRECT, INDIRECT, CallGraph, CallSite
from kleene.results.explanation import Explanation, Step
from kleene.solvers.inclusion import Solution
from kleene.solvers.inclusion.problem import NONE
from kleene.solvers.inclusion.why import Derivations


@dataclass(frozen=True, eq=False, repr=False)
class CFAResult:
    """Which procedures each variable may hold, and which each call may reach.

    All are may-answers that cover every run. Numbers, strings and the like are not followed: a
    variable that holds only those holds nothing here.
    """

    core: Core
    system: ConstraintSystem
    solution: Solution
    coarser: CFAResult | None = None  # with shorter contexts: all answers lie in its answers, too
    is_library: bool = False  # whether code outside may use what the top level defines

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
        values = {self.naming.value(o) for o in found - self.system.hidden}
        if self.coarser is not None:
            values &= set(self.coarser.held(variables))
        return sorted(values)

    def calls(self, location: str) -> list[Value]:
        """Return what the call at `file:line:column`, or `line:column`, may reach.

        Those are procedures of the program, primitives, continuations, parameters, and code that
        the analysis does not see: text that is evaluated, and what has a name that nothing defines.

        Raises:
            SourceError: `cfa/no-such-call`, with the calls in that line.
        """
        return self.targets(self._sites_at(location))

    def targets(self, sites: list[int]) -> list[Value]:
        """Return what any of these calls, given by row, may reach; see `calls`."""
        index, found = self.system.index, set[int]()
        for site in sites:
            found.update(self.reach.targets.get(site, ()))
            name = index.primitive(index.below(site)[0])
            if name is not None and self.reach.runs(site):
                found.add(self.core.n_rows + self.system.primitive_number[name])
        return [self.naming.target(target) for target in sorted(found)]

    def call_graph(self) -> CallGraph:
        """Return who may call whom, and where."""
        return self._graph

    def callers(self, name: str, depth: int = 1) -> list[tuple[int, Value]]:
        """Return who may call a procedure: how many calls away at least, and the caller."""
        functions = [self.naming.function_of_target[target] for target in self._named(name)]
        found = self._graph.callers_by_distance(functions, depth)
        targets = self.naming.targets
        return sorted((n, self.naming.target(targets[caller])) for caller, n in found.items())

    def why(self, call: str, target: str) -> Explanation:
        """Return the shortest derivation by which a procedure, or what else, comes to be called.

        Raises:
            SourceError: the call cannot reach the procedure (`cfa/no-such-fact`).
        """
        sites = self._sites_at(call)
        wanted = set(self._named(target))
        s = self.system
        behind = set().union(*(self.reach.behind(site) for site in sites))
        calls = np.flatnonzero(np.isin(s.call_site, list(behind)))
        nodes = np.unique(s.call_operator[calls]).tolist()
        is_wanted = np.isin(s.target_of_function, list(wanted))
        objects = np.unique(s.problem.function_object[is_wanted]).tolist()
        found = self._derivations.shortest(nodes, objects) if nodes and objects else None
        if found is not None:
            return Explanation(call, target, self._steps.of(found))
        if any(wanted & set(self.reach.targets.get(site, ())) for site in sites):
            at = self.naming.call_location(sites[0])
            location, span = self.naming.location(at), self.naming.span(at)
            step = Step(location, "is called right where it is written", "", "", span)
            return Explanation(call, target, (step,))
        reached = ", ".join(map(str, self.targets(sites))) or "nothing"
        message = f"the call at {call} cannot reach '{target}'"
        raise SourceError(None, "cfa/no-such-fact", message, f"it may reach {reached}")

    @cached_property
    def procedures(self) -> list[Value]:
        """Every procedure that is written in the program and makes closures.

        Those of the libraries that come with Kleene are not among them.
        """
        index = self.system.index
        rows = np.flatnonzero((self.core.kind == columns.LAMBDA) & ~self.core.is_bundled()).tolist()
        return [self.naming.procedure(row) for row in rows if not index.is_let[row]]

    @cached_property
    def dead(self) -> list[Value]:
        """The procedures that nothing can call."""
        called = {target for targets in self.reach.targets.values() for target in targets}
        called |= self.reach.from_outside
        return [procedure for procedure in self.procedures if procedure.row not in called]

    @cached_property
    def inlining_candidates(self) -> list[tuple[CallSite, Value]]:
        """The calls that can reach one procedure of the program alone, which no other call reaches.

        Its body could be put in the place of the call. It may use variables of procedures around
        it only if the call stands in its maker, or deeper: else they are out of sight there.
        """
        graph, naming, index = self._graph, self.naming, self.system.index
        n_sites = np.bincount(graph.targets, minlength=graph.n_functions)
        outer = captured_anywhere(index)
        found: list[tuple[CallSite, Value]] = []
        for site in self.known_calls:
            function = int(graph.targets_of(site.id)[0])
            row = naming.targets[function]
            is_lambda = 0 <= row < self.core.n_rows and index.kind[row] == columns.LAMBDA
            call = int(graph.call[site.id])
            if not is_lambda or n_sites[function] != 1 or graph.kind[site.id] != INDIRECT:
                continue
            if call in self.reach.mismatches or row in self.reach.from_outside:
                continue  # another procedure may come there, and fail; or others may call this one
            inside = index.procedure[call]
            while inside not in (ROOT, row, index.procedure[row]):
                inside = index.procedure[inside]
            if inside == row:
                continue
            if inside == index.procedure[row] or row not in outer:
                found.append((site, naming.procedure(row)))
        return found

    @cached_property
    def merged(self) -> list[Value]:
        """The procedures whose calls are not told apart: their contexts would take too much."""
        return [self.naming.procedure(row) for row in sorted(self.system.contexts.merged)]

    @cached_property
    def known_calls(self) -> list[CallSite]:
        """The calls that can reach one thing only, be it a primitive or a continuation."""
        graph = self._graph
        chosen = (graph.kind != DIRECT) & (graph.n_targets == 1)
        return [CallSite(graph, site) for site in np.flatnonzero(chosen).tolist()]

    @cached_property
    def escaping(self) -> list[Value]:
        """The procedures that are kept in data, raised, or seen by text that is evaluated."""
        s = self.system
        nodes = set(s.problem.contents[: s.n_data].tolist()) - {NONE, *s.variable_of}
        found = {o for node in nodes for o in self.solution.of(node).tolist()}
        values = {self.naming.value(int(o)) for o in found}
        return sorted(value for value in values if value.kind == "procedure")

    def findings(self, *, may: bool = False) -> list[Finding]:
        """Return what is wrong or cannot be known, by place; `cfa.rules` says what is looked for.

        With `may`, also what is wrong only if a set holds no more than some run does
        (`rules.MAY`): there may be many of these in a program without fault.

        Comments in the sources suppress findings (`kleene.results.suppressions`).
        """
        return findings_of(self, may)

    def tables(self) -> dict[str, Table]:
        """Return who may call whom as the table `calls`: caller, location, kind, target."""
        return {"calls": self._graph.table()}

    def to_json(self) -> str:
        """Return everything as JSON text, the same on every run and device."""
        return json.dumps(self.as_json())

    def as_json(self) -> dict[str, object]:
        """Return everything as plain data.

        `variables` has the number of a set for each variable that holds something; `sets` are lists
        of numbers of `values`. Many variables share a set, and many sets a value.
        """
        values: dict[Value, int] = {}
        sets: dict[tuple[int, ...], int] = {}
        variables: dict[str, int] = {}
        known: dict[tuple[int, ...], int] = {}  # sets by what `_rows` returns
        for variable in range(self.core.n_variables):
            rows = self._rows(variable)
            if rows not in known:
                held = self.held([variable])
                numbers = tuple(values.setdefault(value, len(values)) for value in held)
                known[rows] = sets.setdefault(numbers, len(sets)) if numbers else NONE
            if known[rows] != NONE:
                variables[self.naming.variable(variable)] = known[rows]
        return {
            "call_graph": self._graph.as_json(),
            "values": [value.as_json() for value in values],
            "sets": [list(numbers) for numbers in sets],
            "variables": variables,
            "dead": [value.as_json() for value in self.dead],
            "escaping": [value.as_json() for value in self.escaping],
            "merged": [value.as_json() for value in self.merged],
            "findings": findings_json(self.findings()),
        }

    @cached_property
    def naming(self) -> Naming:
        """What things are called."""
        return Naming(self.system)

    @cached_property
    def reach(self) -> Reach:
        """What runs, and what calls what, by row."""
        return Reach(self.system, self.solution, self.coarser.reach if self.coarser else None)

    @cached_property
    def _graph(self) -> CallGraph:
        """The call graph; calls that only call a primitive by its name are no sites."""
        s, naming, index = self.system, self.naming, self.system.index
        rows = np.array(list(self.reach.targets), np.int32)
        first = {site: call for call, site in reversed(list(enumerate(s.call_site.tolist())))}
        calls = [first.get(row, NONE) for row in rows.tolist()]
        operators = [index.below(row)[0] for row in rows.tolist()]
        kinds = [
            DIRECT if index.is_let[o] else CALLBACK if index.primitive(o) is not None else INDIRECT
            for o in operators
        ]
        callers = [naming.function_of_target[index.procedure[row]] for row in rows.tolist()]
        targets = [naming.function_of_target[t] for ts in self.reach.targets.values() for t in ts]

        def explain(site: int, target: str) -> Explanation:
            return self.why(naming.row_location(int(rows[site])), target)

        return CallGraph(
            naming,
            len(naming.targets),
            call=rows,
            caller=np.array(callers, np.int32),
            kind=np.array(kinds, np.uint8),
            callee=np.append(s.call_operator, NONE)[calls].astype(np.int32),
            target_offsets=offsets_of([len(ts) for ts in self.reach.targets.values()]),
            targets=np.array(targets, np.int32),
            may_leave=np.zeros(len(rows), bool),
            escaped_ids=np.empty(0, np.int32),
            entries=np.empty(0, np.int32),
            opaque=np.empty(0, np.int32),
            explain=explain,
            find=self._function,
        )

    @cached_property
    def _derivations(self) -> Derivations:
        return Derivations(self.system.problem, self.solution)

    @cached_property
    def _steps(self) -> Steps:
        return Steps(self.system, self.naming)

    def _is_live(self, variable: int) -> bool:
        owner = int(self.core.owner[variable])
        if owner == NONE:
            return True
        return self.system.index.inside(owner) in self.reach.reached

    def _rows(self, variable: int) -> tuple[int, ...]:
        """Return numbers that are the same only for variables that hold the same."""
        if not self._is_live(variable):
            return ()
        nodes = self.system.nodes_of[variable]
        rows = sorted(set(self.solution.row_of[nodes].tolist()))
        return (*rows, NONE, *(self.coarser._rows(variable) if self.coarser else ()))

    def _variables(self, text: str) -> list[int]:
        line, _, name = text.rpartition(":")
        if not line.rpartition(":")[2].isdigit():
            line, name = "", text
        found = [v for v, known in enumerate(self.core.names) if known == name]
        if line:
            number = line.rpartition(":")[2]
            found = [v for v in found if self.naming.variable(v).split(":")[-2] == number]
        if not found:
            message = f"no variable is called '{text}'"
            raise _unknown(name, "cfa/no-such-name", message, self.core.names)
        return found

    def _named(self, text: str) -> list[int]:
        """Return the targets of that name, or at that location; there, lambdas of `let` too."""
        naming, lets = self.naming, set(self.system.lets[:, 1].tolist())
        every = [(target, naming.target(target)) for target in naming.targets]
        found = [t for t, value in every if value.name == text and t not in lets]
        found += [
            target
            for target, value in every
            if text in (value.location, str(value)) or value.location.endswith(f":{text}")
        ]
        if not found:
            message, names = f"no procedure is called '{text}'", [value.name for _, value in every]
            raise _unknown(text, "cfa/no-such-procedure", message, names)
        return found

    def _function(self, text: str) -> int:
        """Return the number of the procedure that a name means."""
        found = list(dict.fromkeys(self._named(text)))
        if len(found) > 1:
            message = f"{len(found)} procedures are called '{text}'"
            shown = ", ".join(str(self.naming.target(target)) for target in found[:8])
            note = f"write one of {shown}"
            raise SourceError(None, "cfa/ambiguous-name", message, note)
        return self.naming.function_of_target[found[0]]

    def _sites_at(self, location: str) -> list[int]:
        """Return the calls at a location."""
        rows = self._calls_by_location
        found = [row for known, row in rows if known == location or known.endswith(f":{location}")]
        if not found:
            line = location.rpartition(":")[0]
            lines = ((known, f":{known.rpartition(':')[0]}") for known, _ in rows)
            near = sorted({known for known, at in lines if at.endswith(f":{line}")})[:5]
            notes = [f"there are calls at {', '.join(near)}"] if line and near else []
            raise SourceError(Span(location), "cfa/no-such-call", "no call begins there", *notes)
        return found

    @cached_property
    def _calls_by_location(self) -> list[tuple[str, int]]:
        rows = np.flatnonzero(self.core.kind == columns.CALL).tolist()
        return [(self.naming.row_location(row), row) for row in rows]


def _unknown(text: str, id: str, message: str, known: Iterable[str]) -> SourceError:
    near = sorted(get_close_matches(text, set(known), 3))
    notes = [f"did you mean {', '.join(near)}?"] if near else []
    return SourceError(None, id, message, *notes)

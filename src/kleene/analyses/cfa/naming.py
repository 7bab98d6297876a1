"""What procedures, variables, data and locations of a Scheme program are called.

A procedure is called after the variable it is the value of, else `lambda`, with its location; the
top level is `top`. A location is `file:line:column`. `Steps` describes derivations in these names.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kleene.analyses.cfa.builder import CONTINUATION, INSTANCE, LAMBDA, TEXT
from kleene.analyses.cfa.constraints import UNSEEN, ConstraintSystem
from kleene.analyses.cfa.index import ROOT
from kleene.base.arrays import offsets_of
from kleene.base.errors import Span
from kleene.ir.scheme import core as columns
from kleene.results import naming
from kleene.results.explanation import Step
from kleene.solvers.inclusion.problem import NONE
from kleene.solvers.inclusion.why import Flow, Rule

TOP = "top"


@dataclass(frozen=True, slots=True, order=True)
class Value:
    """A procedure or data: what kind, its name, and where it is made."""

    kind: str  # "procedure", "primitive", "continuation", "pair", "vector", "record", ...
    name: str
    location: str
    row: int

    def __str__(self) -> str:
        return f"{self.name} at {self.location}" if self.location else self.name

    def as_json(self) -> dict[str, str]:
        """Return the value as plain data."""
        return {"kind": self.kind, "name": self.name, "location": self.location}


class Naming(naming.Naming):
    """Names of the rows, variables and objects of one program.

    Functions are the top level, then every lambda, then what else a call may reach: primitives
    that are used as values, continuations, parameters, and code that the analysis does not see.
    The number of a location is that of a byte in the sources, that of a call its row.
    """

    def __init__(self, system: ConstraintSystem) -> None:
        self.system = system
        self.core = core = system.core
        self.index = system.index
        texts = [np.frombuffer(source.text, np.uint8) for source in core.sources.all]
        self._lines = [np.flatnonzero(text == 10).tolist() for text in texts]
        # Characters before each byte: bytes that continue one do not begin one.
        self._characters = [offsets_of(text & 0xC0 != 0x80).astype(np.int32) for text in texts]
        self._bases = [source.base for source in core.sources.all]
        self._procedures: dict[int, Value] = {}
        self._values: dict[int, Value] = {}

    @cached_property
    def files(self) -> naming.Files:
        """The source files of the program, libraries included."""
        return naming.Files(source.file for source in self.core.sources.all)

    # Procedures

    @cached_property
    def targets(self) -> list[int]:
        """The number that each function has as a target: ROOT for the top level, then others."""
        lambdas = np.flatnonzero(self.core.kind == columns.LAMBDA).tolist()
        every = self.system.target_of_function.tolist()
        return [ROOT, *lambdas, *sorted(set(every) - {NONE, *lambdas})]

    @cached_property
    def function_of_target(self) -> dict[int, int]:
        """The number of the function that each target is, and ROOT."""
        return {target: function for function, target in enumerate(self.targets)}

    def function(self, function: int) -> str:
        """Return a procedure as text, with its location."""
        return str(self.target(self.targets[function]))

    def plain_function(self, function: int) -> str:
        """Return the name of a procedure without its location."""
        return self.target(self.targets[function]).name

    def target(self, target: int) -> Value:
        """Return what a call may reach as a value, by its number (`target_of_function`)."""
        s, core = self.system, self.core
        if target < core.n_rows:
            is_lambda = target == ROOT or self.index.kind[target] == columns.LAMBDA
            return self.procedure(target) if is_lambda else self._made_at(target)
        number = target - core.n_rows
        if number < len(s.primitive_number):
            return Value("primitive", list(s.primitive_number)[number], "", NONE)
        variable = number - len(s.primitive_number)
        if variable < core.n_variables:
            return Value("unbound", core.names[variable], "", NONE)
        name = UNSEEN[variable - core.n_variables]
        return Value(name, name, "", NONE)

    def _made_at(self, row: int) -> Value:
        """Return the continuation or parameter that a row makes."""
        is_call = self.index.kind[row] == columns.CALL
        maker = self.index.primitive(self.index.below(row)[0] if is_call else row)
        kind = "parameter" if maker == "make-parameter" else "continuation"
        return Value(kind, kind, self.row_location(row), row)

    def procedure(self, row: int) -> Value:
        """Return a lambda as a value, or the top level."""
        if row not in self._procedures:
            made = Value("procedure", self.names.get(row, "lambda"), self.row_location(row), row)
            self._procedures[row] = Value("top", TOP, "", ROOT) if row == ROOT else made
        return self._procedures[row]

    @cached_property
    def names(self) -> dict[int, str]:
        """The names of the lambdas that have one: what they are the value of."""
        found: dict[int, str] = {}
        kind, reference = self.index.kind, self.index.reference
        for row in range(self.core.n_rows - 1):
            variables: list[int] = []
            operands = self.index.below(row)
            if kind[row] in (columns.DEFINE, columns.SET):
                variables = [reference[row]]
            elif kind[row] == columns.LETREC:
                variables = list(self.index.formals(row))
            elif kind[row] == columns.CALL and self.index.is_let[operands[0]]:
                variables = list(self.index.formals(operands[0]))
                operands = operands[1:]
            for variable, operand in zip(variables, operands, strict=False):
                if kind[operand] == columns.LAMBDA:
                    found.setdefault(operand, self.core.names[variable])
        return found

    # Nodes and objects

    def node(self, node: int) -> str | None:
        """Return the name of the variable that a node is; expressions have none."""
        variable = self.system.variable_of.get(node)
        return None if variable is None else self.variable(variable)

    def readable(self, node: int) -> str:
        """Return the variable that a node is, or the location of the expression."""
        return self.node(node) or self.row_location(self.system.row_of.get(node, NONE))

    def variable(self, variable: int) -> str:
        """Return a variable's name and the location where it is bound."""
        at = self.location(int(self.core.variable_at[variable]))
        return f"{self.core.names[variable]} at {at}"

    def object(self, object: int) -> str:
        """Return an object of the problem as text."""
        return str(self.value(object))

    def value(self, object: int) -> Value:
        """Return an object of the problem as a value of the program."""
        if object not in self._values:
            self._values[object] = self._value(object)
        return self._values[object]

    def _value(self, object: int) -> Value:
        s, row = self.system, int(self.system.object_row[object])
        if object not in s.procedures:
            allocation = np.searchsorted(s.problem.allocation_offsets, object, side="right") - 1
            kind = self._kinds[s.problem.allocation_layout[allocation]]
            return Value(kind, kind, self.row_location(row), row)
        what, which = s.procedures[object]
        if what == LAMBDA:
            return self.procedure(row)
        if what == INSTANCE:
            return Value("primitive", s.instances[which], "", NONE)
        if what == CONTINUATION:
            return Value("continuation", "continuation", self.row_location(row), row)
        if what == TEXT:
            name = "outside" if which == s.outside_site else "evaluated"
            return Value(name, name, "", NONE)
        return Value("unbound", self.core.names[which], "", NONE)

    @cached_property
    def _kinds(self) -> list[str]:
        """The kinds of data by the number of their layouts."""
        return [tag if isinstance(tag, str) else tag[0] for tag, _ in self.system.layouts]

    # Locations

    def row_location(self, row: int) -> str:
        """Return where a row is written, or nothing for none."""
        return (self.location(int(self.core.at[row])) or "") if row >= 0 else ""

    def call_location(self, call: int) -> int:
        """Return the byte at which a row begins."""
        return int(self.core.at[call])

    def span(self, location: int) -> Span | None:
        """Return the location of a byte of the sources; None for -1."""
        if location < 0:
            return None
        which = bisect_right(self._bases, location) - 1
        source, lines = self.core.sources.all[which], self._lines[which]
        offset = location - source.base
        line = bisect_left(lines, offset)
        first = lines[line - 1] + 1 if line else 0
        column = 1 + int(self._characters[which][offset] - self._characters[which][first])
        return Span(source.file, line + 1, column)


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

"""The answer of a dataflow analysis: facts of values by name and by view, findings, tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kleene import analyses
from kleene.analyses.dataflow import rules
from kleene.analyses.dataflow.clients import Answer
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.evidence import is_of_library
from kleene.analyses.dataflow.explain import explain
from kleene.analyses.dataflow.places import Places
from kleene.analyses.points_to.findings import files_of
from kleene.base import json
from kleene.base.errors import SourceError
from kleene.ir import Block, Function, Value
from kleene.ir.codes import ValueKind
from kleene.results import Finding, Severity, Table, apply_suppressions, findings_json, rules_in
from kleene.results.explanation import Explanation
from kleene.solvers.dataflow import ValueFact


@dataclass(frozen=True, eq=False, repr=False)
class DataflowResult:
    """What is known of the values of a program, and what a client found."""

    context: Context
    client: str
    answer: Answer

    def __repr__(self) -> str:
        return f"<DataflowResult of {self.context.program.name!r}: {self.client}>"

    def of(self, value: str | int | Value) -> ValueFact:
        """Return what is known of a value where it is defined.

        A text is `function.variable`, and means all values that the variable has: every fact says
        something of each of them.

        Raises:
            SourceError: no variable is called so (`dataflow/no-such-name`).
            IndexError: there is no value of that number.
        """
        if isinstance(value, str):
            facts = [fact for _, _, fact in self.at(value)]
            return _joined(facts)
        number = value.id if isinstance(value, Value) else int(value)
        if not 0 <= number < self.context.program.n_values:
            raise IndexError(f"a value is a number from 0 to {self.context.program.n_values - 1}")
        return self.context.fact(number)

    def at(self, variable: str) -> list[tuple[int, str, ValueFact]]:
        """Return where something is learnt about `function.variable`: line, why, what.

        Raises:
            SourceError: no variable is called so (`dataflow/no-such-name`).
        """
        names, rows = self._places.names, self._rows_of(variable)
        lines, why = self._places.line[rows].tolist(), self._places.why[rows].tolist()
        found = [
            (line, Places.WHY[code], self.context.fact(int(name)))
            for line, code, name in zip(lines, why, names[rows], strict=True)
        ]
        return sorted(found, key=lambda row: row[0])

    def returns(self, function: str | int | Function) -> ValueFact | None:
        """Return what a function may return; None if that is no number or address, or unknown.

        Raises:
            SourceError: no function is called so (`dataflow/no-such-name`).
        """
        functions = self.context.program.functions
        if isinstance(function, str):
            named = [one.row for one in functions if one.name == function]
            if not named:
                message = f"there is no function '{function}'"
                raise SourceError(None, "dataflow/no-such-name", message)
            row = named[0]
        else:
            row = function.row if isinstance(function, Function) else int(function)
        name = int(self.context.values.result_name[row])
        return self.context.fact(name) if name >= 0 else None

    def is_reachable(self, block: int | Block) -> bool:
        """Return whether control may reach a block."""
        row = block.row if isinstance(block, Block) else int(block)
        return bool(self.context.block_is_reached[row])

    def decided(self) -> list[tuple[Block, bool]]:
        """Return the blocks whose branch always goes one way, and whether its condition holds."""
        from kleene.analyses.dataflow.clients.ranges import decided
        from kleene.ir import Block as View

        blocks, edges = decided(self.context)
        return [
            (View(self.context.program, block), edge == 0)
            for block, edge in zip(blocks.tolist(), edges.tolist(), strict=True)
        ]

    def explain(self, value: str | int | Value, bound: str = "high") -> Explanation:
        """Return the shortest chain of constraints behind a bound of a value.

        Args:
            value: a value, or `function.variable`, of which the widest one is taken.
            bound: "low", "high", "least" (unsigned) or "most".

        Raises:
            SourceError: no variable is called so (`dataflow/no-such-name`), or there is no such
                bound (`dataflow/no-such-bound`).
        """
        if isinstance(value, str):
            rows = self._rows_of(value)
            names = [int(name) for name in self._places.names[rows]]
            sign = -1 if bound in ("low", "least") else 1
            facts = {name: self.context.fact(name) for name in names}
            names = [name for name in names if facts[name].has_value] or names
            name = max(names, key=lambda n: sign * getattr(facts[n], bound, 0))
        else:
            name = value.id if isinstance(value, Value) else int(value)
        return explain(self.context, name, bound)

    def findings(self) -> list[Finding]:
        """Return what the client found, by place; comments in the sources suppress findings.

        Headers of the library are not the user's: notes about them are left out, and a warning
        about one is at the last step of its path outside of them.
        """
        files = files_of(self.context.program)
        placed = (_placed(one) for one in self.answer.findings)
        found = sorted({one: None for one in placed if one is not None}, key=lambda one: one.order)
        return apply_suppressions(found, files, rules_in(rules), analyses.all_rules)

    def tables(self) -> Mapping[str, Table]:
        """Return the facts of the client as tables, by name."""
        return self.answer.tables

    @property
    def statistics(self) -> dict[str, int]:
        """Sizes: names, constraints evaluated, blocks never reached, decided branches."""
        context = self.context
        reached = context.block_is_reached
        return {
            "instructions": len(context.program.instructions),
            "names": context.values.constraints.n_names,
            "evaluations": sum(context.facts.n_evaluations),
            "blocks": len(reached),
            "unreachable_blocks": int((~reached).sum()),
            "branches": len(context.branches),
            "decided_branches": len(self.decided()),
        }

    def as_json(self) -> dict[str, object]:
        """Return statistics, findings and tables as plain data."""
        return {
            "client": self.client,
            "statistics": self.statistics,
            "findings": findings_json(self.findings()),
            "tables": {name: table.as_json() for name, table in self.tables().items()},
        }

    def to_json(self) -> str:
        """Return everything as JSON text."""
        return json.dumps(self.as_json())

    @cached_property
    def _places(self) -> Places:
        return Places(self.context)

    def _rows_of(self, name: str) -> list[int]:
        program = self.context.program
        function, _, variable = name.rpartition(".")
        wanted = [
            row
            for row in range(len(program.variables))
            if program.strings[int(program.variables.name[row])] == variable
            and program.functions[int(program.variables.function[row])].name == function
        ]
        found = np.flatnonzero(np.isin(self._places.variable, wanted))
        found = found[self.context.is_tracked(self._places.names[found])]
        if not len(found):
            message = f"there is no variable '{name}' that is a number or a pointer"
            note = "write function.variable, as in main.count"
            raise SourceError(None, "dataflow/no-such-name", message, note)
        return [int(row) for row in found]

    def memory(self, variable: str) -> ValueFact | None:
        """Return what a global variable may hold at any time; None where not all writes are known.

        Raises:
            SourceError: no global is called so (`dataflow/no-such-name`).
        """
        program, context = self.context.program, self.context
        table = program.instructions
        symbols = program.globals.name.tolist()
        rows = [row for row, s in enumerate(symbols) if program.strings[s] == variable]
        if not rows:
            message = f"there is no global variable '{variable}'"
            raise SourceError(None, "dataflow/no-such-name", message)
        first = program.bases[ValueKind.INSTRUCTION]
        if context.cells is None:
            return None
        loads = [
            int(row) for row in context.cells.loads if table.operands[table.offsets[row]] in rows
        ]
        return _joined([context.fact(first + row) for row in loads]) if loads else None


def _placed(finding: Finding) -> Finding | None:
    """Return a finding at a place of the user's; None for a note about a header of the library."""
    if finding.span is None or not is_of_library(finding.span):
        return finding
    if finding.rule.severity == Severity.NOTE:
        return None
    for step in reversed(finding.path):
        if step.span is not None and not is_of_library(step.span):
            return replace(finding, span=step.span)
    return None


def _joined(facts: list[ValueFact]) -> ValueFact:
    """Return what holds of all of some values."""
    held = [fact for fact in facts if fact.has_value] or facts
    return ValueFact(
        held[0].width,
        min(fact.low for fact in held),
        max(fact.high for fact in held),
        min(fact.least for fact in held),
        max(fact.most for fact in held),
        int(np.bitwise_and.reduce([np.uint64(fact.zeros) for fact in held])),
        int(np.bitwise_and.reduce([np.uint64(fact.ones) for fact in held])),
        any(fact.has_value for fact in held),
        any(fact.may_be_undefined for fact in held),
    )

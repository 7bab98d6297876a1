"""Which numbers may each variable be, and which conditions are always the same?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.dataflow import rules
from kleene.analyses.dataflow.clients import Answer, Client
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.explain import why_decided
from kleene.analyses.dataflow.places import Places
from kleene.base.arrays import I64
from kleene.ir.codes import ConstantKind, ValueKind
from kleene.results import Finding, Table


def answer(context: Context) -> Answer:
    """Return the range of every variable where it gets a value, and the decided conditions."""
    return Answer(list(decided_conditions(context)), {"ranges": ranges(context)})


def ranges(context: Context) -> Table:
    """Return a row for each place at which something is learnt about a variable."""
    places, facts = Places(context), context.facts
    names, variable, line = places.names, places.variable, places.line
    keep = context.is_tracked(names) & (line > 0)
    names, variable, line, why = names[keep], variable[keep], line[keep], places.why[keep]
    function = context.program.variables.function[variable]
    order = np.lexsort((names, line, variable, function))
    names, variable, line, why = names[order], variable[order], line[order], why[order]
    program, width = context.program, context.values.constraints.width
    function, of_function = np.unique(program.variables.function[variable], return_inverse=True)
    symbol, of_symbol = np.unique(program.variables.name[variable], return_inverse=True)
    # Most facts are alike: one in twenty is worth a text of its own.
    columns = np.column_stack([facts.rows[names], width[names]])
    _, first, which = np.unique(_digest(columns), return_index=True, return_inverse=True)
    some = [facts[int(name)] for name in names[first]]
    return Table(
        {
            "function": _texts([program.functions[int(f)].name for f in function], of_function),
            "variable": _texts([program.strings[int(s)] for s in symbol], of_symbol),
            "line": line,
            "why": _texts(list(Places.WHY), why),
            "range": _texts([str(fact) for fact in some], which),
            "low": facts.low[names],
            "high": facts.high[names],
            "width": width[names].astype(np.int64),
            "n_bits": np.array([fact.n_bits for fact in some], np.int64)[which],
            "name": names,
        }
    )


def _digest(rows: I64) -> NDArray[np.void]:
    """Return each row as one item, which is equal to those of equal rows."""
    found = np.ascontiguousarray(rows)
    return found.view(np.dtype((np.void, found.dtype.itemsize * found.shape[1]))).ravel()


def _texts(different: list[str], which: I64) -> list[str]:
    return [different[one] for one in which.tolist()]


def decided(context: Context) -> tuple[I64, I64]:
    """Return the blocks whose branch always goes one way, and which edge it takes: 0 or 1."""
    branches, reached = context.branches, context.edge_is_reached
    first = context.split.flow.blocks.offsets[branches]
    yes, no = reached[first], reached[first + 1]
    chosen = context.block_is_reached[branches] & (yes != no)
    return branches[chosen], np.where(yes[chosen], 0, 1)


def decided_conditions(context: Context) -> Iterator[Finding]:
    """Yield a finding for each condition that is always the same and no constant in the source."""
    program, table = context.program, context.program.instructions
    last = program.blocks.instruction_offsets[1:].astype(np.int64) - 1
    seen = set()
    for block, edge in zip(*(column.tolist() for column in decided(context)), strict=True):
        row = int(last[block])
        condition = int(table.operands[table.offsets[row]])
        kind, at = program.locate(condition)
        if kind == ValueKind.CONSTANT and program.constants.kind[at] != ConstantKind.EXPRESSION:
            continue
        instruction = program.instruction_view(row)
        span = instruction.span
        value = "false" if edge else "true"
        if span is None or (key := (span, value)) in seen:
            continue
        seen.add(key)
        function = program.functions[int(program.blocks.function[block])].name
        message = f"the condition is always {value}"
        if operands := Places.compared(context, condition):
            message += f": {operands}"
        path = why_decided(context, block, is_true=edge == 0)
        yield Finding(rules.DECIDED_CONDITION, span, message, function, path=tuple(path))


CLIENT = Client("Which numbers may each variable be?", answer)

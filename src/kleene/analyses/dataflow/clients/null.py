"""Which pointers that may be null are dereferenced?

Evidence is a null pointer that the program makes, or that a function of the library returns in runs
that happen (`may return null`). It flows as the pointer does, and ends behind tests and behind
accesses through the pointer. Globals and fields that merely start as null are no evidence.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kleene.analyses.dataflow import rules
from kleene.analyses.dataflow.clients import Answer, Client
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.data_graph import EdgeKind
from kleene.analyses.dataflow.evidence import (
    Evidence,
    calls_with_roles,
    excludes_zero,
    null_constants,
    span_of,
    steps,
)
from kleene.analyses.points_to.library.language import MayReturnNull, Trusts
from kleene.ir.codes import ADDRESS_OPERAND, CALLS, Opcode, ValueKind
from kleene.results import Finding, Location


def answer(context: Context) -> Answer:
    """Return the accesses through pointers that may be null."""
    return Answer(list(findings(context.forwarded)))


def findings(context: Context) -> Iterator[Finding]:
    """Yield a finding for each access through what may be null, with the way it gets there."""
    graph, program = context.data, context.program
    gen = np.zeros(graph.n_names, bool)
    gen[null_constants(context)] = True
    first = program.bases[ValueKind.INSTRUCTION]
    sinks: list[tuple[int, int, str]] = []
    sources: dict[int, str] = {}
    for row, called, roles in calls_with_roles(context):
        if MayReturnNull() in roles:
            gen[first + row] = True
            sources[first + row] = called
        for role in roles:
            if isinstance(role, Trusts) and role.use == "address":
                sinks.append((row, role.position + 1, f"is passed to {called}"))
    kill = excludes_zero(context, graph.n_names)
    gen &= ~kill
    kinds = EdgeKind.SAME | EdgeKind.FIELD | EdgeKind.WEAK
    evidence = Evidence(context, graph, gen, kill, kinds)
    table = program.instructions
    for opcode, place in ADDRESS_OPERAND.items():
        rows = np.flatnonzero(table.opcode == opcode)
        sinks += [(row, place, "is dereferenced") for row in rows.tolist()]
    rows = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
    sinks += [(row, 0, "is called") for row in rows.tolist()]
    reached = context.block_is_reached
    seen = set()
    for row, place, what in sorted(sinks):
        at = int(table.offsets[row]) + place
        if at >= table.offsets[row + 1] or not reached[table.block[row]]:
            continue
        name = int(context.split.operand[at])
        if not evidence.reaches(_base(context, name), row):
            continue
        span = span_of(context, row)
        if span is None or (span.file, span.line, what) in seen:
            continue
        seen.add((span.file, span.line, what))
        way, start = evidence.path(name)
        origin = f"{sources[start]} may return null" if start in sources else "null"
        path = steps(context, [*([start - first] if start in sources else []), *way], origin)
        path.append(Location(span, f"the pointer {what}"))
        function = program.functions[int(program.instruction_function[row])].name
        message = f"a pointer that may be null {what}"
        if start in sources:
            message += f": {sources[start]} may return null"
        yield Finding(rules.NULL_DEREFERENCE, span, message, function, path=tuple(path))


def _base(context: Context, name: int) -> int:
    """Return the pointer whose field an address is of, as it is called there."""
    table, first = context.program.instructions, context.program.bases[ValueKind.INSTRUCTION]
    value = name
    while first <= value < context.program.n_values and (
        table.opcode[value - first] == Opcode.GETELEMENTPTR
    ):
        value = int(context.split.operand[table.offsets[value - first]])
    return value


CLIENT = Client("Which pointers that may be null are dereferenced?", answer)

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
from kleene.base.arrays import I64
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
    base = _bases(context)
    sinks.sort()
    places = np.array([sink[:2] for sink in sinks], np.int64).reshape(-1, 2)
    at = table.offsets[places[:, 0]] + places[:, 1]
    keep = at < table.offsets[places[:, 0] + 1]
    keep &= context.block_is_reached[table.block[places[:, 0]]]
    keep[keep] = evidence.has(base[at[keep]])
    seen = set()
    for index in np.flatnonzero(keep).tolist():
        row, _, what = sinks[index]
        name = int(context.split.operand[at[index]])
        if not evidence.reaches(int(base[at[index]]), row):
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


def _bases(context: Context) -> I64:
    """Return for each operand the pointer whose field it is, as that is called there."""
    table, first = context.program.instructions, context.program.bases[ValueKind.INSTRUCTION]
    found = context.split.operand.astype(np.int64)
    is_address = np.zeros(context.split.n_names, bool)
    is_address[first : context.program.n_values] = table.opcode == Opcode.GETELEMENTPTR
    places = np.flatnonzero(is_address[found])
    while len(places):
        found[places] = context.split.operand[table.offsets[found[places] - first]]
        places = places[is_address[found[places]]]
    return found


CLIENT = Client("Which pointers that may be null are dereferenced?", answer)

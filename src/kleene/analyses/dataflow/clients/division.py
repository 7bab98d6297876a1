"""Which divisors may be 0?

Evidence is a 0 that the program makes, or a number from outside: a test of it, or arithmetic that
bounds exclude 0 from, ends it.
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
    excludes_zero,
    span_of,
    steps,
    zero_constants,
)
from kleene.analyses.dataflow.tainting import tainted
from kleene.ir.codes import Opcode
from kleene.results import Finding, Location

_DIVISIONS = (Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM)


def answer(context: Context) -> Answer:
    """Return the divisions by what may be 0."""
    return Answer(list(findings(context.forwarded)))


def findings(context: Context) -> Iterator[Finding]:
    """Yield a finding for each division by what may be 0, with the way it gets there."""
    graph, program, table = context.data, context.program, context.program.instructions
    gen = np.zeros(graph.n_names, bool)
    gen[zero_constants(context)] = True
    never = excludes_zero(context, graph.n_names)
    kinds = EdgeKind.SAME | EdgeKind.CAST | EdgeKind.WEAK
    zero = Evidence(context, graph, gen, never, kinds)
    outside = tainted(context)
    seen = set()
    for row in np.flatnonzero(np.isin(table.opcode, _DIVISIONS)).tolist():
        name = int(context.split.operand[table.offsets[row] + 1])
        if never[name] or not context.block_is_reached[table.block[row]]:
            continue
        for evidence, what in ((zero, "0"), (outside.evidence, "a number from outside")):
            span = span_of(context, row)
            if span is None or span in seen or not evidence.has(np.array([name]))[0]:
                continue
            seen.add(span)
            way = evidence.path(name)
            begin = outside.start(way.start) if evidence is outside.evidence else []
            rows = [*begin, *way.rows]
            path = [*steps(context, rows, what), Location(span, "it divides")]
            function = program.functions[int(program.instruction_function[row])].name
            message = "the divisor may be 0"
            if evidence is outside.evidence:
                message += ": it comes from outside and is not tested"
            yield Finding(rules.DIVISION_BY_ZERO, span, message, function, path=tuple(path))
            break


CLIENT = Client("Which divisors may be 0?", answer)

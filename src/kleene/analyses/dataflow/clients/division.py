"""Which divisors may be 0?

Evidence is a 0 that the program makes, or a number from outside: a test of it, or arithmetic that
bounds exclude 0 from, ends it. So is a 0 at the end of a range, which a test or a step lets in:

    if (n < 0) return;   k / n        n is 0.. here, and was less before
    n--;                 k / n        n is 0.. here, and was 1..
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
from kleene.base.arrays import I64
from kleene.ir.codes import Opcode, ValueKind
from kleene.results import Finding, Location
from kleene.solvers.dataflow.codes import HIGH, LOW
from kleene.transforms.splitting import NameKind

_DIVISIONS = (Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM)


def answer(context: Context) -> Answer:
    """Return the divisions by what may be 0."""
    return Answer(list(findings(context.forwarded)))


def findings(context: Context) -> Iterator[Finding]:
    """Yield a finding for each division by what may be 0, with the way it gets there."""
    graph, program, table = context.data, context.program, context.program.instructions
    gen = np.zeros(graph.n_names, bool)
    gen[zero_constants(context)] = True
    gen[_ending_at_zero(context)] = True
    never = excludes_zero(context, graph.n_names)
    kinds = EdgeKind.SAME | EdgeKind.CAST | EdgeKind.WEAK
    zero = Evidence(context, graph, gen, never, kinds)
    outside = tainted(context)
    seen = set()
    for row in np.flatnonzero(np.isin(table.opcode, _DIVISIONS)).tolist():
        name = int(context.split.operand[table.offsets[row] + 1])
        if never[name] or not context.block_is_reached[table.block[row]]:
            continue
        for evidence, what in ((zero, "0"), (outside.numbers, "a number from outside")):
            span = span_of(context, row)
            if span is None or span in seen or not evidence.has(np.array([name]))[0]:
                continue
            seen.add(span)
            way = evidence.path(name)
            begin = outside.start(way.start) if evidence is outside.numbers else []
            path = [*steps(context, way, row, what, before=begin), Location(span, "it divides")]
            function = program.functions[int(program.instruction_function[row])].name
            message = "the divisor may be 0"
            if evidence is outside.numbers:
                message += ": it comes from outside and is not tested"
            yield Finding(rules.DIVISION_BY_ZERO, span, message, function, path=tuple(path))
            break


def _ending_at_zero(context: Context) -> I64:
    """Return the names whose range ends at 0 because of a test, or of a constant that is added.

    Of tests, that a number was less than 0, or more, has to be possible before. Of what a constant
    is added to, it has to be known that it ends somewhere: of `n - 1` with any n nothing is.
    """
    program, split, rows = context.program, context.split, context.facts.rows
    table, first = program.instructions, program.bases[ValueKind.INSTRUCTION]
    new = np.flatnonzero((split.kind == NameKind.SIGMA) & (np.diff(split.offsets) == 1))
    before, name = split.operands[split.offsets[new]], program.n_values + new
    known = before >= 0
    before, name = before[known], name[known]
    lifted = (rows[name, LOW] == 0) & (rows[before, LOW] < 0) & (rows[name, HIGH] != 0)
    lowered = (rows[name, HIGH] == 0) & (rows[before, HIGH] > 0) & (rows[name, LOW] != 0)
    steps = np.flatnonzero(np.isin(table.opcode, (Opcode.ADD, Opcode.SUB)))
    left, right = (split.operand[table.offsets[steps] + k] for k in (0, 1))
    is_constant = right < program.bases[ValueKind.ARGUMENT]
    steps, left = steps[is_constant], left[is_constant]
    least = -(np.int64(1) << np.maximum(context.values.width[first + steps] - 1, 0))
    ends = (rows[first + steps, LOW] == 0) & (rows[first + steps, HIGH] != 0)
    ends &= (rows[left, LOW] > least) & (rows[left, LOW] != 0)
    found = np.concatenate([name[lifted | lowered], first + steps[ends]]).astype(np.int64)
    chosen: I64 = found[context.is_tracked(found)]
    return chosen


CLIENT = Client("Which divisors may be 0?", answer)

"""Which code is never reached?

Blocks that no edge leads to that can be taken, by the bounds of what conditions compare, in
functions that can be called. One finding stands for all blocks behind a condition.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kleene.analyses.dataflow import rules
from kleene.analyses.dataflow.clients import Answer, Client
from kleene.analyses.dataflow.clients.ranges import decided
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.evidence import span_of
from kleene.analyses.dataflow.explain import why_decided
from kleene.ir.codes import Opcode
from kleene.results import Finding, Location


def answer(context: Context) -> Answer:
    """Return the code that is never reached."""
    return Answer(list(findings(context)))


def findings(context: Context) -> Iterator[Finding]:
    """Yield a finding for each block that only conditions which never hold lead to."""
    program, table = context.program, context.program.instructions
    reached = context.block_is_reached
    entry = program.function_table.block_offsets[program.blocks.function]
    offsets, edges = context.split.flow.incoming
    sources = context.split.flow.sources
    seen = set()
    for block in np.flatnonzero(~reached & reached[entry]).tolist():
        before = sources[edges[offsets[block] : offsets[block + 1]]]
        if not len(before) or not reached[before].any():
            continue  # behind another block that is not reached, or no block at all
        first, last = program.blocks.instruction_offsets[block : block + 2].tolist()
        rows = [row for row in range(first, last) if table.opcode[row] not in _NOTHING]
        spans = [span for row in rows if (span := span_of(context, row)) and span.line]
        if not spans or (spans[0].file, spans[0].line) in seen:
            continue
        seen.add((spans[0].file, spans[0].line))
        function = program.functions[int(program.blocks.function[block])].name
        path = [*_why(context, before[reached[before]].tolist()), Location(spans[0], _NEVER)]
        yield Finding(rules.DEAD_CODE, spans[0], _NEVER, function, path=tuple(path))


def _why(context: Context, blocks: list[int]) -> list[Location]:
    """Return the steps behind the branches in front that always go another way."""
    found, edges = decided(context)
    chosen = {int(b): int(e) for b, e in zip(found, edges, strict=True)}
    return [
        step
        for block in blocks
        if block in chosen
        for step in why_decided(context, block, is_true=chosen[block] == 0)
        if step.span is not None
    ]


_NEVER = "this code is never reached"
_NOTHING = (Opcode.PHI, Opcode.UNREACHABLE)
CLIENT = Client("Which code is never reached?", answer)

"""Which data from outside gets to where it must not: commands, formats, sizes?

Models say what brings data in, passes it on, cleans it, and what must not get it. A number that
bounds confine, as behind a test, is no fault as a length or size.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kleene.analyses.dataflow import rules
from kleene.analyses.dataflow.clients import Answer, Client
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.evidence import is_bounded, is_of_library, span_of, steps, trusted
from kleene.analyses.dataflow.tainting import carriers, tainted
from kleene.results import Finding, Location

_SIZES = ("length", "size")
_MOST = 1 << 30  # bytes: what a test allows, it is meant to allow


def answer(context: Context) -> Answer:
    """Return where data from outside is used as what it must not be."""
    return Answer(list(findings(context.forwarded)))


def findings(context: Context) -> Iterator[Finding]:
    """Yield a finding for each argument that comes from outside and is trusted."""
    program, table = context.program, context.program.instructions
    found = tainted(context)
    seen = set()
    for row, at, called, role in trusted(context):
        if role.use == "address":
            continue
        value, name = int(table.operands[at]), int(context.split.operand[at])
        names, evidence = np.array([name]), found.evidence
        if role.use in _SIZES:
            evidence = found.numbers
            if is_bounded(context, names, _MOST)[0]:
                continue
        else:
            if found.is_clean(context, value, row):
                continue
            names = carriers(context, at, role.place.n_loads)
        bad = names[evidence.has(names)]
        span = span_of(context, row)
        if span is not None and role.use in _SIZES and is_of_library(span):
            continue  # the library has reserved as much as it copies
        if not len(bad) or span is None or (span, role.use) in seen:
            continue
        seen.add((span, role.use))
        way = evidence.path(int(bad[0]))
        source = found.called.get(way.start, "outside")
        begin = found.start(way.start)
        said = f"data comes in by {source}" if begin else ""
        path = steps(context, way, row, f"data from {source}", said, begin)
        path.append(Location(span, f"it is used as a {role.use} by {called}"))
        function = program.functions[int(program.instruction_function[row])].name
        message = f"data from {source} is used as a {role.use} by {called}"
        if role.use in _SIZES:
            message += ", and no test bounds it"
        yield Finding(rules.TAINTED_USE, span, message, function, path=tuple(path))


CLIENT = Client("Which data from outside is used as a command, a format or a size?", answer)

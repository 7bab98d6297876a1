"""Which sizes of allocations may overflow, so that less is allocated than was meant?

`malloc(n * size)` with a number n from outside: a product, sum or shift on the way to an argument
that a model `trusts … as size`, whose operands' bounds allow a result of more bits than it has.
Evidence is data from outside, as for taint; a test that confines the number ends it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kleene.analyses.dataflow import rules
from kleene.analyses.dataflow.clients import Answer, Client
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.evidence import span_of, steps, trusted
from kleene.analyses.dataflow.tainting import tainted
from kleene.ir.codes import Opcode, ValueKind
from kleene.results import Finding, Location

_WORDS = {Opcode.ADD: "plus", Opcode.MUL: "times", Opcode.SHL: "shifted by"}
_THROUGH = (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC, Opcode.FREEZE, *_WORDS)
_DEEPEST = 6


def answer(context: Context) -> Answer:
    """Return the sizes that may overflow."""
    return Answer(list(findings(context.forwarded)))


def findings(context: Context) -> Iterator[Finding]:
    """Yield a finding for each computation of a size that may be cut, with where it comes from."""
    program = context.program
    found = tainted(context)
    seen = set()
    for row, at, called, role in trusted(context):
        if role.use != "size":
            continue
        for made, name in _overflowing(context, int(context.split.operand[at])):
            span = span_of(context, made) or span_of(context, row)
            if span is None or (span.file, span.line) in seen:
                continue
            if not found.numbers.has(np.array([name]))[0]:
                continue
            seen.add((span.file, span.line))
            way = found.numbers.path(name)
            source = found.called.get(way.start, "outside")
            begin = found.start(way.start)
            said = f"data comes in by {source}" if begin else ""
            path = steps(context, way, made, f"data from {source}", said, begin)
            words = _said(context, made)
            path.append(Location(span, f"{words} may be more than it can hold"))
            path.append(Location(span_of(context, row), f"it is the size for {called}"))
            function = program.functions[int(program.instruction_function[row])].name
            message = f"the size for {called} may overflow: {words}, from {source}"
            yield Finding(rules.OVERFLOWING_SIZE, span, message, function, path=tuple(path))


def _overflowing(context: Context, name: int) -> Iterator[tuple[int, int]]:
    """Yield computations on the way to a name that may overflow, with an operand of each."""
    program, table = context.program, context.program.instructions
    first = program.bases[ValueKind.INSTRUCTION]
    waiting, seen = [(name, 0)], set()
    while waiting:
        one, depth = waiting.pop()
        row = int(context.split.value_of(np.array([one]))[0]) - first
        if row < 0 or depth > _DEEPEST or row in seen or table.opcode[row] not in _THROUGH:
            continue
        seen.add(row)
        start, end = table.offsets[row : row + 2].tolist()
        operands = context.split.operand[start:end].tolist()
        waiting += [(operand, depth + 1) for operand in operands]
        if table.opcode[row] == Opcode.TRUNC:
            yield from _cut(context, row, operands[0])
        if table.opcode[row] in _WORDS:
            most = [context.fact(operand).most for operand in operands]
            match table.opcode[row]:
                case Opcode.ADD:
                    greatest = sum(most)
                case Opcode.MUL:
                    greatest = most[0] * most[1]
                case _:
                    greatest = most[0] << min(most[1], 64)
            if greatest >> int(context.values.width[first + row]):
                yield from ((row, operand) for operand in operands)


def _cut(context: Context, row: int, name: int) -> Iterator[tuple[int, int]]:
    """Yield a computation whose operands fit the bits that its result is cut to, which does not.

    C computes with at least 32 bits: of `uint16_t n`, `uint16_t size = n + 8` is so cut.
    """
    program, table = context.program, context.program.instructions
    first = program.bases[ValueKind.INSTRUCTION]
    made = int(context.split.value_of(np.array([name]))[0]) - first
    width = int(context.values.width[first + row])
    if made < 0 or table.opcode[made] not in _WORDS or not context.fact(name).most >> width:
        return
    start, end = table.offsets[made : made + 2].tolist()
    operands = context.split.operand[start:end].tolist()
    if not any(context.fact(operand).most >> width for operand in operands):
        yield from ((row, operand) for operand in operands)


def _said(context: Context, row: int) -> str:
    """Return a computation in words: its operands' bounds, and the bits of what is kept."""
    table, first = context.program.instructions, context.program.bases[ValueKind.INSTRUCTION]
    width = context.values.width[first + row]
    if table.opcode[row] == Opcode.TRUNC:
        name = context.split.operand[table.offsets[row] : table.offsets[row] + 1]
        row = int(context.split.value_of(name)[0]) - first
    start = int(table.offsets[row])
    left, right = (context.fact(int(one)) for one in context.split.operand[start : start + 2])
    word = _WORDS[Opcode(int(table.opcode[row]))]
    return f"0..{left.most} {word} {_number(right.least, right.most)} in {width} bits"


def _number(least: int, most: int) -> str:
    return str(least) if least == most else f"{least}..{most}"


CLIENT = Client("Which sizes of allocations may overflow?", answer)

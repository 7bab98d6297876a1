"""Equal programs get equal columns, and `same` tells what differs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kleene.ir import Builder, Program, canonical, same
from kleene.ir.codes import Flag, Opcode
from tests.ir.museum import museum


def small(*, reverse: bool = False, unused: bool = False, repeat: bool = False) -> Program:
    """Return one program, its parts made in different orders."""
    b = Builder("small")
    if unused:
        b.integer(b.types.integer(77), 5)
        b.types.named("unused")
        b.span("unused.c", 1)
    i32, i64 = (
        reversed([b.types.integer(64), b.types.integer(32)])
        if reverse
        else (b.types.integer(n) for n in (32, 64))
    )
    function = b.function("f", [("x", i32)], i32)
    numbers = [3, 2, 1] if reverse else [1, 2, 3]
    made = {n: b.integer(i32, n) for n in numbers}
    spans = {n: b.span("a.c", n, 1) for n in numbers}
    block = function.block("entry")
    value = function.arguments[0]
    for n in (2, 1, 3):
        value = block.add(Opcode.ADD, value, made[n], span=spans[n])
    block.add(Opcode.SEXT, value, type=i64)
    block.add(Opcode.RET, value)
    if repeat:
        b.variable("again", i32, made[1])
    return b.finish()


@pytest.mark.parametrize("other", [small(reverse=True), small(unused=True)])
def test_the_order_of_making_does_not_matter(other: Program) -> None:
    assert same(small(), other) is None


def test_canonical_once_is_enough() -> None:
    program = museum()
    again = canonical(program)
    for mine, theirs in zip(program.tables().values(), again.tables().values(), strict=True):
        for (name, left), (_, right) in zip(mine.columns(), theirs.columns(), strict=True):
            assert left.tolist() == right.tolist(), name


def test_differences_are_reported() -> None:
    program = small()
    table = program.instructions
    flags = table.flags.copy()
    flags[1] = Flag.NSW
    changed = replace(program, instructions=replace(table, flags=flags))
    assert same(program, changed) == "instructions.flags[1]: 0 is not 2"
    assert same(program, small(repeat=True)) is not None
    assert same(program, replace(program, name="other")) == "name: 'small' is not 'other'"


def test_equal_spans_become_one() -> None:
    """LLVM keeps the copies of an inlined call's place apart; here they are one place."""
    program = museum()
    spans = program.spans
    doubled = replace(
        spans, **{name: [*column.tolist(), column[0]] for name, column in spans.columns()}
    )
    import numpy as np

    doubled = replace(
        doubled, **{name: np.array(column, np.int32) for name, column in doubled.columns()}
    )
    moved = program.instructions.span.copy()
    moved[moved == 0] = len(spans)
    other = replace(program, spans=doubled, instructions=replace(program.instructions, span=moved))
    assert same(program, other) is None

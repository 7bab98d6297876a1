"""Demanded bits: bits that are not demanded can be flipped, and nothing changes."""

from __future__ import annotations

import random

from kleene.analyses.dataflow.clients.bit_widths import demanded
from kleene.analyses.dataflow.context import Context
from kleene.ir import parse
from tests.analyses.dataflow.running import Machine
from tests.seeds import seeds

SEEDS = seeds(15, deep=2_000)
OPERATIONS = ("add", "sub", "mul", "and", "or", "xor")
SHIFTS = ("shl", "lshr", "ashr")


def random_function(seed: int) -> str:
    """Return a function of two bytes without branches."""
    chosen = random.Random(seed)
    names, lines = ["%a", "%b"], []
    for number in range(chosen.randint(2, 7)):
        name, kind = f"%v{number}", chosen.random()
        one = chosen.choice(names[-3:])
        if kind < 0.3:
            lines.append(f"{name}: i8 = {chosen.choice(SHIFTS)} {one}, {chosen.randrange(8)}")
        elif kind < 0.5:
            lines.append(f"{name}: i8 = {chosen.choice(OPERATIONS)} {one}, {chosen.randrange(128)}")
        elif kind < 0.65:
            wide, cut = f"%w{number}", chosen.choice(("sext", "zext"))
            lines.append(f"{wide}: i16 = {cut} {one}")
            lines.append(f"%x{number}: i16 = lshr {wide}, {chosen.randrange(12)}")
            lines.append(f"{name}: i8 = trunc %x{number}")
        elif kind < 0.75:
            predicate = chosen.choice(("slt", "sge", "eq", "ult"))
            lines.append(f"%c{number}: i1 = icmp {predicate} {one}, i8 {chosen.choice((0, 0, 9))}")
            lines.append(f"{name}: i8 = select %c{number}, {chosen.choice(names)}, i8 3")
        else:
            other = chosen.choice(names)
            lines.append(f"{name}: i8 = {chosen.choice(OPERATIONS)} {one}, {other}")
        names.append(name)
    body = "\n".join(f"  {line}" for line in lines)
    return f"define @f(%a: i8, %b: i8) -> i8 {{\n^entry:\n{body}\n  ret {names[-1]}\n}}\n"


def test_bits_that_are_not_demanded_do_not_matter() -> None:
    n_spared = 0
    for seed in SEEDS:
        program = parse(random_function(seed))
        context = Context(program, library=True, wraps=True, device="cpu")
        (function,) = program.functions
        masks = [int(demanded(context)[a.id]) for a in function.arguments]
        chosen = random.Random(seed)
        for _ in range(12):
            given = [chosen.randrange(256) for _ in masks]
            other = [
                g ^ (chosen.randrange(256) & ~mask & 255)
                for g, mask in zip(given, masks, strict=True)
            ]
            n_spared += given != other
            results = [Machine(program).call(function.row, one) for one in (given, other)]
            assert results[0] == results[1], (seed, given, other, masks)
    assert n_spared > 2 * len(SEEDS)


COUNTER = """
define @f() -> i32 {
^entry:
  br ^head
^head:
  %i: i32 = phi [i32 0, ^entry], [%next, ^body]
  %s: i32 = phi [i32 0, ^entry], [%sum, ^body]
  %more: i1 = icmp slt %i, i32 100
  br %more, ^body, ^exit
^body:
  %next: i32 = add nsw %i, 1
  %sum: i32 = add %s, %next
  br ^head
^exit:
  %low: i32 = and %s, 255
  ret %low
}
"""


def test_both_directions_of_the_loop() -> None:
    """The card's program 5: i is 0..100, so 7 bits; only 8 bits of the sum are asked for."""
    program = parse(COUNTER)
    context = Context(program, library=True, device="cpu")
    values = {v.name: v.id for b in program.functions[0].blocks for v in b.instructions if v.name}
    assert context.fact(values["i"]).n_bits == 7
    assert (context.fact(values["i"]).low, context.fact(values["i"]).high) == (0, 100)
    bits = demanded(context)
    assert int(bits[values["s"]]) == 255
    assert int(bits[values["sum"]]) == 255
    assert int(bits[values["i"]]) == 2**32 - 1  # it is compared

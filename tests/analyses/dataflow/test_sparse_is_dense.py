"""Facts by name are the facts point by point: ranges of random functions over 4 bits.

A condition may also say something of what a compared value was computed from (`x + 3 < 9`), which
point by point is not looked at: there, a fact by name may say more.
"""

import numpy as np

from kleene.analyses.dataflow.calls import Calls
from kleene.analyses.dataflow.constraints import generate
from kleene.analyses.dataflow.splitting import split_for_values
from kleene.ir import parse
from kleene.ir.codes import Opcode, ValueKind
from kleene.solvers.dataflow import solve
from kleene.transforms.splitting import Points, split_program
from tests.analyses.dataflow.dense import RandomFunction, dense, without_rounding
from tests.seeds import seeds

SEEDS = seeds(40, deep=10_000)


def generated(program, split):
    calls = Calls.within_functions(program)
    return generate(split, calls, None, trusts_flags=False)


def test_ranges_by_name_are_those_by_point():
    n_compared = n_known = n_equal = 0
    for seed in SEEDS:
        program = parse(RandomFunction(seed).text)
        plain = generated(program, split_program(program, Points.of()))
        expected = dense(program, plain)
        split = split_for_values(program, trusts_flags=False)
        facts = solve(without_rounding(generated(program, split).constraints), narrowing=0).rows
        first = program.bases[ValueKind.ARGUMENT]
        reached = {
            block for block in range(len(program.blocks))
            if facts[program.bases[ValueKind.BLOCK] + block, 6]
        }  # fmt: skip
        table = program.instructions
        for (row, place), fact in expected.items():
            if int(table.block[row]) not in reached:  # a fact that says more
                assert computes_back(program)
                continue
            value = int(table.operands_of(row)[place])
            is_block = (
                program.bases[ValueKind.BLOCK] <= value < program.bases[ValueKind.INSTRUCTION]
            )
            if value < first or is_block:
                continue
            name = int(split.operand[table.offsets[row] + place])
            mine = facts[name].tolist()
            assert mine == fact or (_is_below(mine, fact) and computes_back(program)), (seed, row)
            n_compared += 1
            n_equal += mine == fact
            n_known += fact[:4] not in ([-8, 7, 0, 15], [-1, 0, 0, 1])
    assert n_known > n_compared / 5
    assert n_equal > 0.97 * n_compared


def computes_back(program):
    """Return whether a compared value was computed by an operation that can be undone."""
    table, first = program.instructions, program.bases[ValueKind.INSTRUCTION]
    compares = np.flatnonzero(table.opcode == Opcode.ICMP)
    operands = table.operands[table.offsets[compares][:, None] + [0, 1]].ravel() - first
    codes = table.opcode[operands[operands >= 0]]
    return np.isin(codes, (Opcode.ADD, Opcode.SUB, Opcode.XOR, Opcode.AND, Opcode.OR)).any()


def _is_below(a, b):
    """Return whether every column of a row says at least what that of another says."""
    if not a[6] & 1:
        return True
    return (
        b[6] & 1 and a[0] >= b[0] and a[1] <= b[1] and a[2] >= b[2] and a[3] <= b[3]
        and not b[4] & ~a[4] and not b[5] & ~a[5]
    )  # fmt: skip

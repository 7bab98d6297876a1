"""Splitting at definitions is pruned SSA: φ for φ, operand for operand, use for use.

The oracle computes it by its definition (`pruned_ssa.py`). Random functions have any control flow;
real ones have that of programs, with the results of instructions dealt out to a few variables.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.base.arrays import I64
from kleene.ir import Program
from kleene.ir.codes import Opcode, ValueKind
from kleene.transforms.splitting import Accesses, ControlFlow, NameKind, Role, Splitting, split
from tests.seeds import IS_DEEP, seeds
from tests.transforms.splitting.functions import random_function
from tests.transforms.splitting.pruned_ssa import Blocks, Definition, Pruned, pruned_ssa

_N_VARIABLES = 4  # that the results of a real function are dealt out to
_MOST_BLOCKS = 200  # of a real function: the oracle takes quadratic time and more


def blocks_of(flow: ControlFlow, accesses: Accesses) -> Blocks:
    """Return a function as the oracle has it."""
    n_blocks = flow.blocks.n_nodes
    uses: list[list[tuple[int, int]]] = [[] for _ in range(n_blocks)]
    definitions: list[list[tuple[int, int]]] = [[] for _ in range(n_blocks)]
    block = flow.node_of(accesses.point).tolist()
    for row, role in enumerate(accesses.role.tolist()):
        point, variable = int(accesses.point[row]), int(accesses.variable[row])
        place = point if point < flow.n_instructions else -1
        if role in (Role.USE, Role.DEFINITION):
            (uses if role == Role.USE else definitions)[block[row]].append((place, variable))
    successors = [flow.blocks.successors(b).tolist() for b in range(n_blocks)]
    return Blocks(successors, uses, definitions)


def as_oracle(flow: ControlFlow, accesses: Accesses, names: Splitting) -> Pruned:
    """Return split names in the form of the oracle: what is in dead blocks is left out."""
    assert np.isin(names.kind, (NameKind.PROGRAM, NameKind.PHI)).all()
    node = flow.node_of(names.point)

    def definition(name: int) -> Definition | None:
        if name < 0:
            return None
        if names.kind[name] == NameKind.PHI:
            return ("φ", int(node[name]))
        point = int(names.point[name])
        return ("instruction", point if point < flow.n_instructions else -1)

    found = Pruned({}, {})
    offsets, edges = flow.incoming
    sources, _ = flow.blocks.edges()
    is_reached = flow.tree.pre >= 0
    for name in np.flatnonzero(names.kind == NameKind.PHI).tolist():
        block = int(node[name])
        before = sources[edges[offsets[block] : offsets[block + 1]]].tolist()
        pairs = zip(before, names.operands_of(name), strict=True)
        operands = [(b, definition(operand)) for b, operand in pairs if is_reached[b]]
        found.phis[int(names.variable[name]), block] = sorted(operands, key=str)
    block = flow.node_of(accesses.point)
    for row in accesses.rows(Role.USE).tolist():
        if is_reached[block[row]]:
            key = (int(accesses.variable[row]), int(accesses.point[row]))
            found.reads[key] = definition(int(names.name[row]))
    return found


def check(flow: ControlFlow, accesses: Accesses) -> int:
    """Assert that both are the same; return how many φ there are."""
    expected = pruned_ssa(blocks_of(flow, accesses))
    found = as_oracle(flow, accesses, split(flow, accesses, "ssa"))
    assert found == expected
    return len(found.phis)


def test_random_functions() -> None:
    n_phis = 0
    for seed in seeds(100, deep=10_000):
        rng = np.random.default_rng(seed)
        function = random_function(rng, int(rng.integers(2, 14)))
        n_phis += check(function.flow, function.accesses())
    assert n_phis


def accesses_in(program: Program, first: int, end: int) -> Accesses:
    """Return instructions `first` to `end` with their results dealt out to a few variables.

    φ are left out: their places are what is to be found.
    """
    table, base = program.instructions, program.bases[ValueKind.INSTRUCTION]
    rows: list[tuple[int, int, Role]] = []
    for row in range(first, end):
        if table.opcode[row] == Opcode.PHI:
            continue
        used: I64 = table.operands_of(row) - base
        variables = set((used[(used >= first) & (used < end)] % _N_VARIABLES).tolist())
        rows += [(variable, row - first, Role.USE) for variable in sorted(variables)]
        rows.append((row % _N_VARIABLES, row - first, Role.DEFINITION))
    return Accesses.of(rows)


@pytest.mark.parametrize("name", ["lua", "sqlite3"] if IS_DEEP else ["lua"])
def test_functions_of_programs(name: str, shared_data: Path) -> None:
    program = kleene.load(shared_data / "bitcode" / f"{name}.bc")
    starts = program.function_table.block_offsets
    first_row = program.blocks.instruction_offsets.astype(np.int64)
    offsets, targets = program.successors
    n_phis = n_functions = 0
    for first, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        if not 2 < end - first <= (_MOST_BLOCKS if IS_DEEP else 20):
            continue
        edges = [(b - first, int(t) - first) for b in range(first, end)
                 for t in targets[offsets[b] : offsets[b + 1]]]  # fmt: skip
        flow = ControlFlow.of(np.diff(first_row[first : end + 1]).tolist(), edges)
        rows = int(first_row[first]), int(first_row[end])
        n_phis += check(flow, accesses_in(program, *rows))
        n_functions += 1
        if n_functions == 50 and not IS_DEEP:
            break
    assert n_functions >= (400 if IS_DEEP else 50)
    assert n_phis > n_functions

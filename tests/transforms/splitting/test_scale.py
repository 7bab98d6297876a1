"""Large functions: irreducible control flow, a million instructions (in deep runs)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.ir import Program
from kleene.transforms.splitting import Accesses, ControlFlow, NameKind, Role, split

FACTOR = 100 if os.environ.get("KLEENE_DEEP") else 1


def irreducible(n_blocks: int) -> ControlFlow:
    """Return loops of two blocks, each entered at both: none of them has a head.

    ^0 goes to ^1 and ^2, which go to each other; ^1 goes on to ^3 and ^2 to ^4, and so on.
    """
    edges = [(0, 1), (0, 2)]
    for block in range(1, n_blocks - 3, 2):
        edges += [(block, block + 1), (block + 1, block)]
        edges += [(block, block + 2), (block + 1, block + 3)]
    return ControlFlow.of([1] * n_blocks, edges)


@pytest.mark.parametrize("strategy", ["ssa", "essa", "ssi", "null"])
def test_irreducible_control_flow_of_many_blocks(strategy: str) -> None:
    n_blocks = 1000 * FACTOR + 1
    flow = irreducible(n_blocks)
    rng = np.random.default_rng(1)
    rows = [(0, flow.into(0), Role.DEFINITION), (1, flow.into(0), Role.DEFINITION)]
    for block in range(1, n_blocks, 7):
        rows.append((int(rng.integers(2)), block, Role.DEFINITION))
    for block in range(0, n_blocks, 3):
        rows += [(0, block, Role.USE), (1, block, Role.USE), (0, flow.out_of(block), Role.TEST)]
    names = split(flow, Accesses.of(rows), strategy)
    # Every block of the pairs joins what comes from the other one and from before.
    n_phis = int((names.kind == NameKind.PHI).sum())
    assert n_blocks // 2 < n_phis < 2 * n_blocks
    assert names.n_names < 12 * n_blocks
    uses = names.name[[row for row, (_, _, role) in enumerate(rows) if role == Role.USE]]
    assert (uses[: len(uses) - 8] >= 0).all()


def long_function(folder: Path, n_instructions: int) -> Program:
    """Return a function of blocks that add to what comes in, test it and go on; as bitcode."""
    binding = pytest.importorskip("llvmlite.binding")
    lines, value = ["define i32 @f(i32 %x) {", "b0:"], "%x"
    for number in range(n_instructions // 4):
        lines += [
            f"  %a{number} = and i32 {value}, 65535",
            f"  %s{number} = add i32 %a{number}, 1",
            f"  %c{number} = icmp ult i32 %s{number}, 40000",
            f"  br i1 %c{number}, label %b{number + 1}, label %end",
            f"b{number + 1}:",
        ]
        value = f"%s{number}"
    lines += [f"  ret i32 {value}", "end:", "  ret i32 7", "}"]
    file = folder / "long.bc"
    file.write_bytes(binding.parse_assembly("\n".join(lines) + "\n").as_bitcode())
    return kleene.load(str(file), cache=False)


def test_a_function_of_many_instructions_takes_linear_work(tmp_path: Path) -> None:
    n_instructions = 10_000 * FACTOR
    program = long_function(tmp_path, n_instructions)
    result = program.dataflow(library=True, device="cpu")
    fact = result.returns("f")
    assert fact is not None
    assert (fact.least, fact.most) == (1, 39_999)
    names, evaluations = (result.statistics[key] for key in ("names", "evaluations"))
    assert names < 8 * n_instructions
    assert evaluations < 3 * names

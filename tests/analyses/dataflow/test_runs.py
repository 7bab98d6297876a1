"""Run-time truth: random programs tell their values as they run, and every fact holds of them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.ir.codes import Opcode
from tests.analyses.dataflow.random_c import RUNTIME, RandomProgram
from tests.seeds import seeds

SEEDS = seeds(1, deep=150)
ZIG = [sys.executable, "-m", "ziglang", "cc", "-w", "-fno-sanitize=undefined"]


def observed_names(program, context):
    """Return the calls of `observe`: the names of the id and of the value, and the block."""
    table, strings = program.instructions, program.strings
    calls = np.flatnonzero(table.opcode == Opcode.CALL)
    callee = table.operands[table.offsets[calls]]
    calls = calls[callee < len(program.globals)]
    found = []
    for row in calls.tolist():
        at = int(table.offsets[row])
        if strings[int(program.globals.name[table.operands[at]])] == "observe":
            operand = context.split.operand
            found.append((int(operand[at + 1]), int(operand[at + 2]), int(table.block[row])))
    return found


def run(binary: Path, seed: int) -> set[tuple[int, int]]:
    """Return the pairs of an id and a value that a run tells."""
    told = subprocess.run(
        [binary], env={"SEED": str(seed)}, capture_output=True, text=True, timeout=60
    )
    assert told.returncode == 0, told.stderr
    values: dict[int, set[int]] = {}
    for number, value in {tuple(map(int, line.split())) for line in told.stdout.splitlines()}:
        values.setdefault(number, set()).add(value)
    assert values
    some = {number: sorted(seen)[:40] + sorted(seen)[-40:] for number, seen in values.items()}
    return {(number, value) for number, seen in some.items() for value in seen}


def built(text: str, level: str, folder: Path) -> tuple[Path, Path]:
    """Return LLVM's text of a program, and a program made of that very text."""
    source, runtime = folder / "random.c", folder / "runtime.c"
    source.write_text(text)
    runtime.write_text(RUNTIME)
    code, binary = folder / "random.ll", folder / "random"
    subprocess.run(
        [*ZIG, level, "-fno-vectorize", "-S", "-emit-llvm", source, "-o", code], check=True
    )
    subprocess.run([*ZIG, "-O0", code, runtime, "-o", binary], check=True)
    return code, binary


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_observed_value_is_in_its_range(seed, level, tmp_path):
    pytest.importorskip("ziglang")
    code, binary = built(RandomProgram(seed).text, level, tmp_path)
    program = kleene.load(str(code), normalise=level == "-O0", cache=False)
    runs = [run(binary, number) for number in (1, 2, 3)]
    for options in ({}, {"wraps": True}, {"whole_program": False}, {"context": 1}):
        context = program.dataflow(**options).context
        calls = [
            (context.fact(number), context.fact(value), context.block_is_reached[block])
            for number, value, block in observed_names(program, context)
        ]
        for number, value in sorted(set().union(*runs)):
            # Optimised code may have merged several calls: then ids are facts, too.
            mine = [(fact, reached) for id_, fact, reached in calls if id_.holds(number)]
            assert any(reached for _, reached in mine), (number, options)
            held = any(reached and fact.holds(value) for fact, reached in mine)
            assert held, (number, value, [str(fact) for fact, _ in mine], options)

"""Programs whose loads were forwarded compute what they did."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.analyses.dataflow.forwarding import forwarded
from kleene.ir import Program, parse
from kleene.ir.codes import Opcode
from kleene.transforms.splitting.program import control_flow
from tests.analyses.dataflow.running import Machine
from tests.analyses.dataflow.test_memory import PROGRAMS, loaded

FIELD = """
define @main(%s: ptr, %k: i32) -> i32 {
^entry:
  %p: ptr = alloca i32
  store %k, %p
  %a: i32 = load %p
  %b: i32 = load %p
  %sum: i32 = add %a, %b
  store i32 7, %p
  %c: i32 = load %p
  %all: i32 = add %sum, %c
  ret %all
}
"""


def ran(program: Program) -> tuple[int, list[tuple[int, int]]]:
    """Return what main returns, and what every load reads."""
    machine, read = Machine(program), []
    machine.on_load = lambda row, _address, _bytes, value: read.append((row, value))
    main = next(f for f in program.functions if f.name == "main")
    return machine.call(main.row, [3, 0]), read


@pytest.mark.parametrize("level", ["-O0", "-O1"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_computes_the_same(tmp_path: Path, name: str, level: str) -> None:
    program = loaded(tmp_path, name, level)
    other = forwarded(program, program.points_to(device="cpu"), control_flow(program))
    assert ran(other) == ran(program)


def test_loads_are_what_was_stored_until_it_changes() -> None:
    program = parse(FIELD)
    other = forwarded(program, program.points_to(device="cpu"), control_flow(program))
    table = other.instructions
    used = {
        str(other.value_view(int(value)))
        for row in range(len(table))
        if table.opcode[row] == Opcode.ADD
        for value in table.operands_of(row)
    }
    assert not any("load" in text for text in used)
    assert any(text.startswith("%k") for text in used)

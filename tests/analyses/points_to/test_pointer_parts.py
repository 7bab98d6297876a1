"""What may hold parts of pointers: from a cut to memory."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.analyses.points_to.constraints import columns
from kleene.ir import parse
from kleene.ir.codes import Opcode, ValueKind


@pytest.mark.parametrize(("callee", "is_followed"), [("@outside", False), ("@inside", True)])
def test_numbers_handed_to_variadic_functions_outside_are_no_parts_of_pointers(
    callee: str, is_followed: bool
) -> None:
    program = parse(f"""
        declare @outside(%n: i64, ...) -> i64
        define @inside(%n: i64, ...) -> i64 {{
        ^a:
          ret %n
        }}
        define @main(%p: ptr) -> i64 {{
        ^a:
          %number: i32 = load %p, align 4
          %done: i64 = call {callee}(i64 1, %number)
          ret %done
        }}
    """)
    (load,) = np.flatnonzero(program.instructions.opcode == Opcode.LOAD)
    value = program.value(ValueKind.INSTRUCTION, int(load))
    assert bool(columns.Columns(program).pointer_carrying[value]) == is_followed

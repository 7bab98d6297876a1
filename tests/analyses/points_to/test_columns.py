"""What may hold parts of pointers: marks that spread along edges."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.analyses.points_to.constraints import columns
from kleene.ir import parse
from kleene.ir.codes import Opcode, ValueKind


@pytest.mark.parametrize("n_edges", [0, 30, 3000])
def test_compiled_marks_are_those_of_whole_columns(n_edges: int) -> None:
    random = np.random.default_rng(n_edges)
    n = n_edges // 2 + 2
    to, source = random.integers(0, n, (2, n_edges))
    marked = random.random(n) < 0.1
    plain, compiled = marked.copy(), marked.copy()
    columns.spread(plain, to, source)
    columns._spread.py_func(compiled, to, source)
    assert (plain == compiled).all()
    assert plain[to[plain[source]]].all()


def test_what_lies_between_is_on_a_way_from_the_first_to_the_last() -> None:
    to, source = np.array([1, 2, 3, 5, 2]), np.array([0, 1, 2, 4, 6])  # 0-1-2-3, 4-5, 6-2
    first, last = np.zeros(7, bool), np.zeros(7, bool)
    first[[0, 4]] = last[3] = True
    assert np.flatnonzero(columns._between(first, last, to, source)).tolist() == [0, 1, 2, 3]


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

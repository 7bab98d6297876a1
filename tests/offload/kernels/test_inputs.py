"""Of a loop that may be parallel, an input is found for which it is not, and a run shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.kernels.loop_programs import PROGRAMS, unit
from tests.offload.kernels.random_loops import program

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from kleene.ir.loops.tree import Function
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict, verdicts_of
from kleene.transforms.loops import tables
from tests.offload.kernels.oracle import confirm_input

LOOPS = {
    "a[idx[i]] = b[i];": {"n": 2, "idx[0]": 0, "idx[1]": 0},
    "a[i * m] = i;": {"n": 2, "m": 0},
    "if (idx[i] > 3) a[i + 1] = a[i];": {"n": 2, "idx[0]": 4, "idx[1]": 4},
    "a[idx[i]] = a[i];": {"n": 2, "idx[0]": 1},
    "a[idx[idx[i]]] = i;": {"n": 2, "idx[0]": 0, "idx[1]": 0},
    "for (int j = 0; j < n; j++) a[i * m + j] = a[i * m + j] * 2 + j;": {"n": 3, "m": 2},
}


def loops(file: Path) -> tuple[dict[str, Function], list[LoopVerdict]]:
    found = unit(file)
    functions = {one.name: one for one in found.functions}
    return functions, [one for table in tables(found) for one in verdicts_of(table)]


@pytest.mark.parametrize("body", LOOPS)
def test_an_input_is_found(tmp_path: Path, body: str) -> None:
    file = tmp_path / "a.c"
    file.write_text(
        "double a[99], b[99]; int idx[99];\n"
        f"void f(int n, int m) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    )
    functions, (loop, *_) = loops(file)
    found = loop.conflicting_input
    assert loop.verdict is Verdict.MAY
    assert found is not None
    assert LOOPS[body].items() <= dict((*found.parameters, *found.memory)).items()
    assert confirm_input(functions, loop)


@pytest.mark.parametrize(
    "body",
    [
        "if (b[i] > 3) a[i + 1] = a[i];",  # no input is known to meet a condition on floats
        "idx[i] = i; a[idx[n - i]] = i;",  # what the loop writes itself is no input
        "int k = unknown(i); a[k] = i;",
    ],
)
def test_what_is_no_input_is_not_made_one(tmp_path: Path, body: str) -> None:
    file = tmp_path / "a.c"
    file.write_text(
        "double a[99], b[99]; int idx[99]; int unknown(int);\n"
        f"void f(int n, int m) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    )
    _, (loop, *_) = loops(file)
    assert loop.conflicting_input is None


def test_inputs_of_all_test_programs_are_real(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(program(3, 14))
    n_shown = 0
    for each in (file, *sorted(PROGRAMS.glob("loops/*.c"))):
        functions, found = loops(each)
        for one in found:
            if one.conflicting_input is not None:
                shown = confirm_input(functions, one)
                assert shown is not False, (one.place, one.conflicting_input)
                n_shown += shown is True
    assert n_shown >= 10

"""No loop may take more than its budget, whatever it asks of isl or calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.kernels.loop_programs import loop_tables, unit_of

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from kleene.ir.loops.tables import LoopTable
from kleene.offload.kernels import dependences, overlaps
from kleene.offload.kernels.budget import Budget, BudgetError
from kleene.offload.kernels.instances import kernels_in
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict, verdicts_of
from kleene.transforms.loops import execute, tables

OVERLAPPING = "void f(int n, int m, double *a, double *b) { for (int i = 1; i < n; i++) "


def judged(tmp_path: Path, code: str) -> list[LoopVerdict]:
    file = tmp_path / "a.c"
    file.write_text(code)
    return [one for table in loop_tables(file) for one in verdicts_of(table)]


def test_proofs_inside_of_a_question_do_not_lift_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check that pointers do not overlap is proved before dependences are looked for."""
    code = OVERLAPPING + "a[i] = a[i - 1] + b[m * i + 1]; }"
    assert judged(tmp_path, code)[0].verdict is Verdict.SEQ
    monkeypatch.setattr(dependences, "MAX_OPERATIONS", 20)
    (loop,) = judged(tmp_path, code)
    assert loop.verdict is Verdict.MAY
    assert [one.code for one in loop.culprits] == ["BUDGET"]


def test_long_formulas_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependences, "MAX_CHARACTERS", 50)
    (loop,) = judged(tmp_path, OVERLAPPING + "a[i] = a[i - 1] + b[i]; }")
    assert loop.verdict is Verdict.MAY
    assert "more than 50 characters" in loop.culprits[-1].detail


def test_a_kernel_without_budget_has_no_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole array moves, and nothing is raised."""
    (table,) = tables(
        unit_of("double a[99]; void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; }")
    )
    verdicts = tuple(verdicts_of(table))
    monkeypatch.setattr(dependences, "MAX_OPERATIONS", 1)
    (kernel,) = kernels_in(table, (), verdicts)
    (moved,) = [one for one in kernel.parameters if one.name == "a"]
    assert moved.copy_out is not None
    assert str(moved.copy_out) == "[0, 8*n)"  # by monotonicity, without isl
    assert not moved.copy_out.is_exact


def test_a_budget_is_spent_until_it_is_renewed() -> None:
    budget = Budget(1_000_000, 100)
    formula = ["c0x >= " + "0" * 60]
    assert not budget.make_set(["c0x"], [], formula).is_empty()
    with pytest.raises(BudgetError):
        budget.make_set(["c0x"], [], formula)
    budget.renew()
    assert budget.make_set(["c0x"], [], ["c0x >= 0", "c0x < 0"]).is_empty()


def test_each_pointer_has_its_section_found_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_asked = 0
    original = overlaps.section_of

    def counted(*given: object) -> object:
        nonlocal n_asked
        n_asked += 1
        return original(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(overlaps, "section_of", counted)
    names = [f"p{one}" for one in range(8)]
    parameters = ", ".join(f"double *{one}" for one in names)
    body = " ".join(f"{one}[i] = 0;" for one in names)
    code = f"void f(int n, {parameters}) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    (loop,) = judged(tmp_path, code)
    assert len(loop.no_overlap) == len(loop.overlap_checks) == 28
    assert n_asked == 8


def calls(n_levels: int) -> str:
    """Return functions that call each other 3 ** n_levels times, and two loops."""
    code = "int g; static int f0(int x) { g = g + x; return g; }\n"
    for level in range(1, n_levels + 1):
        below = f"f{level - 1}"
        code += f"static int f{level}(int x) {{ {below}(x); {below}(x + 1); return {below}(2); }}\n"
    return code + (
        "double a[99]; void f(int n) { int s = 0;"
        f" for (int i = 0; i < n; i++) s = s + f{n_levels}(i);\n"
        " for (int j = 0; j < n; j++) a[j] = j; }"
    )


def steps_of(table_code: str) -> tuple[LoopTable, int]:
    unit = unit_of(table_code)
    functions = {one.name: one for one in unit.functions}
    execution = execute.Execution(functions["f"], functions)
    return execution.table(), execution._n_steps


def test_calls_are_followed_as_long_as_the_budget_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = steps_of(calls(2))
    assert "BUDGET" not in {one.reason.value for row in table.loops for one in row.refusals}
    monkeypatch.setattr(execute, "MAX_INLINED_STEPS", 2_000)
    few, n_few = steps_of(calls(6))
    _, n_many = steps_of(calls(12))  # 531,441 calls
    assert max(n_few, n_many) < 2_200
    assert "BUDGET" in {one.reason.value for one in few.loops[0].refusals}
    assert not few.loops[-1].refusals  # the second loop has a budget of its own
    verdicts = verdicts_of(few)
    assert [one.verdict for one in verdicts] == [Verdict.MAY, Verdict.PAR]


def test_functions_without_loops_of_their_own_have_no_table() -> None:
    unit = unit_of(calls(6) + "void h(int n) { f(n); }")
    assert [one.function for one in tables(unit)] == ["f"]


def test_conditions_with_many_alternatives_are_left_out(tmp_path: Path) -> None:
    """Ten guards `x != y` are 1024 alternatives; with two accesses, a million."""
    guards = " && ".join(f"i != x{one}" for one in range(10))
    parameters = ", ".join(f"int x{one}" for one in range(10))
    head = f"double a[99]; void f(int n, {parameters}) {{ for (int i = 0; i < n; i++) "
    (loop,) = judged(tmp_path, head + f"if ({guards}) a[i] = a[i] + 1; }}")
    assert loop.verdict is Verdict.PAR
    (loop,) = judged(tmp_path, head + f"if ({guards}) a[i] = a[i + 1]; }}")
    assert loop.verdict is Verdict.COPY
    (loop,) = judged(tmp_path, head + f"if ({guards}) a[i] = a[i - 1]; }}")
    assert loop.verdict is Verdict.MAY  # the value flows, but it is not known when
    assert [one.code for one in loop.culprits] == ["NOT_AFFINE"]

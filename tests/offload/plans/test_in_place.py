"""Sums in a variable that are done in an element, so that a nest has another order."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

from kleene.codegen.plan import Kernel
from kleene.kernels.launch import host
from kleene.offload.kernels import Kernels
from kleene.offload.kernels.dependences import facts_of
from kleene.offload.plans.in_place import in_place
from tests.offload.kernels.loop_programs import unit
from tests.offload.plans.generated import Compared, arguments, plans_of

HEAD = "(int n, double a[restrict n][n], double *restrict b) { double w = 0; "
NEST = "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) {{ {} }}"
SUM = "for (int k = 0; k < j; k++) w -= a[i][k] * a[k][j];"
MOVED = {
    "from itself": f"w = a[i][j]; {SUM} a[i][j] = w;",
    "divided": f"w = a[i][j]; {SUM} a[i][j] = w / a[j][j];",
    "from zero": f"w = 0; {SUM} a[i][j] = 2 * w;",
    "its own variable": f"double v = a[i][j]; {SUM.replace('w', 'v')} a[i][j] = v;",
}
KEPT = {
    "the element is read": "w = 0; for (int k = 0; k <= j; k++) w += a[i][k]; a[i][j] = w;",
    "it may be": "w = 0; for (int k = 0; k < n; k++) w += a[k][j]; a[i][j] = w;",
    "its old value is read": f"w = 0; {SUM} a[i][j] = 2 * a[i][j] + w;",
    "it is read later": f"w = 0; {SUM} a[i][j] = w; b[i] += w;",
    "it is another type": f"float v = 0; {SUM.replace('w', 'v')} a[i][j] = v;",
    "it hangs on a condition": f"w = 0; {SUM} if (b[j] > 1) a[i][j] = w;",
    "there is no sum": "w = b[i]; a[i][j] = 2 * w;",
}


def functions(folder: Path, codes: dict[str, str], end: str = "}"):
    """Return the tree and the verdicts of each function by its name, and the text of all."""
    code = "\n".join(f"void f{n}{HEAD}{text} {end}" for n, text in enumerate(codes.values()))
    file = folder / "program.c"
    file.write_text(code)
    found = unit(file)
    verdicts = Kernels().verdicts_on([found]).functions
    return found, dict(zip(codes, zip(found.functions, verdicts, strict=True), strict=True)), code


def test_what_is_moved_and_what_is_kept(tmp_path: Path) -> None:
    codes = {name: NEST.format(text) for name, text in (MOVED | KEPT).items()}
    _, by_name, _ = functions(tmp_path, codes)
    changed = {
        name
        for name, (function, analysed) in by_name.items()
        if in_place(function, facts_of(analysed.table, analysed.conditions)) is not None
    }
    assert changed == {*MOVED}


def test_a_variable_that_is_used_after_its_nest_is_kept(tmp_path: Path) -> None:
    codes = {name: NEST.format(text) for name, text in MOVED.items() if "double" not in text}
    _, by_name, _ = functions(tmp_path, codes, "b[0] = w; }")
    for function, analysed in by_name.values():
        assert in_place(function, facts_of(analysed.table, analysed.conditions)) is None


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
def test_factorizations_through_a_variable(tmp_path: Path) -> None:
    second = f"for (int j = i; j < n; j++) {{ w = a[i][j]; {SUM} a[i][j] = w; }}"
    second = second.replace("k < j", "k < i")
    first = f"for (int j = 0; j < i; j++) {{ {MOVED['divided']} }}"
    codes = {"lu": f"for (int i = 0; i < n; i++) {{ {first} {second} }}"}
    found, _, code = functions(tmp_path, codes)
    plans = plans_of(found)
    compared = Compared([code], plans, tmp_path)
    (function,) = found.functions
    for n in (1, 2, 9):
        given = arguments(function, {"n": n})
        given[1][:: n + 1] += 2 * n  # well conditioned
        compared.assert_same(function, given)
    axes = [len(one.axes) for one in plans["f0"].kernels() if isinstance(one, Kernel)]
    assert max(axes) == 2

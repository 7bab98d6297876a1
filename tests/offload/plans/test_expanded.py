"""Arrays that every iteration fills anew: each iteration gets its own."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

from kleene.codegen import threads
from kleene.codegen.plan import Kernel
from kleene.kernels.launch import host
from kleene.offload.kernels import Kernels
from kleene.offload.plans import expanded
from tests.offload.kernels.loop_programs import unit
from tests.offload.plans.generated import Compared, arguments, plans_of

HEAD = "(int n, int m, double a[restrict n][m], double c[restrict m][m], double t[restrict m]) {"
FILLED = "for (int p = 0; p < m; p++) { t[p] = 0; for (int s = 0; s < m; s++) t[p] += a[i][s]; }"
USED = "for (int p = 0; p < m; p++) a[i][p] = t[p] * c[p][0];"
NEST = "for (int i = 0; i < n; i++) {{ {} {} }}"
EXPANDED = {
    "sums": NEST.format(FILLED, USED),
    "used twice": NEST.format(FILLED, f"{USED} for (int p = 0; p < m; p++) a[i][p] += t[p];"),
    "constant": NEST.format(FILLED.replace("m;", "17;"), USED.replace("m;", "17;")),
}
KEPT = {
    "a value from before": NEST.format(FILLED.replace("t[p] = 0;", ""), USED),
    "some elements": NEST.format(FILLED.replace("t[p] = 0;", "if (a[i][p] > 1) t[p] = 0;"), USED),
    "not from 0": NEST.format(*(s.replace("p = 0", "p = 1") for s in (FILLED, USED))),
    "other subscripts": NEST.format(FILLED, USED.replace("t[p]", "t[m - 1 - p]")),
    "another number of them": NEST.format(FILLED, USED.replace("p < m", "p < n && p < m")),
    "a counter after its loop": NEST.format(
        FILLED,
        "int p; for (p = 0; p < m; p++) a[i][p] = t[p]; a[i][0] += t[p];",
    ),
    "one counter for two loops": NEST.format(
        f"int p; {FILLED.replace('int p', 'p')}", "for (p = 0; p < n; p++) a[i][p] = t[p];"
    ),
    "as many as iterations": NEST.format(*(s.replace("p < m", "p < i") for s in (FILLED, USED))),
    "backwards": NEST.format(FILLED, USED).replace("int i = 0; i < n; i++", "int i=n-1; i>=0; i--"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory):
    folder: Path = tmp_path_factory.mktemp("expanded")
    codes = (EXPANDED | KEPT).values()
    code = "\n".join(f"void f{number}{HEAD} {text} }}" for number, text in enumerate(codes))
    file = folder / "program.c"
    file.write_text(code)
    return unit(file), code, folder


def test_what_is_expanded_and_what_is_not(made) -> None:
    found, _, _ = made
    verdicts = Kernels().verdicts_on([found]).functions
    named = zip(EXPANDED | KEPT, found.functions, verdicts, strict=True)
    changed = {name for name, one, told in named if expanded(one, told) is not None}
    assert changed == {*EXPANDED}


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
def test_iterations_are_kernels_and_the_last_leaves_its_elements(made) -> None:
    found, code, folder = made
    plans = plans_of(found)
    compared = Compared([code], plans, folder)
    for function in found.functions[: len(EXPANDED)]:
        for n, m in ((6, 18), (1, 17), (0, 17)):
            compared.assert_same(function, arguments(function, {"n": n, "m": m}))
        plan = plans[function.name]
        axes = [len(one.axes) for one in plan.kernels() if isinstance(one, Kernel)]
        assert max(axes) == 2
        assert "t_all" in plan.arrays
    # A product of int would overflow from 2^31 elements on.
    assert "malloc((size_t)((long long)n * (long long)m) * sizeof(double)" in threads.source(
        [plans["f0"]]
    )

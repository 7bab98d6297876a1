"""Nests in two: one statement deep inside for all iterations, and all others."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

from kleene.kernels.launch import host
from tests.offload.kernels.loop_programs import unit
from tests.offload.plans.generated import Compared, arguments, plans_of

IN_TWO = {
    # As symm: c[k][j] is scaled in iteration k, and then gets something in each later one.
    "after": """void @(int m, int n, double c[restrict m][n], const double a[restrict m][m],
                       const double b[restrict m][n]) {
      for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
          double upper = 0;
          for (int k = 0; k < i; k++) {
            c[k][j] += b[i][j] * a[i][k];
            upper += b[k][j] * a[i][k];
          }
          c[i][j] = 2 * c[i][j] + upper;
        } }""",
    # c[k][j] gets something in each iteration before k, and is scaled in that one.
    "before": """void @(int m, int n, double c[restrict m][n], const double a[restrict m][m],
                        const double b[restrict m][n]) {
      for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
          double upper = 0;
          for (int k = i + 1; k < m; k++) {
            c[k][j] += b[i][j] * a[i][k];
            upper += b[k][j] * a[i][k];
          }
          c[i][j] = 2 * c[i][j] + upper;
        } }""",
}
WHOLE = {
    # c[k][j] gets something before and after it is scaled.
    "around": """void @(int m, int n, double c[restrict m][n], const double a[restrict m][m],
                        const double b[restrict m][n]) {
      for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
          double upper = 0;
          for (int k = 0; k < m; k++) {
            c[k][j] += b[i][j] * a[i][k];
            upper += b[k][j] * a[i][k];
          }
          c[i][j] = 2 * c[i][j] + upper;
        } }""",
    # What is added is only known in its iteration: t changes from one to the next.
    "running": """void @(int m, int n, double c[restrict m][n], const double a[restrict m][m],
                         double t) {
      for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
          for (int k = 0; k < i; k++) {
            c[k][j] += t * a[i][k];
            t = 0.5 * t + a[i][k];
          }
          c[i][j] = 2 * c[i][j];
        } }""",
    # The scaled row is read, too: sums of later iterations need those before.
    "looked": """void @(int m, int n, double c[restrict m][n], const double a[restrict m][m]) {
      for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
          double upper = 0;
          for (int k = 0; k < i; k++) {
            c[k][j] += a[i][k];
            upper += c[k][j] * a[i][k];
          }
          c[i][j] = 2 * c[i][j] + upper;
        } }""",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory):
    folder: Path = tmp_path_factory.mktemp("separated")
    code = "\n".join(text.replace("@", name) for name, text in (IN_TWO | WHOLE).items())
    file = folder / "program.c"
    file.write_text(code)
    found = unit(file)
    return found, code, plans_of(found), folder


def test_both_have_two_axes(made) -> None:
    for name in IN_TWO:
        assert [len(one.axes) for one in made[2][name].kernels()] == [2, 2]
    for name in WHOLE:
        assert len(list(made[2][name].kernels())) < 2


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
def test_all_forms_agree(made) -> None:
    found, code, plans, folder = made
    compared = Compared([code], plans, folder)
    for function in found.functions:
        for m, n in ((1, 1), (2, 5), (7, 4)):
            compared.assert_same(function, arguments(function, {"m": m, "n": n}, seed=m))

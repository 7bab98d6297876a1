"""Elements that the next iteration reads stay in registers of a thread."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

from kleene.codegen import cuda
from kleene.kernels.launch import host
from tests.offload.kernels.loop_programs import unit
from tests.offload.plans.generated import Compared, arguments, plans_of

KEPT = {
    "forward": """void @(int n, double q[restrict n][n], const double *restrict b, int q_now) {
      for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++) q[i][j] = 0.5 * q[i][j - 1] + b[j] * q_now; }""",
    "backward": """void @(int n, double q[restrict n][n], const double *restrict b) {
      for (int i = 0; i < n; i++)
        for (int j = n - 2; j >= 1; j--) q[j][i] = b[j] * q[j + 1][i] + 0.1 * q[j - 1][i]; }""",
    "two": """void @(int n, double p[restrict n][n], double q[restrict n][n]) {
      for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++) {
          p[i][j] = 1 / (p[i][j - 1] + 2);
          q[i][j] = (q[i][j - 1] + i) / (p[i][j - 1] + 2);
        } }""",
}
LEFT = {
    "tested": """void @(int n, int q[restrict n][n], const int b[restrict n][n]) {
      for (int i = 0; i < n; i++)
        for (int j = 3; j < n - 1; j++) {
          q[i][j + 1] = b[i][j] - q[i][j] / 3;
          if (b[i][j] > 1) q[i][j + 1 - 1] += 0;
        } }""",
    "halves": """void @(int n, int q[restrict n][n], int r[restrict n][n]) {
      for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++) {
          q[i][j / 2] = j - q[i][j / 2];
          r[i][j] = q[i][(j - 1) / 2];
        } }""",
    "twice": """void @(int n, int q[restrict n][n], const int b[restrict n][n]) {
      for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++) {
          q[i][j] = b[i][j] - q[i][j - 1];
          if (b[i][j] > 1) q[i][j - 1] = 5;
        } }""",
    "seldom": """void @(int n, int q[restrict n][n], const int b[restrict n][n]) {
      for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++)
          if (b[i][j] > 1) q[i][j] = b[i][j] - q[i][j - 1]; }""",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory):
    folder: Path = tmp_path_factory.mktemp("carried")
    code = "\n".join(text.replace("@", name) for name, text in (KEPT | LEFT).items())
    file = folder / "program.c"
    file.write_text(code)
    found = unit(file)
    return found, code, plans_of(found), folder


def test_loads_of_what_was_just_written_are_gone(made) -> None:
    counts = {name: cuda.source([plan]).count("_before;") for name, plan in made[2].items()}
    assert counts == {
        "forward": 1, "backward": 1, "two": 2, "tested": 0, "halves": 0, "twice": 0, "seldom": 0,
    }  # fmt: skip
    assert "double q_now_ = 0.5 * q_before + " in cuda.source([made[2]["forward"]])


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
def test_all_forms_agree(made) -> None:
    found, code, plans, folder = made
    compared = Compared([code], plans, folder)
    for function in found.functions:
        for n in (1, 2, 3, 9):
            compared.assert_same(function, arguments(function, {"n": n, "q_now": 2}, seed=n))

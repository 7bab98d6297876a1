"""Short parallel loops of a thread: their iterations share loops and loads."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

from kleene.codegen import cuda
from kleene.kernels.launch import host
from tests.offload.kernels.loop_programs import unit
from tests.offload.plans.generated import Compared, arguments, plans_of

HEAD = """(int n, int m, const int a[restrict n + m][3], const int by[restrict m],
    int out[restrict n][3])"""
SHARED = {
    "sums": """
      for (int x = 0; x < n; x++)
        for (int c = 0; c < 3; c++) {
          int sum = 0;
          for (int u = 0; u < m; u++) sum += by[u] * a[x + u][c];
          out[x][c] = sum / 2;
        }""",
    "a variable of the loop inside": """
      for (int x = 0; x < n; x++)
        for (int c = 0; c < 3; c++) {
          int sum = 0, sum_1 = x;
          for (int u = 0; u < m; u++) {
            int t = a[x + u][c];
            if (t > 1) t = -t;
            sum += t * by[u];
          }
          out[x][c] = sum + sum_1;
        }""",
    "a triangle": """
      for (int x = 0; x < n; x++)
        for (int c = 0; c < 3; c++) {
          int sum = c;
          for (int v = 0; v < m; v++)
            for (int u = 0; u <= v; u++) sum += by[u] * a[x + v][c];
          out[x][c] = sum;
        }""",
    "elements instead of a variable": """
      for (int x = 0; x < n; x++)
        for (int c = 1; c < 3; c++) {
          out[x][c] = 0;
          for (int u = 0; u < m; u++) out[x][c] += by[u] * a[x + u][c];
        }""",
}
APART = {
    "bounds that differ": """
      for (int x = 0; x < n; x++)
        for (int c = 0; c < 3; c++) {
          int sum = 0;
          for (int u = c; u < m; u++) sum += by[u] * a[x + u][c];
          out[x][c] = sum;
        }""",
    "bounds that iterations compute": """
      for (int x = 0; x < n; x++)
        for (int c = 0; c < 3; c++) {
          int sum = 0, most = a[x][c] < m ? a[x][c] : m;
          for (int u = 0; u < most; u++) sum += by[u];
          out[x][c] = sum;
        }""",
    "bounds in arrays": """
      for (int x = 0; x < n; x++)
        for (int c = 0; c < 3; c++) {
          int sum = 0;
          for (int u = 0; u < by[0] && u < m; u++) sum += a[x + u][c];
          out[x][c] = sum;
        }""",
    "a sum of all iterations": """
      for (int x = 0; x < n; x++)
        for (int c = 0; c < 3; c++)
          for (int u = 0; u < m; u++) out[x][0] += by[u] * a[x + u][c];""",
    "a variable from outside": """
      for (int x = 0; x < n; x++) {
        int last = 0;
        for (int c = 0; c < 3; c++) {
          last = c;
          for (int u = 0; u < m; u++) last += by[u] * a[x + u][c];
          out[x][c] = last;
        }
        out[x][0] += last;
      }""",
    "a counter that is read later": """
      for (int x = 0; x < n; x++)
        for (int c = 0; c < 3; c++) {
          int u, sum = 0;
          if (a[x][c] > 1)
            for (u = 0; u < m; u++) sum += by[u];
          else u = 7;
          out[x][c] = sum + u;
        }""",
    "many iterations": """
      for (int x = 0; x < n; x++)
        for (int c = 0; c < 12; c++)
          for (int u = 0; u < m; u++) out[x][c % 3] += by[u];""",
}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the kernels of all functions, which are compared with the C where that can be run."""
    names = {f"f{number}": name for number, name in enumerate(SHARED | APART)}
    codes = SHARED | APART
    code = "\n".join(f"void {f}{HEAD} {{{codes[name]}\n}}" for f, name in names.items())
    folder: Path = tmp_path_factory.mktemp("jammed")
    file = folder / "program.c"
    file.write_text(code)
    found = unit(file)
    plans = plans_of(found)
    if host.problem() is None:
        compared = Compared([code], plans, folder)
        for function in found.functions:
            for sizes in ({"n": 9, "m": 4}, {"n": 3, "m": 0}):
                compared.assert_same(function, arguments(function, sizes))
    return {name: cuda.source([plans[f]]) for f, name in names.items()}


@pytest.mark.parametrize("name", SHARED)
def test_iterations_that_share_loops_are_side_by_side(name: str, texts: dict[str, str]) -> None:
    assert "int c = " not in texts[name]


@pytest.mark.parametrize("name", APART)
def test_iterations_that_differ_stay_one_after_the_other(name: str, texts: dict[str, str]) -> None:
    assert "c += 1" in texts[name]


def test_copies_of_a_variable_have_names_of_their_own(texts: dict[str, str]) -> None:
    text = texts["a variable of the loop inside"]
    for name in ("int sum_0 = 0;", "int sum_1_1 = x;", "int sum_1_2 = 0;", "int t_2 = "):
        assert name in text

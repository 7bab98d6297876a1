"""Histograms: bins of blocks in shared memory, and updates of the array itself."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

from kleene.codegen import cuda, cuda_host, python, runtime, threads
from kleene.codegen.runtime import launching
from kleene.kernels.launch import api, host
from kleene.kernels.launch import compile as nvrtc
from tests.offload.kernels.loop_programs import unit
from tests.offload.plans.generated import Compared, arguments, plans_of

BINS = {
    "count": """void @(int n, int m, const int k[restrict n][m], int *restrict h) {
      for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) h[k[i][j]]++; }""",
    # The names of the text's own variables are none of these.
    "sums": """void @(int n, int m, const int b[restrict n][m], double *restrict a) {
      for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) a[b[i][j]] += 0.5 * i; }""",
    "longs": """void @(int n, int m, const int k[restrict n][m], long *restrict h) {
      for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) h[k[i][j]] -= i + j; }""",
    "most": """void @(int n, int m, const int k[restrict n][m], long *restrict h) {
      for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) h[k[i][j]] = h[k[i][j]] > i - j ? h[k[i][j]] : i - j; }""",
    "bits": """void @(int n, int m, const int k[restrict n][m], unsigned *restrict h) {
      for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) h[k[i][j]] ^= 1u << (i + j) % 31; }""",
    "tables": """void @(int n, int m, const int k[restrict n][m], int h[restrict 4][n]) {
      for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) h[k[i][j]][k[0][j]] += 3; }""",
}
PLAIN = {
    # A loop for each update: threads of the host are worth it.
    "long_": """void @(int n, int m, const int k[restrict n][m], const int *restrict b,
                        int *restrict g, int *restrict h) {
      for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
          int s = 0;
          for (int t = 0; t < n; t++) s += b[t] ^ j;
          g[k[i][j]] += s;
          h[k[i][j]] += 2;
        } }""",
    # Two arrays: each would need bins.
    "two": """void @(int n, int m, const int k[restrict n][m], int *restrict g, int *restrict h) {
      for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) { g[k[i][j]]++; h[k[i][j]] += 2; } }""",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory):
    folder: Path = tmp_path_factory.mktemp("bins")
    code = "\n".join(text.replace("@", name) for name, text in (BINS | PLAIN).items())
    file = folder / "program.c"
    file.write_text(code)
    found = unit(file)
    return found, code, plans_of(found), folder


def test_nests_with_one_array_have_bins(made) -> None:
    for name in (*BINS, *PLAIN):
        (kernel,) = made[2][name].kernels()
        assert len(kernel.axes) == 2
        assert ("run.bins(" in python.source(made[2][name])) == (name in BINS)


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
@pytest.mark.parametrize("n_blocks", [0, 1, 3])
def test_all_forms_agree(n_blocks: int, made, monkeypatch: pytest.MonkeyPatch) -> None:
    found, code, plans, folder = made
    compared = Compared([code], plans, folder)
    monkeypatch.setattr(launching, "bins_blocks", lambda *_: n_blocks)
    for function in found.functions:
        compared.assert_same(function, arguments(function, {"n": 11, "m": 13}, seed=n_blocks))


@pytest.mark.skipif(nvrtc.problem() is not None, reason=str(nvrtc.problem()))
def test_nvrtc_compiles_them(made) -> None:
    file = made[3] / "compiled.cu"
    file.write_text(cuda.source(list(made[2].values())))
    assert ".entry most_i_j_bins(" in nvrtc.ptx(api.Source.of(file))


def test_bins_are_used_where_points_are_many_and_bins_are_few() -> None:
    assert runtime.bins_blocks((1 << 26,), 256, 4) == 1024
    assert runtime.bins_blocks((100_000,), 256, 4) == 25
    assert runtime.bins_blocks((1 << 26,), 4097, 4) == 0  # they do not fit
    assert runtime.bins_blocks((1 << 26,), 4096, 4) == 1024
    assert runtime.bins_blocks((1000,), 256, 4) == 0
    assert runtime.bins_blocks((-1, 1 << 20), 256, 4) == 0
    assert runtime.bins_blocks((1 << 20,), 0, 4) == 0


def test_one_thread_of_a_host_updates_alone_if_it_does_little_else(made) -> None:
    text = threads.source([made[2]["count"], made[2]["most"]])
    assert "atomic" not in text.partition("count_i_j")[2]
    assert "count_i_j(&args_, 0, " in text
    text = threads.source([made[2]["long_"]])
    assert "kleene_parallel(long__i_j, " in text
    assert "atomicAdd(&g[" in text


def test_the_host_of_cuda_chooses_likewise(tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text("""
    int f(int n, const int *restrict a) {
      int h[64];
      for (int i = 0; i < 64; i++) h[i] = 0;
      for (int i = 0; i < n; i++) h[a[i] & 63] += 1;
      int most = 0;
      for (int i = 0; i < 64; i++) most = h[i] > most ? h[i] : most;
      return most;
    }""")
    (plan,) = plans_of(unit(file)).values()
    text = cuda_host.source([plan])
    assert "const long long n_bins_ = 64;" in text
    assert "_bins<<<(unsigned)blocks_, 256>>>(n, d_a, d_h, (int)n_bins_);" in text

"""The check of functions nobody here wrote: it sees a wrong result, and none where all is right."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")
pytest.importorskip("ziglang", reason="the bundled compiler compiles what is called")
if not hasattr(os, "fork"):
    pytest.skip("there are no processes that fork", allow_module_level=True)

from kleene.codegen import threads
from tests.offload.plans import outside

CODE = """
extern const int table[16];
static void shifted(int n, int *to, const int *from) {
  for (int i = 0; i < n; i++) to[i] = from[i + 1] + 7;
}
int first(int n) { return table[n & 15]; }
int linked(int n, int **rows) { for (int i = 0; i < n; i++) rows[i] = 0; return n; }
"""


@pytest.mark.parametrize("is_wrong", [False, True])
def test_a_wrong_result_is_seen(tmp_path: Path, monkeypatch, capsys, is_wrong):
    file = tmp_path / "a.c"
    file.write_text(CODE)
    monkeypatch.setattr(outside, "N_TRIALS", 2)
    if is_wrong:
        real = threads.source
        monkeypatch.setattr(threads, "source", lambda plans: real(plans).replace("+ 7", "+ 8"))
    assert outside.main([str(file)]) == is_wrong
    told = capsys.readouterr().out
    assert "1 files, 2 functions with loops, 2 with proved ones, 1 with kernels" in told
    assert ("shifted: to[0] is" in told) == is_wrong
    if not is_wrong:
        assert "2 calls compared, 2 with arrays that overlap" in told


def test_functions_with_proved_loops_are_counted(tmp_path: Path, capsys):
    file = tmp_path / "a.c"
    file.write_text(CODE)
    assert outside.main(["--count", str(file)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[1].replace(" ", "") == "2|2|1"
    assert told[2].split()[:2] == ["1", "pointers"]  # to pointers

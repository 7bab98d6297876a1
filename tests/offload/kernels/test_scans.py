"""Prefix sums and their like are recognised, and recurrences that only look like them are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.kernels.loop_programs import loop_tables

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from kleene.offload.kernels.scans import Scan
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict, verdicts_of


def outer(tmp_path: Path, body: str) -> LoopVerdict:
    file = tmp_path / "a.c"
    file.write_text(
        "double a[999], b[999], c[999], g; int k[999], l[999];\n"
        "double f(int n, double s, double t, int p) {\n"
        f"  for (int i = 1; i < n; i++) {{ {body} }}\n  return s + t + p; }}\n"
    )
    (table,) = loop_tables(file)
    return verdicts_of(table)[0]


SCANS = {
    "s += a[i]; b[i] = s;": [Scan("+", "s", False, True)],
    "b[i] = s; s += a[i];": [Scan("+", "s", False, True)],
    "p += k[i]; l[i] = p;": [Scan("+", "p", False, False)],
    "p ^= k[i]; if (p > 3) l[i] = 1;": [Scan("^", "p", False, False)],
    "if (a[i] > s) s = a[i]; b[i] = s;": [Scan("max", "s", False, True)],
    "if (a[i] > 0) p++; l[i] = p;": [Scan("+", "p", False, False)],
    "b[i] = b[i - 1] + a[i];": [Scan("+", "b", True, True)],
    "l[i] = k[i] * l[i - 1];": [Scan("*", "l", True, False)],
    "l[i] += l[i - 1];": [Scan("+", "l", True, False)],
    "b[i] = b[i - 1] + b[i];": [Scan("+", "b", True, True)],
    "b[i] = b[i - 1] > a[i] ? b[i - 1] : a[i];": [Scan("max", "b", True, True)],
    "for (int j = 0; j < 9; j++) s += a[9 * i + j]; b[i] = s;": [Scan("+", "s", False, True)],
    "s += a[i]; t += s; b[i] = t;": [Scan("+", "s", False, True), Scan("+", "t", False, True)],
}


@pytest.mark.parametrize("body", SCANS)
def test_scans(tmp_path: Path, body: str) -> None:
    loop = outer(tmp_path, body)
    assert loop.verdict in (Verdict.SEQ, Verdict.MAY)
    assert loop.scans == SCANS[body]


NO_SCANS = [
    "g = s; s += g * a[i];",  # s = s * (1 + a[i])
    "b[i] = s; s += b[i];",
    "if (s < 9) s += a[i]; b[i] = s;",
    "if (s < 9) continue; s += a[i];",
    "s += a[i]; b[i] = s; s *= 2;",
    "s += t; t += s;",
    "a[i] = a[i - 1] + a[i - 2];",
    "a[i] += a[i - 1] * a[i];",
    "a[i] += a[i - 2];",
    "a[i] += a[i + 1] + a[i - 1];",
    "a[i] = a[i - 1] * b[i] + c[i];",
    "b[i] = b[i - 1] + a[i]; a[i + 1] = b[i];",
    "if (c[i] > 0) b[i] = b[i - 1] + a[i];",
    "g = b[i - 1]; b[i] = b[i - 1] + g;",
    "b[i] = a[i] - b[i - 1];",
    "for (int j = 0; j < 9; j++) { s += t; t = s; }",
]


@pytest.mark.parametrize("body", NO_SCANS)
def test_other_recurrences_are_no_scans(tmp_path: Path, body: str) -> None:
    loop = outer(tmp_path, body)
    assert loop.verdict in (Verdict.SEQ, Verdict.MAY)
    assert loop.scans == []

"""Verdicts as notes: their rules are explained, their paths lead from the write to the read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.kernels.loop_programs import unit_of

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from kleene.offload.kernels import Kernels, rules
from kleene.results import rules_in

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "findings.md"


def test_every_rule_is_explained() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    for rule in rules_in(rules):
        words = " ".join(f"{rule.summary} {rule.help}".split())
        assert f"({rule.anchor})= ### {rule.id} *{rule.severity.value}.* {words}" in page


def test_a_note_for_each_loop() -> None:
    code = """int f(int n, int *a, const int *to) { int s = 0;
      for (int i = 1; i < n; i++) a[i] = a[i - 1];
      for (int i = 0; i < n; i++) s += to[i];
      for (int i = 0; i < n; i++) a[to[i]] = i; return s; }"""
    found = Kernels().verdicts_on([unit_of(code)]).findings()
    assert [one.rule.id for one in found] == [
        "kernels/sequential",
        "kernels/parallel",
        "kernels/not-proved",
    ]
    assert [step.message for step in found[0].path] == ["a[1] written at i=1", "a[1] read at i=2"]
    assert found[1].message == "the loop of i is parallel reduction(+:s)"
    assert "NOT_AFFINE: a[to[i]]" in found[2].message
    assert not any(one.severity.is_fault for one in found)

"""Threads change how long an answer takes, never the answer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import kleene
from kleene.kernels.compiled import interpreted
from kleene.solvers.dataflow import constraints, engine
from kleene.transforms.splitting import split

SHAPES = Path(__file__).parents[3] / "examples" / "shapes"


@pytest.mark.parametrize(
    ("client", "whole_program"),
    [("ranges", False), ("ranges", True), ("null", True), ("taint", True), ("uninitialised", True)],
)
def test_answers_are_the_same_for_any_number_of_threads(
    client: str, whole_program: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[split.__module__], "_WORTH_A_THREAD", 50)
    monkeypatch.setattr(engine, "_WORTH_THREADS", 0)
    monkeypatch.setattr(constraints, "_WORTH_THREADS", 0)
    program = kleene.load(SHAPES)
    with interpreted(False):
        answers = [
            program.dataflow(client, whole_program=whole_program, threads=n).to_json()
            for n in (1, 2, 3)
        ]
    assert answers[0] == answers[1] == answers[2]

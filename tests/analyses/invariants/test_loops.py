"""Small tasks of public suites: those in the list of the benchmark are proved, and rightly so."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from kleene import load

from .test_truth import defined, watched

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("KLEENE_DATA") or ROOT.parent / "shared" / "data") / "loops"
LIST = ROOT / "benchmarks" / "results" / "invariants_tasks.md"
ROW = re.compile(r"^\| (\S+) \| (\*\*not proved\*\*|\w+)", re.MULTILINE)


def tasks() -> dict[str, str]:
    """Return the domain that proves each task, or that it is not proved."""
    listed = LIST.read_text().partition("## Held-out")[0]
    return {name: by for name, by in ROW.findall(listed) if name != "task"}


@pytest.mark.skipif(os.environ.get("KLEENE_DEEP") != "1", reason="takes minutes: KLEENE_DEEP=1")
@pytest.mark.skipif(not DATA.exists(), reason="needs the measured programs (KLEENE_DATA)")
def test_tasks_are_proved_as_listed_and_their_runs_agree() -> None:
    listed = tasks()
    assert len(listed) == len(list(DATA.glob("*.c")))
    for name, domain in listed.items():
        program = load(DATA / f"{name}.c")
        result = program.invariants(checks=("assert",))
        assert all(one.is_proved for one in result.checks) == (domain != "**not proved**"), name
        (main,) = (row for row in defined(program) if program.functions[row].name == "main")
        watched(program, main, range(3))


def test_most_tasks_are_listed_as_proved() -> None:
    domains = list(tasks().values())
    assert len(domains) == 147
    assert sum(domain != "**not proved**" for domain in domains) >= 125

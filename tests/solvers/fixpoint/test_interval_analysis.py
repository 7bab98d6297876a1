"""An interval analysis of C programs, held to what the programs really do.

Each program calls `probe(id, value)`. The analysis says which values may be passed; the compiled
program prints those that are. A comment `expect:` beside a probe says how exact the answer is.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import kleene
from kleene.algebra import MachineInterval
from kleene.solvers import fixpoint
from kleene.solvers.fixpoint import Strategy
from tests.solvers.fixpoint.interval_analysis import Intervals

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.c"))
PROBE = '#include <stdio.h>\nvoid probe(int i, long v) { printf("%d %ld\\n", i, v); }\n'
EXPECTED = re.compile(r"probe\((\d+),.*?\);\s*/\* expect: (\S+) \*/")
STRATEGIES = [
    Strategy(),
    Strategy(delay=0, narrowing=0),
    Strategy(restarts=0, thresholds=(0, 5, 10)),
    Strategy(delay=5, narrowing=5, restarts=10),
]


@pytest.fixture(scope="module", params=PROGRAMS, ids=lambda path: path.stem)
def source(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def printed(source: Path, folder: Path) -> set[tuple[int, int]]:
    """Return the pairs that a program passes to its probes."""
    probe, program = folder / "probe.c", folder / "program"
    probe.write_text(PROBE)
    command = [sys.executable, "-m", "ziglang", "cc", "-O1", str(source), str(probe)]
    subprocess.run([*command, "-o", str(program)], check=True, capture_output=True)
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    pairs = (line.split() for line in lines.splitlines())
    return {(int(id), int(value)) for id, value in pairs}


def intervals(analysis: Intervals) -> dict[int, MachineInterval | None]:
    """Return what each probe may be given, over all its calls; None if it is never called."""
    found: dict[int, MachineInterval | None] = {}
    for id, arguments in analysis.passed("probe"):
        assert id is not None
        value, before = arguments[1], found.get(id)
        found[id] = value if before is None else before if value is None else before.join(value)
    return found


@pytest.fixture(scope="module")
def runs(source: Path, tmp_path_factory: pytest.TempPathFactory) -> set[tuple[int, int]]:
    return printed(source, tmp_path_factory.mktemp("run"))


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_every_value_of_a_run_is_in_its_interval(
    source: Path, runs: set[tuple[int, int]], strategy: Strategy
) -> None:
    analysis = Intervals(kleene.load(source), strategy)
    assert fixpoint.unstable(analysis.equations, analysis.values) == []
    found = intervals(analysis)
    assert len(runs) > 10
    for id, value in runs:
        known = found[id]
        assert known is not None, f"probe {id} is called"
        assert value in known, f"probe {id}"


def test_intervals_are_as_exact_as_the_program_says(source: Path) -> None:
    found = intervals(Intervals(kleene.load(source)))
    expected = {int(id): words for id, words in EXPECTED.findall(source.read_text())}
    shown = {id: f"{i.low}..{i.high}" if i else "none" for id, i in found.items()}
    assert {id: shown[id] for id in expected} == expected

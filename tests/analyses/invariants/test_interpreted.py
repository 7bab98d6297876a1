"""The same verdicts without machine code: small programs are analysed by plain Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EXAMPLES = Path(__file__).parents[3] / "examples" / "invariants"
COMMAND = """\
import sys
from kleene.cli import main
from kleene.kernels.compiled import interpreted
plain, *sys.argv = sys.argv[1:]
try:
    with interpreted(plain == "plain"):
        main()
finally:
    assert ("numba" in sys.modules) == (plain != "plain")
"""


def answer(how: str, *words: str) -> str:
    """Return what a command prints in a process that runs all loops as plain Python, or none."""
    command = [sys.executable, "-c", COMMAND, how, "kleene", "invariants", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode in (0, 3), done.stderr
    assert len(json.loads(done.stdout)["checks"]) > 2
    return done.stdout


@pytest.mark.parametrize("way", ["--by-function", "--whole-program"])
@pytest.mark.parametrize(
    "source", [EXAMPLES / "search.c", EXAMPLES / "ring.c", HERE / "strings.c", HERE / "floats.c"]
)
def test_the_answers_are_the_same(source: Path, way: str) -> None:
    """And plain Python does without Numba."""
    words = (str(source), way, "--json")
    assert answer("plain", *words) == answer("compiled", *words)

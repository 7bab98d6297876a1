"""The same answers without machine code: small programs are analysed by plain Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene
from kleene.analyses.points_to import PointsTo
from kleene.kernels import compiled

EXAMPLES = Path(__file__).parents[3] / "examples"
PROGRAMS = Path(__file__).parents[2] / "programs" / "c"


def answers(source: Path) -> tuple[str, Any, str]:
    """Return a program's text, its points-to sets and its call graph."""
    program = kleene.load(source, cache=False)
    result = PointsTo(library=True).run(program, device="cpu", threads=1)
    sets = json.loads(result.to_json())
    del sets["statistics"]  # times and memory
    return str(program), sets, result.to_dot()


@pytest.mark.parametrize("name", ["events", "shapes", "animals"])
def test_the_answers_are_the_same(name: str) -> None:
    with compiled.interpreted():
        plain = answers(EXAMPLES / name)
    with compiled.interpreted(False):
        assert answers(EXAMPLES / name) == plain


@pytest.mark.parametrize("name", ["nested_arrays", "bytes_over_arrays", "flexible_member"])
def test_the_constraints_are_the_same(name: str) -> None:
    program = kleene.load(PROGRAMS / f"{name}.c")
    with compiled.interpreted():
        plain = PointsTo(library=True).constraints(program).problem
    with compiled.interpreted(False):
        problem = PointsTo(library=True).constraints(program).problem
    assert problem.n_nodes == plain.n_nodes
    for column, values in problem.columns().items():
        assert np.array_equal(values, getattr(plain, column)), column


@pytest.mark.data
def test_a_real_program(shared_data: Path) -> None:
    with compiled.interpreted():
        plain = answers(shared_data / "bitcode" / "dc.bc")
    with compiled.interpreted(False):
        assert answers(shared_data / "bitcode" / "dc.bc") == plain


COMMAND = """\
import sys
from kleene.cli import main
sys.argv = ["kleene", "points-to", sys.argv[1], "--query", "main.handle"]
try:
    main()
finally:
    assert "numba" not in sys.modules and "llvmlite.binding" not in sys.modules
"""


@pytest.mark.parametrize("off", ["0", "1"])
def test_a_small_program_needs_no_compiler(off: str, tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_DISABLE_JIT": off, "KLEENE_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-W", "error", "-c", COMMAND, str(EXAMPLES / "events")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "complain" in done.stdout

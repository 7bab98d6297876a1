"""Whole programs: what they print is written in them, and a real Scheme agrees."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from kleene.frontends.scheme.expansion import Expansion
from kleene.frontends.scheme.interpreter import run
from tests.frontends.scheme.helpers import PROGRAMS

PATHS = sorted(PROGRAMS.glob("*.scm"))
GUILE = shutil.which("guile")


def expected_output(text):
    """Return the text after `;=> ` of each line that begins so."""
    return [line[4:] for line in text.splitlines() if line.startswith(";=> ")]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_output(path):
    program = Expansion(path.parent)
    program.add(program.sources.load(path))
    expected = expected_output(path.read_text(encoding="utf-8"))
    assert expected, "the program says nothing of its output"
    assert run(program, max_steps=5_000_000).output.splitlines() == expected


@pytest.mark.tools
@pytest.mark.skipif(GUILE is None, reason="guile is not installed")
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_second_opinion(path):
    text = path.read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith(";guile: "):
            pytest.skip(f"guile {line[8:]}")
    command = [GUILE, "--no-auto-compile", "--r7rs", str(path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.stdout.splitlines() == expected_output(text), done.stderr

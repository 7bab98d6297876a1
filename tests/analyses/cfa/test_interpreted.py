"""The same answers without machine code: small Scheme programs are analysed by plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kleene
from kleene.kernels import compiled

SHOP = Path(__file__).parents[3] / "examples" / "scheme" / "shop.scm"
PROGRAMS = Path(__file__).parents[2] / "programs" / "scheme"


def answers(source: Path) -> list[str]:
    """Return what is found about a program, without contexts and with one call as context."""
    program = kleene.load(source)
    return [program.cfa(m=m, device="cpu", threads=1).to_json() for m in (0, 1)]


@pytest.mark.parametrize(
    "source", [SHOP, PROGRAMS / "macro_macros.scm", PROGRAMS / "sorting.scm"], ids=lambda p: p.stem
)
def test_the_answers_are_the_same(source: Path) -> None:
    with compiled.interpreted():
        plain = answers(source)
    with compiled.interpreted(False):
        assert answers(source) == plain


COMMAND = """\
import sys
from kleene.cli import main
sys.argv = ["kleene", "cfa", sys.argv[1]]
try:
    main()
finally:
    assert "numba" not in sys.modules
"""


def test_a_small_program_needs_no_compiler() -> None:
    command = [sys.executable, "-W", "error", "-c", COMMAND, str(SHOP)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert "procedures" in done.stdout

"""Loops in the style of real code: those proved are pinned, no false twin is, and each twin fails.

Sixty loops that were written before any domain was tried on them. `PICK(right, wrong)` marks where
the false twin of a loop differs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kleene import load
from tests.seeds import IS_DEEP

FOLDER = Path(__file__).resolve().parents[2] / "programs" / "loops_held_out"
LOOPS = sorted(one.stem for one in FOLDER.glob("*.c"))
CHOSEN = LOOPS if IS_DEEP else LOOPS[::6]
# What is not proved, and what would have to be known.
NOT_PROVED: dict[str, str] = {
    "bit_count": "an element that was written alone, of an array whose first ones were not",
    "clock_time": "each element is at most the number of rounds so far",
    "comment_states": "each element is at most the number of rounds so far",
    "gap_buffer": "two parts of a buffer are written: in front of the gap and behind it",
    "growing_capacity": "one of several allocations, whose sizes are a variable",
    "length_field": "how many elements are written, where their number is tested in a loop",
    "lower_bound": "first + half + rest is at most the size: of three variables",
    "parentheses": "each element is less than the counter of the loop",
    "prefix_sums": "each element is at most the number of rounds so far",
    "quoted_flag": "each element is at most the number of rounds so far",
    "retry_counter": "each element is at most the number of rounds so far",
    "reverse_unsigned": "elements are written from the last to the first",
    "string_copy_bounded": "the string ends behind what was written",
    "utf8_decode": "how many elements are written, where their number is tested in a loop",
    "week_modulo": "each element is at most the number of rounds so far",
}


def is_proved(name: str, *defines: str) -> bool:
    """Return whether all checks of a loop are proved."""
    result = load(FOLDER / f"{name}.c", defines=defines).invariants()
    assert result.checks
    return all(one.is_proved for one in result.checks)


def fails(binary: Path, seed: int) -> bool:
    """Return whether a run stops at an assertion or at a trap of the sanitizer."""
    run = subprocess.run([binary], env={**os.environ, "SEED": str(seed)}, capture_output=True)
    assert run.returncode >= 0 or -run.returncode in (
        signal.SIGABRT, signal.SIGILL, signal.SIGTRAP, signal.SIGFPE, signal.SIGSEGV,
    )  # fmt: skip
    return run.returncode < 0


def test_there_are_sixty() -> None:
    assert len(LOOPS) == 60
    assert set(NOT_PROVED) <= set(LOOPS)


@pytest.mark.parametrize("name", CHOSEN)
def test_what_is_proved_is_as_pinned(name: str) -> None:
    assert is_proved(name) == (name not in NOT_PROVED)


@pytest.mark.parametrize("name", CHOSEN)
def test_no_false_twin_is_proved(name: str) -> None:
    assert not is_proved(name, "TWIN")


@pytest.mark.parametrize("name", CHOSEN)
def test_runs_fail_in_the_false_twin_alone(name: str, tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="the package ziglang compiles and links")
    binaries = {}
    for which in ("RIGHT", "TWIN"):
        binaries[which] = tmp_path / which
        words = ["-w", "-g0", "-O1", "-DRUN", f"-D{which}"]
        words += ["-fsanitize=undefined", "-fsanitize-trap=undefined"]
        words += [str(FOLDER / f"{name}.c"), "-o", str(binaries[which])]
        subprocess.run([sys.executable, "-m", "ziglang", "cc", *words], check=True, timeout=300)
    assert not any(fails(binaries["RIGHT"], seed) for seed in range(1, 20))
    assert any(fails(binaries["TWIN"], seed) for seed in range(1, 400))

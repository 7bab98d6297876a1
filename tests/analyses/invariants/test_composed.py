"""Random whole programs of parts that share globals: no run shows an answer to be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.analyses.invariants.whole import interpret
from kleene.analyses.invariants.whole.sites import FAILS, SAFE
from tests.seeds import IS_DEEP, seeds

from . import outside
from .composed import all_wrong, parts, program_of, wrong_in_traces
from .sanitized import N_RUNS, write

PROGRAMS = seeds(2, deep=400)


@pytest.mark.tools
@pytest.mark.parametrize("seed", PROGRAMS)
def test_no_answer_is_wrong(sanitized: Path, seed: int) -> None:
    file = write(sanitized, "composed", seed, 0, text=program_of(seed))
    assert not list(all_wrong(file, N_RUNS if IS_DEEP else 40))


DIVIDED = """
static int number = 1;
static int divided(int n) {
  return 7 / n; }
int main(void) {
  number = divided(IN & 3 bitor 1);
  return number; }
"""


@pytest.mark.parametrize("verdict", [SAFE, FAILS])
def test_a_wrong_verdict_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: int
) -> None:
    """A division whose divisor was 0 is not safe; one that was passed does not always fail."""
    text = DIVIDED if verdict == FAILS else DIVIDED.replace("bitor 1", "& 0")
    file = write(tmp_path, "divided", 0, 0, text=text)
    assert not list(wrong_in_traces(file, range(3)))

    def spoiled(*given: object, **options: object) -> object:
        found = interpret(*given, **options)  # type: ignore[arg-type]
        found.checks.verdict[:] = verdict
        return found

    monkeypatch.setattr(outside, "interpret", spoiled)
    monkeypatch.setattr(outside, "look_again", lambda *_: 0)
    assert list(wrong_in_traces(file, range(3)))


def test_parts_have_calls_and_programs_no_holes() -> None:
    for name, (functions, calls) in parts().items():
        assert functions.strip()
        assert bool(calls) == (name != "shared")
    made = {program_of(seed) for seed in range(20)}
    assert len(made) == 20
    assert not any(set(text) & set("«»") for text in made)

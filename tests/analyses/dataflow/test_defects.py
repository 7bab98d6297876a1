"""The clients that report faults, on the planted defects, and the ways that they show."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene
from kleene.analyses.dataflow.clients import client
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.result import DataflowResult
from kleene.results import Finding
from tests.analyses.dataflow.defects import FAMILIES, HELD_OUT, PROGRAM, Score, scores

CLIENTS = {
    "null": "476", "division": "369", "uninitialised": "457", "dead-code": "561",
    "dead-stores": "563", "allocations": "190",
}  # fmt: skip
# `k = n` makes no instruction: that k is never read is not seen.
KNOWN_MISSES = {"563": ["  k = n; /* BAD 563 */"]}
HELD_OUT_MISSED = [
    # One call of calloc makes what both twins divide by, and one of them stores there.
    "unsigned place = x % g->cell; /* BAD 369 */",
    # clang makes no code of what is behind a call that is declared not to return.
    'puts("not here"); /* BAD 561 */',
]
# The texts of all strings of the C++ library are one object.
HELD_OUT_FALSE = ["std::system(command.c_str());"]
USES = {"command": "78", "library": "78", "format": "134", "length": "190", "size": "190"}


@pytest.fixture(scope="module")
def findings() -> list[tuple[str, Finding]]:
    """Every finding with its family."""
    return findings_of(PROGRAM)


def findings_of(program: Path) -> list[tuple[str, Finding]]:
    context = Context(kleene.load(program), device="cpu")
    found = [(family, one) for name, family in CLIENTS.items() for one in answered(context, name)]
    for one in answered(context, "taint"):
        family = next(family for use, family in USES.items() if f"as a {use} " in one.message)
        found.append((family, one))
    return found


def answered(context: Context, name: str) -> list[Finding]:
    return DataflowResult(context, name, client(name).answer(context)).findings()


@pytest.fixture(scope="module")
def counted(findings: list[tuple[str, Finding]]) -> dict[str, Score]:
    return scores((family, one.span.file, one.span.line) for family, one in findings if one.span)


@pytest.mark.parametrize("family", FAMILIES)
def test_planted_defects_are_found_and_their_good_twins_are_not(
    family: str, counted: dict[str, Score]
) -> None:
    score = counted[family]
    assert score.n_planted >= 4
    lines = [(PROGRAM / file).read_text().splitlines()[n - 1] for file, n in score.missed]
    assert lines == KNOWN_MISSES.get(family, [])
    assert not score.false


def test_held_out_defects_are_found_and_their_good_twins_are_not() -> None:
    """Fifty pairs that were written without looking at the clients: see their README."""
    reported = findings_of(HELD_OUT)
    places = ((family, one.span.file, one.span.line) for family, one in reported if one.span)
    counted = scores(places, HELD_OUT)
    assert sum(score.n_planted for score in counted.values()) == 53
    missed = [_line_of(*place) for score in counted.values() for place in score.missed]
    false = [_line_of(*place) for score in counted.values() for place in score.false]
    assert missed == HELD_OUT_MISSED
    assert false == HELD_OUT_FALSE


def _line_of(file: str, line: int) -> str:
    return (HELD_OUT / file).read_text().splitlines()[line - 1].strip()


def test_there_are_forty_shapes(counted: dict[str, Score]) -> None:
    assert sum(score.n_planted for score in counted.values()) >= 40
    assert sum(score.n_good for score in counted.values()) >= 40


def test_a_path_goes_from_the_other_file_to_the_fault(findings: list[tuple[str, Finding]]) -> None:
    (one,) = [one for family, one in findings if family == "476" and one.function == "bad_476_file"]
    files = [Path(step.span.file).name for step in one.path if step.span]
    assert files[0] == "other.c"
    assert files[-1] == "null.c"
    assert one.path[-1].span == one.span


def test_a_path_goes_through_a_callback(findings: list[tuple[str, Finding]]) -> None:
    lines = (PROGRAM / "main.c").read_text().splitlines()
    shell = 1 + next(n for n, line in enumerate(lines) if "static void shell" in line)
    (one,) = [
        one for _, one in findings if one.span and one.span.file.endswith("main.c")
        and one.span.line == shell
    ]  # fmt: skip
    assert "HOOK" in _line(one.path[0].span) or "getenv" in one.message


def _line(span: object) -> str:
    file, line = str(span).split(":")[:2]
    return Path(file).read_text().splitlines()[int(line) - 1]

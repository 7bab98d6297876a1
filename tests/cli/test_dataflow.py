"""`kleene dataflow`: roles of functions on the command line, and its mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.analyses.dataflow.clients import available
from kleene.cli.exit_codes import ExitCode
from tests.analyses.dataflow.test_taint_models import PROGRAM
from tests.cli.conftest import Kleene


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    return ["dataflow", "taint", str(source), "--source", "fetch", "--sink", "query:0:query"]


def test_sources_sinks_and_sanitisers(kleene: Kleene, words: list[str]) -> None:
    done = kleene(*words, "--sanitiser", "escaped")
    assert done.returncode == ExitCode.CLEAN
    assert "data from fetch is used as a query by query" in done.stdout
    assert done.stdout.count("warning[") == 1


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        (["--sink", "query"], "query:0 is the first"),
        (["--source", "fetch:nobody"], "points-to/bad-model"),
        (["--source", "fetsch"], "there is no function 'fetsch'"),
    ],
)
def test_a_mistake_is_told(kleene: Kleene, words: list[str], mistake: list[str], told: str) -> None:
    done = kleene(*words, *mistake)
    assert done.returncode in (ExitCode.INPUT_AT_FAULT, ExitCode.WRONG_USAGE)
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_help_names_every_question(kleene: Kleene) -> None:
    told = kleene("dataflow", "--help").stdout
    assert [name for name in available() if f"{name}: " not in told] == []

"""`kleene dataflow`: roles of functions on the command line, and its mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kleene import load
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
        (["--source", "fetsch"], "there is no function or variable 'fetsch'"),
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


COLUMNS = """
#include <stdlib.h>
static int table[10], never;
int main(int k, char **v) {
  for (int i = 0; i < 10; i++) table[i] = i;
  if (never) return 3;
  return table[k & 7];
}
"""


def test_everything_in_json_is_documented(kleene: Kleene, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(COLUMNS)
    done = kleene("dataflow", "ranges", str(source), "--json", "--explain", "main.k")
    value = json.loads(done.stdout)
    keys = set(value) | set(value["statistics"])
    program = load(source)
    for client in available():
        for name, table in program.dataflow(client, device="cpu").tables().items():
            keys |= {name, *table.columns}
    page = (Path(__file__).parents[2] / "docs" / "reference" / "dataflow.md").read_text()
    assert {key for key in keys if f"`{key}`" not in page} == set()


def test_that_nothing_was_found_is_told(kleene: Kleene, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text("int main(void) { return 0; }\n")
    done = kleene("dataflow", "classes", str(source))
    assert (done.returncode, done.stdout) == (ExitCode.CLEAN, "no findings\n")


def test_findings_without_facts_begin_at_the_first_line(kleene: Kleene, words: list[str]) -> None:
    assert kleene(*words).stdout.startswith("Findings\n")

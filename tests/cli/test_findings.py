"""Findings on the command line: where they are written, and what the exit code says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Kleene
from tests.reports.sarif_rules import faults
from tests.reports.test_html import check

HERE = Path(__file__).resolve().parents[1] / "analyses" / "findings"
EXAMPLES = HERE.parents[2] / "examples"
COMMANDS = [("points-to", "null_calls.c"), ("cfa", "calls.scm")]


@pytest.fixture(params=COMMANDS, ids=lambda command: command[0])
def command(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str, Path]:
    """A command, a file with faults, and the folder that it lies in."""
    name, file = request.param
    shutil.copy(HERE / file, tmp_path / file)
    return name, file, tmp_path


def test_the_exit_code_says_what_was_asked(kleene: Kleene, command: tuple[str, str, Path]) -> None:
    name, file, folder = command
    summary = kleene(name, file, cwd=folder)
    assert summary.returncode == 0
    assert "\nFindings\n" in summary.stdout
    alone = kleene(name, file, "--findings", cwd=folder)
    assert alone.returncode == 3
    assert alone.stdout.startswith(f"{file}:")
    assert " warnings, " in alone.stdout.splitlines()[-1]
    value = json.loads(kleene(name, file, "--json", cwd=folder).stdout)
    n_shown = sum(line.startswith(f"{file}:") for line in alone.stdout.splitlines())
    assert len(value["findings"]) == n_shown


def test_sarif_and_html(kleene: Kleene, command: tuple[str, str, Path]) -> None:
    name, file, folder = command
    done = kleene(name, file, "--sarif", "out.sarif", "--html", "out.html", cwd=folder)
    assert done.returncode == 3
    log = json.loads((folder / "out.sarif").read_text())
    assert list(faults(log)) == []
    run = log["runs"][0]
    assert run["automationDetails"]["id"] == f"kleene/{name}/"
    uris = {artifact["location"]["uri"] for artifact in run["artifacts"]}
    assert uris == {file}
    assert str(folder) not in (folder / "out.sarif").read_text()
    page = check((folder / "out.html").read_text())
    words = "".join(page.text)
    assert "Call graph" in words
    assert "may call" in words
    assert all(result["message"]["text"] in words for result in run["results"])


def test_files_elsewhere_are_named_from_their_folder(
    kleene: Kleene, command: tuple[str, str, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    name, file, folder = command
    away = tmp_path_factory.mktemp("away")
    kleene(name, folder / file, "--sarif", "far.sarif", cwd=away)
    kleene(name, file, "--sarif", "near.sarif", cwd=folder)
    assert (away / "far.sarif").read_text() == (folder / "near.sarif").read_text()


def test_notes_are_no_faults(kleene: Kleene) -> None:
    done = kleene("cfa", EXAMPLES / "scheme" / "shop.scm", "--findings")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "1 note"


def test_the_examples_are_clean(kleene: Kleene) -> None:
    done = kleene("points-to", EXAMPLES / "events", "--findings")
    assert (done.returncode, done.stdout) == (0, "no findings\n")
    assert "Findings" not in kleene("points-to", EXAMPLES / "events").stdout


def test_a_suppressed_fault_is_no_fault(kleene: Kleene, tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    text = "void (*never)(void);\nint main(void) { never(); }"
    file.write_text(f"{text} // kleene: ignore[points-to/null-call] set by the loader\n")
    done = kleene("points-to", file, "--findings")
    assert (done.returncode, done.stdout) == (0, "1 suppressed\n")
    (finding,) = json.loads(kleene("points-to", file, "--json").stdout)["findings"]
    assert finding["suppressed"] == "set by the loader"

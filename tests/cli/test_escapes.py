"""Nothing in programs, names and paths reaches terminals, drawings or spreadsheets as it is."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from kleene.results.drawing import Edge, Graph, Node
from kleene.results.table import Table
from tests.cli.conftest import Kleene

NASTY = "\x1b]0;title\x07\x1b[31m\x9b2J\u202e"
SCHEME = f'(define (|=f{NASTY}| x) (car |{NASTY}|))\n(|=f{NASTY}| 1)\n(display "{NASTY}")\n'
C = f'const char *s = "{NASTY}"; int *p;\nint main(void) {{ return *p; }} // {NASTY}\n'


def is_harmless(text: str) -> bool:
    return all(character.isprintable() or character in "\n\t" for character in text)


@pytest.mark.parametrize(
    "words",
    [
        ["ir"],
        ["cfa"],
        ["cfa", "--flows", "absent"],
    ],
)
def test_scheme(kleene: Kleene, tmp_path: Path, words: list[str]) -> None:
    file = tmp_path / f"a{NASTY}.scm"
    file.write_text(SCHEME)
    done = kleene(*words, file)
    assert is_harmless(done.stdout)
    assert is_harmless(done.stderr)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [["cfg"], ["points-to"], ["points-to", "--query", NASTY]],
)
def test_c(kleene: Kleene, tmp_path: Path, words: list[str]) -> None:
    folder = tmp_path / f"d{NASTY}"
    folder.mkdir()
    (folder / f"a{NASTY}.c").write_text(C)
    done = kleene(*words, folder)
    assert done.returncode in (0, 1, 3)
    assert is_harmless(done.stdout)
    assert is_harmless(done.stderr)


def test_an_error_of_the_compiler(kleene: Kleene, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(f"int {NASTY} x = ;\n")
    done = kleene("ir", tmp_path / "a.c")
    assert (done.returncode, is_harmless(done.stderr)) == (1, True)


def test_files_for_other_programs(kleene: Kleene, tmp_path: Path) -> None:
    file = tmp_path / "a.scm"
    file.write_text(SCHEME)
    for suffix in ("dot", "csv", "json"):
        kleene("cfa", file, "--call-graph", tmp_path / f"g.{suffix}")
        assert is_harmless((tmp_path / f"g.{suffix}").read_text(encoding="utf-8"))
    with (tmp_path / "g.csv").open(newline="") as opened:
        cells = [cell for row in csv.reader(opened) for cell in row]
    assert any(cell.startswith("'=f<U+001B>") for cell in cells)
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)


def test_cells_that_a_spreadsheet_would_compute() -> None:
    table = Table(
        {"text": ["=1+1", "+1", "-1", "@f", "f", "a\tb\rc"], "number": [1, 2, 3, 4, 5, -6]}
    )
    assert table.to_csv().splitlines() == [
        "text,number",
        "'=1+1,1",
        "'+1,2",
        "'-1,3",
        "'@f,4",
        "f,5",
        "a\tb<U+000D>c,-6",
    ]


def test_drawings() -> None:
    drawn = Graph(NASTY, (Node(NASTY, f"{NASTY}\n\0"),), (Edge(NASTY, NASTY, NASTY),)).dot()
    assert is_harmless(drawn)
    assert "<U+0000>" in drawn


def test_a_stdout_that_knows_no_unicode(kleene: Kleene, tmp_path: Path) -> None:
    (tmp_path / "a.scm").write_text("(define é 1)\n", encoding="utf-8")
    done = kleene("ir", tmp_path / "a.scm", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stdout) == (0, "(define \\xe9.0 1)\n")


def test_json_is_ascii(kleene: Kleene, tmp_path: Path) -> None:
    (tmp_path / "a.scm").write_text(SCHEME)
    done = kleene("ir", tmp_path / "a.scm", "--json")
    assert done.stdout.isascii()
    assert "\x1b" in "".join(json.loads(done.stdout)["forms"])

"""`kleene cfg` draws control flow."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Kleene

LIST_C = Path(__file__).resolve().parents[2] / "examples" / "shapes" / "list.c"


def test_dot_is_printed(kleene: Kleene) -> None:
    done = kleene("cfg", LIST_C, "--function", "release")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith('digraph "release" {\n')
    assert done.stdout.count(" -> ") == 4
    assert done.stdout.count('[label="true"]') == done.stdout.count('[label="false"]') == 1
    assert "call @free" in done.stdout


def test_json_and_files_agree(kleene: Kleene, tmp_path: Path) -> None:
    dot = tmp_path / "release.dot"
    done = kleene("cfg", LIST_C, "--function", "release", "--dot", dot, "--json")
    edges = json.loads(done.stdout)["edges"]
    assert dot.read_text(encoding="utf-8").count(" -> ") == len(edges) == 4


def test_a_picture_without_graphviz_is_an_error(
    kleene: Kleene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    svg = tmp_path / "release.svg"
    done = kleene("cfg", LIST_C, "--function", "release", "--svg", svg)
    assert (done.returncode, done.stdout) == (1, "")
    assert "error[reports/no-svg]: Graphviz's 'dot' is not on the PATH" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.tools
@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_draws(kleene: Kleene, tmp_path: Path) -> None:
    svg = tmp_path / "release.svg"
    assert kleene("cfg", LIST_C, "--function", "release", "--svg", svg).returncode == 0
    assert "@free" in svg.read_text(encoding="utf-8")


def test_an_unknown_function_is_an_error(kleene: Kleene) -> None:
    done = kleene("cfg", LIST_C, "--function", "nonsense")
    assert done.returncode == 1
    assert "error[cli/unknown-function]" in done.stderr


def test_the_ways_out_of_a_block_are_labelled(kleene: Kleene, tmp_path: Path) -> None:
    source = tmp_path / "a.cpp"
    source.write_text(
        "int g(int);\n"
        "int f(int x) {\n"
        "  switch (x) { case 1: return g(1); case -5: return 7; }\n"
        "  try { return g(2); } catch (...) { return 3; }\n"
        "}\n"
    )
    done = kleene("cfg", source, "--function", "_Z1fi", "--json")
    labels = {edge["label"] for edge in json.loads(done.stdout)["edges"]}
    assert {"default", "i32 1", "i32 -5", "unwind"} <= labels

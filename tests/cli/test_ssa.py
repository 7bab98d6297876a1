"""`kleene ssa` splits live ranges."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Kleene

LIST_C = Path(__file__).resolve().parents[2] / "examples" / "shapes" / "list.c"


def test_a_branch_gives_its_value_a_new_name(kleene: Kleene) -> None:
    done = kleene("ssa", LIST_C, "--function", "release")
    assert (done.returncode, done.stderr) == (0, "")
    assert "%.0~list/2 = sigma %.0~list to ^4" in done.stdout
    assert "call @free(%.0~list/2)" in done.stdout


def test_a_strategy_is_chosen_by_name(kleene: Kleene) -> None:
    done = kleene("ssa", LIST_C, "--function", "release", "--strategy", "null")
    assert "= copy %.0~list" in done.stdout
    assert "sigma" not in done.stdout


def test_counts_as_text_and_json(kleene: Kleene) -> None:
    lines = dict(line.split() for line in kleene("ssa", LIST_C, "--stats").stdout.splitlines())
    found = json.loads(kleene("ssa", LIST_C, "--stats", "--json").stdout)
    assert found["strategy"] == "essa"
    assert {name: str(n) for name, n in found["stats"].items()} == lines
    assert int(lines["sigma"]) > 0


def test_the_picture_has_the_new_names(kleene: Kleene, tmp_path: Path) -> None:
    dot = tmp_path / "release.dot"
    assert kleene("ssa", LIST_C, "--function", "release", "--dot", dot).returncode == 0
    assert "sigma %.0~list to ^4" in dot.read_text(encoding="utf-8")


def test_wrong_usage(kleene: Kleene, tmp_path: Path) -> None:
    unknown = kleene("ssa", LIST_C, "--strategy", "esa")
    assert unknown.returncode == 2
    assert "there is no strategy 'esa', only ssa, essa" in unknown.stderr
    several = kleene("ssa", LIST_C, "--dot", tmp_path / "all.dot")
    assert several.returncode == 2
    assert list(tmp_path.iterdir()) == []

"""The files that a repository is expected to have say what is so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
GITHUB = ROOT / ".github"
TEMPLATES = [path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config"]


def read(path: Path) -> Any:
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with the documentation's tools")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_workflow_runs_what_must_pass() -> None:
    jobs = read(GITHUB / "workflows" / "ci.yml")["jobs"]
    assert {"run": ".ci/run"} in jobs["everything"]["steps"]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    assert jobs["quick"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_every_issue_asks_for_kleene_doctor(path: Path) -> None:
    asked = [item["attributes"]["label"] for item in read(path)["body"]]
    assert "The output of `kleene doctor`" in asked


def test_the_citation_names_the_papers() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    titles = " ".join(reference["title"] for reference in citation["references"])
    for words in ("EigenCFA", "Heterogeneous CPU-GPU", "Octagon Abstract Domain on Graphics"):
        assert words in titles
    assert all({"type", "title", "authors", "year"} <= one.keys() for one in citation["references"])


def test_contributing_lists_every_room() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in (ROOT / "src" / "kleene").glob("*/__init__.py")}
    assert {room for room in rooms if f"| `{room}` |" not in text} == set()

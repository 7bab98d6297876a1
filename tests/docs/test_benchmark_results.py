"""Tables of benchmark results on pages: chosen columns, and no silence where one is gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "explanation" / "how-fast.md"
DIRECTIVE = re.compile(r"```\{benchmark\} (\w+)\n:columns: (.+)\n(?::rows: (.+)\n)?")
TEXT = """# Question?

`python benchmarks/x.py`, today, here.

| input | a, b | c |
| --- | --- | --- |
| one | 1 | - |
| two | 2 | x |
"""


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    pytest.importorskip("sphinx", reason="the documentation's tools are not installed")
    monkeypatch.syspath_prepend(ROOT / "docs" / "_extensions")
    return __import__("benchmark_results")


def test_columns_and_rows_are_chosen(results) -> None:  # type: ignore[no-untyped-def]
    found = results.Result.read(TEXT)
    assert found.command == "`python benchmarks/x.py`, today, here."
    assert found.chosen(["a, b", "input"], "^two") == [["a, b", "input"], ["2", "two"]]


def test_what_is_gone_is_reported(results) -> None:  # type: ignore[no-untyped-def]
    found = results.Result.read(TEXT)
    with pytest.raises(KeyError, match="no column 'd'"):
        found.chosen(["d"], "")
    with pytest.raises(KeyError, match="no row"):
        found.chosen(["c"], "three")


def test_the_page_asks_for_what_is_there(results) -> None:  # type: ignore[no-untyped-def]
    asked = DIRECTIVE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(asked) == PAGE.read_text(encoding="utf-8").count("{benchmark}")
    for name, columns, rows in asked:
        text = (results.RESULTS / f"{name}.md").read_text(encoding="utf-8")
        results.Result.read(text).chosen([one.strip() for one in columns.split(";")], rows)

"""SVG comes from Graphviz where there is one."""

from __future__ import annotations

import shutil

import pytest

from kleene.reports.svg import svg, svg_problem
from kleene.results.drawing import Edge, Graph, Node


def test_a_missing_graphviz_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert svg_problem() == "Graphviz's 'dot' is not on the PATH"


@pytest.mark.tools
@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("label", ["plain", 'a "quote" \\ and <angle> & more', "tab\there"])
def test_graphviz_draws_what_we_write(label: str) -> None:
    drawn = svg(Graph("f", (Node("a", label),), (Edge("a", "a"),)).dot())
    assert "<svg" in drawn

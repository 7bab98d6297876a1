"""Pictures: SVG where Graphviz is there, DOT where it is not."""

from __future__ import annotations

from pathlib import Path

from kleene.cli.output import note, write_whole
from kleene.reports.graph import svg, svg_problem


def write_svg(dot_text: str, path: Path) -> None:
    """Write a graph as SVG; without Graphviz as DOT beside that place, and say so."""
    problem = svg_problem()
    if problem is None:
        write_whole(path, svg(dot_text))
        return
    instead = path.with_suffix(".dot")
    write_whole(instead, dot_text)
    note(f"{problem}; wrote {instead} instead of {path}")

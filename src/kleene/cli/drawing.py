"""Pictures of graphs, as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kleene.base import json
from kleene.base.errors import SourceError, Span
from kleene.cli.output import check_suffix, write_whole
from kleene.reports.svg import svg, svg_problem

if TYPE_CHECKING:
    from kleene.results import CallGraph

CALL_GRAPHS = (".svg", ".dot", ".csv", ".json")  # what a call graph can be written as


def check_picture(path: Path | None, known: tuple[str, ...] = CALL_GRAPHS) -> None:
    """Raise, before anything is analysed, if no such picture can be written."""
    check_suffix(path, known)
    if path is not None and path.suffix == ".svg" and (problem := svg_problem()):
        note = f"install Graphviz, or write {path.with_suffix('.dot')}"
        raise SourceError(Span(str(path)), "reports/no-svg", problem, note)


def write_svg(dot_text: str, path: Path) -> None:
    """Write a graph as SVG."""
    write_whole(path, svg(dot_text))


def write_call_graph(graph: CallGraph, path: Path) -> None:
    """Write a call graph as the suffix says, one of `CALL_GRAPHS`."""
    if path.suffix == ".svg":
        write_svg(graph.to_dot(), path)
    elif path.suffix == ".json":
        write_whole(path, json.dumps(graph.as_json()) + "\n")
    else:
        write_whole(path, graph.to_dot() if path.suffix == ".dot" else graph.to_csv())

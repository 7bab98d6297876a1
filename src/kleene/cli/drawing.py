"""Pictures: SVG where Graphviz is there, DOT where it is not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kleene.base import json
from kleene.cli.output import note, write_whole
from kleene.reports.svg import svg, svg_problem

if TYPE_CHECKING:
    from kleene.results import CallGraph

CALL_GRAPHS = (".svg", ".dot", ".csv", ".json")  # what a call graph can be written as


def write_svg(dot_text: str, path: Path) -> None:
    """Write a graph as SVG; without Graphviz as DOT beside that place, and say so."""
    problem = svg_problem()
    if problem is None:
        write_whole(path, svg(dot_text))
        return
    instead = path.with_suffix(".dot")
    write_whole(instead, dot_text)
    note(f"{problem}; wrote {instead} instead of {path}")


def write_call_graph(graph: CallGraph, path: Path) -> None:
    """Write a call graph as the suffix says, one of `CALL_GRAPHS`."""
    if path.suffix == ".svg":
        write_svg(graph.to_dot(), path)
    elif path.suffix == ".json":
        write_whole(path, json.dumps(graph.as_json()) + "\n")
    else:
        write_whole(path, graph.to_dot() if path.suffix == ".dot" else graph.to_csv())

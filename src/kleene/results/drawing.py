"""Graphs to look at, in Graphviz's DOT language: the one place that writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kleene.base.source_text import visible


@dataclass(frozen=True, slots=True)
class Node:
    """A node; lines of its label are set flush left, and without one it shows its id."""

    id: str
    label: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge between two nodes, named by their ids."""

    source: str
    target: str
    label: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Graph:
    """A directed graph with a title; node ids are unique."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def dot(self) -> str:
        """Return the graph in Graphviz's DOT language."""
        lines = [
            f"digraph {_quoted(self.title)} {{",
            '  node [shape=box, fontname="monospace"];',
            '  edge [fontname="monospace"];',
            *(f"  {_quoted(node.id)}{_attributes(_of_node(node))};" for node in self.nodes),
            *(f"  {_arrow(edge)}{_attributes(_of_edge(edge))};" for edge in self.edges),
            "}",
        ]
        return "\n".join(lines) + "\n"

    def as_json(self) -> dict[str, object]:
        """Return the graph as plain data, for `--json`."""
        return {
            "title": self.title,
            "nodes": [
                {"id": node.id, "label": node.label, **node.attributes} for node in self.nodes
            ],
            "edges": [
                {"source": edge.source, "target": edge.target, "label": edge.label}
                for edge in self.edges
            ],
        }


def _of_node(node: Node) -> dict[str, str]:
    plain = {name: _quoted(value) for name, value in node.attributes.items()}
    return {"label": _label(node.label), **plain} if node.label else plain


def _of_edge(edge: Edge) -> dict[str, str]:
    plain = {name: _quoted(value) for name, value in edge.attributes.items()}
    return {"label": _quoted(edge.label), **plain} if edge.label else plain


def _arrow(edge: Edge) -> str:
    return f"{_quoted(edge.source)} -> {_quoted(edge.target)}"


def _attributes(values: Mapping[str, str]) -> str:
    inside = ", ".join(f"{name}={value}" for name, value in values.items())
    return f" [{inside}]" if inside else ""


def _label(text: str) -> str:
    r"""Return `text` as a quoted label whose every line ends in `\l`, DOT's flush-left break."""
    lines = (_escaped(line) + r"\l" for line in text.split("\n"))
    return '"' + "".join(lines) + '"'


def _quoted(text: str) -> str:
    return '"' + r"\n".join(_escaped(line) for line in text.split("\n")) + '"'


def _escaped(text: str) -> str:
    r"""Return `text` safe between DOT's quotes: `\` would start an escape, NUL end the file."""
    return visible(text).replace("\\", "\\\\").replace('"', '\\"')

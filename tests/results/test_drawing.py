"""DOT text survives any label."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from kleene.results.drawing import Edge, Graph, Node


def test_a_graph_in_dot() -> None:
    nodes = (Node("a", "entry:\n  x = 1"), Node("b", "exit", {"color": "red"}))
    graph = Graph(
        "f", nodes, (Edge("a", "b", "true"), Edge("b", "b", attributes={"style": "dashed"}))
    )
    assert graph.dot() == (
        'digraph "f" {\n'
        '  node [shape=box, fontname="monospace"];\n'
        '  edge [fontname="monospace"];\n'
        '  "a" [label="entry:\\l  x = 1\\l"];\n'
        '  "b" [label="exit\\l", color="red"];\n'
        '  "a" -> "b" [label="true"];\n'
        '  "b" -> "b" [style="dashed"];\n'
        "}\n"
    )


def test_quotes_and_backslashes_are_escaped() -> None:
    dot = Graph('a"b', (Node("\\n", 'say "\\t"'),), ()).dot()
    assert 'digraph "a\\"b" {' in dot
    assert '"\\\\n" [label="say \\"\\\\t\\"\\l"]' in dot


QUOTED = r'"(?:[^"\\]|\\.)*"'


@given(label=st.text(min_size=1), id=st.text())
def test_no_text_breaks_out_of_its_quotes(label: str, id: str) -> None:
    node_line = "".join(Graph("f", (Node(id, label),), ()).dot().split("\n", 3)[3])
    assert re.fullmatch(rf"  {QUOTED} \[label={QUOTED}\];\n}}\n", node_line)


def test_json_names_nodes_and_edges() -> None:
    graph = Graph("f", (Node("a", "entry"),), (Edge("a", "a", "again"),))
    assert graph.as_json() == {
        "title": "f",
        "nodes": [{"id": "a", "label": "entry"}],
        "edges": [{"source": "a", "target": "a", "label": "again"}],
    }

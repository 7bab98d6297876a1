"""Pictures of graphs: DOT as SVG, through Graphviz where it is installed."""

from __future__ import annotations

import shutil
import subprocess

_NO_GRAPHVIZ = "Graphviz's 'dot' is not on the PATH"


def svg_problem() -> str | None:
    """Return why no SVG can be drawn, or None if it can."""
    return None if shutil.which("dot") else _NO_GRAPHVIZ


def svg(dot_text: str) -> str:
    """Return the graph of `dot_text` as SVG; `svg_problem()` must have been None."""
    program = shutil.which("dot")
    assert program, _NO_GRAPHVIZ
    drawn = subprocess.run([program, "-Tsvg"], input=dot_text.encode(), capture_output=True)
    assert drawn.returncode == 0, drawn.stderr.decode(errors="replace")
    return drawn.stdout.decode()

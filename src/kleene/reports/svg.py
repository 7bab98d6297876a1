"""Pictures of graphs: DOT as SVG, by Graphviz.

Where it is absent there is an error, and DOT can be written. A layout engine from PyPI beside it
would be a second way, to another picture of the same graph.
"""

from __future__ import annotations

import shutil

from kleene.base import tidy
from kleene.base.errors import SourceError

_NO_GRAPHVIZ = "Graphviz's 'dot' is not on the PATH"


def svg_problem() -> str | None:
    """Return why no SVG can be drawn, or None if it can."""
    return None if shutil.which("dot") else _NO_GRAPHVIZ


def svg(dot_text: str) -> str:
    """Return the graph of `dot_text` as SVG.

    Raises:
        SourceError: `reports/no-svg`, where Graphviz is absent or fails.
    """
    program = shutil.which("dot")
    if program is None:
        note = "install Graphviz, or write the graph as .dot"
        raise SourceError(None, "reports/no-svg", f"{_NO_GRAPHVIZ}, and draws SVGs", note)
    drawn = tidy.run([program, "-Tsvg"], input=dot_text.encode())
    if drawn.returncode:
        words = drawn.stderr.decode(errors="replace").strip() or f"status {drawn.returncode}"
        raise SourceError(None, "reports/no-svg", f"Graphviz failed: {words}")
    return drawn.stdout.decode(errors="replace")

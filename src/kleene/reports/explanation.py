"""A derivation for people: each step with its location and its line of the source."""

from __future__ import annotations

from kleene.base.errors import Span
from kleene.base.source_text import source_line
from kleene.results.explanation import Explanation

_TEXT_WIDTH = 60
_CODE_WIDTH = 80


def explanation(found: Explanation) -> str:
    """Return the steps by which an object reaches a constraint variable, one a line."""
    width = max(len(step.location or "-") for step in found.steps)
    text_width = min(max(len(step.text) for step in found.steps), _TEXT_WIDTH)
    lines = (
        f"{step.location or '-':{width}}  {step.text:{text_width}}  {code(step.span)}".rstrip()
        for step in found.steps
    )
    return "".join(f"{line}\n" for line in lines)


def code(span: Span | None) -> str:
    """Return the source line at a location, or nothing where it cannot be read."""
    text = source_line(span.file, span.line).strip() if span else ""
    return text if len(text) <= _CODE_WIDTH else text[: _CODE_WIDTH - 1] + "…"

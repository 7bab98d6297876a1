"""A program made smaller as long as a property holds: a miss comes as ten lines.

Whole definitions go first, then lines, then statements and members within lines, then the braces
around what is left. Each step is delta debugging (Zeller and Hildebrandt): ever smaller parts are
left out as long as the property holds of the rest. The property says itself whether a text still
compiles; `same_miss` is the one that a search needs.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from kleene import SourceError
from tests.analyses.points_to.idioms.search import compared

T = TypeVar("T")
_STATEMENT = re.compile(r"[^;{}]*;|[^;{}]*[{}]|[^;{}]+")
_LESS = (
    (re.compile(r"(?:for|while|if|do|switch|else)[^{};]*(?:\([^{}]*\))?\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r" = [^;{}]+;"), ";"),
    (re.compile(r"\b\w+\([^()]*\)"), "0"),
    (re.compile(r"\{\s*\n\s*\}"), "{ }"),
)
_OBSERVED = re.compile(r"(value|call|entry|==).*: observed (\w+)")


def fewest(items: Sequence[T], keeps: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return items of which no one can be left out; `keeps` holds of all of them, and of these."""
    kept, n_parts = list(items), 2
    while kept:
        size = max(1, -(-len(kept) // n_parts))
        for start in range(0, len(kept), size):
            rest = kept[:start] + kept[start + size :]
            if keeps(rest):
                kept, n_parts = rest, max(n_parts - 1, 2)
                break
        else:
            if size == 1:
                break
            n_parts = min(2 * n_parts, len(kept))
    return kept


def reduced(text: str, keeps: Callable[[str], bool]) -> str:
    """Return a smaller program of which `keeps` holds, as it does of `text`."""
    assert keeps(text), "the property does not hold of the program itself"
    tried: dict[str, bool] = {}

    def asked(candidate: str) -> bool:
        if candidate not in tried:
            tried[candidate] = keeps(candidate)
        return tried[candidate]

    previous = ""
    while text != previous:
        previous = text
        for split, joint in ((_definitions, "\n"), (str.splitlines, "\n"), (_statements, "")):
            parts = fewest(split(text), lambda some, joint=joint: asked(joint.join(some)))
            text = joint.join(parts)
        text = _simplified(text, asked)
    return _squeezed(text, asked)


def same_miss(miss: str, **how: object) -> Callable[[str], bool]:
    """Return whether a program shows a miss of that kind: of a value, of a function, ..."""
    wanted = _kind(miss)

    def keeps(text: str) -> bool:
        if "main" not in text:
            return False
        with tempfile.TemporaryDirectory(prefix="kleene-") as folder:
            try:
                found = compared(text, Path(folder), **how)  # type: ignore[arg-type]
            except (SourceError, AssertionError):  # it does not compile, or does not link
                return False
        return found.status == 0 and any(_kind(m) == wanted for m in found.misses)

    return keeps


def _kind(miss: str) -> tuple[str, ...]:
    found = _OBSERVED.search(miss)
    return (*found.groups(), str("answer: {}" in miss)) if found else ()


def _definitions(text: str) -> list[str]:
    """Return the lines in groups: each ends where no brace is open."""
    groups: list[str] = []
    depth, current = 0, []
    for line in text.splitlines():
        current.append(line)
        depth += line.count("{") - line.count("}")
        if depth <= 0 and not line.endswith("\\"):
            groups.append("\n".join(current))
            depth, current = 0, []
    return [*groups, "\n".join(current)] if current else groups


def _statements(text: str) -> list[str]:
    return _STATEMENT.findall(text)


def _simplified(text: str, keeps: Callable[[str], bool]) -> str:
    """Return the text with loops, initial values and calls replaced by less, where that keeps."""
    for pattern, less in _LESS:
        at = 0
        while found := pattern.search(text, at):
            shorter = text[: found.start()] + found.expand(less) + text[found.end() :]
            if keeps(shorter):
                text = shorter
            else:
                at = found.start() + 1
    return text


def _squeezed(text: str, keeps: Callable[[str], bool]) -> str:
    """Return the text without empty lines and broken lines."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    squeezed = "\n".join(lines) + "\n"
    return squeezed if keeps(squeezed) else text

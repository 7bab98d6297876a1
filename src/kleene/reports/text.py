"""Findings as a compiler prints them: head, source line, caret, and what belongs to it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kleene.base.errors import Span, excerpt
from kleene.base.source_text import relative_path, visible
from kleene.results import Finding, Location, Severity


def findings(found: Iterable[Finding], root: str | os.PathLike[str]) -> Iterator[str]:
    """Yield each finding that is not suppressed, and the count of all; paths go from `root` on.

    ::

        list.c:7:3: error[points-to/null-call]: next is never set before it is called
           7 |   next();
             |   ^
        note: list.c:3:8: next is declared here
        help: set it before the call
    """
    every = list(found)
    for finding in every:
        if finding.suppressed is None:
            yield rendered(finding, root) + "\n"
    yield summary(every) + "\n"


def summary(found: Iterable[Finding]) -> str:
    """Return how many findings there are, such as `1 error, 2 notes, 1 suppressed`."""
    counts = Counter("suppressed" if f.suppressed is not None else f.severity.value for f in found)
    words = [f"{n} {word}{'' if n == 1 else 's'}" for word in Severity if (n := counts[word.value])]
    if counts["suppressed"]:
        words.append(f"{counts['suppressed']} suppressed")
    return ", ".join(words) if words else "no findings"


def rendered(finding: Finding, root: str | os.PathLike[str]) -> str:
    """Return one finding, without a newline at its end."""
    head = f"{_place(finding.span, root)}: " if finding.span else ""
    lines = [f"{head}{finding.severity}[{finding.rule.id}]: {visible(finding.message)}"]
    if finding.span:
        lines += excerpt(finding.span)
    lines += [f"note: {_located(one, root)}" for one in finding.related]
    if [one.span for one in finding.path] != [finding.span]:  # which would say it again
        lines += [f"step {i}: {_located(one, root)}" for i, one in enumerate(finding.path, 1)]
    if finding.fix:
        lines.append(f"help: {visible(finding.fix)}")
    return "\n".join(lines)


def _located(location: Location, root: str | os.PathLike[str]) -> str:
    place = f"{_place(location.span, root)}: " if location.span else ""
    return place + visible(location.message)


def _place(span: Span, root: str | os.PathLike[str]) -> str:
    return visible(str(replace(span, file=relative_path(span.file, root))))


def listed(title: str, lines: Sequence[str], n_shown: int) -> Iterator[str]:
    """Yield a title and the first lines of a list, and how many more there are."""
    if lines:
        yield f"\n{title}\n"
        yield "".join(f"  {line}\n" for line in lines[:n_shown])
        yield more(len(lines) - n_shown)


def more(n_more: int) -> str:
    """Return a line that says how many were left out; nothing if none were."""
    return f"  and {n_more} more: see --json\n" if n_more > 0 else ""

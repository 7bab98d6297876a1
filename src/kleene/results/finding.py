"""A finding: what an analysis has to say about one place of a program."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kleene.base.errors import Span
from kleene.base.source_text import relative_path, source_line
from kleene.results.rules import Rule, Severity

_FINGERPRINT_DIGITS = 32  # 128 bits


@dataclass(frozen=True, slots=True)
class Location:
    """A place with what happens or stands there."""

    span: Span | None
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What is the matter at one place.

    Attributes:
        rule: what was looked for.
        span: where it is; None for a finding about the whole program.
        message: what is the matter, as a sentence without its full stop; it says *may* where the
            analysis cannot exclude other runs, and *never* or *always* where it can.
        function: the function that the place is in, or is about; empty if none.
        related: other places that belong to it, such as a declaration.
        path: the steps that lead to it, first to last.
        fix: what the user can do about it; empty if nothing general can be said.
        suppressed: why a comment in the source silences it (the reason may be empty); None if none
            does.
    """

    rule: Rule
    span: Span | None
    message: str
    function: str = ""
    related: tuple[Location, ...] = ()
    path: tuple[Location, ...] = ()
    fix: str = ""
    suppressed: str | None = None

    @property
    def severity(self) -> Severity:
        """How bad it is: the severity of its rule."""
        return self.rule.severity

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """What findings are sorted by: their places, then their rules."""
        span = self.span or Span("")
        return (span.file, span.line, span.column, self.rule.id, self.message)

    def __str__(self) -> str:
        head = f"{self.span}: " if self.span else ""
        return f"{head}{self.severity}[{self.rule.id}]: {self.message}"


def fingerprints(findings: Sequence[Finding], root: str | os.PathLike[str]) -> list[str]:
    """Return a text for each finding that stays the same while other lines come and go.

    It is a digest of the rule, the file's path from `root` on, the function, the words of the
    source line, and how many findings above it in the file agree in all of these. So it survives
    moved lines, changed indentation and another wording of the message; of two findings that agree
    in everything, the second changes when the first is mended.
    """
    keys = []
    for finding in findings:
        span = finding.span
        file = relative_path(span.file, root) if span else ""
        words = " ".join(source_line(span.file, span.line).split()) if span else ""
        keys.append((finding.rule.id, file, finding.function, words))
    seen: Counter[tuple[str, ...]] = Counter()
    found = [""] * len(keys)
    for i in sorted(range(len(keys)), key=lambda i: findings[i].order):
        text = "\0".join((*keys[i], str(seen[keys[i]])))
        found[i] = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        seen[keys[i]] += 1
    return [digest[:_FINGERPRINT_DIGITS] for digest in found]


def findings_json(
    found: Sequence[Finding], root: str | os.PathLike[str] = "."
) -> list[dict[str, object]]:
    """Return findings as plain data, with paths from the folder `root` on; unknowns are None."""

    def place(span: Span | None) -> dict[str, object]:
        return {
            "file": relative_path(span.file, root) if span else None,
            "line": (span.line or None) if span else None,
            "column": (span.column or None) if span else None,
        }

    def places(locations: Sequence[Location]) -> list[dict[str, object]]:
        return [{**place(one.span), "message": one.message} for one in locations]

    return [
        {
            **place(finding.span),
            "rule": finding.rule.id,
            "severity": finding.severity.value,
            "message": finding.message,
            "function": finding.function or None,
            "related": places(finding.related),
            "path": places(finding.path),
            "fix": finding.fix or None,
            "fingerprint": fingerprint,
            "suppressed": finding.suppressed,
        }
        for finding, fingerprint in zip(found, fingerprints(found, root), strict=True)
    ]

"""Findings as plain data, for the commands' `--json`."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kleene.base.errors import Span
from kleene.base.source_text import relative_path
from kleene.results import Finding, Location, fingerprints


def findings(found: Sequence[Finding], root: str | os.PathLike[str]) -> list[dict[str, object]]:
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

"""The one place that writes JSON: sorted keys, NumPy scalars and arrays as plain numbers."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from kleene.base.errors import Span
from kleene.base.source_text import relative_path
from kleene.results import Finding, Location, fingerprints


def dumps(value: object) -> str:
    """Return `value` as indented JSON whose key order never depends on how it was built."""
    return json.dumps(value, default=_plain, sort_keys=True, indent=2, allow_nan=False)


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


def _plain(value: Any) -> object:
    """Return a value JSON knows for one it does not, or raise TypeError."""
    if hasattr(value, "tolist"):  # NumPy scalars and arrays; asking by type would import NumPy
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")

"""Small C programs, written in the test that asks about them."""

from __future__ import annotations

from pathlib import Path

import kleene
from kleene.analyses.points_to import PointsToResult


def solved(folder: Path, text: str, name: str = "t.c", **options: object) -> PointsToResult:
    """Return the points-to result of a C program given as text."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    result: PointsToResult = kleene.load(file).points_to(device="cpu", **options)
    return result

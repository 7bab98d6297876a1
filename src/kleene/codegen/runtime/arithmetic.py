"""What generated Python computes with: C's division, and sections of arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def quotient(a: int, b: int) -> int:
    """Return C's a / b, which rounds to zero."""
    found = abs(a) // abs(b)
    return found if (a < 0) == (b < 0) else -found


def remainder(a: int, b: int) -> int:
    """Return C's a % b, which has the sign of a."""
    return a - b * quotient(a, b)


def hull(pieces: Sequence[tuple[int, int, int]]) -> tuple[int, int]:
    """Return the bytes from the first to the end of sections, of those with trips."""
    found = [(first, end) for trips, first, end in pieces if trips > 0 and first < end]
    return (min(f for f, _ in found), max(e for _, e in found)) if found else (0, 0)


NAMESPACE: dict[str, Any] = {
    "np": np,
    "math": math,
    "quotient": quotient,
    "remainder": remainder,
    "hull": hull,
}

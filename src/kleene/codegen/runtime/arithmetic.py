"""What generated Python computes with: C's division, and sections of arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_SAME = ["cbrt", "ceil", "copysign", "cos", "cosh", "exp", "exp2", "expm1", "floor", "fmax", "fmin"]
_SAME += ["fmod", "hypot", "log", "log10", "log1p", "log2", "rint", "sin", "sinh", "sqrt", "tan"]
_SAME += ["tanh", "trunc"]  # functions that C and NumPy call the same


def quotient(a: int, b: int) -> int:
    """Return C's a / b, which rounds to zero."""
    found = abs(a) // abs(b)
    return found if (a < 0) == (b < 0) else -found


def remainder(a: int, b: int) -> int:
    """Return C's a % b, which has the sign of a."""
    return a - b * quotient(a, b)


def divided(a: float, b: float) -> float:
    """Return C's a / b of floating-point numbers: by zero it is infinite, or no number."""
    with np.errstate(all="ignore"):
        return float(np.float64(a) / np.float64(b))


def single(value: float) -> float:
    """Return a number as C's `float` holds it."""
    with np.errstate(all="ignore"):
        return float(np.float32(value))


def _rounded(value: float) -> float:
    """Return C's `round`: halves go away from zero."""
    return float(np.copysign(np.floor(np.abs(value) + 0.5), value))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in _SAME},
    **{name: getattr(np, f"arc{name[1:]}") for name in ("acos", "asin", "atan", "atan2")},
    **{"fabs": np.fabs, "pow": np.power, "round": _rounded, "erf": math.erf},
}


def called(name: str, *args: float) -> float:
    """Return what a function of <math.h> does, for all numbers: it raises nothing.

    sqrt(-1) is no number, log(0) is -inf, exp(1000) is inf.
    """
    with np.errstate(all="ignore"):
        return float(FUNCTIONS[name](*args))


def hull(pieces: Sequence[tuple[int, int, int]]) -> tuple[int, int]:
    """Return the bytes from the first to the end of sections, of those with trips."""
    found = [(first, end) for trips, first, end in pieces if trips > 0 and first < end]
    return (min(f for f, _ in found), max(e for _, e in found)) if found else (0, 0)


NAMESPACE: dict[str, Any] = {
    "np": np,
    "math": math,
    "quotient": quotient,
    "remainder": remainder,
    "divided": divided,
    "single": single,
    "called": called,
    "hull": hull,
}

"""Where a computation runs."""

from __future__ import annotations

from enum import StrEnum


class Device(StrEnum):
    """A place to compute; `AUTO` lets the callee choose by size and say what it chose."""

    CPU = "cpu"
    CUDA = "cuda"
    HYBRID = "hybrid"  # CPU and GPU at once, where a solver can
    AUTO = "auto"

"""The one place that writes JSON: sorted keys, NumPy scalars and arrays as plain numbers."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any


def dumps(value: object) -> str:
    """Return `value` as indented JSON whose key order never depends on how it was built."""
    return json.dumps(value, default=_plain, sort_keys=True, indent=2, allow_nan=False)


def _plain(value: Any) -> object:
    """Return a value JSON knows for one it does not, or raise TypeError."""
    if hasattr(value, "tolist"):  # NumPy scalars and arrays; asking by type would import NumPy
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")

"""How this room's loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])
_njit: Any = njit  # it publishes no types


def compiled(function: Function) -> Function:
    """Return the function compiled by Numba: kept on disk, and free of Python's lock."""
    return cast(Function, _njit(cache=True, nogil=True)(function))

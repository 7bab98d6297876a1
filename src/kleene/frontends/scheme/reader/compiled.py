"""How the reader's loops are compiled: by Numba, and kept on disk.

Numba would look for changes in a function's own file alone; here every source of the room counts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

from kleene.base.cache import key_of

Function = TypeVar("Function", bound=Callable[..., Any])
_njit: Any = njit  # Numba publishes no types
_STAMP = key_of(*(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py"))))


def entry(function: Function) -> Function:
    """Return a function that Python calls, compiled when it is first called and then kept."""
    dispatcher = _njit(nogil=True)(function)
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # nowhere to write: every process compiles
        pass
    else:
        dispatcher._cache._cache_file._source_stamp = _STAMP
    return cast(Function, dispatcher)


def piece(function: Function) -> Function:
    """Return a function that only compiled code calls, compiled with its caller."""
    return cast(Function, _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function))

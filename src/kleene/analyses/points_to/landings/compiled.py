"""How the functions of this room are compiled: once each.

Left to itself, Numba compiles a function anew for every constant that it is called with, and looks
for changes in the file of the function that Python calls alone; here every source of the room
counts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit, types

from kleene.base.cache import key_of

Function = TypeVar("Function", bound=Callable[..., Any])
_njit: Any = njit  # Numba publishes no types
_unliteral: Any = types.unliteral
_STAMP = key_of(*(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py"))))


def entry(function: Function) -> Function:
    """Return a function that Python calls, compiled and kept on disk."""
    dispatcher = _njit(no_cfunc_wrapper=True)(function)
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # nowhere to write: every process compiles
        pass
    else:
        dispatcher._cache._cache_file._source_stamp = _STAMP
    return cast(Function, dispatcher)


def piece(function: Function) -> Function:
    """Return a function that only compiled code calls, compiled when an entry needs it."""
    dispatcher = _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    compile_ = dispatcher.compile
    dispatcher.compile = lambda called_with: compile_(tuple(map(_unliteral, called_with)))
    return cast(Function, dispatcher)

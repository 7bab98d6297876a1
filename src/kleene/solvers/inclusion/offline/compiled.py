"""How the loops of this room and of the CPU solver are compiled: once each, and quickly.

Left to itself, Numba compiles a function anew for every width of integer and every constant that it
is called with. Here all integers are 64 bits wide and no constant is special. Only entries, which
Python calls, are kept on disk, each with the pieces it calls. Numba would look for changes in an
entry's own file alone; here every source of the two rooms counts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit, types

from kleene.base.cache import key_of

Function = TypeVar("Function", bound=Callable[..., Any])
_njit: Any = njit  # Numba publishes no types
_types: Any = types


def _sources() -> str:
    room = Path(__file__).parent.parent
    files = sorted([*room.glob("offline/*.py"), *room.glob("cpu/*.py")])
    return key_of(*(file.read_bytes() for file in files))


_STAMP = _sources()


def entry(function: Function) -> Function:
    """Return a function that Python calls, compiled: kept on disk, and free of Python's lock."""
    dispatcher = _njit(nogil=True, no_cfunc_wrapper=True)(function)
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # nowhere to write: every process compiles
        pass
    else:
        dispatcher._cache._cache_file._source_stamp = _STAMP
    return cast(Function, _widened(dispatcher))


def piece(function: Function) -> Function:
    """Return a function that only compiled code calls, compiled when an entry needs it."""
    dispatcher = _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    return cast(Function, _widened(dispatcher))


def _widened(dispatcher: Any) -> Any:
    compile_ = dispatcher.compile
    dispatcher.compile = lambda called_with: compile_(tuple(map(_wide, called_with)))
    return dispatcher


def _wide(kind: Any) -> Any:
    kind = _types.unliteral(kind)
    return types.int64 if isinstance(kind, _types.Integer) and kind.signed else kind

"""How the loops of this room are compiled: once for each element type, when first asked for.

Only entries, which Python calls, are kept on disk, each with the pieces it calls. Numba would look
for changes in an entry's own file alone; here every source of this room counts, since all of them
end up in the entries.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from kleene.base.cache import key_of

Function = TypeVar("Function", bound=Callable[..., Any])
_njit: Any = njit  # Numba publishes no types
_types: Any = types


def _sources() -> str:
    return key_of(*(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py"))))


_STAMP = _sources()


def entry(function: Function) -> Function:
    """Return a function that Python calls, compiled: kept on disk, and free of Python's lock."""
    return cast(Function, _kept(_njit(nogil=True, no_cfunc_wrapper=True)(function)))


def parallel_entry(function: Function) -> Function:
    """Return an entry whose `prange` runs on several threads."""
    return cast(Function, _kept(_njit(nogil=True, parallel=True, no_cfunc_wrapper=True)(function)))


def piece(function: Function) -> Function:
    """Return a function that only compiled code calls, compiled when an entry needs it."""
    dispatcher = _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    return cast(Function, _plain(dispatcher))


def _kept(dispatcher: Any) -> Any:
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # nowhere to write: every process compiles
        pass
    else:
        dispatcher._cache._cache_file._source_stamp = _STAMP
    return _plain(dispatcher)


def _plain(dispatcher: Any) -> Any:
    """Make all integers 64 bits wide and no constant special, so that one code serves all calls."""
    compile_ = dispatcher.compile
    dispatcher.compile = lambda called_with: compile_(tuple(map(_wide, called_with)))
    return dispatcher


def _wide(kind: Any) -> Any:
    return types.int64 if isinstance(kind, _types.IntegerLiteral) else _types.unliteral(kind)


def _apart(_context: Any) -> Any:
    def build(context: Any, builder: ir.IRBuilder, _signature: Any, _arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), build


apart: Any = intrinsic(_apart)  # keeps the calling function out of its callers, compiled once

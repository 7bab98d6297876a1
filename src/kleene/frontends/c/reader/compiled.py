"""How the reader's functions are compiled: once each, small, and quickly.

Left to itself, Numba compiles a function anew for every constant that it is called with, gives each
a Python wrapper, and lets LLVM inline small pieces into hundreds of places: two minutes for this
reader, against 25 s. Here a parameter's name fixes its type, wrappers are made for entries alone,
and a function that calls `apart()` is never inlined.

Only entries are kept on disk, each with the pieces it calls, and pieces are compiled when an entry
asks for them: a process that finds the entries loads nothing else. Numba would look for changes in
an entry's own file only; here every source that compiled code depends on counts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from kleene.base.cache import key_of
from kleene.ir import codes

# Arrays, as Numba sees them: integers go in and come out.
Cells: TypeAlias = Any
Text: TypeAlias = Any
Nodes: TypeAlias = Any
Compiled = TypeVar("Compiled", bound=Callable[..., Any])

_njit: Any = njit  # its published types do not know every option
_CELLS = types.Array(types.int64, 1, "C")
_ARRAYS = {
    "text": types.Array(types.uint8, 1, "C", readonly=True),
    "cells": _CELLS,
    "s": _CELLS,
    "t": _CELLS,
    "m": _CELLS,
    "nodes": types.Array(types.int64, 2, "C"),
}


def _signature(function: Callable[..., Any]) -> tuple[Any, ...]:
    names = inspect.signature(function).parameters
    return tuple(_ARRAYS.get(name, types.int64) for name in names)


def _sources() -> str:
    """Return a digest of the sources behind the compiled code: this package, and the codes."""
    files = [*sorted(Path(__file__).parent.glob("*.py")), Path(codes.__file__)]
    return key_of(*(file.read_bytes() for file in files))


_STAMP = _sources()


def step(function: Compiled) -> Compiled:
    """Compile a piece that only other pieces call, when the first of them is compiled."""
    dispatcher = _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    signature, compile_ = _signature(function), dispatcher.compile
    dispatcher.compile = lambda _called_with: compile_(signature)
    return cast(Compiled, dispatcher)


def entry(function: Compiled) -> Compiled:
    """Compile a function that Python calls, or load it from where an earlier process kept it."""
    dispatcher = _njit(no_cfunc_wrapper=True)(function)
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # nowhere to write: every process compiles
        pass
    else:
        dispatcher._cache._cache_file._source_stamp = _STAMP
    dispatcher.compile(_signature(function))
    dispatcher.disable_compile()
    return cast(Compiled, dispatcher)


def _apart(typingctx: Any) -> Any:
    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), codegen


apart: Any = intrinsic(_apart)  # keeps the calling function out of its callers' code

"""How the reader's functions are compiled: once each, small, and quickly.

Left to itself, Numba compiles a function anew for every constant that it is called with, gives each
a Python wrapper, and lets LLVM inline small pieces into hundreds of places: two minutes for this
reader, against 25 s. Here a parameter's name fixes its type, wrappers are made for entries alone,
and a function that calls `apart()` is never inlined.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

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


def step(function: Compiled) -> Compiled:
    """Compile a piece that only other pieces call."""
    options = {"cache": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Compiled, _njit(_signature(function), **options)(function))


def entry(function: Compiled) -> Compiled:
    """Compile a function that Python calls."""
    options = {"cache": True, "no_cfunc_wrapper": True}
    return cast(Compiled, _njit(_signature(function), **options)(function))


def _apart(typingctx: Any) -> Any:
    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), codegen


apart: Any = intrinsic(_apart)  # keeps the calling function out of its callers' code

"""How the reader's functions are compiled: once each, small, and quickly.

Left to itself, Numba compiles a function anew for every constant that it is called with, gives each
a Python wrapper, and lets LLVM inline small pieces into hundreds of places: two minutes for this
reader. Here the parameter's name fixes its type, wrappers are made for entries alone, and a function
that calls `apart()` is never inlined.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

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


def step(function: Callable[..., Any]) -> Any:
    """Compile a piece that only other pieces call."""
    compiled = njit(
        _signature(function), cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )
    return compiled(function)


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls."""
    return njit(_signature(function), cache=True, no_cfunc_wrapper=True)(function)


@intrinsic
def apart(typingctx):  # type: ignore[no-untyped-def]
    """Keep the calling function out of its callers' code."""

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), codegen

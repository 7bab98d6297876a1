"""How loops are compiled here, once for each type of element, and what they must know of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from kleene.kernels.compiled import (
    CompilationUnit,
    EntryPoint,
    is_interpreting,
    noinline,
    plain,
)
from kleene.kernels.minplus.layout import infinity, least_bound, lowest

_HERE = Path(__file__).parent
_UNIT = CompilationUnit(_HERE, _HERE.parent / "layout.py", rule=plain)
device_function = _UNIT.device_function
Elements = NDArray[Any]  # of an octagon, or what goes with one of them: of its type, or of bool
P = ParamSpec("P")
R = TypeVar("R")

__all__ = ["Elements", "device_function", "entry_point", "inner_of", "noinline", "outer_of"]


class _Replaced(EntryPoint[P, R]):
    """An entry point that gives its name in its module to Numba's own object, once that is there.

    To ask at every call whether to run as plain Python takes 0.3 µs, a third of what the operations
    on few variables take.
    """

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return what the function returns."""
        if not is_interpreting():
            self.py_func.__globals__[self.py_func.__name__] = self.dispatcher
        return super().__call__(*args, **kwargs)


def entry_point(function: Callable[P, R]) -> EntryPoint[P, R]:
    """Return a function that Python calls."""
    return _Replaced(function, _UNIT)


_WIDER = {"int16": ("int32", "int64"), "int32": ("int64",)}


@cache
def outer_of(dtype: np.dtype[Any]) -> Any:
    """Return an octagon's infinity, its least bound, and what fills an empty one."""
    return np.array([infinity(dtype), least_bound(dtype), lowest(dtype)], dtype)


@cache
def inner_of(dtype: np.dtype[Any]) -> tuple[Any, ...]:
    """Return for each type to close in, narrowest first: its infinity and its greatest bound.

    Integers are added without a look at overflow: infinity is a quarter of the range, bounds are
    small enough for sums of 2n of them to stay far below it (`layout.limit`).
    """
    names = (dtype.name, *_WIDER.get(dtype.name, ()))
    return tuple(_inner(np.dtype(name), dtype) for name in names)


def _inner(kind: np.dtype[Any], dtype: np.dtype[Any]) -> Any:
    if kind.kind == "f":
        return np.array([np.inf, np.inf], kind)
    infinite = (1 << (np.iinfo(kind).bits - 2)) - 8
    return np.array([infinite, min(infinite // 4, np.iinfo(dtype).max - 1)], kind)

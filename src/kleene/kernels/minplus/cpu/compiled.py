"""How loops are compiled here: once for each type of element, Numba being imported as they are."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, Signature, signature
from math import inf
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from kleene.kernels import pointers
from kleene.kernels.compiled import (
    CompilationUnit,
    EntryPoint,
    intrinsic,
    is_interpreting,
    noinline,
    plain,
)

_HERE = Path(__file__).parent
_INTERPRETED_S_A_STEP = 1e-6  # of which closing m elements takes m ** 1.5


def _interpreted_s(args: tuple[Any, ...]) -> float:
    """Return about how long an operation takes as plain Python, by the elements of its first array.

    Operations on floating-point numbers are compiled at once: only there are they rounded up as the
    processor does it, and answers are not to depend on how they were computed.
    """
    arrays = [one for one in args if isinstance(one, np.ndarray)]
    if any(one.dtype.kind == "f" for one in arrays):
        return inf
    return _INTERPRETED_S_A_STEP * float(arrays[0].size) ** 1.5 if arrays else 0.0


_UNIT = CompilationUnit(
    _HERE,
    _HERE.parent / "layout.py",
    pointers.__file__,
    rule=plain,
    interpreted_s=_interpreted_s,
)
device_function = _UNIT.device_function
Elements = NDArray[Any]  # of an octagon, or what goes with one of them: of its type, or of bool
Element = Any  # one of them
P = ParamSpec("P")
R = TypeVar("R")
Function = TypeVar("Function", bound=Callable[..., Any])

__all__ = ["Element", "Elements", "device_function", "entry_point", "instruction", "noinline"]


class _Replaced(EntryPoint[P, R]):
    """An entry point that gives its name in its module to Numba's own object, once that is there.

    To ask at every call whether to run as plain Python takes 0.3 µs, a third of what the operations
    on few variables take.
    """

    def _called(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if not is_interpreting():
            self.py_func.__globals__[self.py_func.__name__] = self.dispatcher
        return super()._called(*args, **kwargs)


def entry_point(function: Callable[P, R]) -> EntryPoint[P, R]:
    """Return a function that Python calls."""
    return _Replaced(function, _UNIT)


def instruction(function: Function) -> Function:
    """Return a function instead of which compiled code has what `instructions` writes for it."""

    def build(*kinds: Any) -> Any:
        instructions = import_module("kleene.kernels.minplus.cpu.instructions")
        return instructions.of[function.__name__](*kinds)

    context = Parameter("context", Parameter.POSITIONAL_ONLY)
    parameters = [context, *signature(function).parameters.values()]
    build.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # Numba looks at it
    return intrinsic(build)(function)

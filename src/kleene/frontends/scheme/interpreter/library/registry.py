"""How Python functions become primitives: by the name that `primitives.txt` gives them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar

from kleene.frontends.scheme.interpreter.objects import Native, failure
from kleene.ir.scheme.primitives import table
from kleene.ir.scheme.values import UNSPECIFIED

Function = TypeVar("Function", bound=Callable[..., Any])
NATIVES: dict[str, Native] = {}

# What Python raises where an argument has the wrong type, is out of range, or nests too deep.
_MISTAKES = (
    *(TypeError, ValueError, AttributeError, ArithmeticError, LookupError),
    *(OSError, RecursionError),
)


def _register(kind: str, *names: str) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        for name in names:
            guarded = function if kind == "control" else _guarded(name, function)
            NATIVES[name] = Native(table()[name], guarded, kind)
        return function

    return register


# Each registers a function under these names; `Native` says what the three kinds are given.
plain = partial(_register, "plain")
machine = partial(_register, "machine")
control = partial(_register, "control")


def _guarded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with Python's complaints about arguments turned into conditions.

    Where it returns None, the value is unspecified.
    """

    @wraps(function)
    def guarded(*arguments: Any) -> Any:
        try:
            value = function(*arguments)
        except _MISTAKES as mistake:
            shown = arguments[1:] if arguments and hasattr(arguments[0], "dynamic") else arguments
            raise failure(f"{name}: {mistake or 'a wrong argument'}", *shown) from None
        return UNSPECIFIED if value is None else value

    return guarded


def checked(what: str, *types: type) -> Callable[[Any], Any]:
    """Return a function that returns its argument if it has one of these types."""

    def check(x: Any) -> Any:
        if type(x) not in types:
            raise TypeError(f"not {what}")
        return x

    return check

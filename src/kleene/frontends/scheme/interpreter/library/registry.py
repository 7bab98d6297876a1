"""How Python functions become primitives: by the name that `primitives.txt` gives them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from kleene.frontends.scheme.interpreter.objects import Native, failure
from kleene.ir.scheme.primitives import table

Function = TypeVar("Function", bound=Callable[..., Any])
NATIVES: dict[str, Native] = {}

# What Python raises where an argument has the wrong type, is out of range, or nests too deep.
_MISTAKES = (
    *(TypeError, ValueError, AttributeError, ArithmeticError, LookupError),
    *(OSError, RecursionError),
)


def plain(*names: str) -> Callable[[Function], Function]:
    """Register a function of the arguments alone."""
    return _register("plain", names)


def machine(*names: str) -> Callable[[Function], Function]:
    """Register a function of the machine and the arguments."""
    return _register("machine", names)


def control(*names: str) -> Callable[[Function], Function]:
    """Register a function that says what the machine does next."""

    def register(function: Function) -> Function:
        for name in names:
            NATIVES[name] = Native(table()[name], function, "control")
        return function

    return register


def _register(kind: str, names: tuple[str, ...]) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        for name in names:
            NATIVES[name] = Native(table()[name], _guarded(name, function), kind)
        return function

    return register


def _guarded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with Python's complaints about arguments turned into conditions."""

    @wraps(function)
    def guarded(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except _MISTAKES as mistake:
            shown = arguments[1:] if arguments and hasattr(arguments[0], "dynamic") else arguments
            raise failure(f"{name}: {mistake or 'a wrong argument'}", *shown) from None

    return guarded

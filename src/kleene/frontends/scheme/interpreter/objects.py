"""What only a running program has: procedures, promises, records, conditions, ports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kleene.ir.scheme.primitives import PrimitiveRow


class Condition(Exception):  # noqa: N818 - a Scheme program may raise any object
    """A Scheme object on its way to a handler."""


@dataclass(slots=True, eq=False)
class ErrorObject:
    """What `error` makes, and what a primitive raises; `kind` is "error", "file" or "read"."""

    message: str
    irritants: list[Any]
    kind: str = "error"


def failure(message: str, *irritants: Any, kind: str = "error") -> Condition:
    """Return the condition that a primitive raises."""
    return Condition(ErrorObject(message, list(irritants), kind))


class Closure:
    """A procedure made by a lambda."""

    __slots__ = ("code", "frame")

    def __init__(self, code: Any, frame: Any) -> None:
        self.code = code  # a `code.Lambda`
        self.frame = frame


class CaseLambda:
    """A procedure with several clauses: the first that takes the arguments is called."""

    __slots__ = ("clauses",)

    def __init__(self, clauses: list[Closure]) -> None:
        self.clauses = clauses


class Native:
    """A primitive written in Python.

    A *plain* function takes the arguments and returns the value, a *machine* function is given the
    machine as well, and a *control* function `(machine, arguments, continuation, site)` returns
    what the machine does next.
    """

    __slots__ = ("function", "kind", "row")

    def __init__(self, row: PrimitiveRow, function: Callable[..., Any], kind: str) -> None:
        self.row = row
        self.function = function
        self.kind = kind


class Continuation:
    """What is left to do, and the dynamic state it is to be done in."""

    __slots__ = ("k", "state")

    def __init__(self, k: Any, state: Any) -> None:
        self.k = k
        self.state = state


class Parameter:
    """A parameter: its value outside any `parameterize`, and its converter if it has one."""

    __slots__ = ("converter", "value")

    def __init__(self, value: Any, converter: Any = None) -> None:
        self.value = value
        self.converter = converter


class Values:
    """Several values, or none, on their way to a continuation."""

    __slots__ = ("items",)

    def __init__(self, items: list[Any]) -> None:
        self.items = items


class Promise:
    """A promise; forced ones share the `state` of the one they were chained to."""

    __slots__ = ("state",)

    def __init__(self, is_done: bool, content: Any, is_chain: bool = False) -> None:
        self.state = PromiseState(is_done, content, is_chain)


class PromiseState:
    """A value, or the procedure that makes it: one of the value, or of the next promise."""

    __slots__ = ("content", "is_chain", "is_done")

    def __init__(self, is_done: bool, content: Any, is_chain: bool) -> None:
        self.is_done = is_done
        self.content = content
        self.is_chain = is_chain


class RecordType:
    """A record type."""

    __slots__ = ("fields", "name")

    def __init__(self, name: str, fields: list[str]) -> None:
        self.name = name
        self.fields = fields


class Record:
    """A record."""

    __slots__ = ("type", "values")

    def __init__(self, type: RecordType, values: list[Any]) -> None:
        self.type = type
        self.values = values


class Box:
    """A box."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Environment:
    """A top level, as `eval` is given it."""

    __slots__ = ("top",)

    def __init__(self, top: Any) -> None:
        self.top = top


@dataclass(slots=True, eq=False)
class InputPort:
    """A port that reads what it was made with; `data` is text or bytes."""

    data: Any
    position: int = 0
    is_open: bool = True


@dataclass(slots=True, eq=False)
class OutputPort:
    """A port that keeps what is written; `path` is written when it is closed."""

    is_binary: bool = False
    path: str | None = None
    parts: list[Any] = field(default_factory=list)
    is_open: bool = True


PROCEDURES = (Closure, Native, Continuation, Parameter, CaseLambda)

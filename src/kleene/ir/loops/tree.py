"""Functions as trees of statements and expressions, in no language's syntax: what loops do.

A front end makes these trees and decides what its language means: conversions are explicit, side
effects are statements of their own in the order of evaluation, compound assignments are plain
ones. What a front end does not understand is a `Refuse` with its reason and place, so that the
loops around it can be refused and the others analysed.

Two expressions are equal when they have the same structure, wherever they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Literal as OneOf

from kleene.base.errors import Span

NOWHERE = Span("")


class Reason(StrEnum):
    """Why a loop is refused; the code is stable, `detail` says what it is about."""

    BUDGET = "BUDGET"  # more is executed symbolically than is allowed
    CALL_NOT_ALLOWED = "CALL_NOT_ALLOWED"  # a function without a body here that is not known
    EARLY_EXIT = "EARLY_EXIT"  # break, return or goto leaves the loop
    FUNCTION_POINTER = "FUNCTION_POINTER"
    GOTO = "GOTO"
    INLINE_ASSEMBLY = "INLINE_ASSEMBLY"
    IO = "IO"
    IRREGULAR_CONTROL = "IRREGULAR_CONTROL"  # switch, labels
    NOT_NORMALIZABLE = "NOT_NORMALIZABLE"  # no trip count can be told before the loop
    RECURSION = "RECURSION"
    SETJMP = "SETJMP"
    SIDE_EFFECT = "SIDE_EFFECT"  # inside a conditional part of an expression
    STATIC_IN_CALLEE = "STATIC_IN_CALLEE"
    UNSUPPORTED = "UNSUPPORTED"  # a construct that the front end does not read
    VOLATILE = "VOLATILE"


@dataclass(frozen=True, slots=True)
class Type:
    """A type; `bits` is 0 where it is unknown. `target` is what a pointer or array holds.

    The extent of an array is a number, or an expression (a variable-length array), or None.
    """

    kind: OneOf["int", "float", "pointer", "array", "record", "void", "other"]
    name: str
    bits: int = 0
    signed: bool = True
    target: Type | None = None
    extent: Expression | int | None = None
    restrict: bool = False
    volatile: bool = False

    @property
    def n_bytes(self) -> int | None:
        """The size, or None where it is unknown or hangs on values."""
        if self.kind == "array":
            inner = None if self.target is None else self.target.n_bytes
            if inner is None or not isinstance(self.extent, int):
                return None
            return inner * self.extent
        return (self.bits + 7) // 8 or None

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest value of an integer type."""
        half = 1 << (self.bits - 1)
        return (-half, half - 1) if self.signed else (0, 2 * half - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A variable. `is_exposed` tells whether a pointer may hold its address.

    Symbols with the same `linkage`, if it is not empty, are declarations of one variable. The
    `initial` values are those of a constant, all elements in a row; empty if they are not known.
    """

    name: str
    type: Type
    place: Span = NOWHERE
    storage: OneOf["local", "parameter", "global", "static"] = "local"
    is_exposed: bool = False
    linkage: str = ""
    initial: tuple[int | float, ...] = ()


@dataclass(frozen=True, slots=True)
class Expression:
    """A value of a type."""

    type: Type
    place: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A number."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Read(Expression):
    """What a storage location holds."""

    location: Location


@dataclass(frozen=True, slots=True)
class Decay(Expression):
    """A pointer to the first element of an array."""

    location: Location


@dataclass(frozen=True, slots=True)
class AddressOf(Expression):
    """A pointer to a storage location."""

    location: Location


@dataclass(frozen=True, slots=True)
class Unary(Expression):
    """`-x`, `~x` or `!x`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """An operation on two values; `&&` and `||` evaluate the second only if it matters."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Convert(Expression):
    """A value converted to another type."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Choose(Expression):
    """`condition ? then : otherwise`."""

    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A call of a function by its name.

    One without effect gives a value of its arguments alone; one that allocates, a pointer to
    storage that nothing else points to; one that asserts is never reached in a right program.
    """

    function: str
    arguments: tuple[Expression, ...]
    effect: OneOf["none", "allocates", "asserts", "unknown"]


@dataclass(frozen=True, slots=True)
class Unknown(Expression):
    """A value that the front end does not follow."""

    detail: str


@dataclass(frozen=True, slots=True)
class Location:
    """Where a value is stored."""

    type: Type
    place: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Variable(Location):
    """A whole variable."""

    symbol: Symbol


@dataclass(frozen=True, slots=True)
class Element(Location):
    """`pointer[index]`."""

    pointer: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Member(Location):
    """A field of a record; fields of a union share their storage.

    It begins `offset` bytes after the record, where that is known.
    """

    record: Location
    name: str
    in_union: bool
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Nowhere(Location):
    """A location that the front end does not follow."""

    detail: str


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that is executed."""

    place: Span = field(compare=False)


Block = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Declare(Statement):
    """The beginning of a variable's life; its value, if any, is assigned after it."""

    symbol: Symbol


@dataclass(frozen=True, slots=True)
class Assign(Statement):
    """`target = value`."""

    target: Location
    value: Expression


@dataclass(frozen=True, slots=True)
class Evaluate(Statement):
    """An expression for what it does: a call."""

    value: Expression


@dataclass(frozen=True, slots=True)
class If(Statement):
    """`then` or `otherwise`."""

    condition: Expression
    then: Block
    otherwise: Block


@dataclass(frozen=True, slots=True)
class Loop(Statement):
    """`init; while (before; test; after) { body; step }`, or the test after the body.

    `before` and `after` are the side effects of the test: both happen at each test, also at the
    last one, which fails.
    """

    kind: OneOf["for", "while", "do"]
    end_line: int
    init: Block
    before: Block
    test: Expression | None
    after: Block
    step: Block
    body: Block


@dataclass(frozen=True, slots=True)
class Jump(Statement):
    """`break` or `continue`."""

    kind: OneOf["break", "continue"]


@dataclass(frozen=True, slots=True)
class Return(Statement):
    """The end of the function."""

    value: Expression | None


@dataclass(frozen=True, slots=True)
class Refuse(Statement):
    """Something that loops around it cannot be analysed with."""

    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Irregular(Statement):
    """Statements that are entered and left in ways not told here: the body of a `switch`."""

    body: Block


@dataclass(frozen=True, slots=True)
class Label(Statement):
    """A place that jumps reach: what variables hold is not known here."""


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function with a body."""

    name: str
    place: Span
    result: Type
    parameters: tuple[Symbol, ...]
    body: Block
    is_static: bool = False  # other translation units cannot call it


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """The functions of one translation unit, in source order.

    `overloaded` are names that mean several functions: which one is called is not told.
    """

    file: str
    functions: tuple[Function, ...]
    overloaded: frozenset[str] = frozenset()


def walk(node: object) -> Iterator[object]:
    """Yield `node` and all parts of it: statements, expressions and locations, outer ones first."""
    left = [node]
    while left:
        one = left.pop()
        if isinstance(one, tuple):
            left.extend(reversed(one))
        elif isinstance(one, Expression | Location | Statement):
            yield one
            left.extend([getattr(one, name) for name in _reversed_parts(type(one))])


def _reversed_parts(kind: type[Expression | Location | Statement]) -> tuple[str, ...]:
    """Return the fields of a class of nodes that hold parts of a tree, the last one first."""
    found = _REVERSED_PARTS.get(kind)
    if found is None:
        names = [one.name for one in fields(kind) if one.name not in ("type", "place")]
        found = _REVERSED_PARTS[kind] = tuple(reversed(names))
    return found


_REVERSED_PARTS: dict[type, tuple[str, ...]] = {}

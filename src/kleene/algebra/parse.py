"""Text to linear expressions and constraints.

    chain      = sum (("<=" | "<" | ">=" | ">" | "==" | "=") sum)+
    sum        = ["+" | "-"] product (("+" | "-") product)*
    product    = factor (("*" | "/") factor | factor)*        a number before a name multiplies it
    factor     = number | name | "(" sum ")" | "[" sum "," sum "]" | "-" factor

`[1, 2]` is any number from 1 to 2, as a summand or a coefficient. Names have letters, digits and
any of `_ . $ @ # '`; others are put in backquotes. Constraints in one text are separated by commas,
semicolons, `and` or `&&`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import NoReturn

from kleene.algebra.linear import Bound, Constraint, Linear
from kleene.base.errors import SourceError, Span

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<and>and\b|&&|[,;])"
    r"|(?P<name>[^\W\d][\w.$@#']*|`[^`]+`)"
    r"|(?P<compare><=|>=|==|<|>|=|≤|≥)"
    r"|(?P<sign>[-+*/()\[\]]))"
)
_N_KEPT = 4096  # texts remembered: programs ask the same few again and again

_COMPARE: dict[str, Callable[[Linear, Linear], tuple[Constraint, ...]]] = {
    "<=": lambda a, b: (a <= b,),
    "<": lambda a, b: (a < b,),
    ">=": lambda a, b: (a >= b,),
    ">": lambda a, b: (a > b,),
    "==": Linear.equals,
}
_COMPARE |= {"≤": _COMPARE["<="], "≥": _COMPARE[">="], "=": _COMPARE["=="]}


@lru_cache(_N_KEPT)
def expression(text: str) -> Linear:
    """Return the linear expression that `text` says.

    Raises:
        SourceError: `algebra/bad-syntax` or `algebra/not-linear`, with the column.
    """
    reader = _Reader(text)
    value = reader.sum()
    if reader.kind:
        reader.fail("the expression should end here")
    return value


@lru_cache(_N_KEPT)
def constraints(text: str) -> tuple[Constraint, ...]:
    """Return the constraints that `text` says; an equation is two.

    Raises:
        SourceError: `algebra/bad-syntax` or `algebra/not-linear`, with the column.
    """
    reader = _Reader(text)
    found = reader.chain()
    while reader.kind == "and":
        reader.step()
        found += reader.chain()
    if reader.kind:
        reader.fail("the constraint should end here")
    return found


class _Reader:
    """The text from some place on: `kind` and `text` of the next token, "" at the end."""

    def __init__(self, text: str) -> None:
        self.whole, self.at = text, 0
        self.step()

    def step(self) -> str:
        """Return the token that was next, and go on to the one after it."""
        last = getattr(self, "text", "")
        found = _TOKEN.match(self.whole, self.at)
        self.column = len(self.whole) - len(self.whole[self.at :].lstrip()) + 1
        self.kind, self.text = "", ""
        if found and found.lastgroup:
            self.kind, self.text, self.at = found.lastgroup, found[found.lastgroup], found.end()
            self.column = found.start(found.lastgroup) + 1
        elif self.whole[self.at :].strip():
            self.fail(f"unexpected {self.whole[self.column - 1]!r}")
        return last

    def fail(self, message: str, column: int | None = None) -> NoReturn:
        span = self.span(column)
        raise SourceError(span, "algebra/bad-syntax", message, *self.shown(span))

    def span(self, column: int | None = None) -> Span:
        return Span("<text>", 1, column or self.column)

    def shown(self, span: Span) -> tuple[str, str]:
        return f"in: {self.whole}", f"    {' ' * (span.column - 1)}^"

    def chain(self) -> tuple[Constraint, ...]:
        left = self.sum()
        found: tuple[Constraint, ...] = ()
        if self.kind != "compare":
            self.fail("expected a comparison such as <=")
        while self.kind == "compare":
            compare = _COMPARE[self.step()]
            right = self.sum()
            found += compare(left, right)
            left = right
        return found

    def sum(self) -> Linear:
        total = self.product()
        while self.text in ("+", "-"):
            sign = 1 if self.step() == "+" else -1
            total = total + self.product() * sign
        return total

    def product(self) -> Linear:
        value = self.factor()
        while self.text in ("*", "/", "(", "[") or self.kind in ("name", "number"):
            column, operator = self.column, self.step() if self.text in ("*", "/") else "*"
            value = self.combine(value, operator, self.factor(), column)
        return value

    def combine(self, a: Linear, operator: str, b: Linear, column: int) -> Linear:
        if operator == "*" and (b.names() or _is_number(a)):
            a, b = b, a
        if b.names() or (operator == "/" and not _is_number(b)):
            span = self.span(column)
            message = "only multiples of variables by numbers are linear"
            raise SourceError(span, "algebra/not-linear", message, *self.shown(span))
        if operator == "*":
            return a.times(b.low, b.high)
        if not b.low:
            self.fail("division by zero", column)
        return a / b.low

    def factor(self) -> Linear:
        if self.text in ("+", "-"):
            sign = 1 if self.step() == "+" else -1
            return self.factor() * sign
        if self.kind == "number":
            return Linear.of(Fraction(self.step()))
        if self.kind == "name":
            return Linear(((self.step().strip("`"), Fraction(1)),))
        if self.text == "(":
            return self.enclosed(")")
        if self.text == "[":
            return self.interval()
        self.fail("expected a number or a variable")

    def enclosed(self, end: str) -> Linear:
        self.step()
        value = self.sum()
        self.expect(end)
        return value

    def expect(self, text: str) -> None:
        if self.text != text:
            self.fail(f"expected {text!r}")
        self.step()

    def interval(self) -> Linear:
        column = self.column
        self.step()
        low = self.sum()
        self.expect(",")
        high = self.sum()
        self.expect("]")
        ends = _end(low, -_INFINITE, -inf), _end(high, _INFINITE, inf)
        if ends[0] is None or ends[1] is None or ends[0] > ends[1]:
            self.fail("an interval is [low, high], two numbers in order, or -inf and inf", column)
        return Linear((), ends[0], ends[1])


_INFINITE = Linear((("inf", Fraction(1)),))


def _is_number(value: Linear) -> bool:
    return not value.names() and value.low == value.high


def _end(value: Linear, infinite: Linear, infinity: float) -> Bound | None:
    """Return an end of an interval as a number; None if it is none."""
    if value == infinite:
        return infinity
    return value.low if _is_number(value) else None

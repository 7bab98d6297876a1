"""Linear expressions and constraints over named variables, with exact coefficients.

Write them as text, `expression("2*x - y + 1/2")`, or with Python's operators:

    x, y = variables("x y")
    x - y <= 3

The grammar of text:

    chain      = sum (("<=" | "<" | ">=" | ">" | "==" | "=") sum)+
    sum        = ["+" | "-"] product (("+" | "-") product)*
    product    = factor (("*" | "/") factor | factor)*        `2x`: without a blank between them
    factor     = number | name | "(" sum ")" | "[" sum "," sum "]" | "-" factor

`[1, 2]` is any number from 1 to 2, as a summand or a coefficient, and `[-inf, 2]` any up to 2.
Names have letters, digits and any of `_ . $ @ # '`; others are put in backquotes, and so are `inf`,
`nan` and `and`. Constraints in one text are separated by commas, semicolons, `and` or `&&`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd, inf, isinf, isnan, lcm
from typing import Any, NamedTuple, NoReturn

from kleene.base.errors import SourceError, Span

Number = int | float | Fraction
Bound = Fraction | float  # a rational, or one of the two infinities
Variable = str | int  # a name, or an id: all variables of a value have names, or all have ids


def exactly(value: Any) -> Bound:
    """Return a number as a rational, floats by their exact value; infinities stay.

    Raises:
        SourceError: `algebra/bad-number`, for NaN and what is no real number.
    """
    if isinstance(value, float) and isinf(value):
        return value
    try:
        if isinstance(value, float) and isnan(value):
            raise ValueError
        return Fraction(value)
    except (TypeError, ValueError):
        raise SourceError(None, "algebra/bad-number", f"{value!r} is not a number") from None


def plus(a: Bound, b: Bound) -> Bound:
    """Return a sum; Python would make floats of both, and a large rational is none."""
    return a + b if isinstance(a, Fraction) and isinstance(b, Fraction) else _infinite(a, b)


def times(a: Bound, b: Fraction) -> Bound:
    """Return a product; 0 times an infinity is 0."""
    if isinstance(a, Fraction):
        return a * b
    return Fraction(0) if not b else a if b > 0 else -a


def _infinite(a: Bound, b: Bound) -> float:
    ends = [one for one in (a, b) if isinstance(one, float)]
    return ends[0] + ends[-1]  # of the same one twice, or opposite ones, which is no number


_WORD = re.compile(r"(?!(?:inf|nan|and)$)[^\W\d][\w.$@#']*")  # a name that needs no backquotes
_MOST_BITS = 1_023  # of a number in text, about 300 digits: what floats reach
_DEEPEST = 80  # parentheses in parentheses
_SMALL = 1 << 50  # integers up to here are exact as floats, and so are sums of a few


class Step(NamedTuple):
    """±source + d, d <= up and -d <= down; without a source just d."""

    source: Variable | None
    negate: bool
    up: int
    down: int
    reach: int  # no cell becomes greater by more


class Edge(NamedTuple):
    """A bound on ±x or ±x ±y as the cell of two ends, V'[2k] for variable k, V'[2k+1] for -k."""

    x: Variable
    x_end: bool
    y: Variable
    y_end: bool
    tightened: int  # the value of the cell between integers
    bound: int | None  # and between reals, if it is an integer too
    is_sum: bool


def _is_small(value: Bound) -> bool:
    """Return whether a bound is an integer that is exact as a float."""
    return isinstance(value, Fraction) and value.denominator == 1 and abs(value) < _SMALL


@dataclass(frozen=True)
class Linear:
    """A sum of variables times coefficients, plus any number from `low` to `high`.

    `spread` says by how much the coefficients of some variables may differ from those in `terms`.
    """

    terms: tuple[tuple[Variable, Fraction], ...] = ()  # by name, none with coefficient 0
    low: Bound = Fraction(0)
    high: Bound = Fraction(0)
    spread: tuple[tuple[Variable, Fraction], ...] = ()  # by name, all positive

    @classmethod
    def of(cls, value: Linear | Number) -> Linear:
        """Return `value` as an expression."""
        if isinstance(value, Linear):
            return value
        number = exactly(value)
        return cls((), number, number)

    @cached_property
    def step(self) -> Step | None:
        """The expression as a variable or its negation, or none, plus integers, if it is that."""
        if len(self.terms) > 1 or self.spread or not (_is_small(self.low) and _is_small(self.high)):
            return None
        source, factor = self.terms[0] if self.terms else (None, Fraction(1))
        if abs(factor) != 1:
            return None
        assert isinstance(self.low, Fraction)
        assert isinstance(self.high, Fraction)
        up, down = self.high.numerator, -self.low.numerator
        return Step(source, factor < 0, up, down, 2 * max(abs(up), abs(down)))

    def __add__(self, other: Linear | Number) -> Linear:
        other = Linear.of(other)
        terms, spread = _sum(self.terms, other.terms), _sum(self.spread, other.spread)
        return Linear(terms, plus(self.low, other.low), plus(self.high, other.high), spread)

    def __mul__(self, factor: Number) -> Linear:
        by = exactly(factor)
        if not isinstance(by, Fraction):
            raise SourceError(None, "algebra/bad-number", "a coefficient must be finite")
        return self.times(by, by)

    def times(self, low: Number, high: Number) -> Linear:
        """Return the expression times any number from `low` to `high`.

        Raises:
            SourceError: `algebra/bad-number`, for numbers that are infinite or not in order.
        """
        a, b = exactly(low), exactly(high)
        if not isinstance(a, Fraction) or not isinstance(b, Fraction) or a > b:
            raise SourceError(None, "algebra/bad-number", "coefficients are finite, and in order")
        middle, radius, greatest = (a + b) / 2, (b - a) / 2, max(abs(a), abs(b))
        if not greatest:
            return Linear()
        ends = [times(x, y) for x in (self.low, self.high) for y in (a, b) if x and y]
        ends = ends or [Fraction(0)]
        ends += [Fraction(0)] if not (self.low and self.high and a and b) else []
        wider = tuple((name, abs(factor) * radius) for name, factor in self.terms if radius)
        spread = _sum(wider, tuple((name, more * greatest) for name, more in self.spread))
        terms = in_order({name: factor * middle for name, factor in self.terms})
        return Linear(terms, min(ends), max(ends), spread)

    def __neg__(self) -> Linear:
        return self * -1

    def __sub__(self, other: Linear | Number) -> Linear:
        return self + -Linear.of(other)

    def __rsub__(self, other: Number) -> Linear:
        return -self + other

    def __truediv__(self, divisor: Number) -> Linear:
        by = exactly(divisor)
        if not by or not isinstance(by, Fraction):
            raise SourceError(None, "algebra/bad-number", f"cannot divide by {divisor}")
        return self * (1 / by)

    __radd__ = __add__
    __rmul__ = __mul__

    def __le__(self, other: Linear | Number) -> Constraint:
        return Constraint(self - other)

    def __lt__(self, other: Linear | Number) -> Constraint:
        return Constraint(self - other, is_strict=True)

    def __ge__(self, other: Linear | Number) -> Constraint:
        return Linear.of(other) <= self

    def __gt__(self, other: Linear | Number) -> Constraint:
        return Linear.of(other) < self

    def __str__(self) -> str:
        terms, spread = dict(self.terms), dict(self.spread)
        parts = [_term(name, terms.get(name, Fraction(0)), spread) for name in self.names()]
        if not parts or not self.low == self.high == 0:
            parts.append(_interval(self))
        return " + ".join(parts).replace("+ -", "- ")

    def names(self) -> list[Variable]:
        """Return the variables, by name."""
        return sorted({name for name, _ in (*self.terms, *self.spread)})

    def equals(self, other: Linear | Number) -> tuple[Constraint, Constraint]:
        """Return the two constraints that make this equal to `other`."""
        return self <= other, self >= other


def _sum(
    a: tuple[tuple[Variable, Fraction], ...], b: tuple[tuple[Variable, Fraction], ...]
) -> tuple[tuple[Variable, Fraction], ...]:
    total = dict(a)
    for name, factor in b:
        total[name] = total.get(name, Fraction(0)) + factor
    return in_order(total) if b else a


def in_order(terms: Mapping[Variable, Fraction]) -> tuple[tuple[Variable, Fraction], ...]:
    """Return the terms by name, without zeros."""
    return tuple((name, terms[name]) for name in sorted(terms) if terms[name])


def variables(names: str | Iterable[Variable]) -> tuple[Linear, ...]:
    """Return an expression for each of the names, or ids; names in one text have blanks between."""
    return tuple(map(variable, names.split() if isinstance(names, str) else names))


def variable(name: Variable) -> Linear:
    """Return the variable of that name or id as an expression."""
    return Linear(((name, Fraction(1)),))


def label(name: Variable) -> str:
    """Return a variable as text: its name, or v3 for id 3."""
    return f"v{name}" if isinstance(name, int) else name


def _term(name: Variable, factor: Fraction, spread: Mapping[Variable, Fraction]) -> str:
    text, radius = label(name), spread.get(name)
    text = text if _WORD.fullmatch(text) else f"`{text}`"
    if radius:
        return f"[{factor - radius}, {factor + radius}]*{text}"
    return {1: text, -1: f"-{text}"}.get(factor) or f"{factor}*{text}"  # type: ignore[call-overload]


def _interval(value: Linear) -> str:
    return f"{value.low}" if value.low == value.high else f"[{value.low}, {value.high}]"


@dataclass(frozen=True)
class Constraint:
    """`linear <= 0`, or `linear < 0`."""

    linear: Linear
    is_strict: bool = False

    def __str__(self) -> str:
        left = Linear(self.linear.terms, spread=self.linear.spread)
        right = Linear((), -self.linear.high, -self.linear.low)
        return f"{left} {'<' if self.is_strict else '<='} {right}"

    @cached_property
    def row(self) -> Row:
        """The constraint with whole, coprime coefficients; for some of the constants, if many."""
        return row_of(self.linear.terms, -self.linear.low, self.is_strict)

    @cached_property
    def edge(self) -> Edge | None:
        """The constraint as a cell of an octagon, if it is one on integers of usual size."""
        terms, bound = self.row.terms, self.row.bound
        if not 0 < len(terms) < 3 or any(abs(factor) != 1 for _, factor in terms):
            return None
        if self.linear.spread:
            return None
        if isinstance(bound, float) or abs(bound) >= _SMALL:
            return None
        (x, x_sign), (y, y_sign) = terms[0], terms[-1]
        times = 2 if len(terms) == 1 else 1
        whole = times * floor_of(bound, self.is_strict)
        is_exact = bound.denominator == 1 and not self.is_strict
        is_sum = len(terms) == 2 and x_sign == y_sign
        return Edge(x, x_sign < 0, y, y_sign > 0, whole, whole if is_exact else None, is_sum)


@dataclass(frozen=True, slots=True)
class Row:
    """The sum of terms is at most `bound`, or less if it is strict; factors are coprime."""

    terms: tuple[tuple[Variable, int], ...]
    bound: Bound
    is_strict: bool = False

    def tightened(self) -> Row:
        """Return the same constraint for integer variables, where its bound is an integer."""
        if isinstance(self.bound, float):
            return self
        return Row(self.terms, Fraction(floor_of(self.bound, self.is_strict)))


def floor_of(bound: Fraction, is_strict: bool) -> int:
    """Return the greatest integer at most `bound`, or less than it."""
    return -(-bound.numerator // bound.denominator) - 1 if is_strict else bound.__floor__()


def row_of(
    terms: tuple[tuple[Variable, Fraction], ...], bound: Bound, is_strict: bool = False
) -> Row:
    """Return `terms <= bound` with coprime factors."""
    if not terms:
        return Row((), bound, is_strict)
    common = lcm(*(factor.denominator for _, factor in terms))
    whole = [int(factor * common) for _, factor in terms]
    divisor = gcd(*whole)
    names = (name for name, _ in terms)
    by = Fraction(common, divisor)
    return Row(
        tuple(zip(names, (factor // divisor for factor in whole), strict=True)),
        bound * by if isinstance(bound, Fraction) else bound,
        is_strict,
    )


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<and>and\b|&&|[,;])"
    r"|(?P<name>[^\W\d][\w.$@#']*|`[^`]+`)"
    r"|(?P<compare><=|>=|==|<|>|=|≤|≥)"
    r"|(?P<sign>[-+*/()\[\]]))"
)
_INFINITE = re.compile(r"[-+]?\s*inf\b(?![.$@#'])")  # as an end of an interval
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
        reader.fail("an operator is missing here, or the expression should end here")
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
        reader.fail("an operator is missing here, or the constraint should end here")
    return found


class _Reader:
    """The text from some place on: `kind` and `text` of the next token, "" at the end."""

    def __init__(self, text: str) -> None:
        self.whole, self.at, self.depth = text, 0, 0
        self.step()

    def step(self) -> str:
        """Return the token that was next, and go on to the one after it."""
        last = getattr(self, "text", "")
        found = _TOKEN.match(self.whole, self.at)
        self.column = len(self.whole) - len(self.whole[self.at :].lstrip()) + 1
        self.kind, self.text = "", ""
        before, self.is_adjacent = self.at, False
        if found and found.lastgroup:
            self.kind, self.text, self.at = found.lastgroup, found[found.lastgroup], found.end()
            self.column = found.start(found.lastgroup) + 1
            starts_factor = self.kind in ("name", "number") or self.text in ("(", "[")
            self.is_adjacent = starts_factor and self.column == before + 1
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
        while self.text in ("*", "/") or self.is_adjacent:
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
            return self.checked(a.times(b.low, b.high), column)
        if not b.low:
            self.fail("division by zero", column)
        return self.checked(a / b.low, column)

    def checked(self, value: Linear, column: int) -> Linear:
        """Return a value whose numbers are of a length that can be computed with and printed."""
        for number in (value.low, value.high, *(f for _, f in (*value.terms, *value.spread))):
            if isinstance(number, Fraction):
                longest = max(number.numerator.bit_length(), number.denominator.bit_length())
                if longest > _MOST_BITS:
                    self.fail("a number of more than 300 digits", column)
        return value

    def factor(self) -> Linear:
        sign, column = 1, self.column
        while self.text in ("+", "-"):
            sign = sign if self.step() == "+" else -sign
        return self.checked(self.unsigned(), column) * sign

    def unsigned(self) -> Linear:
        if self.kind == "number":
            return Linear.of(self.number())
        if self.kind == "name":
            if self.text in ("inf", "nan"):
                self.fail(f"{self.text} is no number here: infinite ends are for [low, high]")
            return Linear(((self.name(), Fraction(1)),))
        if self.text == "(":
            return self.enclosed(")")
        if self.text == "[":
            return self.interval()
        self.fail("expected a number or a variable")

    def number(self) -> Fraction:
        digits, _, exponent = self.text.lower().partition("e")
        if len(digits) + abs(int(exponent[:6] or 0)) > _MOST_BITS * 3 // 10 + 1:
            self.fail("a number of more than 300 digits")
        return Fraction(self.step())

    def name(self) -> str:
        return self.step().strip("`")

    def enclosed(self, end: str) -> Linear:
        self.deeper()
        value = self.sum()
        self.expect(end)
        self.depth -= 1
        return value

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            self.fail(f"more than {_DEEPEST} parentheses in each other")
        self.step()

    def expect(self, text: str) -> None:
        if self.text != text:
            self.fail(f"expected {text!r}")
        self.step()

    def interval(self) -> Linear:
        column = self.column
        self.deeper()
        low = self.end(column, -inf)
        self.expect(",")
        high = self.end(column, inf)
        self.expect("]")
        self.depth -= 1
        if low > high:
            self.bad_interval(column)
        return Linear((), low, high)

    def end(self, column: int, infinity: float) -> Bound:
        """Return an end of an interval: a number, or the word for `infinity`."""
        if _INFINITE.match(self.whole, self.column - 1):
            is_negative = self.text == "-"
            while self.step() != "inf":
                pass
            if is_negative != (infinity < 0):
                self.bad_interval(column)
            return infinity
        value = self.sum()
        if not _is_number(value):
            self.bad_interval(column)
        return value.low

    def bad_interval(self, column: int) -> NoReturn:
        self.fail("an interval is [low, high], two numbers in order, or -inf and inf", column)


def _is_number(value: Linear) -> bool:
    return not value.names() and value.low == value.high

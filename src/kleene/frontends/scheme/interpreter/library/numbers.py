"""Numbers: exact integers and rationals, floats, and inexact complex numbers."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

from kleene.frontends.scheme.interpreter.library.registry import checked, plain
from kleene.frontends.scheme.interpreter.objects import Values
from kleene.frontends.scheme.interpreter.show import number_text
from kleene.frontends.scheme.reader.numbers import parse_number, simplest
from kleene.ir.scheme.values import String

_NUMBERS = (int, float, Fraction, complex)
_REALS = (int, float, Fraction)
# A slip must not fill the memory.
_MOST_BITS = 10_000_000  # of an exact power
_MOST_ITEMS = 10_000_000  # of a new list, vector, string or bytevector


number = checked("a number", *_NUMBERS)
real = checked("a real number", *_REALS)


def _is_integer(x: Any) -> bool:
    return type(x) is int or (type(x) is float and x.is_integer())


def integer(x: Any) -> Any:
    """Return x if it is an integer, exact or not."""
    if not _is_integer(x):
        raise TypeError("not an integer")
    return x


def index(x: Any) -> int:
    """Return x if it can count things."""
    if type(x) is not int or x < 0:
        raise TypeError("not an index")
    return x


def size(x: Any) -> int:
    """Return x if a new object may have so many items."""
    if index(x) > _MOST_ITEMS:
        raise ValueError("too many items")
    return int(x)


def _tidy(x: Any) -> Any:
    return simplest(x) if type(x) is Fraction else x


@plain("+")
def _add(*numbers: Any) -> Any:
    total: Any = 0
    for x in numbers:
        total = total + number(x)
    return _tidy(total)


@plain("*")
def _multiply(*numbers: Any) -> Any:
    product: Any = 1
    for x in numbers:
        product = product * number(x)
    return _tidy(product)


@plain("-")
def _subtract(first: Any, *others: Any) -> Any:
    result = number(first) if others else -number(first)
    for x in others:
        result = result - number(x)
    return _tidy(result)


@plain("/")
def _divide(first: Any, *others: Any) -> Any:
    result = number(first) if others else 1
    for x in others or (first,):
        result = _quotient(result, number(x))
    return _tidy(result)


def _quotient(a: Any, b: Any) -> Any:
    if type(b) is float and b == 0 and type(a) is not complex:
        sign = math.copysign(1.0, b)
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * sign
    if type(a) is int and type(b) is int:
        return Fraction(a, b)
    return a / b


def _compare(name: str, holds: Callable[[Any, Any], bool], check: Callable[[Any], Any]) -> None:
    @plain(name)
    def compare(*numbers: Any) -> bool:
        for x in numbers:
            check(x)
        return all(holds(a, b) for a, b in pairwise(numbers))


for _name, _holds in (("<", operator.lt), (">", operator.gt), ("<=", operator.le)):
    _compare(_name, _holds, real)
_compare(">=", operator.ge, real)
_compare("=", operator.eq, number)


def _is_rational(x: Any) -> bool:
    return type(x) in (int, Fraction) or (type(x) is float and math.isfinite(x))


_TESTS: dict[str, Callable[[Any], bool]] = {
    "number?": lambda x: type(x) in _NUMBERS,
    "complex?": lambda x: type(x) in _NUMBERS,
    "real?": lambda x: type(x) in _REALS,
    "rational?": _is_rational,
    "integer?": _is_integer,
    "exact-integer?": lambda x: type(x) is int,
    "exact?": lambda x: type(number(x)) in (int, Fraction),
    "inexact?": lambda x: type(number(x)) in (float, complex),
    "zero?": lambda x: bool(number(x) == 0),
    "positive?": lambda x: bool(real(x) > 0),
    "negative?": lambda x: bool(real(x) < 0),
    "odd?": lambda x: bool(integer(x) % 2 == 1),
    "even?": lambda x: bool(integer(x) % 2 == 0),
    "nan?": lambda x: bool(number(x) != x),
    "finite?": lambda x: cmath.isfinite(number(x)),
    "infinite?": lambda x: cmath.isinf(number(x)),
}
for _name, _test in _TESTS.items():
    plain(_name)(_test)


def _extreme(name: str, choose: Callable[..., Any]) -> None:
    @plain(name)
    def extreme(*numbers: Any) -> Any:
        result = choose(real(x) for x in numbers)
        is_inexact = any(type(x) is float for x in numbers)
        if any(x != x for x in numbers):
            return math.nan
        return float(result) if is_inexact else result


_extreme("max", max)
_extreme("min", min)


def _floor_pair(a: Any, b: Any) -> tuple[Any, Any]:
    return integer(a) // integer(b), a % b


def _truncate_pair(a: Any, b: Any) -> tuple[Any, Any]:
    quotient = abs(integer(a)) // abs(integer(b))
    quotient = quotient if (a < 0) == (b < 0) else -quotient
    return quotient, a - b * quotient


plain("floor/")(lambda a, b: Values(list(_floor_pair(a, b))))
plain("floor-quotient", "div")(lambda a, b: _floor_pair(a, b)[0])
plain("floor-remainder", "modulo", "mod")(lambda a, b: _floor_pair(a, b)[1])
plain("truncate/")(lambda a, b: Values(list(_truncate_pair(a, b))))
plain("truncate-quotient", "quotient")(lambda a, b: _truncate_pair(a, b)[0])
plain("truncate-remainder", "remainder")(lambda a, b: _truncate_pair(a, b)[1])


def _divisors(name: str, function: Callable[..., int]) -> None:
    @plain(name)
    def divisors(*numbers: Any) -> Any:
        result = function(*(int(integer(x)) for x in numbers))
        return float(result) if any(type(x) is float for x in numbers) else result


_divisors("gcd", math.gcd)
_divisors("lcm", math.lcm)


def _rounding(name: str, function: Callable[[Any], Any]) -> None:
    @plain(name)
    def rounded(x: Any) -> Any:
        if type(real(x)) is float:
            return float(function(x)) if math.isfinite(x) else x
        return function(x)


_rounding("floor", math.floor)
_rounding("ceiling", math.ceil)
_rounding("truncate", math.trunc)
_rounding("round", round)

plain("abs")(lambda x: abs(real(x)))
plain("magnitude")(lambda x: abs(number(x)))
plain("square")(lambda x: _tidy(number(x) * x))
plain("1+")(lambda x: _tidy(number(x) + 1))
plain("-1+")(lambda x: _tidy(number(x) - 1))


@plain("exact", "inexact->exact")
def _exact(x: Any) -> Any:
    if type(number(x)) is complex:
        raise TypeError("exact complex numbers are not supported")
    return simplest(Fraction(x)) if type(x) is float else x


@plain("inexact", "exact->inexact")
def _inexact(x: Any) -> Any:
    if type(number(x)) is complex:
        return x
    try:
        return float(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def _part(name: str) -> None:
    @plain(name)
    def part(x: Any) -> Any:
        value = getattr(Fraction(real(x)), name)
        return float(value) if type(x) is float else value


_part("numerator")
_part("denominator")


@plain("rationalize")
def _rationalize(x: Any, tolerance: Any) -> Any:
    """Return the simplest rational within the tolerance, by the Stern-Brocot tree."""
    low, high = Fraction(real(x)) - abs(real(tolerance)), Fraction(x) + abs(tolerance)
    sign = -1 if high < 0 else 1
    low, high = (-high, -low) if high < 0 else (low, high)
    result = Fraction(0) if low <= 0 else _simplest_between(low, high)
    is_inexact = type(x) is float or type(tolerance) is float
    return float(sign * result) if is_inexact else simplest(sign * result)


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    below = whole - 1
    return below + 1 / _simplest_between(1 / (high - below), 1 / (low - below))


@plain("expt")
def _power(base: Any, exponent: Any) -> Any:
    if type(number(exponent)) is int and type(number(base)) in (int, Fraction):
        if abs(exponent) * max(1, Fraction(base).numerator.bit_length()) > _MOST_BITS:
            raise ValueError("the power is too large")
        base = Fraction(base)
    return _tidy(base**exponent)


@plain("exact-integer-sqrt")
def _integer_root(n: Any) -> Any:
    root = math.isqrt(index(n))
    return Values([root, n - root * root])


@plain("sqrt")
def _root(x: Any) -> Any:
    if type(number(x)) in (int, Fraction) and x >= 0:
        exact = Fraction(x)
        above, below = math.isqrt(exact.numerator), math.isqrt(exact.denominator)
        if above * above == exact.numerator and below * below == exact.denominator:
            return simplest(Fraction(above, below))
    if type(x) is complex or x < 0:
        root = cmath.sqrt(x)
        return root if root.imag else root.real
    return math.sqrt(x)


def _elementary(name: str, function: Callable[[Any], Any], on_complex: Callable[..., Any]) -> None:
    @plain(name)
    def elementary(x: Any) -> Any:
        if type(number(x)) is not complex:
            if type(x) is int and x == 0 and function(0) in (0, 1):
                return int(function(0))
            try:
                return function(x)
            except ValueError:
                pass
            except OverflowError:
                return math.inf
        return on_complex(x)


for _name in ("exp", "sin", "cos", "tan", "asin", "acos"):
    _elementary(_name, getattr(math, _name), getattr(cmath, _name))


@plain("log")
def _log(x: Any, base: Any = None) -> Any:
    if base is not None:
        return _log(x) / _log(base)
    if type(number(x)) is int and x == 1:
        return 0
    if type(x) is float and x == 0:
        return -math.inf
    return cmath.log(x) if type(x) is complex or x < 0 else math.log(x)


@plain("atan")
def _atan(y: Any, x: Any = None) -> Any:
    if x is None:
        if type(number(y)) is complex:
            return cmath.atan(y)
        return 0 if type(y) is int and y == 0 else math.atan(y)
    return 0 if type(y) is int and y == 0 and real(x) > 0 else math.atan2(real(y), x)


plain("real-part")(lambda z: z.real if type(number(z)) is complex else z)
plain("imag-part")(lambda z: z.imag if type(number(z)) is complex else 0)
plain("angle")(lambda z: cmath.phase(number(z)) if z != abs(z) else 0)
plain("make-polar")(lambda r, a: cmath.rect(real(r), real(a)) if a != 0 else r)
plain("make-rectangular")(lambda a, b: complex(real(a), real(b)) if b != 0 or b is float else a)


@plain("number->string")
def _to_string(x: Any, radix: Any = 10) -> String:
    if type(radix) is not int or not 2 <= radix <= 36:
        raise ValueError("a radix is from 2 to 36")
    return String(number_text(number(x), radix))


@plain("string->number")
def _from_string(text: Any, radix: Any = 10) -> Any:
    prefixes = {2: "#b", 8: "#o", 10: "", 16: "#x"}
    shown = text.text
    has_radix = any(mark in shown.lower() for mark in ("#b", "#o", "#d", "#x"))
    value = parse_number(shown if has_radix else prefixes[radix] + shown)
    return False if value is None else value

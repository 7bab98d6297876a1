"""Numbers: the whole numeric tower's syntax, to Python's numbers.

Exact integers are `int`, other exact rationals `Fraction`, inexact reals `float`. A number with an
imaginary part is a `complex`, which is inexact: exact complex numbers are not kept exact.
"""

from __future__ import annotations

import cmath
import re
from fractions import Fraction
from functools import cache
from typing import TypeAlias

Real: TypeAlias = int | Fraction | float
Number: TypeAlias = Real | complex

_PREFIX = re.compile(r"#([xbod])(?:#([ei]))?|#([ei])(?:#([xbod]))?|", re.IGNORECASE)
_RADIX = {"x": 16, "b": 2, "o": 8, "d": 10}
_DIGITS = {2: "[01]", 8: "[0-7]", 10: "[0-9]", 16: "[0-9a-f]"}
_CHUNK = 4000  # digits: Python converts no more than 4300 at once
_MAX_EXPONENT = 100_000  # of an exact number: a typing error must not fill the memory


def parse_number(text: str) -> Number | None:
    """Return the number that `text` writes, or None if it writes none."""
    match = _PREFIX.match(text)
    assert match  # the empty prefix always does
    radix, exactness = (match[1] or match[4] or "d").lower(), match[2] or match[3] or ""
    return _complex(text[match.end() :].lower(), _RADIX[radix], exactness.lower())


@cache
def _patterns(radix: int) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return patterns for a real, a polar and a rectangular number.

    No digit follows a run of digits, so none is given back (`++`): else text that only begins as a
    number would take time that grows with the square of its length, and more.
    """
    digits = _DIGITS[radix] + "++"
    unsigned = rf"{digits}/{digits}|{digits}"
    if radix == 10:
        exponent = r"(?:[esfdl][+-]?[0-9]++)?"
        fraction = rf"{digits}(?:\.[0-9]*+)?{exponent}|\.{digits}{exponent}"
        unsigned = rf"{digits}/{digits}|{fraction}"
    special = r"[+-](?:inf|nan)\.0"
    real = rf"(?:[+-]?(?:{unsigned})|{special})"
    imaginary = rf"(?:[+-](?:{unsigned})?|{special})"
    return (
        re.compile(real),
        re.compile(rf"({real})@({real})"),
        re.compile(rf"({real})?({imaginary})i"),
    )


def _complex(text: str, radix: int, exactness: str) -> Number | None:
    real, polar, rectangular = _patterns(radix)
    if real.fullmatch(text):
        return _real(text, radix, exactness)
    if match := rectangular.fullmatch(text):
        left = _real(match[1] or "0", radix, exactness)
        right = _real(match[2] + "1" if match[2] in "+-" else match[2], radix, exactness)
        return None if left is None or right is None else _joined(left, right)
    if match := polar.fullmatch(text):
        size, angle = (_real(part, radix, exactness) for part in match.groups())
        if size is None or angle is None:
            return None
        return size if angle == 0 and type(angle) is int else cmath.rect(float(size), float(angle))
    return None


def _joined(left: Real, right: Real) -> Number | None:
    if type(right) is int and right == 0:
        return left
    try:
        return complex(float(left), float(right))
    except OverflowError:
        return None


def _real(text: str, radix: int, exactness: str) -> Real | None:
    if text.endswith(("inf.0", "nan.0")):
        return None if exactness == "e" else float(text[:-2])
    if "/" in text:
        above, below = (_integer(part, radix) for part in text.split("/"))
        if below == 0:
            return None
        return _exact_or_not(Fraction(above, below), exactness)
    if radix != 10 or text.lstrip("+-").isdigit():
        return _exact_or_not(Fraction(_integer(text, radix)), exactness)
    text = re.sub("[sfdl]", "e", text)
    return _exact_decimal(text) if exactness == "e" else float(text)


def _exact_or_not(value: Fraction, exactness: str) -> Real | None:
    if exactness != "i":
        return simplest(value)
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _exact_decimal(text: str) -> Real | None:
    mantissa, _, exponent = text.partition("e")
    whole, _, part = mantissa.partition(".")
    if len(exponent) > 7 or abs(int(exponent or 0)) > _MAX_EXPONENT:
        return None
    scale = Fraction(10) ** (int(exponent or 0) - len(part))
    return simplest(_integer(whole + part, 10) * scale)


def simplest(value: Fraction) -> int | Fraction:
    """Return the value as an integer if it is one."""
    return value.numerator if value.denominator == 1 else value


def _integer(text: str, radix: int) -> int:
    """Return the integer, however many digits it has."""
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.lstrip("+"))
    return sign * _natural(digits, radix)


def _natural(digits: str, radix: int) -> int:
    """Return the number that digits write; halves are joined, as products of long ones are fast."""
    if len(digits) <= _CHUNK:
        return int(digits, radix)
    half = len(digits) // 2
    behind = len(digits) - half
    power: int = radix**behind
    return _natural(digits[:half], radix) * power + _natural(digits[half:], radix)

"""Floating-point numbers: operations on their ranks, comparisons, and conversions.

A variable of a `Kind` with a format is a rank (`algebra.float_interval`), so assignments, joins,
widening and tests are those of integers; arithmetic goes through `FloatInterval`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from kleene.algebra.float_interval import FloatFormat, FloatInterval
from kleene.analyses.invariants.expressions import (
    ZERO,
    Always,
    Both,
    Condition,
    Either,
    Form,
    Key,
    Kind,
    Relation,
    Unknown,
    negation,
)
from kleene.analyses.invariants.numbers import Numbers
from kleene.analyses.invariants.octagon_packs import Range
from kleene.analyses.invariants.operations import Observe, Operation
from kleene.analyses.invariants.transfer import set_range
from kleene.ir.codes import Flag, Opcode, Predicate

ARITHMETIC = {
    Opcode.FADD: "add", Opcode.FSUB: "sub", Opcode.FMUL: "mul", Opcode.FDIV: "div",
    Opcode.FREM: "rem", Opcode.FNEG: "neg", Opcode.FPTRUNC: "cast", Opcode.FPEXT: "cast",
}  # fmt: skip
LOOSE = Flag.REASSOC | Flag.ARCP | Flag.AFN  # what is computed may be something else
_ARITY = {"add": 2, "sub": 2, "mul": 2, "div": 2, "rem": 2, "fma": 3, "fmin": 2, "fmax": 2,
          "copysign": 2, "atan2": 2, "hypot": 2}  # fmt: skip


def n_operands(operation: str) -> int:
    """Return how many numbers an operation takes."""
    return _ARITY.get(operation, 1)


@dataclass(frozen=True)
class FloatOperation(Operation):
    """Set a rank to that of the result of an operation of `FloatInterval`, or of none: `copy`.

    Attributes:
        target: the variable.
        operation: the method.
        source: the format of the operands.
        format: of the result.
        first: an operand, as are `second` and `third` if there are so many.
        flags: of the instruction; with `nnan` and `ninf`, what is or comes from NaN or infinity is
            any value.
    """

    target: Key
    operation: str
    source: FloatFormat
    format: FloatFormat
    first: Form
    second: Form = ZERO
    third: Form = ZERO
    flags: int = 0

    @classmethod
    def of(
        cls, target: Key, operation: str, format: FloatFormat, operands: list[Form], flags: int,
        source: FloatFormat | None = None,
    ) -> FloatOperation:  # fmt: skip
        """Return an operation on operands of the format `source`, or else of that of its result."""
        first, second, third = (*operands, ZERO, ZERO)[:3]
        return cls(target, operation, source or format, format, first, second, third, flags)

    def apply(self, numbers: Numbers, observe: Observe | None) -> Numbers:
        """Return what holds after the step."""
        forms = (self.first, self.second, self.third)[: n_operands(self.operation)]
        given = tuple(numbers.floats(one, self.source) for one in forms)
        flags = self.flags & (Flag.NNAN | Flag.NINF)
        numbers.assign_floats(self.target, computed(self.operation, self.format, given, flags))
        return numbers


@lru_cache(1 << 14)
def computed(
    operation: str, format: FloatFormat, given: tuple[FloatInterval, ...], flags: int
) -> FloatInterval:
    """Return the results of an operation on some numbers."""
    first, *rest = given
    if operation == "copy":
        made = first
    elif operation == "cast":
        made = first.cast(format)
    else:
        made = getattr(first, operation)(*rest)
    seen = (first, *rest, made)
    is_poison = (flags & Flag.NNAN and any(one.has_nan for one in seen)) or (
        flags & Flag.NINF and any(one.has_infinity() for one in seen)
    )
    return FloatInterval.top(format) if is_poison else made


@dataclass(frozen=True)
class FromInteger(Operation):
    """Set a rank to that of an integer, read as signed or unsigned.

    Attributes:
        target: the variable.
        form: the integer.
        reading: how the instruction reads its bits.
        format: of the result.
    """

    target: Key
    form: Form
    reading: Kind
    format: FloatFormat

    def apply(self, numbers: Numbers, observe: Observe | None) -> Numbers:
        """Return what holds after the step."""
        ends = _read(numbers.bounds(self.form), self.reading)
        numbers.assign_floats(self.target, FloatInterval.around(self.format, *ends))
        return numbers


@dataclass(frozen=True)
class ToInteger(Operation):
    """Set an integer to a floating-point number without its fraction, which is checked to fit.

    Attributes:
        target: the variable.
        first: the number.
        source: its format.
        kind: of the variable.
    """

    target: Key
    first: Form
    source: FloatFormat
    kind: Kind

    def apply(self, numbers: Numbers, observe: Observe | None) -> Numbers:
        """Return what holds after the step; no run goes on if no number fits."""
        ends = numbers.floats(self.first, self.source).truncated()
        if ends is None:
            numbers.is_empty = True
        else:
            set_range(numbers, self.target, _read(ends, self.kind))
        return numbers


def _read(ends: Range, kind: Kind) -> Range:
    """Return integers, of as many bits as a kind has, as that kind reads them."""
    low, high = (kind.wrap(one) for one in ends)
    is_same_turn = high - low == ends[1] - ends[0]
    return (low, high) if is_same_turn else (kind.low, kind.high)


# Conditions


def is_number(form: Form, format: FloatFormat) -> Condition:
    """Return the condition that a form is the rank of a number and not NaN."""
    if not form.terms:
        return Always(form.constant <= format.infinity)
    return Relation(form.shifted(-format.infinity), "le")


def fits(form: Form, format: FloatFormat, kind: Kind) -> Condition:
    """Return the condition that a number without its fraction is an integer of a kind."""
    least, most = ends_that_fit(format, kind)
    return Both(Relation(form.scaled(-1).shifted(least), "le"), Relation(form.shifted(-most), "le"))


def fits_message(kind: Kind) -> str:
    """Return what the check of a conversion asks."""
    sign = "an unsigned" if kind.is_unsigned else "a signed"
    return f"the number fits {sign} integer of {kind.width} bits"


def ends_that_fit(format: FloatFormat, kind: Kind) -> Range:
    """Return the ranks of the least and the greatest number that fits an integer of a kind.

    trunc(x) is in low..high if and only if low - 1 < x < high + 1. The least number above low - 1
    is the one behind the greatest that is at most low - 1. Infinity and NaN have greater ranks than
    all numbers below high + 1.
    """
    return format.below(kind.low - 1) + 1, format.above(kind.high + 1) - 1


def compared(predicate: int, a: Form, b: Form, format: FloatFormat, flags: int) -> Condition:
    """Return what `fcmp` asks of two ranks.

    Ordered comparisons hold of numbers alone; unordered ones are the negations of ordered ones. If
    a flag excludes NaN or infinity, the answer may be any where there is one.
    """
    plain = _ordered(predicate, a, b, format)
    excluded: list[Condition] = []
    if flags & Flag.NNAN:
        excluded += [is_number(one, format) for one in (a, b)]
    if flags & Flag.NINF:
        for one in (a, b):
            size = Form((), format.infinity)
            excluded += [Relation(one.plus(size, sign), "ne") for sign in (1, -1)]
    for condition in excluded:
        if condition != Always(True):
            plain = Either(Both(condition, plain), Both(negation(condition), Unknown()))
    return plain


def _ordered(predicate: int, a: Form, b: Form, format: FloatFormat) -> Condition:
    if predicate > Predicate.ORD:
        return negation(_ordered(Predicate.TRUE - predicate, a, b, format))
    if predicate in (Predicate.OGT, Predicate.OGE):  # a > b is b < a
        predicate, a, b = predicate + Predicate.OLT - Predicate.OGT, b, a
    difference, is_right_number = a.plus(b, -1), is_number(b, format)
    if predicate in (Predicate.OLT, Predicate.OLE):  # what is at most a number is a number
        is_strict = predicate == Predicate.OLT
        return _both(Relation(difference.shifted(is_strict), "le"), is_right_number)
    if predicate == Predicate.OEQ:
        return _both(Relation(difference, "eq"), is_right_number)
    are_numbers = _both(is_number(a, format), is_right_number)
    if predicate == Predicate.ONE:
        return _both(Relation(difference, "ne"), are_numbers)
    return are_numbers if predicate == Predicate.ORD else Always(False)


def of_classes(form: Form, format: FloatFormat, mask: int) -> Condition:
    """Return the condition that a number is of one of LLVM's classes.

        bit 0, 1          NaN, signalling and quiet
        bit 2 3 4 5       negative: infinite, normal, subnormal, 0
        bit 6 7 8 9       positive: 0, subnormal, normal, infinite

    From -infinity to NaN the classes are next to each other, so some of them are a few ranges.
    Which of both NaN, or of both zeros, a number is, ranks do not tell.
    """
    normal, most = 1 << format.precision - 1, format.infinity
    ends = [-most, 1 - most, 1 - normal, 0, 1, normal, most, format.nan, format.nan + 1]
    bits = [mask >> 2 & 1, mask >> 3 & 1, mask >> 4 & 1, None, mask >> 7 & 1, mask >> 8 & 1,
            mask >> 9 & 1, None]  # fmt: skip
    for place, pair in ((3, mask >> 5 & 3), (7, mask & 3)):
        bits[place] = None if pair in (1, 2) else pair & 1
    found: Condition = Always(False)
    place = 0
    while place < len(bits):
        end = place + 1
        while end < len(bits) and bits[end] == bits[place]:
            end += 1
        if bits[place] != 0:
            inside: Condition = Always(True)
            if place:
                inside = Relation(form.scaled(-1).shifted(ends[place]), "le")
            if end < len(bits):
                inside = _both(inside, Relation(form.shifted(1 - ends[end]), "le"))
            if bits[place] is None:
                inside = _both(inside, Unknown())
            found = inside if found == Always(False) else Either(found, inside)
        place = end
    return found


def _both(a: Condition, b: Condition) -> Condition:
    if a == Always(True) or b == Always(True):
        return b if a == Always(True) else a
    return a if a == b else Both(a, b)


__all__ = [
    "ARITHMETIC", "LOOSE", "FloatOperation", "FromInteger", "ToInteger", "compared", "computed",
    "ends_that_fit", "fits", "fits_message", "is_number", "n_operands", "of_classes",
]  # fmt: skip

"""Expressions over the numbers of a program: linear forms, conditions, and addresses.

A *variable* here is an integer whose mathematical value the analysis follows: a value of the IR, or
a cell of memory. Of a floating-point number it is its rank (`algebra.float_interval`). Before
coalescing it is any hashable key; afterwards a small number. A form is exact: the value it stands
for is its mathematical value, because whatever may wrap around is a variable of its own
(`operations.Wrap`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Any, NamedTuple

from kleene.algebra import FloatFormat

Key = Any  # a variable: a `Base` or `Cell` until variables are numbered, then an int


class Kind(NamedTuple):
    """How many bits an integer has, and whether its value is the unsigned reading of them.

    With a `format`, the variable is the rank of a floating-point number, NaN the greatest of all.
    """

    width: int
    is_unsigned: bool
    format: FloatFormat | None = None

    @classmethod
    def of_format(cls, format: FloatFormat) -> Kind:
        """Return the kind of ranks of a format."""
        return cls(format.width, False, format)

    @property
    def low(self) -> int:
        """The least value."""
        if self.format is not None:
            return -self.format.infinity
        return 0 if self.is_unsigned else -(1 << self.width - 1)

    @property
    def high(self) -> int:
        """The greatest value."""
        if self.format is not None:
            return self.format.nan
        return (1 << self.width - (not self.is_unsigned)) - 1

    def wrap(self, value: int) -> int:
        """Return the value that equals `value` modulo 2**width; a rank is what it is."""
        if self.format is not None:
            return value
        return (value - self.low) % (1 << self.width) + self.low


BOOL = Kind(1, True)


@dataclass(frozen=True, eq=True)
class Form:
    """The sum of variables times whole coefficients, none of them 0, plus a constant."""

    terms: tuple[tuple[Key, int], ...] = ()
    constant: int = 0

    @classmethod
    def of(cls, terms: dict[Key, int], constant: int = 0) -> Form:
        """Return the sum of the given terms."""
        kept = ((key, factor) for key, factor in terms.items() if factor)
        return cls(tuple(sorted(kept, key=_order)), constant)

    def plus(self, other: Form, times: int = 1) -> Form:
        """Return this plus `times` another."""
        terms = dict(self.terms)
        for key, factor in other.terms:
            terms[key] = terms.get(key, 0) + times * factor
        return Form.of(terms, self.constant + times * other.constant)

    def shifted(self, by: int) -> Form:
        """Return this plus a number."""
        return Form(self.terms, self.constant + by)

    def scaled(self, by: int) -> Form:
        """Return this times a number."""
        if not by:
            return ZERO
        return Form(tuple((key, by * factor) for key, factor in self.terms), by * self.constant)

    def replaced(self, forms: Callable[[Key], Form | None]) -> Form:
        """Return this with forms in place of some variables, all at once."""
        found = Form((), self.constant)
        for key, factor in self.terms:
            other = forms(key)
            found = found.plus(Form(((key, 1),)) if other is None else other, factor)
        return found

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """The variables in it."""
        return tuple(key for key, _ in self.terms)

    @cached_property
    def divisor(self) -> int:
        """The greatest common divisor of the coefficients; 0 of a constant."""
        return gcd(*(factor for _, factor in self.terms))

    def show(self, name: Callable[[Key], str]) -> str:
        """Return the text of the form, such as `2*x - y + 1`."""
        parts = []
        for key, factor in self.terms:
            sign = "-" if factor < 0 else "+"
            parts.append(f"{sign} {'' if abs(factor) == 1 else f'{abs(factor)}*'}{name(key)}")
        if self.constant or not parts:
            parts.append(f"{'-' if self.constant < 0 else '+'} {abs(self.constant)}")
        text = " ".join(parts)
        return text[2:] if text.startswith("+") else "-" + text[2:]


def _order(term: tuple[Key, int]) -> tuple[str, object]:
    key = term[0]
    return (type(key).__name__, key)


ZERO, ONE = Form(), Form((), 1)


def only(key: Key) -> Form:
    """Return the form of one variable."""
    return Form(((key, 1),))


class Relation(NamedTuple):
    """A comparison of a form with 0: `le`, `eq` or `ne`."""

    form: Form
    sign: str

    def negated(self) -> Relation:
        """Return the relation that holds where this one does not."""
        if self.sign == "le":  # not (f <= 0) is 1 - f <= 0
            return Relation(self.form.scaled(-1).shifted(1), "le")
        return Relation(self.form, "ne" if self.sign == "eq" else "eq")


class Compared(NamedTuple):
    """An order read otherwise than its operands are kept: unsigned of signed ones, or reverse."""

    predicate: str
    left: Form
    right: Form
    kind: Kind  # of the operands

    def negated(self) -> Compared:
        """Return the comparison that holds where this one does not."""
        from kleene.algebra.machine_interval import negated

        return self._replace(predicate=negated(self.predicate))


class Both(NamedTuple):
    """Two conditions that hold together."""

    left: Condition
    right: Condition

    def negated(self) -> Condition:
        """Return where one of them does not hold."""
        return Either(negation(self.left), negation(self.right))


class Either(NamedTuple):
    """Two conditions of which one holds."""

    left: Condition
    right: Condition

    def negated(self) -> Condition:
        """Return where neither holds."""
        return Both(negation(self.left), negation(self.right))


class Same(NamedTuple):
    """Two conditions that hold at the same points: one may say more to a domain than the other."""

    left: Condition
    right: Condition

    def negated(self) -> Condition:
        """Return where neither holds."""
        return Same(negation(self.left), negation(self.right))


class Implied(NamedTuple):
    """What follows from a condition that is not known, and what from its negation."""

    left: Condition
    right: Condition

    def negated(self) -> Condition:
        """Return the same of the negation."""
        return Implied(self.right, self.left)


class Congruent(NamedTuple):
    """Whether a form is `rest` modulo `modulus`."""

    form: Form
    modulus: int
    rest: int
    holds: bool = True

    def negated(self) -> Congruent:
        """Return where it is not."""
        return self._replace(holds=not self.holds)


class Always(NamedTuple):
    """What is known to hold, or known not to."""

    holds: bool

    def negated(self) -> Always:
        """Return the other."""
        return Always(not self.holds)


class Unknown(NamedTuple):
    """A condition of which nothing is known."""

    def negated(self) -> Unknown:
        """Return itself: nothing is known of its negation either."""
        return self


Condition = Relation | Compared | Congruent | Both | Either | Same | Implied | Always | Unknown


def negation(condition: Condition) -> Condition:
    """Return the condition that holds where this one does not."""
    return condition.negated()


def show(
    condition: Condition,
    name: Callable[[Key], str],
    format: Callable[[Key], FloatFormat | None] = lambda _: None,
) -> str:
    """Return the text of a condition, such as `x - y <= 3`; keys with a format are ranks of it."""
    if isinstance(condition, Relation):
        of_floats = format(condition.form.keys[0]) if condition.form.terms else None
        if of_floats is not None:
            return _show_ranks(condition, of_floats, name)
        sign = {"le": "<=", "eq": "==", "ne": "!="}[condition.sign]
        form, divisor = condition.form, condition.form.divisor
        if sign == "<=" and divisor > 1:  # k*f + c <= 0 is f <= -c // k
            terms = tuple((key, factor // divisor) for key, factor in form.terms)
            form = Form(terms, -(-form.constant // divisor))
        if sign == "<=" and form.terms and all(factor < 0 for _, factor in form.terms):
            return f"{form.constant} <= {Form(form.terms).scaled(-1).show(name)}"
        return f"{Form(form.terms).show(name)} {sign} {-form.constant}"
    if isinstance(condition, Compared):
        sign = {"t": "<", "e": "<="}[condition.predicate[-1]]
        sign = sign.replace("<", ">") if "g" in condition.predicate else sign
        reading = "unsigned" if condition.predicate.startswith("u") else "signed"
        return f"{condition.left.show(name)} {sign} {condition.right.show(name)} ({reading})"
    if isinstance(condition, Congruent):
        sign = "==" if condition.holds else "!="
        return f"({condition.form.show(name)}) % {condition.modulus} {sign} {condition.rest}"
    if isinstance(condition, (Both, Either)):
        word = "or" if isinstance(condition, Either) else "and"
        parts = [
            one for one in (condition.left, condition.right) if any(True for _ in keys_of(one))
        ]
        return f" {word} ".join(show(one, name, format) for one in parts) or "the condition"
    if isinstance(condition, Same):
        is_partial = isinstance(condition.left, Implied)
        return show(condition.right if is_partial else condition.left, name, format)
    return str(condition.holds).lower() if isinstance(condition, Always) else "the condition"


def _show_ranks(relation: Relation, format: FloatFormat, name: Callable[[Key], str]) -> str:
    """Return the text of a comparison of a rank with a number, or of two ranks."""
    sign = {"le": "<=", "eq": "==", "ne": "!="}[relation.sign]
    positive = [name(key) for key, factor in relation.form.terms if factor > 0]
    negative = [name(key) for key, factor in relation.form.terms if factor < 0]
    constant = relation.form.constant
    if positive and negative:  # x - y + 1 <= 0 is x < y
        strict = "<" if sign == "<=" and constant > 0 else sign
        return f"{positive[0]} {strict} {negative[0]}"
    if negative:
        return f"{format.show(constant)} {sign} {negative[0]}"
    if sign == "<=" and -constant == format.infinity:
        return f"{positive[0]} is not NaN"
    return f"{positive[0]} {sign} {format.show(-constant)}"


def keys_of(condition: Condition) -> Iterator[Key]:
    """Yield the variables of a condition."""
    if isinstance(condition, (Relation, Congruent)):
        yield from condition.form.keys
    elif isinstance(condition, Compared):
        yield from condition.left.keys
        yield from condition.right.keys
    elif isinstance(condition, (Both, Either, Same, Implied)):
        yield from keys_of(condition.left)
        yield from keys_of(condition.right)


def replaced(condition: Condition, forms: Callable[[Key], Form | None]) -> Condition:
    """Return a condition with forms in place of some variables."""
    if isinstance(condition, Relation):
        return Relation(condition.form.replaced(forms), condition.sign)
    if isinstance(condition, Congruent):
        return condition._replace(form=condition.form.replaced(forms))
    if isinstance(condition, Compared):
        left, right = condition.left.replaced(forms), condition.right.replaced(forms)
        return condition._replace(left=left, right=right)
    if isinstance(condition, (Both, Either, Same, Implied)):
        left_, right_ = replaced(condition.left, forms), replaced(condition.right, forms)
        return type(condition)(left_, right_)
    return condition


def forms_of(condition: Condition) -> Iterator[Form]:
    """Yield the linear forms that a condition compares with 0."""
    if isinstance(condition, Relation):
        yield condition.form
    elif isinstance(condition, Compared):
        yield condition.left.plus(condition.right, -1)
    elif isinstance(condition, (Both, Either, Same, Implied)):
        yield from forms_of(condition.left)
        yield from forms_of(condition.right)

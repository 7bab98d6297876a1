"""Integer expressions in a normal form: sums of products of atoms, with exact coefficients.

    4*N*i + 4*j - 4     is     { N·i: 4,  j: 4,  1: -4 }

An atom is a symbol, or what polynomials cannot say: `floor(e / d)`, C's division, a minimum or
maximum, and the result of any other operation. Atoms are integers, so equal expressions mean equal
values, and `a/2 + a/2` is not `a`: for odd `a`, floor(a / 2) + floor(a / 2) = a - 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor, gcd, lcm, prod
from typing import Any, TypeVar, cast

Number = int | Fraction


class _Named:
    """What every atom has: its text, and the order of atoms in a product."""

    @cached_property
    def order(self) -> str:
        """A text that only equal atoms share: that of symbols has their numbers, too."""
        match self:
            case Symbol(name, number):
                return f"{name}\0{number}"
            case Floor(numerator, divisor):
                return f"floor({_order(numerator)},{divisor})"
            case Quotient(numerator, below):
                return f"quotient({_order(numerator)},{_order(below)})"
            case Maximum(choices):
                return f"max({','.join(sorted(map(_order, choices)))})"
            case Operation(name, operands):
                return f"{name}({','.join(map(_order, operands))})"
        raise AssertionError(self)

    @cached_property
    def text(self) -> str:
        """The atom as C writes it; `floor`, `min` and `max` as functions."""
        match self:
            case Symbol(name):
                return name
            case Floor(numerator, divisor):
                return f"floor(({numerator}) / {divisor})"
            case Quotient(numerator, below):
                return f"({numerator}) / ({below})"
            case Maximum(choices):
                return f"max({', '.join(sorted(map(str, choices)))})"
            case Operation(name, operands):
                return f"{name}({', '.join(map(str, operands))})"
        raise AssertionError(self)


@dataclass(frozen=True)
class Symbol(_Named):
    """A variable of the program, or a value that is nowhere computed, under its name.

    `number` tells symbols of one name apart: the values that a variable has one after the other.
    """

    name: str
    number: int = 0


@dataclass(frozen=True)
class Floor(_Named):
    """The greatest integer that is not above `numerator / divisor`; made by `//`."""

    numerator: Expression
    divisor: int  # at least 2


@dataclass(frozen=True)
class Quotient(_Named):
    """C's `numerator / divisor`, which rounds to zero, where signs do not say what that is."""

    numerator: Expression
    divisor: Expression


@dataclass(frozen=True)
class Maximum(_Named):
    """The greatest of some expressions; made by `maximum`, and the least is `-max(-a, -b)`.

    The choices have no monomial, number or common divisor that all of them share: those stand
    outside, so that one value has one form. max(2*a + 2, 2*b + 4) is 2*max(a, b + 1) + 2.
    """

    choices: frozenset[Expression]  # at least two, none of them a sum with a maximum


@dataclass(frozen=True)
class Operation(_Named):
    """The result of an operation about which no law is known: a load, `&`, `|`, a call."""

    name: str
    operands: tuple[Expression, ...]


Atom = Symbol | Floor | Quotient | Maximum | Operation
AnyAtom = TypeVar("AnyAtom", bound=Atom)
Monomial = tuple[tuple[Atom, int], ...]  # atoms in their order, with their powers
_ONE: Monomial = ()


class Expression:
    """An immutable sum of monomials with coefficients; `+ - * ** //` work as on integers.

    `//` takes an integer above zero and rounds down; `Signs.quotient` divides as C does.
    """

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Monomial, Number]) -> None:
        self.terms: dict[Monomial, Number] = {
            monomial: _plain(factor) for monomial, factor in terms.items() if factor
        }
        self._hash = hash(frozenset(self.terms.items()))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int | Fraction):
            return self.number == other
        return isinstance(other, Expression) and self.terms == other.terms

    def __bool__(self) -> bool:
        return bool(self.terms)

    @property
    def number(self) -> Number | None:
        """The value, if it is the same for all values of the atoms."""
        if not self.terms:
            return 0
        return self.terms.get(_ONE) if len(self.terms) == 1 else None

    @property
    def integer(self) -> int | None:
        """The value, if it is the same integer for all values of the atoms."""
        number = self.number
        return number if isinstance(number, int) else None

    @property
    def constant(self) -> Number:
        """The summand that has no atoms."""
        return self.terms.get(_ONE, 0)

    @property
    def is_integer(self) -> bool:
        """Whether all coefficients are integers, and with them every value."""
        return all(isinstance(factor, int) for factor in self.terms.values())

    @property
    def atom(self) -> Atom | None:
        """The one atom that the expression is, if it is one."""
        if len(self.terms) != 1:
            return None
        ((monomial, factor),) = self.terms.items()
        return monomial[0][0] if factor == 1 and [p for _, p in monomial] == [1] else None

    def atoms(self) -> set[Atom]:
        """Return the atoms of all monomials, not those inside other atoms."""
        return {atom for monomial in self.terms for atom, _ in monomial}

    def symbols(self) -> set[Symbol]:
        """Return all symbols, also those inside other atoms."""
        return {symbol for atom in self.atoms() for symbol in _symbols(atom)}

    def __add__(self, other: Expression | Number) -> Expression:
        total = dict(self.terms)
        for monomial, factor in of(other).terms.items():
            total[monomial] = total.get(monomial, 0) + factor
        return Expression(total)

    __radd__ = __add__

    def __neg__(self) -> Expression:
        return self * -1

    def __sub__(self, other: Expression | Number) -> Expression:
        return self + -of(other)

    def __rsub__(self, other: Expression | Number) -> Expression:
        return -self + other

    def __mul__(self, other: Expression | Number) -> Expression:
        total: dict[Monomial, Number] = {}
        for left, factor in self.terms.items():
            for right, other_factor in of(other).terms.items():
                monomial = _times(left, right)
                total[monomial] = total.get(monomial, 0) + factor * other_factor
        return Expression(total)

    __rmul__ = __mul__

    def __pow__(self, power: int) -> Expression:
        assert power >= 0
        return prod([self] * power, start=of(1))

    def __floordiv__(self, divisor: int) -> Expression:
        return _floor(self, divisor)

    def over(self, divisor: Number) -> Expression:
        """Return the exact quotient, with rational coefficients."""
        return self * (Fraction(1) / divisor)

    def coefficient(self, atom: Atom) -> Expression | None:
        """Return the `c` of `c * atom + rest`, `atom` in neither; None if there are no such two."""
        factors: dict[Monomial, Number] = {}
        for monomial, factor in self.terms.items():
            rest = tuple((other, power) for other, power in monomial if other != atom)
            if len(rest) < len(monomial):
                if (atom, 1) not in monomial:
                    return None
                factors[rest] = factor
            if any(occurs(atom, inside) for other, _ in rest for inside in _operands(other)):
                return None
        return Expression(factors)

    def substitute(self, values: Mapping[AnyAtom, Expression | Number]) -> Expression:
        """Return the expression with `values` in place of their atoms, everywhere."""
        known = cast("Mapping[Atom, Expression | Number]", values)
        numbers: dict[Monomial, Number] = {}  # of monomials in which only numbers are put
        total = of(0)
        for monomial, factor in self.terms.items():
            kept: list[tuple[Atom, int]] = []
            for atom, power in monomial:
                value = known.get(atom)
                if isinstance(value, int | Fraction):
                    factor *= value**power
                elif value is None and isinstance(atom, Symbol):
                    kept.append((atom, power))
                else:
                    break
            else:
                numbers[tuple(kept)] = numbers.get(tuple(kept), 0) + factor
                continue
            factor = self.terms[monomial]
            powers = [_substituted(atom, known) ** power for atom, power in monomial]
            total += prod(powers, start=of(factor))
        return total + Expression(numbers)

    def evaluate(self, values: Mapping[Symbol, Number] | Mapping[str, Number]) -> Number:
        """Return the number for numbers in place of all symbols, found by themselves or by name.

        Raises:
            KeyError: a symbol has no value.
            ZeroDivisionError: C's division has a zero below.
            ValueError: an operation without a law has no value.
        """
        return sum(
            factor * prod(_value(atom, values) ** power for atom, power in monomial)
            for monomial, factor in self.terms.items()
        )

    def __str__(self) -> str:
        def rank(monomial: Monomial) -> tuple[int, bool, str]:
            degree = sum(power for _, power in monomial)
            return -degree, self.terms[monomial] < 0, _product(monomial)

        text = ""
        for monomial in sorted(self.terms, key=rank):
            factor = self.terms[monomial]
            product = _product(monomial, max(factor, -factor))
            if factor < 0 and _flips(monomial):
                factor, product = -factor, _product(monomial, -factor, flip=True)
            text += (" - " if factor < 0 else " + ") + product
        return ("-" if text.startswith(" - ") else "") + text[3:] if text else "0"

    __repr__ = __str__


def of(value: Expression | Atom | Number | str) -> Expression:
    """Return an atom, a number, or the symbol of a name as an expression."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, int | Fraction):
        return Expression({_ONE: value})
    return Expression({((Symbol(value) if isinstance(value, str) else value, 1),): 1})


ZERO = of(0)


def symbols(names: str) -> list[Expression]:
    """Return the symbols with the names in a text."""
    return [of(name) for name in names.split()]


def maximum(choices: Iterable[Expression | Number]) -> Expression:
    """Return the greatest of some expressions, as far as that needs no signs.

    Choices that differ by a number are compared, and max(a, min(a, b)) is a.
    """
    flat = {inner for choice in choices for inner in choices_of(of(choice))}
    assert all(choice.is_integer for choice in flat), "atoms are integers"
    greatest: dict[Expression, Number] = {}  # a sum without its constant → the greatest constant
    for choice in flat:
        rest = choice - choice.constant
        greatest[rest] = max(greatest.get(rest, choice.constant), choice.constant)
    found = {rest + constant for rest, constant in greatest.items()}
    found = {one for one in found if not _lesser_of(one) & found}
    if len(found) == 1:
        return found.pop()
    first, *others = found
    shared = {m: f for m, f in first.terms.items() if all(o.terms.get(m) == f for o in others)}
    shared[_ONE] = min(one.constant for one in found)
    rests = [one - Expression(shared) for one in found]
    divisor = gcd(*(int(factor) for rest in rests for factor in rest.terms.values()))
    atom = Maximum(frozenset(rest.over(divisor) for rest in rests))
    return of(atom) * divisor + Expression(shared)


def _lesser_of(value: Expression) -> set[Expression]:
    """Return expressions that `value`, if it is a minimum, does not exceed."""
    choices = choices_of(-value)
    return {-choice for choice in choices} if len(choices) > 1 else set()


def minimum(choices: Iterable[Expression | Number]) -> Expression:
    """Return the least of some expressions, as far as that needs no signs."""
    return -maximum(-of(choice) for choice in choices)


def choices_of(value: Expression) -> list[Expression]:
    """Return expressions of which `value` is the greatest.

    c·max(a, b) + r is max(c·a + r, c·b + r) for c > 0, if the sum has this maximum once; else there
    is one choice, `value`.
    """
    found = [
        monomial for monomial in value.terms if any(isinstance(a, Maximum) for a, _ in monomial)
    ]
    if len(found) != 1 or len(found[0]) != 1 or found[0][0][1] != 1 or value.terms[found[0]] < 0:
        return [value]
    ((atom, _),), factor = found[0], value.terms[found[0]]
    assert isinstance(atom, Maximum)
    rest = value - of(atom) * factor
    return [choice * factor + rest for choice in atom.choices]


def _floor(value: Expression, divisor: int) -> Expression:
    """Return floor(value / divisor).

    Let value = d·q + r, coefficient by coefficient, 0 <= r's coefficients < d. Atoms are integers,
    so q is one, and floor(value / d) = q + floor(r / d). If g divides d and all coefficients of r
    but the constant k, floor((g·s + k) / (g·e)) = floor((s + floor(k / g)) / e), since s is an
    integer.
    """
    assert divisor > 0
    scale = lcm(*(Fraction(factor).denominator for factor in value.terms.values()), 1)
    scaled = {monomial: int(factor * scale) for monomial, factor in value.terms.items()}
    divisor *= scale
    whole = Expression({monomial: factor // divisor for monomial, factor in scaled.items()})
    rest = {monomial: factor % divisor for monomial, factor in scaled.items()}
    constant = rest.pop(_ONE, 0)
    common = gcd(divisor, *rest.values())
    divisor //= common
    rest = {monomial: factor // common for monomial, factor in rest.items() if factor}
    if divisor == 1 or not rest:
        return whole + Expression(rest) + constant // common
    numerator = Expression({**rest, _ONE: constant // common})
    atom = numerator.atom
    if isinstance(atom, Floor):  # floor(floor(x / a) / b) = floor(x / (a·b))
        return whole + _floor(atom.numerator, atom.divisor * divisor)
    return whole + of(Floor(numerator, divisor))


def _order(value: Expression) -> str:
    """Return a text that only equal expressions share."""
    products = [
        f"{factor}" + "".join(f"*{atom.order}^{power}" for atom, power in monomial)
        for monomial, factor in value.terms.items()
    ]
    return "+".join(sorted(products))


def _times(left: Monomial, right: Monomial) -> Monomial:
    """Return the product of two monomials."""
    if not left or not right:
        return left or right
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: item[0].order))


def _plain(number: Number) -> Number:
    """Return an integer as one."""
    return number.numerator if number.denominator == 1 else number


def _product(monomial: Monomial, factor: Number = 1, *, flip: bool = False) -> str:
    """Return the text of a product, as C writes it; with `flip`, of its negation, by a minimum."""
    parts = [] if factor == 1 and monomial else [str(factor)]
    for atom, power in monomial:
        text = atom.text
        if flip and isinstance(atom, Maximum) and power == 1:
            text, flip = f"min({', '.join(sorted(str(-c) for c in atom.choices))})", False
        is_open = isinstance(atom, Quotient) and (len(monomial) > 1 or power > 1 or bool(parts))
        parts += [f"({text})" if is_open else text] * power
    return "*".join(parts)


def _flips(monomial: Monomial) -> bool:
    """Return whether the negation of a product is written better with a minimum."""
    return any(isinstance(atom, Maximum) and power == 1 for atom, power in monomial)


def _operands(atom: Atom) -> tuple[Expression, ...]:
    """Return the expressions inside an atom."""
    match atom:
        case Floor(numerator, _):
            return (numerator,)
        case Quotient(numerator, divisor):
            return (numerator, divisor)
        case Maximum(choices):
            return tuple(choices)
        case Operation(_, operands):
            return operands
    return ()


def occurs(atom: Atom, inside: Expression) -> bool:
    """Return whether `atom` is somewhere in an expression."""
    return any(
        atom == other or any(occurs(atom, operand) for operand in _operands(other))
        for other in inside.atoms()
    )


def _symbols(atom: Atom) -> set[Symbol]:
    if isinstance(atom, Symbol):
        return {atom}
    return {symbol for operand in _operands(atom) for symbol in operand.symbols()}


def _rebuilt(atom: Atom, change: Callable[[Expression], Expression]) -> Expression:
    """Return an atom with `change` applied to the expressions inside it."""
    match atom:
        case Floor(numerator, divisor):
            return change(numerator) // divisor
        case Quotient(numerator, divisor):
            return quotient(change(numerator), change(divisor))
        case Maximum(choices):
            return maximum(map(change, choices))
        case Operation(name, operands):
            return of(Operation(name, tuple(map(change, operands))))
    return of(atom)


def _substituted(atom: Atom, values: Mapping[Atom, Expression | Number]) -> Expression:
    if atom in values:
        return of(values[atom])
    return _rebuilt(atom, lambda inside: inside.substitute(values))


def quotient(numerator: Expression, divisor: Expression) -> Expression:
    """Return C's division, as far as it needs no signs."""
    above, below = numerator.number, divisor.number
    if below is not None and below < 0:
        return -quotient(numerator, -divisor)
    if above is not None and below:
        return of(int(Fraction(above) / below))
    if isinstance(below, int) and below > 0:
        exact = numerator.over(below)
        if exact.is_integer:
            return exact
    return of(Quotient(numerator, divisor))


def _value(atom: Atom, values: Mapping[Symbol, Number] | Mapping[str, Number]) -> Number:
    named: Mapping[Any, Number] = values
    match atom:
        case Symbol(name):
            return named[atom] if atom in named else named[name]
        case Floor(numerator, divisor):
            return floor(Fraction(numerator.evaluate(values)) / divisor)
        case Quotient(numerator, divisor):
            return int(Fraction(numerator.evaluate(values)) / divisor.evaluate(values))
        case Maximum(choices):
            return max(choice.evaluate(values) for choice in choices)
    raise ValueError(f"{atom.text} has no known value")

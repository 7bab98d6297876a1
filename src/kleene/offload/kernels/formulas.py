"""Accesses of a loop as Presburger formulas in isl's syntax.

Two iterations of a loop are compared, an earlier one x and a later one y, or one iteration with
itself. Variables of a formula are named by what they stand for:

| name | meaning |
|---|---|
| `c4x`, `c4y` | counter of loop 4 in iteration x, in iteration y |
| `o2` | counter of loop 2, which is around the loop asked about: the same for both |
| `p7` | atom 7, which has one value in x and y |
| `v7x`, `v7y` | atom 7, which changes: any two values |
| `q7x` | a quotient, defined by its operands |
| `w8x` | a choice, defined by its condition and its two values |
| `m3` | a product of atoms that do not change |

What cannot be written is left out, which only adds iterations and conflicts; the formula is then
not `exact`, and nothing may be proved to conflict, or to be written, with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

from kleene.base.expression import Atom, Expression, Monomial, Quotient, of
from kleene.ir.loops.symbols import Choice, LoopSymbol, loops_of
from kleene.ir.loops.tables import (
    SOMEWHERE,
    Access,
    Both,
    Compare,
    Condition,
    Either,
    LoopRow,
    Maybe,
    Path,
    negation,
)

MAX_ALTERNATIVES = 16  # of the conditions of one access


@dataclass
class Scope:
    """The loop asked about and those in it (`inside`), and what parameters stand for."""

    inside: frozenset[int]
    unusable: frozenset[int] = frozenset()  # loops whose variable may wrap
    products: dict[Monomial, str] = field(default_factory=dict)
    registry: dict[str, LoopSymbol] = field(default_factory=dict)  # of parameters in all formulas
    parameters: dict[str, LoopSymbol] = field(default_factory=dict)
    quotients: dict[Quotient, int] = field(default_factory=dict)
    values: Mapping[Atom, int] = field(default_factory=dict)  # of symbols that are given


class NotAffineError(Exception):
    """An expression that isl has no words for."""


@dataclass
class Side:
    """The formula of one access, in iteration x or y.

    `same` are the loops inside whose counter is that of y, whichever side this is.
    """

    scope: Scope
    name: str
    same: frozenset[int] = frozenset()
    changing: set[str] = field(default_factory=set)
    defined: dict[str, str] = field(default_factory=dict)
    exact: bool = True
    has_products: bool = False
    n_alternatives: int = 1  # of the conditions

    def counter(self, loop: int) -> str:
        """Return the variable that counts a loop's iterations."""
        if loop not in self.scope.inside:
            return f"o{loop}"
        return f"c{loop}y" if loop in self.same else f"c{loop}{self.name}"

    def is_parameter(self, atom: LoopSymbol) -> bool:
        """Return whether the atom has one value in all iterations that are compared."""
        return not atom.loops & (self.scope.inside - self.same)

    def polynomial(self, value: Expression) -> str:
        """Return a sum in isl's syntax."""
        if self.scope.values:
            value = value.substitute(self.scope.values)
        parts = [
            f"{factor}*{self._monomial(m)}" if m else f"{factor}"
            for m, factor in value.terms.items()
        ]
        return " + ".join(parts).replace("+ -", "- ") or "0"

    def _monomial(self, monomial: Monomial) -> str:
        if len(monomial) == 1 and monomial[0][1] == 1:
            return self._atom(monomial[0][0])
        scope = self.scope
        for atom, _ in monomial:
            is_fixed = isinstance(atom, LoopSymbol) and self.is_parameter(atom)
            if not is_fixed or loops_of(of(atom)) & scope.unusable:
                raise NotAffineError
        self.has_products = True
        return scope.products.setdefault(monomial, f"m{len(scope.products)}")

    def _atom(self, atom: Atom) -> str:
        if isinstance(atom, Quotient):
            return self._quotient(atom)
        if not isinstance(atom, LoopSymbol):
            raise NotAffineError
        if isinstance(atom, Choice):
            return self._choice(atom)
        if atom.kind == "counter":
            (loop,) = atom.loops
            if loop in self.scope.unusable:
                raise NotAffineError
            return self.counter(loop)
        return self._opaque(atom)

    def _opaque(self, atom: LoopSymbol) -> str:
        if self.is_parameter(atom):
            name = f"p{atom.number}"
            self.scope.parameters[name] = self.scope.registry[name] = atom
            return name
        name = f"v{atom.number}{self.name}"
        self.changing.add(name)
        return name

    def _quotient(self, atom: Quotient) -> str:
        """Return the variable of a quotient, defined as C rounds: towards zero.

        For d > 0, n / d is the q with d*q <= n < d*q + d if n >= 0, and with d*q - d < n <= d*q if
        n < 0; n / -d is written as its opposite.
        """
        d = atom.divisor.integer
        if d is None:
            raise NotAffineError
        assert d > 0, "made by `quotient`"
        numbers = self.scope.quotients
        quotient = f"q{numbers.setdefault(atom, len(numbers))}{self.name}"
        if quotient not in self.defined:
            n = self.polynomial(atom.numerator)
            self.defined[quotient] = (
                f"(({n} >= 0 and {d}*{quotient} <= {n} and {n} < {d}*{quotient} + {d}) or"
                f" ({n} < 0 and {d}*{quotient} - {d} < {n} and {n} <= {d}*{quotient}))"
            )
        return quotient

    def _choice(self, atom: Choice) -> str:
        """Return the variable of a choice, defined by its parts; any value if they are not affine.

        Where the condition is not followed, it is still one of the two.
        """
        assert atom.condition is not None
        name = f"w{atom.number}{self.name}"
        if name not in self.defined:
            try:
                then, otherwise = self.polynomial(atom.then), self.polynomial(atom.otherwise)
                holds = self.condition(atom.condition)
                fails = self.condition(negation(atom.condition))
            except NotAffineError:
                self.exact = False
                return self._opaque(atom)
            self.defined[name] = (
                f"(({holds} and {name} = {then}) or ({fails} and {name} = {otherwise}))"
            )
        return name

    def condition(self, condition: Condition) -> str:
        """Return a condition in isl's syntax."""
        match condition:
            case Compare(operator, value, _):
                if operator == "!=":
                    text = self.polynomial(value)
                    return f"({text} < 0 or {text} > 0)"
                return f"{self.polynomial(value)} {'>=' if operator == '>=' else '='} 0"
            case Maybe(atom, holds):
                return f"{self._atom(atom)} {'>= 1' if holds else '<= 0'}"
            case Both(parts):
                return "(" + " and ".join([*(self.condition(one) for one in parts), "1 = 1"]) + ")"
            case Either(parts):
                return "(" + " or ".join([*(self.condition(one) for one in parts), "1 = 0"]) + ")"

    def context(self, conditions: Iterable[Condition], broken: frozenset[Condition]) -> list[str]:
        """Return what can be written of conditions; `broken` ones may be wrong and are not.

        isl writes a formula as alternatives, each a conjunction: with conditions of a and of b
        alternatives it has a*b. Those with the most are left out where there would be too many.
        """
        found = []
        for one in sorted(conditions, key=_n_alternatives):
            n_alternatives = self.n_alternatives * _n_alternatives(one)
            is_large = n_alternatives > MAX_ALTERNATIVES
            if is_large or any(part in broken for part in _leaves(one)):
                self.exact = False
                continue
            self.n_alternatives = n_alternatives
            try:
                found.append(self.condition(one))
            except NotAffineError:
                self.exact = False
        return found

    def steps(self, path: Path | None) -> tuple[str | None, ...] | None:
        """Return the subscripts; None for one that cannot be written."""
        if path is None:
            self.exact = False
            return None
        found: list[str | None] = []
        for one in path:
            if isinstance(one, str):
                found.append(one)
                continue
            try:
                found.append(self.polynomial(one))
            except NotAffineError:
                self.exact = False
                found.append(None)
        return tuple(found)

    @property
    def is_exact(self) -> bool:
        """Whether the formula says neither more nor less than the program."""
        return self.exact and not self.changing


def _n_alternatives(condition: Condition) -> int:
    """Return of how many conjunctions a condition is made, at most."""
    match condition:
        case Both(parts):
            return prod(map(_n_alternatives, parts))
        case Either(parts):
            return sum(map(_n_alternatives, parts))
        case Compare("!=", _, _):
            return 2
    return 1


def _leaves(condition: Condition) -> list[Condition]:
    if isinstance(condition, Both | Either):
        return [one for part in condition.parts for one in _leaves(part)]
    return [condition]


def overlap(first: Path | None, left: Side, second: Path | None, right: Side) -> str | None:
    """Return when two accesses to one root touch the same bytes; None if never.

    Subscripts are compared one by one, from the first to the last that both have; fields by name.
    """
    if first is None or second is None:
        left.exact = left.exact and first is not None
        right.exact = right.exact and second is not None
        return "1 = 1"
    found = ["1 = 1"]
    for one, other in zip(first, second, strict=False):
        if SOMEWHERE in (one, other):
            left.exact = right.exact = False
            break
        if isinstance(one, str) and isinstance(other, str):
            if one != other:
                return None
            continue
        if isinstance(one, str) or isinstance(other, str):
            left.exact = right.exact = False
            break
        try:
            found.append(f"{left.polynomial(one)} = {right.polynomial(other)}")
        except NotAffineError:
            left.exact = right.exact = False
    return " and ".join(found)


def before(
    first: Access, left: Side, second: Access, right: Side, loops: dict[int, LoopRow], loop: int
) -> str:
    """Return when an access comes before another one in the same iteration of `loop`."""
    return _before(
        first.loops[first.loops.index(loop) + 1 :],
        second.loops[second.loops.index(loop) + 1 :],
        (first, left),
        (second, right),
        loops,
    )


def _before(
    outer: tuple[int, ...],
    other: tuple[int, ...],
    first: tuple[Access, Side],
    second: tuple[Access, Side],
    loops: dict[int, LoopRow],
) -> str:
    if outer and other and outer[0] == other[0]:
        x, y = first[1].counter(outer[0]), second[1].counter(other[0])
        rest = _before(outer[1:], other[1:], first, second, loops)
        return f"({x} < {y} or ({x} = {y} and {rest}))" if x != y else rest
    earlier = loops[outer[0]].sequence if outer else first[0].sequence
    later = loops[other[0]].sequence if other else second[0].sequence
    return "1 = 1" if earlier < later else "1 = 0"

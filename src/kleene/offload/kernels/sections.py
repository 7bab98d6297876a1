"""Which bytes of some storage a loop touches: a section [first, end) for all its iterations.

Bounds are expressions of what does not change in the loop: `a[i + 1]` of ints, for i below n,
touches [4, 4*n + 4). They are found in one of these ways, the first that answers:

1. isl, if the byte offset is affine: the least and the greatest offset, exactly, guards included.
2. isl, digit by digit: `4*n*i + 4*j` with 0 <= j < n is greatest where (i, j) is, compared from
   the left; that j stays below n is proved from the guards and bounds.
3. Monotonicity: counters are replaced, from the innermost loop outwards, by their first or last
   value, wherever the offset is proved to grow or fall with them: `i*i`, `i*j`.
4. The declared size of an array: C leaves it undefined to touch another byte.

Bounds of the second and later ways hold whenever those of the first would, so the section is always
one that contains every byte touched; whether its ends are really touched is `is_exact`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from kleene.algebra.symbolic import Direction, Expression, Sign, Signs, Symbol, of
from kleene.base.expression import Atom
from kleene.ir.loops.symbols import Choice, LoopSymbol, loops_of
from kleene.ir.loops.tables import Access, Compare, Condition, InRange, LoopRow, all_symbols
from kleene.offload.delinearise import parts_of, strides_of, within
from kleene.offload.kernels.affine import expression_of, meanings_of
from kleene.offload.kernels.budget import BudgetError
from kleene.offload.kernels.dependences import Facts
from kleene.offload.kernels.formulas import NotAffineError, Scope, Side
from kleene.offload.kernels.trips import last_values

_MAX_PIECES = 8  # of a bound that isl gives: more would not be read by anybody
_NARROW = 1 << 16  # values of a type with at most so many are ranged over


@dataclass(frozen=True, slots=True)
class Section:
    """The bytes from `first` up to, not including, `end`; None where no bound is known.

    Offsets are counted from where a pointer points to, or where a variable begins. `is_exact`: in
    every run in which the loop touches the storage at all, it touches the first byte and the last.
    `assumptions` are what the bounds hang on, besides those of the whole analysis.
    """

    first: Expression | None
    end: Expression | None
    is_exact: bool = False
    assumptions: tuple[str, ...] = ()

    @property
    def n_bytes(self) -> Expression | None:
        """How many bytes there are between the ends."""
        return None if self.first is None or self.end is None else self.end - self.first

    @property
    def is_bounded(self) -> bool:
        """Whether both ends are known."""
        return self.first is not None and self.end is not None

    def substitute(self, values: Mapping[Any, Expression | int]) -> Section:
        """Return the section with values in place of symbols."""
        first, end = (None if b is None else b.substitute(values) for b in (self.first, self.end))
        return Section(first, end, self.is_exact, self.assumptions)

    def __str__(self) -> str:
        if not self.is_bounded:
            return "[?, ?)" if self.first is None else f"[{self.first}, ?)"
        return f"[{self.first}, {self.end})"


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What an access touches: its least first byte, and its greatest end, each one of several."""

    lows: tuple[Expression, ...]
    ends: tuple[Expression, ...]
    is_exact: bool


def section_of(facts: Facts, row: LoopRow, accesses: Iterable[Access]) -> Section:
    """Return the section of one root that some accesses in a loop touch together."""
    found: list[_Bounds | None] = []
    known: dict[object, _Bounds | None] = {}
    listed = list(accesses)
    for access in listed:
        key = access.offset, access.n_bytes, access.context, access.obligations
        if key not in known:
            known[key] = AccessBounds(facts, row, access).bounds()
        found.append(known[key])
    signs = signs_in(facts, row, [e for one in found if one for e in (*one.lows, *one.ends)])
    if found and all(one is not None for one in found):
        bounds = [one for one in found if one is not None and one.lows]
        if not bounds:
            return Section(of(0), of(0), True)
        first = signs.minimum(*(low for one in bounds for low in one.lows))
        end = signs.maximum(*(high for one in bounds for high in one.ends))
        # Ends are touched if whichever access they come from happens whenever another one does.
        is_exact = all(one.is_exact for one in bounds) and len({a.context for a in listed}) == 1
        return Section(first, end, is_exact)
    return _declared(listed)


def _declared(accesses: list[Access]) -> Section:
    """Return the whole of an array, if its size is known."""
    symbol = accesses[0].root.symbol if accesses else None
    is_variable = bool(accesses) and accesses[0].root.kind == "variable"
    if symbol is None or not is_variable or symbol.type.n_bytes is None:
        return Section(None, None)
    text = f"subscripts of {symbol.name} stay inside of it"
    return Section(of(0), of(symbol.type.n_bytes), False, (text,))


def signs_in(facts: Facts, row: LoopRow, values: Iterable[Expression]) -> Signs:
    """Return the signs of symbols in `values` that hold whenever an iteration of a loop happens."""
    symbols = {one for value in values for one in all_symbols(value)}
    return Signs({one: sign_in(facts, row.context, one) for one in symbols})


def sign_in(facts: Facts, context: tuple[Condition, ...], symbol: Symbol) -> Sign:
    """Return what is proved of the sign of a symbol where some conditions hold."""
    if isinstance(symbol, LoopSymbol) and symbol.kind == "counter":
        return Sign.NOT_NEGATIVE
    value = of(symbol)
    if facts.prove(context, (Compare(">=", value - 1),)):
        return Sign.POSITIVE
    if facts.prove(context, (Compare(">=", value),)):
        return Sign.NOT_NEGATIVE
    if facts.prove(context, (Compare(">=", -value - 1),)):
        return Sign.NEGATIVE
    return Sign.ANY


@dataclass(frozen=True, slots=True)
class Digits:
    """An offset as Σ part·stride + rest; parts but the first lie in 0 ... extent - 1."""

    parts: tuple[Expression, ...]
    strides: tuple[Expression, ...]
    extents: tuple[Expression, ...]
    rest: Expression

    def at(self, point: tuple[Expression, ...]) -> Expression:
        """Return the offset where the digits have these values."""
        pairs = zip(point, self.strides, strict=True)
        return sum((digit * stride for digit, stride in pairs), start=self.rest)


def affine(offset: Expression) -> Digits:
    """Return an offset as one digit."""
    return Digits((offset,), (of(1),), (), of(0))


@dataclass
class AccessBounds:
    """One access of a loop: the bounds of its bytes over the loop and all loops in it."""

    facts: Facts
    row: LoopRow
    access: Access
    inside: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        self.inside = self.facts.table.descendants(self.row.number)

    def bounds(self) -> _Bounds | None:
        """Return bounds, or None if there are none that are known."""
        access, facts = self.access, self.facts
        offset, size = access.offset, access.n_bytes
        if offset is None or size is None or loops_of(offset) & facts.unusable:
            return None
        if not all(facts.prove(access.context, in_range(one)) for one in access.obligations):
            return None
        for digits in (affine(offset), self.digits()):
            found = None if digits is None else self._extremes(digits, size)
            if found is not None:
                return found
        signs = self._signs(offset)
        low, high = (self._at_end(offset, signs, is_low=one) for one in (True, False))
        return None if low is None or high is None else _Bounds((low,), (high + size,), False)

    # isl

    def digits(self) -> Digits | None:
        """Return the offset as digits, of which all but the first stay below their extents."""
        offset = self.access.offset
        assert offset is not None
        coefficients: dict[Symbol, Expression] = {}
        for symbol in offset.symbols():
            if loops_of(of(symbol)) & self.inside:
                factor = offset.coefficient(symbol)
                if factor is None or loops_of(factor) & self.inside:
                    return None
                coefficients[symbol] = factor
        strides = strides_of(coefficients.values())
        if strides is None or len(strides) < 2:
            return None
        parts, rest = parts_of(offset, strides)
        if loops_of(rest) & self.inside:
            return None
        extents = tuple(_quotient(large, small) for large, small in pairwise(strides))
        wanted = (*within(parts, extents), Compare(">=", strides[-1] - 1))
        if not self.facts.prove(self.access.context, wanted):
            return None
        return Digits(parts, tuple(strides), extents, rest)

    def touched(self, digits: Digits, n_bytes: int = 1) -> tuple[Any, Side]:
        """Return the isl set of digits in all iterations, and the formula that it was made of.

        Raises:
            NotAffineError: a digit cannot be written.
            BudgetError: isl takes too long.
        """
        facts = self.facts
        scope = Scope(self.inside, facts.unusable, facts.products, facts.registry)
        side = Side(scope, "y")
        held = side.context((*facts.assumed, *self.access.context), facts.broken)
        dims = [f"d{place}" for place in range(len(digits.parts))]
        texts = [side.polynomial(one) for one in digits.parts]
        if n_bytes > 1:
            *_, last = texts
            texts[-1] = f"{last} + c0byte"
            held.append(f"0 <= c0byte and c0byte < {n_bytes}")
        held += [f"{dim} = {text}" for dim, text in zip(dims, texts, strict=True)]
        counters = [side.counter(loop) for loop in self.access.loops if loop in self.inside]
        hidden = {*counters, *side.changing, *side.defined, *(["c0byte"] if n_bytes > 1 else [])}
        held += [*side.defined.values(), *_narrow(side, digits.parts), *_not_negative(scope)]
        return facts.bounds.make_set(dims, hidden, held), side

    def _extremes(self, digits: Digits, size: int) -> _Bounds | None:
        """Return the bounds of Σ digit·stride + rest, which is greatest where the digits are."""
        import islpy as isl

        try:
            found, side = self.touched(digits)
            if found.is_empty():
                return _Bounds((), (), True)
            meanings = meanings_of(self.facts)
            lows, low_exact = _pieces(found, meanings, is_low=True)
            highs, high_exact = _pieces(found, meanings, is_low=False)
        except (NotAffineError, isl.Error, BudgetError):
            return None
        if not lows or not highs:
            return None
        return _Bounds(
            tuple(digits.at(one) for one in lows),
            tuple(digits.at(one) + size for one in highs),
            side.is_exact and low_exact and high_exact,
        )

    # Monotonicity

    def _signs(self, offset: Expression) -> Signs:
        known: dict[str | Atom, Sign] = {}
        symbols = set(all_symbols(offset))
        for loop in self.access.loops:
            for bound in last_values(self.facts.rows[loop]):
                symbols |= all_symbols(bound)
        for one in symbols:
            known[one] = sign_in(self.facts, self.access.context, one)
        return Signs(known)

    def _at_end(self, value: Expression, signs: Signs, *, is_low: bool) -> Expression | None:
        """Return a bound of `value`, free of what changes in the loop.

        Choices go first, then loads of narrow types, then counters from the inside out: the last
        value of an inner loop may have the counters of outer ones.
        """
        pick = signs.minimum if is_low else signs.maximum
        for symbol in value.symbols():
            if isinstance(symbol, Choice) and loops_of(of(symbol)) & self.inside:
                return self._at_choice(value, symbol, signs, is_low=is_low)
        for symbol in value.symbols():
            if not isinstance(symbol, LoopSymbol) or symbol.kind == "counter":
                continue
            if symbol.loops & self.inside:
                limits = _narrow_range(symbol)
                if limits is None:
                    return None
                moved = self._moved(value, symbol, (of(limits[0]), of(limits[1])), signs, is_low)
                return None if moved is None else self._at_end(moved, signs, is_low=is_low)
        for loop in reversed([one for one in self.access.loops if one in self.inside]):
            row = self.facts.rows[loop]
            if row.counter not in value.symbols():
                continue
            lasts = last_values(row)
            if not lasts:
                if signs.monotonicity(value, row.counter) != (
                    Direction.INCREASING if is_low else Direction.DECREASING
                ):
                    return None
                lasts = [of(0)]
            last = signs.minimum(*lasts)
            moved = self._moved(value, row.counter, (of(0), last), signs, is_low)
            if moved is None or row.counter in moved.symbols():
                return None
            value = moved
        return pick(value) if not loops_of(value) & self.inside else None

    def _at_choice(
        self, value: Expression, symbol: Choice, signs: Signs, *, is_low: bool
    ) -> Expression | None:
        ends = [
            self._at_end(value.substitute({symbol: one}), signs, is_low=is_low)
            for one in (symbol.then, symbol.otherwise)
        ]
        known = [one for one in ends if one is not None]
        if len(known) < 2:
            return None
        return signs.minimum(*known) if is_low else signs.maximum(*known)

    def _moved(
        self,
        value: Expression,
        symbol: Symbol,
        ends: tuple[Expression, Expression],
        signs: Signs,
        is_low: bool,
    ) -> Expression | None:
        """Return the least or greatest of `value` for a symbol between two ends."""
        direction = signs.monotonicity(value, symbol)
        if direction == Direction.UNKNOWN:
            return None
        at_first = (direction == Direction.INCREASING) == is_low
        return value.substitute({symbol: ends[0] if at_first else ends[1]})


def in_range(one: InRange) -> tuple[Condition, Condition]:
    """Return the two comparisons that an obligation is."""
    return Compare(">=", one.value - one.low), Compare(">=", -one.value + one.high)


def _quotient(large: Expression, small: Expression) -> Expression:
    (found,), rest = parts_of(large, [small])
    assert rest == 0, "strides are a chain of divisors"
    return found


def _narrow_range(symbol: LoopSymbol) -> tuple[int, int] | None:
    """Return the range of a type with few values, such as char."""
    if symbol.low is None or symbol.high is None or symbol.high - symbol.low >= _NARROW:
        return None
    return symbol.low, symbol.high


def _narrow(side: Side, values: Iterable[Expression]) -> list[str]:
    """Return the ranges of what changes, if its type is narrow."""
    found = []
    for one in {symbol for value in values for symbol in all_symbols(value)}:
        if isinstance(one, LoopSymbol) and f"v{one.number}{side.name}" in side.changing:
            limits = _narrow_range(one)
            if limits is not None:
                name = f"v{one.number}{side.name}"
                found += [f"{name} >= {limits[0]}", f"{name} <= {limits[1]}"]
    return found


def _not_negative(scope: Scope) -> list[str]:
    return [f"{name} >= 0" for name, one in scope.parameters.items() if one.low == 0]


def _pieces(
    touched: Any, meanings: Mapping[str, Expression], *, is_low: bool
) -> tuple[list[tuple[Expression, ...]], bool]:
    """Return points of which the least (greatest) is the first (last) of a set.

    isl gives a point for each of some regions of the parameters. One that belongs to another region
    is never above the true maximum there, or it makes the bound inexact: it is compared on each.
    """
    import islpy as isl

    best = touched.lexmin_pw_multi_aff() if is_low else touched.lexmax_pw_multi_aff()
    regions: list[tuple[Any, Any]] = []
    best.foreach_piece(lambda domain, point: regions.append((domain, point)))
    if len(regions) > _MAX_PIECES:
        return [], False
    points: dict[tuple[Expression, ...], None] = {}
    for _, point in regions:
        size = point.dim(isl.dim_type.out)
        points[tuple(expression_of(meanings, point.get_at(place)) for place in range(size))] = None
    is_exact = len(points) == 1
    if not is_exact and all(len(one) == 1 for one in points):
        affine = [point.get_at(0) for _, point in regions]
        is_exact = all(
            domain.intersect(own.gt_set(other) if is_low else own.lt_set(other)).is_empty()
            for (domain, _), own in zip(regions, affine, strict=True)
            for other in affine
        )
    return list(points), is_exact

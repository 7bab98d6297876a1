"""For which counters does a loop have an iteration?

Iteration k happens if the test held at 0, 1, ..., k. A comparison `a - c*k >= 0` with c >= 0 that
holds at k held at all counters before, so it stands for all of them; another test does not, and
then the loop is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping

from kleene.base.expression import ZERO, Atom, Expression, of
from kleene.ir.loops.symbols import LoopSymbol, symbols_of
from kleene.ir.loops.tables import (
    Both,
    Compare,
    Condition,
    Either,
    InRange,
    LoopRow,
    Obligations,
)
from kleene.ir.loops.tree import Loop, Symbol
from kleene.transforms.loops.values import Value, substituted

_ANY = 1 << 200  # more than any integer of C
Steps = Mapping[Symbol, tuple[Expression, Obligations]]


def iterations(
    node: Loop,
    row: LoopRow,
    test: Condition | None,
    starts: Mapping[Symbol, LoopSymbol],
    entry: Mapping[Symbol, Value],
    steps: Steps,
) -> tuple[list[Condition], bool]:
    """Return conditions for an iteration, and whether they are all there are.

    `test` is written with the atoms `starts` for what variables hold when an iteration begins.
    """
    if test is None:
        return [], node.test is None
    counter = of(row.counter)
    values: dict[Atom, Expression] = {}
    for symbol, (step, _) in steps.items():
        begun = entry[symbol].number
        before = begun if begun is not None else ZERO
        values[starts[symbol]] = before + step * counter
    unsigned = {
        atom
        for symbol, atom in starts.items()
        if symbol.type.kind == "int" and not symbol.type.signed
    }
    found: list[Condition] = []
    is_all = True
    for part in _parts(test):
        wraps = isinstance(part, Compare) and bool(part.value.symbols() & unsigned)
        held = _held(part, row, values, set(starts.values()), wraps)
        if held is None:
            is_all = False
        else:
            found.append(held)
    if node.kind == "do":
        earlier = [at_counter(one, row.counter, counter - 1) for one in found]
        found = [Either((Compare(">=", -counter), one)) for one in earlier]
    return found, is_all


def _parts(test: Condition) -> list[Condition]:
    if isinstance(test, Both):
        return [one for part in test.parts for one in _parts(part)]
    return [test]


def _held(
    part: Condition,
    row: LoopRow,
    values: dict[Atom, Expression],
    starts: set[LoopSymbol],
    wraps: bool,
) -> Condition | None:
    """Return a comparison as one of the counter that, if it holds, held before; None if not."""
    if not isinstance(part, Compare):
        return None
    value, obligations = part.value.substitute(values), substituted(part.obligations, values)
    used = symbols_of(value).union(*(symbols_of(one.value) for one in obligations))
    if any(row.number in one.loops for one in used - {row.counter}) or used & starts:
        return None
    factor = value.coefficient(row.counter)
    by = None if factor is None else factor.integer
    if by is None:
        return None
    if by == 0:
        return Compare(part.operator, value, obligations)
    if part.operator == ">=" and by < 0:
        return Compare(">=", value, obligations)
    if part.operator == "!=" and abs(by) == 1:
        # a - k != 0: the loop ends at k = a, if a >= 0. If not, a signed variable overflows and a
        # pointer leaves its array, which is undefined; an unsigned variable wraps.
        remaining = value if by < 0 else -value
        first = remaining + of(row.counter)
        if wraps:
            obligations = (*obligations, InRange(first, 0, _ANY))
        else:
            row.assumptions.append(f"the loop at line {row.place.line} ends: {first} >= 0")
        return Compare(">=", remaining - 1, obligations)
    return None


def at_counter(condition: Condition, counter: LoopSymbol, value: Expression) -> Condition:
    """Return a condition for an iteration with the counter replaced."""
    if isinstance(condition, Either):
        return Either(tuple(at_counter(one, counter, value) for one in condition.parts))
    assert isinstance(condition, Compare), "made by `iterations`"
    compared = condition.value.substitute({counter: value})
    obligations = substituted(condition.obligations, {counter: value})
    return Compare(condition.operator, compared, obligations)

"""Symbols of loop tables: the integers of which subscripts, bounds and guards are made.

2*i*n + j - 1    with the counters i and j of loops, and n from before them
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from kleene.base.expression import ZERO, Expression, Symbol

if TYPE_CHECKING:
    from kleene.ir.loops.tables import Condition

SymbolKind = OneOf["counter", "value", "load", "condition"]


@dataclass(frozen=True, eq=False)
class LoopSymbol(Symbol):
    """The counter of a loop, a value from before it, or a load; `name` is how people read it.

    `loops` are the numbers of the loops in which it changes: in all others it is a constant.
    `low` and `high` are the range of its type. Each has a `number` of its own in its table.
    """

    kind: SymbolKind = "value"
    loops: frozenset[int] = frozenset()
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, eq=False)
class Choice(LoopSymbol):
    """`condition ? then : otherwise`, of whose parts nothing can wrap.

    It changes in every loop in which one of its parts does. Symbols inside of the parts are not
    seen, or replaced, in expressions that hold the choice.
    """

    condition: Condition | None = None
    then: Expression = ZERO
    otherwise: Expression = ZERO


def symbols_of(value: Expression) -> set[LoopSymbol]:
    """Return the symbols in an expression, also those inside quotients."""
    return {one for one in value.symbols() if isinstance(one, LoopSymbol)}


def loops_of(value: Expression) -> frozenset[int]:
    """Return the loops in which an expression's value changes."""
    return frozenset().union(*(one.loops for one in symbols_of(value)))

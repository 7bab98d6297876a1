"""Loops as tables: for every loop its iterations, and for every access its address and its time.

Iterations are counted from 0: `counter` of a loop is the number of iterations before this one, and
values that change by a constant in each iteration are written with it. An access happens in the
iterations for which its `context` holds. Times are compared as vectors,

    (sequence of loop 1, counter of loop 1, sequence of loop 2, ..., sequence of the access),

where `sequence` numbers loops and accesses in the order of the text.

Facts that hold only if something does not wrap are tagged with an `InRange`, which whoever uses
them has to prove. Signed overflow is undefined in C, and taken not to happen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from kleene.base.errors import Span
from kleene.base.expression import Expression
from kleene.ir.loops.symbols import Choice, LoopSymbol, loops_of, symbols_of
from kleene.ir.loops.tree import Reason, Symbol


@dataclass(frozen=True, slots=True)
class InRange:
    """`low <= value <= high`: else a conversion or an unsigned operation wraps."""

    value: Expression
    low: int
    high: int


Obligations = tuple[InRange, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """`value >= 0`, `value == 0` or `value != 0`, if the obligations hold."""

    operator: OneOf[">=", "==", "!="]
    value: Expression
    obligations: Obligations = ()


@dataclass(frozen=True, slots=True)
class Both:
    """Every part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Some part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Maybe:
    """A condition that is not followed: it holds where the atom is positive."""

    atom: LoopSymbol
    holds: bool = True


Condition = Compare | Both | Either | Maybe


def negation(condition: Condition) -> Condition:
    """Return the opposite condition."""
    match condition:
        case Compare(">=", value, obligations):
            return Compare(">=", -value - 1, obligations)
        case Compare("==", value, obligations):
            return Compare("!=", value, obligations)
        case Compare(_, value, obligations):
            return Compare("==", value, obligations)
        case Both(parts):
            return Either(tuple(negation(one) for one in parts))
        case Either(parts):
            return Both(tuple(negation(one) for one in parts))
        case Maybe(atom, holds):
            return Maybe(atom, not holds)


def comparisons(condition: Condition) -> list[Compare]:
    """Return the comparisons that a condition is made of."""
    match condition:
        case Compare():
            return [condition]
        case Both(parts) | Either(parts):
            return [one for part in parts for one in comparisons(part)]
    return []


def loops_of_condition(condition: Condition) -> frozenset[int]:
    """Return the loops in which it changes whether a condition holds."""
    match condition:
        case Compare(_, value, _):
            return loops_of(value)
        case Maybe(atom, _):
            return atom.loops
        case Both(parts) | Either(parts):
            return frozenset().union(*map(loops_of_condition, parts))


def all_symbols(value: Expression) -> frozenset[LoopSymbol]:
    """Return the symbols of an expression, also those inside of choices."""
    found = frozenset(symbols_of(value))
    for one in found:
        if isinstance(one, Choice) and one.condition is not None:
            found |= all_symbols(one.then) | all_symbols(one.otherwise)
            found |= symbols_of_condition(one.condition)
    return found


def symbols_of_condition(condition: Condition) -> frozenset[LoopSymbol]:
    """Return the symbols that a condition hangs on, also those inside of choices."""
    match condition:
        case Compare(_, value, _):
            return all_symbols(value)
        case Maybe(atom, _):
            return frozenset([atom])
        case Both(parts) | Either(parts):
            return frozenset().union(*map(symbols_of_condition, parts))


def depth_of(value: Expression) -> int:
    """Return how many choices are inside of each other in an expression."""
    depth = 0
    for one in symbols_of(value):
        if isinstance(one, Choice) and one.condition is not None:
            tested = (part.value for part in comparisons(one.condition))
            depth = max(depth, 1 + max(map(depth_of, (one.then, one.otherwise, *tested))))
    return depth


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """Storage that addresses begin from: a variable, or what a pointer points to.

    `loops` are those in which a pointer changes what it points to, `declared_in` those whose every
    iteration has a variable of its own.
    """

    number: int
    name: str
    kind: OneOf["variable", "pointer", "unknown"]
    symbol: Symbol | None = None
    is_exposed: bool = False  # a pointer may point into it
    is_restrict: bool = False
    loops: frozenset[int] = frozenset()
    declared_in: frozenset[int] = frozenset()
    extents: tuple[Expression | None, ...] = ()  # of the second and further subscripts
    source: Root | None = None  # the storage that the pointer was loaded from
    source_byte: int | None = None  # at which offset in it, if that is always the same
    n_bytes: int | None = None  # of what the pointer's type says it points to, or of an element


@dataclass(frozen=True, slots=True)
class Together:
    """Variables of `if (e > x) { x = e; at = i; }`: x, and those that keep what goes with it.

    Of iterations with the same value the first decides, or the last.
    """

    roots: tuple[Root, ...]
    is_first: bool


Path = tuple[Expression | str, ...]  # subscripts and names of fields
SOMEWHERE = "?"  # in a path: some bytes of what the steps before it name, as in a union


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One read or write in the text; `path` is None where nothing is known about it.

    `update` names the operation of `x = x op e` on both accesses to x, `together` what is updated
    with it.
    """

    root: Root
    path: Path | None
    obligations: Obligations
    n_bytes: int | None
    is_write: bool
    update: str | None
    is_floating: bool
    loops: tuple[int, ...]
    context: tuple[Condition, ...]
    sequence: int
    place: Span
    text: str
    by_loop: bool = False  # the value of a counter, before or after its loop
    through_pointer: bool = False  # that was moved inside of a row: it may leave it
    recurrence: str | None = None  # the operation of `a[i] = a[j] op e`, on both accesses to a
    offset: Expression | None = None  # in bytes from the beginning of the root
    together: Together | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a loop is not analysed further, and where that is written."""

    reason: Reason
    detail: str
    place: Span


@dataclass(slots=True, eq=False)
class LoopRow:
    """One loop; rows are numbered in source order."""

    number: int
    parent: int
    function: str
    place: Span
    end_line: int
    kind: str
    counter: LoopSymbol
    sequence: int
    end_sequence: int = 0
    variable: str = ""
    start: Expression | None = None  # of the variable, if it is an integer
    step: Expression | None = None
    inductions: dict[Symbol, Expression] = field(default_factory=dict)  # step of each
    obligations: Obligations = ()  # of the induction variables
    assumptions: list[str] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    is_counted: bool = True  # the number of iterations is known before the loop
    context: tuple[Condition, ...] = ()  # under which an iteration happens
    is_inlined: bool = False  # the loop of a function that is called here
    callees: set[str] = field(default_factory=set)  # functions that the loop calls
    statements: list[int] = field(default_factory=list)  # of its body: the sequence before each
    is_straight: bool = True  # no statement of the body is left out by a jump before it

    def refuse(self, reason: Reason, detail: str, place: Span) -> None:
        """Note a reason, once."""
        found = Refusal(reason, detail, place)
        if found not in self.refusals:
            self.refusals.append(found)


@dataclass(frozen=True, slots=True, eq=False)
class LoopTable:
    """The loops and accesses of one function."""

    function: str
    place: Span
    loops: tuple[LoopRow, ...]
    accesses: tuple[Access, ...]
    parameters: dict[str, LoopSymbol]  # integers of the function's beginning, by their names
    loads: dict[LoopSymbol, tuple[Root, Path]] = field(default_factory=dict)  # where they are from

    def inside(self, loop: int) -> list[Access]:
        """Return the accesses in a loop."""
        return [one for one in self.accesses if loop in one.loops]

    def descendants(self, loop: int) -> frozenset[int]:
        """Return a loop and all loops in it."""
        found = {loop}
        for row in self.loops:
            if row.parent in found:
                found.add(row.number)
        return frozenset(found)

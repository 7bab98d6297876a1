"""A dependence one can check by hand: two iterations, and the element that both touch.

An isl sample gives numbers for the parameters and the counters. They are put into the loop table
itself, without isl: every condition of both accesses must hold, and both addresses must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kleene.base.errors import Span
from kleene.base.expression import Expression, Symbol
from kleene.ir.loops.symbols import Choice, symbols_of
from kleene.ir.loops.tables import Access, Both, Compare, Condition, Either, LoopRow, Maybe, Path
from kleene.offload.kernels.dependences import Conflict, Facts

_SMALL = 12


@dataclass(frozen=True, slots=True)
class Instance:
    """An access in one iteration: the values of the loops' variables, from outside in."""

    variables: tuple[tuple[str, int], ...]
    element: str
    place: Span


@dataclass(frozen=True, slots=True)
class Witness:
    """`write` puts a value where the later iteration `read` takes it from."""

    parameters: tuple[tuple[str, int], ...]
    write: Instance
    read: Instance


def witness_of(facts: Facts, row: LoopRow, conflict: Conflict, pairs: Any) -> Witness | None:
    """Return a witness from a set of pairs, or None if the sample does not stand the check."""
    import islpy as isl

    point = small_point(pairs)
    values: dict[str, int] = {}
    for kind in (isl.dim_type.param, isl.dim_type.set):
        for position in range(pairs.dim(kind)):
            name = pairs.get_dim_name(kind, position)
            values[name] = point.get_coordinate_val(kind, position).to_python()
    meant = conflict.scope.parameters | {
        name: atom for name, atom in facts.registry.items() if name in values
    }
    given: dict[Symbol, int] = {atom: values.get(name, 0) for name, atom in meant.items()}
    # The first value of a loop's variable may hang on what nothing else does: any number will do.
    for number in {*conflict.first.loops, *conflict.second.loops}:
        start = facts.rows[number].start
        for atom in symbols_of(start) if start is not None else ():
            if atom.kind in ("value", "load") and not atom.loops:
                given.setdefault(atom, max(0, atom.low or 0))
    counters: dict[Symbol, int] = {one.counter: one.number for one in facts.table.loops}
    sides = [
        _assignment(access, values, given, counters, letter)
        for access, letter in ((conflict.first, "x"), (conflict.second, "y"))
    ]
    instances = [
        _instance(facts, access, side)
        for access, side in zip((conflict.first, conflict.second), sides, strict=True)
    ]
    first, second = instances
    if first is None or second is None or first.element != second.element:
        return None
    named = {atom.name: value for atom, value in given.items()}
    return Witness(tuple(sorted(named.items())), first, second)


def small_point(pairs: Any) -> Any:
    """Return a point with small numbers, if there is one."""
    import islpy as isl

    small = pairs
    for kind in (isl.dim_type.param, isl.dim_type.set):
        for position in range(pairs.dim(kind)):
            small = small.lower_bound_val(kind, position, isl.Val(-_SMALL, pairs.get_ctx()))
            small = small.upper_bound_val(kind, position, isl.Val(_SMALL, pairs.get_ctx()))
    return (pairs if small.is_empty() else small).sample_point()


def _assignment(
    access: Access,
    values: Mapping[str, int],
    given: Mapping[Symbol, int],
    counters: Mapping[Symbol, int],
    letter: str,
) -> dict[Symbol, int]:
    found = _Values(given)
    for atom, loop in counters.items():
        if loop in access.loops:
            found[atom] = values.get(f"c{loop}{letter}", values.get(f"o{loop}", 0))
    return found


class _Values(dict[Symbol, int]):
    """Numbers of symbols; those of choices are found when asked for."""

    def __contains__(self, symbol: object) -> bool:
        if isinstance(symbol, Choice) and not super().__contains__(symbol):
            try:
                self[symbol]
            except KeyError:
                return False
        return super().__contains__(symbol)

    def __missing__(self, symbol: Symbol) -> int:
        if not isinstance(symbol, Choice):
            raise KeyError(symbol)
        assert symbol.condition is not None
        chosen = symbol.then if holds(symbol.condition, self) else symbol.otherwise
        self[symbol] = int(chosen.evaluate(self))
        return self[symbol]


def _instance(facts: Facts, access: Access, values: dict[Symbol, int]) -> Instance | None:
    conditions = (*facts.assumed, *access.context)
    path = facts.path_in_words(access)
    if path is None:
        return None
    try:
        if not all(holds(one, values) for one in conditions):
            return None
        return instance_of(facts, access, path, values)
    except KeyError:
        return None  # a value that a choice hangs on has no number


def instance_of(facts: Facts, access: Access, path: Path, values: dict[Symbol, int]) -> Instance:
    """Return an access with numbers for all symbols."""
    steps = [one if isinstance(one, str) else one.evaluate(values) for one in path]
    shown = "".join(f".{one}" if isinstance(one, str) else f"[{one}]" for one in steps)
    variables = []
    for number in access.loops:
        row = facts.rows[number]
        counter = values[row.counter]
        value = _variable(row, values, counter)
        variables.append((row.variable or f"iteration of line {row.place.line}", value))
    return Instance(tuple(variables), access.root.name + shown, access.place)


def _variable(row: LoopRow, values: dict[Symbol, int], counter: int) -> int:
    """Return what the loop's variable holds, or the number of iterations before."""
    if row.start is None or row.step is None or not _known(row.start, values):
        return counter
    return int(row.start.evaluate(values) + row.step.evaluate(values) * counter)


def _known(value: Expression, values: Mapping[Symbol, int]) -> bool:
    return all(one in values for one in value.symbols())


def holds(condition: Condition, values: Mapping[Symbol, int]) -> bool:
    """Return whether a condition holds for these values of its atoms."""
    match condition:
        case Compare(operator, value, _):
            number = value.evaluate(values)
            return {">=": number >= 0, "==": number == 0, "!=": number != 0}[operator]
        case Maybe(atom, wanted):
            return (values[atom] > 0) == wanted
        case Both(parts):
            return all(holds(one, values) for one in parts)
        case Either(parts):
            return any(holds(one, values) for one in parts)

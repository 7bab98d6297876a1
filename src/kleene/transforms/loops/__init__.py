"""From functions as trees to tables of loops: `tables`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kleene.ir.loops.tables import LoopTable
from kleene.ir.loops.tree import Function, Loop, Unit, walk
from kleene.transforms.loops.execute import Execution

__all__ = ["callable_from", "table_of", "tables"]


def tables(unit: Unit, others: Iterable[Unit] = ()) -> list[LoopTable]:
    """Return the loops and accesses of every function of `unit` that has a loop of its own.

    Calls are followed into functions of the unit and into those of `others` that it can call.
    """
    known = callable_from(unit, others)
    chosen = [one for one in unit.functions if _has_loop(one)]
    return [table_of(one, known) for one in chosen]


def table_of(function: Function, functions: Mapping[str, Function]) -> LoopTable:
    """Return the loops and accesses of a function, which may call `functions` by their names."""
    return Execution(function, dict(functions)).table()


def callable_from(unit: Unit, others: Iterable[Unit] = ()) -> dict[str, Function]:
    """Return the functions that those of `unit` can call, by name."""
    functions = {**_linked(others), **{one.name: one for one in unit.functions}}
    return {name: one for name, one in functions.items() if name not in unit.overloaded}


def _linked(units: Iterable[Unit]) -> dict[str, Function]:
    """Return the functions that every unit can call: those of one definition, and no overload."""
    found: dict[str, set[Function]] = {}
    overloaded: set[str] = set()
    for unit in units:
        overloaded |= unit.overloaded
        for one in unit.functions:
            if not one.is_static:
                found.setdefault(one.name, set()).add(one)
    return {
        name: next(iter(defined))
        for name, defined in found.items()
        if len({one.place for one in defined}) == 1 and name not in overloaded
    }


def _has_loop(function: Function) -> bool:
    return any(isinstance(one, Loop) for one in walk(function.body))

"""From functions as trees to tables of loops: `tables`."""

from __future__ import annotations

from kleene.ir.loops.tables import LoopTable
from kleene.ir.loops.tree import Function, Loop, Unit, walk
from kleene.transforms.loops.execute import Execution

__all__ = ["tables"]


def tables(unit: Unit) -> list[LoopTable]:
    """Return the loops and accesses of every function of `unit` that has a loop of its own."""
    functions = {one.name: one for one in unit.functions}
    chosen = [one for one in unit.functions if _has_loop(one)]
    return [Execution(one, functions).table() for one in chosen]


def _has_loop(function: Function) -> bool:
    return any(isinstance(one, Loop) for one in walk(function.body))

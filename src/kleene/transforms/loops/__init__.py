"""From functions as trees to tables of loops: `tables`."""

from __future__ import annotations

from kleene.ir.loops.tables import LoopTable
from kleene.ir.loops.tree import Unit
from kleene.transforms.loops.execute import Execution

__all__ = ["tables"]


def tables(unit: Unit) -> list[LoopTable]:
    """Return the loops and accesses of every function of `unit` that has a loop."""
    functions = {one.name: one for one in unit.functions}
    made = [Execution(one, functions).table() for one in unit.functions]
    return [table for table in made if table.loops]

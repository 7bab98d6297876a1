"""Which variables of other procedures does a procedure need, and which of them are assigned?

Only variables of procedures that are written down more than once are asked for: all others are one
node, whoever reads them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.analyses.cfa.contexts import Contexts
from kleene.analyses.cfa.index import ROOT, Index
from kleene.ir.scheme import core as columns


@dataclass(frozen=True, slots=True, eq=False)
class Captures:
    """Variables by the lambda whose closures capture them, or whose code binds them."""

    captured: dict[int, list[int]]
    own: dict[int, list[int]]
    boxed: set[int]  # variables that are assigned: closures capture a box


def captures_of(index: Index, contexts: Contexts) -> Captures:
    """Return the captured variables of a program with these contexts."""
    core = index.core
    binder = [ROOT if owner < 0 else index.inside(owner) for owner in core.owner.tolist()]
    own: dict[int, list[int]] = {}
    for variable, procedure in enumerate(binder):
        if contexts.are_many(procedure):
            own.setdefault(procedure, []).append(variable)
    captured: dict[int, set[int]] = {}
    if own:
        is_use = (core.kind == columns.VARIABLE) | (core.kind == columns.SET)
        for row in np.flatnonzero(is_use).tolist():
            variable, procedure = index.reference[row], index.procedure[row]
            if contexts.are_many(binder[variable]):
                _capture(captured, variable, procedure, binder[variable], index.procedure)
    boxed = {v for variables in own.values() for v in variables if core.is_assigned[v]}
    return Captures({row: sorted(found) for row, found in captured.items()}, own, boxed)


def _capture(
    captured: dict[int, set[int]], variable: int, procedure: int, binder: int, around: list[int]
) -> None:
    """Let all procedures from the one that uses a variable up to its binder's capture it."""
    while procedure != binder and variable not in captured.setdefault(procedure, set()):
        captured[procedure].add(variable)
        procedure = around[procedure]

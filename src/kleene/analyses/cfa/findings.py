"""What is wrong with a program, or cannot be known, as far as control flow shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kleene.analyses.cfa.constraints import ConstraintSystem
from kleene.analyses.cfa.evaluated import sees_libraries_only
from kleene.analyses.cfa.naming import Naming
from kleene.analyses.cfa.reach import Reach
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.primitives import table


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A place, a stable id, and what is the matter."""

    place: str
    id: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.id}: {self.message}"

    def as_json(self) -> dict[str, str]:
        """Return the finding as plain data."""
        return {"place": self.place, "id": self.id, "message": self.message}


def findings_of(system: ConstraintSystem, reach: Reach, naming: Naming) -> list[Finding]:
    """Return all findings in code that can be reached, by their places."""
    found = [
        *_mismatches(system, reach, naming),
        *_primitives(system, reach, naming),
        *_others(system, reach, naming),
    ]
    return sorted(set(found))


def _mismatches(s: ConstraintSystem, reach: Reach, naming: Naming) -> Iterator[Finding]:
    for site, rows in reach.mismatches.items():
        others = len(reach.targets.get(site, ())) or site in reach.calling_others
        given = _arguments(len(s.index.below(site)) - 1)
        for row in rows:
            message = f"{naming.procedure(row)} does not take {given}"
            if others:
                message += "; others that may be called here do"
            yield Finding(naming.place(site), "may-mismatch" if others else "mismatch", message)


def _primitives(s: ConstraintSystem, reach: Reach, naming: Naming) -> Iterator[Finding]:
    for site in np.flatnonzero(s.core.kind == columns.CALL).tolist():
        operator, *operands = s.index.below(site)
        name = s.index.primitive(operator)
        wrong = name is not None and not table()[name].accepts(len(operands))
        if wrong and reach.runs(site):
            message = f"{name} is called with {_arguments(len(operands))}"
            yield Finding(naming.place(site), "mismatch", message)


def _others(s: ConstraintSystem, reach: Reach, naming: Naming) -> Iterator[Finding]:
    for site in reach.evaluating:
        if reach.runs(site):
            message = "text is evaluated: it may call and change all that it is given"
            if not sees_libraries_only(s.index, tuple(s.index.below(site)[1:])):
                message += ", and all that global variables lead to"
            yield Finding(naming.place(site), "evaluates", message)
    for row in s.core.unbound().tolist():
        if reach.runs(row):
            name = s.core.names[s.core.reference[row]]
            yield Finding(naming.place(row), "unbound", f"nothing defines '{name}'")


def _arguments(n: int) -> str:
    return "1 argument" if n == 1 else f"{n} arguments"

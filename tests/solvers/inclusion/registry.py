"""The solvers under test: what each is called, how it solves, and what it refuses."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from hypothesis import strategies as st

from kleene.solvers.inclusion import Problem, Solution
from kleene.solvers.inclusion.hybrid import Costs
from tests.solvers.inclusion.strategies import (
    closures,
    problems,
    random_closures,
    random_problem,
)

ROOM = "kleene.solvers.inclusion"


@dataclass(frozen=True, slots=True)
class Language:
    """Problems of one kind: drawn, or by number."""

    problems: st.SearchStrategy[Problem]
    by_number: Callable[[int], Problem]


@dataclass(frozen=True, slots=True)
class Solver:
    """A way to solve problems; `refuses` gives the reason where one is beyond it."""

    name: str
    solve: Callable[[Problem], Solution]
    refuses: Callable[[Problem], str | None]
    language: Language


EVERYTHING = Language(problems(), random_problem)
CLOSED = Language(problems(flags=False), partial(random_problem, flags=False))
CLOSURES = Language(closures(), random_closures)
SOLVERS: dict[str, tuple[str, Language, dict[str, Any]]] = {
    "reference": ("reference", EVERYTHING, {}),
    "paper-andersen": ("paper.andersen", CLOSED, {}),
    "paper-eigencfa": ("paper.eigencfa", CLOSURES, {}),
    "cpu": ("cpu", EVERYTHING, {}),
    "cpu-threads": ("cpu", EVERYTHING, {"threads": 3}),
    "cuda": ("cuda", EVERYTHING, {}),
    "hybrid": ("hybrid", EVERYTHING, {"threads": 1, "costs": Costs.none()}),
}
ON_DEVICE = ("cuda", "hybrid")


def solver(name: str) -> Solver:
    """Return the solver of that name."""
    place, language, options = SOLVERS[name]
    module = importlib.import_module(f"{ROOM}.{place}")
    if name == "hybrid":
        options = options | {"costs": module.Costs.none()}  # both sides work, whatever it costs
    refuses = getattr(module, "refuses", _takes_all)
    return Solver(name, partial(module.solve, **options), refuses, language)


def _takes_all(_problem: Problem) -> None:
    return None

"""The solvers under test: what each is called, how it solves, and what it refuses."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType

from hypothesis import strategies as st

from kleene.solvers.inclusion import Problem, Solution
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
SOLVERS: dict[str, tuple[str, Language]] = {
    "reference": ("reference", EVERYTHING),
    "paper-andersen": ("paper.andersen", CLOSED),
    "paper-eigencfa": ("paper.eigencfa", CLOSURES),
    "cpu": ("cpu", EVERYTHING),
    "cuda": ("cuda", EVERYTHING),
}


def solver(name: str) -> Solver | str:
    """Return the solver of that name, or why it cannot be had."""
    place, language = SOLVERS[name]
    module = _module(place)
    if isinstance(module, str):
        return module
    return Solver(name, module.solve, getattr(module, "refuses", _takes_all), language)


def _takes_all(_problem: Problem) -> None:
    return None


def _module(name: str) -> ModuleType | str:
    """Return the module, or why there is none; one that exists and fails to import is a fault."""
    try:
        return importlib.import_module(f"{ROOM}.{name}")
    except ModuleNotFoundError as error:
        if error.name not in (f"{ROOM}.{name}", f"{ROOM}.{name.split('.')[0]}"):
            raise
        return f"there is no {ROOM}.{name} yet"

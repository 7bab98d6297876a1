"""The solvers under test: what each is called, how it solves, and what it refuses."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from hypothesis import strategies as st

from kleene.solvers.inclusion import Problem, Solution
from kleene.solvers.inclusion.threads import Threads
from tests.solvers.inclusion.strategies import (
    closures,
    problems,
    random_closures,
    random_mixed,
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
MIXED = Language(problems(), random_mixed)  # with sets of several words, too
CLOSED = Language(problems(flags=False), partial(random_problem, flags=False))
CLOSURES = Language(closures(), random_closures)
SOLVERS: dict[str, tuple[str, Language, dict[str, Any]]] = {
    "reference": ("reference", EVERYTHING, {}),
    "paper-andersen": ("paper.andersen", CLOSED, {}),
    "paper-eigencfa": ("paper.eigencfa", CLOSURES, {}),
    "cpu": ("cpu", MIXED, {}),
    "cpu-shards": ("cpu", MIXED, {"threads": 3, "split_words": 0}),
    "cpu-classes": ("cpu", MIXED, {"n_direct": 0}),
    "cpu-shards-classes": ("cpu", MIXED, {"threads": 2, "split_words": 0, "n_direct": 0}),
    "cpu-split-late": ("cpu", MIXED, {"threads": 2, "split_words": 300, "n_direct": 0}),
    "cuda": ("cuda", EVERYTHING, {}),
    "hybrid": ("engine", EVERYTHING, {}),
    "paper-sharing": ("paper.sharing", EVERYTHING, {}),
}
ON_DEVICE = ("cuda", "hybrid", "paper-sharing")
# EigenCFA's own algorithm knows addresses, functions and calls alone.
OF_ALL_RULES = [name for name in SOLVERS if name != "paper-eigencfa"]


def solver(name: str) -> Solver:
    """Return the solver of that name."""
    place, language, options = SOLVERS[name]
    module = importlib.import_module(f"{ROOM}.{place}")
    refuses = getattr(module, "refuses", _takes_all)
    solve = module.both if name == "hybrid" else module.solve  # however few nodes there are
    solve = solve_by_iterations if name.startswith("cpu-") else solve
    return Solver(name, partial(solve, **options), refuses, language)


def solve_by_iterations(problem: Problem, threads: int = 1, **options: Any) -> Solution:
    """Solve without merging first, and with other limits than those that are fastest."""
    from kleene.solvers.inclusion.cpu.solver import Solver

    with Threads(threads) as running:
        return Solver(problem, running, **options).solution()


def solve_by_classes(problem: Problem, threads: int = 1) -> Solution:
    """Solve with a class for every set and a shard for each thread, however small they are."""
    return solve_by_iterations(problem, threads, n_direct=0, split_words=0)


def _takes_all(_problem: Problem) -> None:
    return None

"""`PointsTo`: generates the constraints of a program and has them solved."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kleene.analyses.points_to import receivers
from kleene.analyses.points_to.answers.statistics import Phase, timed
from kleene.analyses.points_to.compiled import UNIT
from kleene.analyses.points_to.result import PointsToResult
from kleene.base import progress
from kleene.base.arrays import Ints
from kleene.base.device import Device
from kleene.base.errors import SourceError
from kleene.base.paths import paths_of
from kleene.ir import Program
from kleene.kernels import compiled
from kleene.solvers import inclusion
from kleene.solvers.inclusion.compiled import UNIT as SOLVER_UNIT

if TYPE_CHECKING:
    from kleene.analyses.points_to.memory_model import ConstraintSystem

# Plain Python took, by instruction: 0.15 ms in programs of 500, 0.08 ms of 8,600 (dc), 0.2 ms of
# 14,000 (bc), 0.15 ms of 29,000 (curl), 1.3 ms of 32,000 (htop).
_INTERPRETED_S_AN_INSTRUCTION = 3e-4
_MOST_TIMES = 4  # that a program is solved anew, each time with more functions converted
_NONE = np.empty(0, np.int64)
_NO_PAIRS = np.empty((0, 2), np.int64)


@dataclass(frozen=True, slots=True)
class PointsTo:
    """Which objects may each pointer of a program hold?

    Inclusion-based (Andersen), field-sensitive, context-insensitive but for small functions of C++
    that move pointers; heap objects by allocation site, and by call site of allocation wrappers.

    Attributes:
        library: whether the program is a part of others: every symbol they can see may be used by
            them. Else there must be a `main`, and it alone is entered.
        wrappers: further functions that return fresh storage, each call its own.
        models: files with models of external functions, besides those that come with Kleene.
        arguments: which of the functions that its pointer holds a call reaches: "auto" those of as
            many parameters as it passes arguments, and those that the program converts to another
            type; "exact" the former alone, as C has it; "types" those of the very types of the
            call, as C has it; "any" all.
        pointers_in_bytes: whether pointers that leave as bytes (files, pipes, sockets, mapped
            memory) or as printed numbers may come back so. If not, the answer says that it assumes
            so.
    """

    library: bool = False
    wrappers: tuple[str, ...] = ()
    models: tuple[str | os.PathLike[str], ...] = ()
    arguments: str = "auto"
    pointers_in_bytes: bool = True

    def __post_init__(self) -> None:
        for name in ("wrappers", "models"):  # one text is one name, not a name for each letter
            object.__setattr__(self, name, paths_of(getattr(self, name)))

    def run(
        self,
        program: Program,
        *,
        device: Device | str = Device.AUTO,
        threads: int | None = None,
        announce: Callable[[inclusion.Plan], None] | None = None,
    ) -> PointsToResult:
        """Return the answer for a program.

        Args:
            program: what to analyse.
            device: "cpu", "cuda", "hybrid" or "auto".
            threads: of the CPU.
            announce: is told who will solve it and in how much memory, before that starts.

        Raises:
            SourceError: the program is not one of C or C++ (`points-to/not-c`), there is no `main`
                and `library` was not asked for (`points-to/no-main`), or the GPU asked for cannot
                take the problem.
        """
        n_instructions = len(program.instructions) if isinstance(program, Program) else 0
        work_s = _INTERPRETED_S_AN_INSTRUCTION * n_instructions
        phases: list[Phase] = []
        with compiled.sized(work_s, UNIT, SOLVER_UNIT):
            with timed("constraints", phases), progress.task("generating constraints"):
                system = self.constraints(program)
            if announce is not None:
                announce(inclusion.plan(system.problem, device))
            with timed("solve", phases), progress.task("solving"):
                solve = partial(inclusion.solve, device=device, threads=threads)
                system, solution = self._settled(program, system, solve)
        return PointsToResult(program, system, solution, tuple(phases))

    def _settled(
        self,
        program: Program,
        system: ConstraintSystem,
        solve: Callable[[inclusion.Problem], inclusion.Solution],
    ) -> tuple[ConstraintSystem, inclusion.Solution]:
        """Return the solution, and the system again with what is assumed of calls.

        Where the calls show that functions are converted (`constraints.conversions`), or which
        allocators they reach (`constraints.wrappers`), the system that knows it is solved anew.
        After some times every function counts as converted, and no call as resolved.
        """
        from kleene.analyses.points_to.constraints import conversions, wrappers

        for left in range(_MOST_TIMES, -1, -1):
            refined, solution = receivers.solve(program, system, solve)
            held = conversions.held(program, refined, solution, self.arguments)
            is_auto = self.arguments == "auto"
            is_open = is_auto and bool(len(held.converted) or len(held.open_calls))
            resolved = wrappers.resolvable(program, refined, solution)
            if not is_open and (left == 0 or np.array_equal(resolved, system.resolved_calls)):
                break
            converted: Ints = np.flatnonzero(system.is_converted)
            opened: Ints = system.open_calls
            if is_open:
                known = system.is_converted | (left == 1)
                converted = np.append(np.flatnonzero(known), held.converted)
                opened = np.concatenate([opened, held.open_calls])
            resolved = resolved if left > 1 else resolved[:0]
            system = self.constraints(program, converted, opened, resolved)
        assumptions = (*system.assumptions, *conversions.assumed(self.arguments, system, held))
        return replace(refined, assumptions=assumptions), solution

    def constraints(
        self,
        program: Program | Any,
        converted: Ints = _NONE,
        open_calls: Ints = _NONE,
        resolved_calls: Ints = _NO_PAIRS,
    ) -> ConstraintSystem:
        """Return the constraints on the pointers of a program, unsolved.

        `converted` are functions (rows) known to be called with other arguments than they take,
        `open_calls` instructions known to call all functions that they hold, `resolved_calls` pairs
        of an instruction known to call one allocator alone, and that function (row).
        """
        from kleene.analyses.points_to.constraints import generate
        from kleene.analyses.points_to.constraints.functions import ArgumentRule
        from kleene.analyses.points_to.library import read_models

        if not isinstance(program, Program):
            note = "for Scheme there is control-flow analysis: program.cfa()"
            raise SourceError(None, "points-to/not-c", "this is no C or C++ program", note)
        if self.arguments not in list(ArgumentRule):
            message = f"there is no rule of arguments '{self.arguments}'"
            note = f"there are {', '.join(ArgumentRule)}"
            raise SourceError(None, "points-to/no-such-rule", message, note)
        models = read_models(Path(path) for path in self.models) if self.models else None
        return generate(
            program,
            library_mode=self.library,
            wrappers=self.wrappers,
            models=models,
            arguments=ArgumentRule(self.arguments),
            converted=converted,
            open_calls=open_calls,
            resolved_calls=resolved_calls,
            pointers_in_bytes=self.pointers_in_bytes,
        )

"""`CFA`: states the constraints of a Scheme program and has them solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kleene.analyses.cfa.result import CFAResult
from kleene.analyses.cfa.statement import Statement, state
from kleene.base import progress
from kleene.base.device import Device
from kleene.base.errors import SourceError
from kleene.ir.scheme import Core
from kleene.solvers import inclusion


@dataclass(frozen=True, slots=True)
class CFA:
    """Which procedures may each expression of a Scheme program be, and whom may each call reach?

    Shivers' 0CFA: one set for each variable, whoever calls; data are told apart by where they are
    made.

    Attributes:
        reachable_only: whether only code counts that can be reached from the top level; else every
            call of the program is taken to happen, as in the paper on EigenCFA.
    """

    reachable_only: bool = True

    def run(
        self, program: Core, *, device: Device | str = Device.AUTO, threads: int | None = None
    ) -> CFAResult:
        """Return the answer for a program.

        Raises:
            SourceError: the program is no core of a Scheme program (`cfa/not-scheme`), or the GPU
                asked for cannot take the problem.
        """
        with progress.task("stating constraints"):
            statement = self.state(program)
        with progress.task("solving"):
            solution = inclusion.solve(statement.problem, device=device, threads=threads)
        return CFAResult(program, statement, solution)

    def state(self, program: Core | Any) -> Statement:
        """Return what a program says about its procedures, unsolved."""
        if not isinstance(program, Core):
            note = "read one with kleene.scheme.load"
            raise SourceError(None, "cfa/not-scheme", "this is no Scheme program", note)
        return state(program, self.reachable_only)

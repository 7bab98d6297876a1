"""`CFA`: generates the constraints of a Scheme program and has them solved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kleene.analyses.cfa.constraints import ConstraintSystem, generate
from kleene.analyses.cfa.contexts import Contexts, longer
from kleene.analyses.cfa.index import Index
from kleene.analyses.cfa.result import CFAResult
from kleene.base import progress
from kleene.base.device import Device
from kleene.base.errors import SourceError
from kleene.ir.scheme import Core
from kleene.kernels import compiled
from kleene.solvers import inclusion
from kleene.solvers.inclusion import Solution
from kleene.solvers.inclusion.compiled import UNIT as SOLVER_UNIT

# Rows that contexts may write down, and how many times as many as the program has.
_FREE_ROWS, _TIMES = 50_000, 4
_INTERPRETED_S_A_ROW = 2e-4  # to generate and solve the constraints of a core's row


@dataclass(frozen=True, slots=True)
class CFA:
    """Which procedures may each expression of a Scheme program be, and whom may each call reach?

    Shivers' 0CFA: one set for each variable, whoever calls; data are told apart by where they are
    made. With m = 1 or 2 this is m-CFA: both are also told apart by the calls of the m topmost
    frames of the stack (`contexts`).

    Attributes:
        reachable_only: whether only code counts that can be reached from the top level; else every
            call of the program is taken to happen, as in the paper on EigenCFA.
        m: how many calls tell contexts apart: 0, 1 or 2. Procedures for which that would take too
            much have one context (`CFAResult.merged`); what shorter contexts told apart stays so.
        polyvariant_let: whether procedures that are bound inside others, by `let`, `letrec` or
            `define`, are told apart by their calls even where m is 0.
        pipeline: "direct", or "eigencfa": by CPS and abstract Church encodings as in the paper on
            EigenCFA (`eigencfa`), for programs in its language and where every call counts.
        library: whether code outside may use all that the top level defines, and call it with
            anything: for files that only define.
    """

    reachable_only: bool = True
    m: int = 0
    polyvariant_let: bool = False
    pipeline: str = "direct"
    library: bool = False

    def run(
        self,
        program: Core,
        *,
        device: Device | str = Device.AUTO,
        threads: int | None = None,
        announce: Callable[[inclusion.Plan], None] | None = None,
    ) -> CFAResult:
        """Return the answer for a program.

        Args:
            program: what to analyse.
            device: "cpu", "cuda", "hybrid" or "auto".
            threads: of the CPU.
            announce: is told who will solve it and in how much memory, before that starts.

        Raises:
            SourceError: the program is no core of a Scheme program (`cfa/not-scheme`), options do
                not go together (`cfa/bad-context`, `cfa/bad-pipeline`), a form is not in the
                paper's language (`cps/no-form`), or the GPU asked for cannot take the problem.
        """
        n_rows = program.n_rows if isinstance(program, Core) else 0
        with compiled.sized(_INTERPRETED_S_A_ROW * n_rows, SOLVER_UNIT):
            system, coarser = self._refined(program, device, threads)
            if announce is not None:
                announce(inclusion.plan(system.problem, device))
            solution = _solved(system, device, threads)
            return CFAResult(program, system, solution, coarser, self.library)

    def constraints(
        self, program: Core | Any, *, device: Device | str = Device.AUTO, threads: int | None = None
    ) -> ConstraintSystem:
        """Return what a program says about its procedures; only shorter contexts are solved."""
        return self._refined(program, device, threads)[0]

    def _refined(
        self, program: Core | Any, device: Device | str, threads: int | None
    ) -> tuple[ConstraintSystem, CFAResult | None]:
        """Return the constraints, and the answer with shorter contexts if that may know more.

        It may where procedures lose the contexts that they had: those calls it told apart.
        """
        if not isinstance(program, Core):
            note = "for C and C++ there is points-to analysis: program.points_to()"
            raise SourceError(None, "cfa/not-scheme", "this is no Scheme program", note)
        if self.m not in (0, 1, 2):
            raise SourceError(None, "cfa/bad-context", f"m is {self.m}: it may be 0, 1 or 2")
        if self.pipeline != "direct":
            return self._by_paper(program), None
        budget = _FREE_ROWS + _TIMES * program.n_rows
        coarser: CFAResult | None = None
        only_local = self.m == 0 and self.polyvariant_let
        system = self._generated(Index(program), Contexts())
        for depth in range(1, (1 if only_local else self.m) + 1):
            solution = _solved(system, device, threads)
            contexts = longer(system, solution, depth, only_local, budget)
            if depth > 1 and contexts.merged != system.contexts.merged:
                coarser = CFAResult(program, system, solution, coarser)
            system = self._generated(system.index, contexts)
        return system, coarser

    def _by_paper(self, program: Core) -> ConstraintSystem:
        if self.pipeline != "eigencfa":
            message = f"there is no pipeline '{self.pipeline}'"
            raise SourceError(None, "cfa/bad-pipeline", message, "it may be 'direct' or 'eigencfa'")
        if self.reachable_only or self.m or self.polyvariant_let or self.library:
            note = "use reachable_only=False (--every-call), without contexts"
            message = "in the EigenCFA pipeline every call counts, and contexts are not told apart"
            raise SourceError(None, "cfa/bad-pipeline", message, note)
        from kleene.analyses.cfa import eigencfa  # few programs need it

        with progress.task("generating constraints"):
            return eigencfa.generate(program)

    def _generated(self, index: Index, contexts: Contexts) -> ConstraintSystem:
        with progress.task("generating constraints"):
            return generate(index, self.reachable_only, contexts, self.library)


def _solved(system: ConstraintSystem, device: Device | str, threads: int | None) -> Solution:
    with progress.task("solving"):
        solution = inclusion.solve(system.problem, device=device, threads=threads)
    assert system.foresaw(solution), "a call in a context that shorter ones did not show"
    return solution

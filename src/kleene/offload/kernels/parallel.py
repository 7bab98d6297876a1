"""Parallel loops, one by one: what is known of each, and which of them are outermost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kleene.base.errors import Span
from kleene.ir.loops.tables import LoopRow
from kleene.offload.kernels.dependences import Facts
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict

PARALLEL = frozenset({Verdict.PAR, Verdict.PRIV, Verdict.COPY, Verdict.RED})


@dataclass(frozen=True, slots=True)
class ParallelLoop:
    """A loop with a verdict of parallel, and the verdicts on all loops of its function."""

    facts: Facts
    row: LoopRow
    verdict: LoopVerdict
    verdicts: Mapping[Span, LoopVerdict]  # by the loop's place


def visit_outermost(
    facts: Facts, verdicts: Iterable[LoopVerdict], visit: Callable[[ParallelLoop], bool]
) -> None:
    """Call `visit` with each parallel loop that is in none for which it returned True.

    What is asked about each has a budget of its own.
    """
    by_place = {one.place: one for one in verdicts}
    taken: set[int] = set()
    for row in facts.table.loops:
        verdict = by_place.get(row.place)
        if row.parent in taken:
            taken.add(row.number)
        elif not row.is_inlined and verdict is not None and verdict.verdict in PARALLEL:
            facts.renew()
            if visit(ParallelLoop(facts, row, verdict, by_place)):
                taken.add(row.number)

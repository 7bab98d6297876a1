"""What solving will take is said before it starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.analyses.cfa import CFA
from kleene.analyses.points_to import PointsTo
from kleene.frontends import load
from kleene.solvers import inclusion
from kleene.solvers.inclusion import Plan, Problem

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(
    ("analysis", "program"), [(CFA(), "scheme/shop.scm"), (PointsTo(), "shapes")]
)
def test_the_plan_is_said_before_solving(
    analysis: CFA | PointsTo, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    solve = inclusion.solve

    def watched(problem: Problem, **options: object) -> object:
        events.append("solving")
        return solve(problem, **options)  # type: ignore[arg-type]

    def announce(plan: Plan) -> None:
        assert plan.needed_bytes >= 0
        assert plan.free_bytes > 0
        events.append(str(plan))

    monkeypatch.setattr(inclusion, "solve", watched)
    analysis.run(load(EXAMPLES / program), device="cpu", announce=announce)
    assert len(events) == 2
    assert events[0].startswith("cpu: as asked; at most ")
    assert events[1] == "solving"

"""One test body runs over every solver."""

from __future__ import annotations

import pytest

from tests.solvers.inclusion.registry import SOLVERS, Solver
from tests.solvers.inclusion.registry import solver as solver_of


@pytest.fixture(params=list(SOLVERS), scope="session")
def solver(request: pytest.FixtureRequest) -> Solver:
    """Each solver in turn; skips with the reason where one is not there."""
    found = solver_of(request.param)
    if isinstance(found, str):
        pytest.skip(found)
    return found

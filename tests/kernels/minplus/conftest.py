"""One `backend` fixture: the reference first, so that the laws judge it too."""

from __future__ import annotations

from types import ModuleType

import pytest

from kleene.kernels.minplus import cpu, reference
from kleene.kernels.minplus.reference import batch as _  # noqa: F401 - found as reference.batch

BACKENDS = {"reference": reference, "cpu": cpu}


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> ModuleType:
    """The back end under test: its operations take every argument by its place."""
    return BACKENDS[request.param]

"""One `backend` fixture: the reference first, so that the laws are asked of it too."""

from __future__ import annotations

from typing import Any

import pytest

from kleene.kernels.minplus import reference
from kleene.kernels.minplus.cpu import operations
from kleene.kernels.minplus.layout import Forms


class OneOctagon:
    """The operations of a back end on one octagon, with the arguments of the reference."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self.batch, name)

    def close(self, m, tighten):
        return bool(self.batch.close(m, None, tighten))

    def strengthen(self, m, tighten):
        return bool(self.batch.strengthen(m, None, tighten))

    def close_after(self, m, rows, columns, bounds, tighten):
        return bool(self.batch.close_after(m, None, rows, columns, bounds, None, tighten))

    def add(self, m, rows, columns, bounds):
        self.batch.add(m, None, rows, columns, bounds, None)

    def widen(self, out, a, b, thresholds):
        self.batch.widen(out, a, b, None, thresholds)

    def narrow(self, out, a, b):
        self.batch.narrow(out, a, b, None)

    def includes(self, a, b):
        return bool(self.batch.includes(a, b, None))

    def equals(self, a, b):
        return bool(self.batch.equals(a, b, None))

    def forget(self, m, variable):
        self.batch.forget(m, None, variable)

    def assign(self, m, *arguments):
        self.batch.assign(m, None, *arguments)

    def assign_interval(self, m, *arguments):
        self.batch.assign_interval(m, None, *arguments)

    def assign_linear(self, m, target, *form_and_tighten):
        *form, tighten = form_and_tighten
        self.batch.assign_linear(m, None, target, Forms(*form), tighten)

    def unary(self, out, m):
        self.batch.unary(out, m, None, None)

    def select(self, out, m, variables):
        self.batch.select(out, m, variables, None, None, None)

    def place(self, out, m, variables):
        self.batch.place(out, m, variables, None, None, None)

    def minimal(self, out, m):
        self.batch.minimal(out, m, None)


BACKENDS = {"reference": reference, "cpu": OneOctagon(operations)}


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Any:
    """The back end under test: its operations take every argument by its place."""
    return BACKENDS[request.param]

"""Random cases can be asked for in parts."""

from __future__ import annotations

import pytest

from tests.seeds import IS_DEEP, seeds


def test_seeds_are_those_that_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KLEENE_SEEDS", raising=False)
    assert seeds(3, deep=9) == range(9 if IS_DEEP else 3)
    monkeypatch.setenv("KLEENE_SEEDS", "2000:4000")
    assert seeds(3, deep=9) == range(2000, 4000)

"""Programs that are compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load
from kleene.ir import Program

CHECKS = Path(__file__).with_name("checks.c")


@pytest.fixture(scope="package")
def program() -> Program:
    """The functions of `checks.c`."""
    return load(CHECKS)

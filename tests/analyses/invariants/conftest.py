"""Programs that are compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load
from kleene.ir import Program

from .sanitized import sanitizers

CHECKS = Path(__file__).with_name("checks.c")


@pytest.fixture(scope="package")
def program() -> Program:
    """The functions of `checks.c`."""
    return load(CHECKS)


@pytest.fixture
def sanitized(tmp_path: Path) -> Path:
    """A folder for programs that are built with sanitizers."""
    if sanitizers() is None:
        pytest.skip("neither clang nor gcc is installed: no sanitizers")
    return tmp_path

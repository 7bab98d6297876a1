"""`import kleene` brings in nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kleene

HEAVY = ("cupy", "llvmlite", "numba", "numpy", "rich", "typer")


def test_import_is_light() -> None:
    code = f"import sys, kleene; print([name for name in {HEAVY} if name in sys.modules])"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout == "[]\n"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        kleene.nonsense  # noqa: B018


def test_the_public_names_exist() -> None:
    for name in kleene.__all__:
        assert getattr(kleene, name) is not None

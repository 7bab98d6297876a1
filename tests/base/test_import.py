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


def test_dir_shows_what_there_is() -> None:
    """A process that has imported nothing else sees every public name, and can use it."""
    code = "import kleene; print(*dir(kleene)); [getattr(kleene, name) for name in dir(kleene)]"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    shown = child.stdout.split()
    assert {*kleene.__all__, "algebra", "graphs", "results", "__doc__"} <= set(shown)
    assert not any(name.startswith("_") and not name.startswith("__") for name in shown)

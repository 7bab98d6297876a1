"""The command line as a child process: as users meet it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

Kleene = Callable[..., subprocess.CompletedProcess[str]]
COMMAND = [sys.executable, "-c", "from kleene.cli import main; main()"]


@pytest.fixture(scope="session")
def kleene() -> Kleene:
    """Run `kleene` with the given arguments; give its exit code and what it wrote."""

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        words = [str(argument) for argument in arguments]
        return subprocess.run([*COMMAND, *words], capture_output=True, text=True, **options)  # type: ignore[call-overload]

    return run

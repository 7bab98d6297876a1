"""What tests of pages share."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def chromium() -> Callable[..., str]:
    """Run Debian's chromium without a window; give what it prints."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed: apt-get install chromium")

    def run(folder: Path, *arguments: str) -> str:
        flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
        flags += " --disable-background-networking --disable-component-update --disable-sync"
        profile = f"--user-data-dir={folder / 'profile'}"
        command = [program, *flags.split(), profile, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run

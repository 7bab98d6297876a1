"""`kleene warm` compiles what commands use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kleene.cli.commands import warm


@pytest.mark.parametrize("name", warm._TASKS)
def test_every_task_runs(name: str, tmp_path: Path) -> None:
    """By plain Python: what it compiles, other tests compile too."""
    for file, text in warm._INPUTS.items():
        (tmp_path / file).write_text(text)
    task = warm._TASKS[name].replace("interpreted(False)", "interpreted()")
    command = [sys.executable, "-c", warm._START + task]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_fault_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(warm, "_TASKS", {"good": "", "bad": "raise ValueError('no such thing')"})
    assert sorted("no such thing" in fault for fault in warm._finished(tmp_path)) == [False, True]

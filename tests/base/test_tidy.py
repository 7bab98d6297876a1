"""What a process starts and half makes does not outlive it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import kleene
from kleene.base import tidy
from tests.cli.test_limits import has_ended

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups and locks are POSIX")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_for_a_block(here: Path) -> None:
    with tidy.scratch() as folder:
        (folder / "file").write_text("text")
        assert folder.is_relative_to(here)
    assert list(here.iterdir()) == []


def test_folders_in_use_stay_and_abandoned_ones_go(here: Path) -> None:
    left = here / "kleene-left"
    left.mkdir()
    (left / "lock").touch()
    (here / "kleene-others").mkdir()  # nobody of ours: it has no lock
    (here / "kleene-link").symlink_to(left)
    with tidy.scratch() as first, tidy.scratch() as second:
        assert first.exists()
        assert second.exists()
        assert not left.exists()
    assert sorted(path.name for path in here.iterdir()) == ["kleene-link", "kleene-others"]


def test_everything_can_be_tidied_at_once(here: Path) -> None:
    half = here / "half"
    half.touch()
    endless = [sys.executable, "-c", "import time; time.sleep(1000)"]
    with tidy.unfinished(half), tidy.scratch() as folder, tidy.running(endless) as child:
        tidy.tidy()
        assert child.wait(30) < 0
        assert not half.exists()
        assert not folder.exists()


def test_what_a_process_started_ends_with_it(here: Path) -> None:
    words = ["sh", "-c", f"sleep 1000 & echo $! >{here}/number; wait"]
    with tidy.running(words):
        while not (here / "number").exists() or not (here / "number").read_text():
            time.sleep(0.01)
    number = int((here / "number").read_text())
    assert has_ended(number)


def test_a_process_that_takes_too_long_is_ended() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        tidy.run(["sleep", "1000"], timeout=0.1)


def test_what_a_process_says() -> None:
    done = tidy.run(["sh", "-c", "cat; echo err >&2; exit 3"], input=b"in")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"in", b"err\n")


def test_every_folder_and_process_is_on_the_list() -> None:
    """Nobody else makes temporary folders or starts processes: a signal would leave them."""
    package = Path(kleene.__file__).parent
    allowed = {
        "base/tidy.py",
        "kernels/launch/host_build.py",  # asks a tool a question; keeps libraries it has loaded
    }
    words = ("TemporaryDirectory", "mkdtemp", "subprocess.run(", "subprocess.Popen(", "os.system")
    found = {
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if any(word in file.read_text(encoding="utf-8") for word in words)
    }
    assert found <= allowed

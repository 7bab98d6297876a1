"""`--timeout`, `--memory` and `--quiet`: ordinary errors, and nothing half-written."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kleene.cli.options import UsageError
from kleene.cli.shared import bytes_of
from tests.cli.conftest import Kleene

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHOP = EXAMPLES / "scheme" / "shop.scm"


def limited(tmp_path: Path, body: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Return how a command with this body ends under the limits that `options` set."""
    code = f"""
import os, subprocess, sys, tempfile, time
from pathlib import Path
import typer
from kleene.cli.guard import guarded
from kleene.cli.output import emit, note, write_whole
from kleene.cli.shared import AsJson, bytes_of

def run(timeout: float = None, memory: str = None, as_json: bool = False):
    limits = dict(timeout=timeout, memory=bytes_of(memory) if memory else None)
    guarded(body)(**limits, as_json=as_json)

def body(as_json):
    {body.strip()}

typer.run(run)
"""
    env = os.environ | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", code, *options]
    # What outlives the command holds its output open: it shall not keep the tests waiting.
    return subprocess.run(
        command, env=env, capture_output=True, text=True, cwd=tmp_path, timeout=50
    )


def test_a_command_in_time_ends_as_without_a_limit(tmp_path: Path) -> None:
    body = "emit(['answer\\n']); note('beside'); raise typer.Exit(3)"
    done = limited(tmp_path, body, "--timeout", "60", "--memory", "4G")
    assert (done.returncode, done.stdout, done.stderr) == (3, "answer\n", "note: beside\n")
    assert list(tmp_path.iterdir()) == []


def test_time_passed_is_an_error_and_nothing_is_half_written(tmp_path: Path) -> None:
    body = "emit(['half']); write_whole(Path('out'), (time.sleep(60), '')[1])"
    done = limited(tmp_path, body, "--timeout", "0.5")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error[cli/timeout]: not done after 0.5 s\n")
    assert list(tmp_path.iterdir()) == []


def endless(named: Path) -> str:
    """Return a shell's endless loop, which first says its number in a file."""
    return f"echo $$ >{named}; while true; do sleep 0.1; done"


def has_ended(number: int, patience_s: float = 20) -> bool:
    """Return whether a process ends, or is only still to be buried by its parent."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        try:
            os.kill(number, 0)
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_what_the_command_started_ends_with_it(tmp_path: Path) -> None:
    named = tmp_path / "number"
    body = f"subprocess.Popen(['sh', '-c', {endless(named)!r}]).wait()"
    assert limited(tmp_path, body, "--timeout", "2").returncode == 1
    assert has_ended(int(named.read_text()))


def test_a_file_being_written_when_time_is_up_is_removed(tmp_path: Path) -> None:
    body = """
    opened = Path.open
    class Slow:
        def __init__(self, file): self.file = file
        def __enter__(self): return self
        def __exit__(self, *_): self.file.close()
        def write(self, text): self.file.write(text); self.file.flush(); time.sleep(60)
    Path.open = lambda self, *a, **k: Slow(opened(self, *a, **k))
    write_whole(Path('out'), 'text')
    """
    assert limited(tmp_path, body, "--timeout", "0.5").returncode == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc on this system")
def test_too_much_memory_is_an_error(tmp_path: Path) -> None:
    body = "held = bytearray(b'1') * (400 << 20); time.sleep(60)"
    done = limited(tmp_path, body, "--memory", "200M", "--as-json")
    assert (done.returncode, done.stderr) == (1, "")
    (error,) = json.loads(done.stdout)["errors"]
    assert error["id"] == "cli/out-of-memory"
    assert "200 allowed" in error["message"]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc on this system")
def test_memory_of_child_processes_counts(tmp_path: Path) -> None:
    child = "x = bytearray(b'1') * (400 << 20); import time; time.sleep(60)"
    body = f"subprocess.run([sys.executable, '-c', {child!r}])"
    done = limited(tmp_path, body, "--memory", "200M", "--timeout", "50")
    assert done.stderr.startswith("error[cli/out-of-memory]")


def test_an_interrupt_ends_the_command_and_what_it_started(tmp_path: Path) -> None:
    named = tmp_path / "number"
    code = (
        "import signal, subprocess, typer\n"
        "from kleene.cli.guard import guarded\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs behind '&' ignore it\n"
        f"def body(): subprocess.Popen(['sh', '-c', {endless(named)!r}]).wait()\n"
        "def run(): guarded(body)(timeout=60.0)\n"
        "typer.run(run)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    while not (named.exists() and named.read_text()):
        assert child.poll() is None
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    assert child.wait(30) == 130
    assert child.stderr is not None
    assert "Traceback" not in child.stderr.read()
    child.stderr.close()
    assert has_ended(int(named.read_text()))


def test_a_command_under_limits_answers_the_same(kleene: Kleene) -> None:
    plain, under = kleene("ir", SHOP), kleene("ir", SHOP, "--timeout", 100, "--memory", "8G")
    assert (under.returncode, under.stdout) == (0, plain.stdout)


def test_quiet_prints_the_answer_alone(kleene: Kleene) -> None:
    assert kleene("cfa", SHOP, "--quiet").stderr == ""
    assert kleene("cfa", SHOP).stderr.startswith("note: ")


@pytest.mark.parametrize(
    ("text", "n_bytes"), [("7", 7), ("2K", 2048), ("1.5M", 3 << 19), ("4GiB", 4 << 30)]
)
def test_sizes(text: str, n_bytes: int) -> None:
    assert bytes_of(text) == n_bytes


@pytest.mark.parametrize("text", ["", "0", "-1", "4X", "G"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        bytes_of(text)


def ends_for_want_of_memory(kleene: Kleene, folder: Path, *words: object) -> None:
    """Check that a command says that its memory is used up, and leaves nothing behind."""
    export, scratch = folder / "all.json", folder / "scratch"
    scratch.mkdir()
    env = os.environ | {"TMPDIR": str(scratch)}
    done = kleene(*words, "--export", export, "--memory", "140M", env=env)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search(
        r"^error\[cli/out-of-memory\]: [0-9]+ MB are held, and 140 allowed$", done.stderr, re.M
    )
    assert not export.exists()
    assert list(scratch.iterdir()) == []


def test_memory_is_used_up_by_a_large_scheme_program(kleene: Kleene, tmp_path: Path) -> None:
    """It needs far more than its limit: reading, expanding, or contexts pass it, and no killer."""
    one = "(define (f{0} g) (if (pair? g) (f{1} (cdr g)) (g (lambda (x) (f{1} (list x g {0}))))))\n"
    n = 12_000
    text = "".join(one.format(i, (i + 1) % n) for i in range(n)) + "(f0 f1)\n"
    (tmp_path / "large.scm").write_text(text)
    ends_for_want_of_memory(kleene, tmp_path, "cfa", tmp_path / "large.scm", "--m", "2")


def test_memory_is_used_up_by_a_large_c_program(
    kleene: Kleene, tmp_path: Path, shared_data: Path
) -> None:
    bitcode = shared_data / "bitcode" / "sqlite3.bc"
    ends_for_want_of_memory(kleene, tmp_path, "points-to", bitcode, "--library")

"""However a command ends, it ends with a sentence, a code, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, Kleene

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHOP = EXAMPLES / "scheme" / "shop.scm"
# A compiler that starts another process, leaves a file, and does not end.
ENDLESS = """\
#!/bin/sh
case "$*" in *--version*) echo "clang version 22"; exit;; esac
echo >"$TMPDIR/file"
sleep 1000
exit
"""
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")


def shell(words: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Return what a shell does with `kleene …`; its streams are buffered unless `words` say not."""
    whole = words.replace("kleene", f"{sys.executable} -m kleene", 1)
    whole = f"unset PYTHONUNBUFFERED; {whole}"
    return subprocess.run(["bash", "-c", whole], capture_output=True, text=True, **options)  # type: ignore[call-overload]


@needs_full
@pytest.mark.parametrize("rest", [" --json", " --timeout 60"])
def test_a_full_stdout_is_an_error(rest: str) -> None:
    done = shell(f"kleene ir {SHOP} --quiet{rest} >/dev/full")
    assert done.returncode == 1
    assert done.stderr == "error[cli/cannot-write]: stdout: No space left on device\n"


@needs_full
@pytest.mark.parametrize("words", ["--version", "ir --help"])
def test_so_it_is_for_what_typer_prints(words: str) -> None:
    done = shell(f"kleene {words} >/dev/full")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "error[cli/cannot-write]" in done.stderr


@pytest.mark.parametrize("rest", ["", " --timeout 60"])
def test_a_closed_stdout_is_an_error(rest: str) -> None:
    done = shell(f"kleene ir {SHOP} --quiet{rest} >&-")
    assert done.returncode == 1
    assert done.stderr == "error[cli/cannot-write]: stdout: Bad file descriptor\n"


def test_nothing_is_written_into_what_gets_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    done = shell("kleene ir a.c --no-cache <&- 2>&-", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "define @main" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.c"]


@needs_full
@pytest.mark.parametrize("before", ["", "PYTHONUNBUFFERED=1 "])
@pytest.mark.parametrize("rest", ["", " --timeout 60"])
def test_a_full_stderr_keeps_no_answer_back(before: str, rest: str) -> None:
    done = shell(f"{before}kleene cfa {SHOP}{rest} 2>/dev/full")
    assert done.returncode == 0
    assert done.stdout.startswith("procedures")


@needs_full
@pytest.mark.parametrize(
    ("words", "code"), [("ir absent.c", 1), ("ir absent.c --timeout 60", 1), ("ir --wrong", 2)]
)
def test_a_full_stderr_changes_no_exit_code(words: str, code: int) -> None:
    assert shell(f"kleene {words} 2>/dev/full").returncode == code


@pytest.mark.skipif(os.name != "posix", reason="pipes that do not wait are for POSIX systems")
@pytest.mark.parametrize("is_full", [False, True])
def test_a_pipe_that_takes_no_notes_keeps_no_answer_back(is_full: bool) -> None:
    """Nobody has its other end, or it is full and set not to wait."""
    read, write = os.pipe()
    if is_full:
        os.set_blocking(write, False)
        with suppress(BlockingIOError):
            while os.write(write, b"x"):
                pass
    else:
        os.close(read)
    command = [*COMMAND, "cfa", str(SHOP)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=write, env=environment)
    os.close(write)
    if is_full:
        os.close(read)
    assert done.returncode == 0
    assert done.stdout.startswith(b"procedures")


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="no SIGPIPE on this system")
@pytest.mark.parametrize("timeout", [None, 60.0])
def test_a_closed_pipe_ends_as_for_other_programs(timeout: float | None) -> None:
    code = (
        "from kleene.cli.guard import guarded\n"
        "from kleene.cli.output import emit\n"
        "def body(): emit('line\\n' * 100_000 for _ in range(100))  # more than a pipe holds\n"
        f"guarded(body)(timeout={timeout})\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline() == b"line\n"
        child.stdout.close()
        assert (child.wait(60), child.stderr.read()) == (-signal.SIGPIPE, b"")


def test_memory_used_up_is_an_error(tmp_path: Path) -> None:
    code = (
        "from kleene.cli.guard import guarded\n"
        "import numpy as np\n"
        "def body(as_json): np.ones(1 << 50)\n"
        "guarded(body)(as_json=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    (error,) = json.loads(done.stdout)["errors"]
    assert error["id"] == "cli/out-of-memory"
    assert "Unable to allocate" in error["message"]


def test_memory_of_the_machine_used_up_is_an_error_before_anyone_is_killed() -> None:
    code = (
        "import time\n"
        "from kleene.base import memory\n"
        "from kleene.cli.guard import guarded\n"
        "memory.free_bytes = lambda: 0  # as if others, or this command, had taken the rest\n"
        "memory.total_bytes = lambda: memory.held_bytes()\n"
        "def body(): time.sleep(50)\n"
        "guarded(body)()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error[cli/out-of-memory]: 0.0 GiB are held, and 0.0 of ")


def waiting(tmp_path: Path, *rest: str) -> tuple[subprocess.Popen[bytes], Path]:
    """Start a command whose compiler does not end, and return it with its temporary folder."""
    if os.name != "posix":
        pytest.skip("signals are for POSIX systems")
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    compiler = tmp_path / "endless"
    compiler.write_text(ENDLESS)
    compiler.chmod(0o755)
    scratch = tmp_path / "tmp"
    scratch.mkdir(exist_ok=True)
    environment = os.environ | {"TMPDIR": str(scratch), "KLEENE_CACHE_DIR": str(tmp_path / "cache")}
    command = [*COMMAND, "ir", "a.c", "--cc", str(compiler), *rest]
    child = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 30
    while len(compilers(scratch)) < 2:
        assert child.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    return child, scratch


def compilers(scratch: Path) -> list[int]:
    """Return the processes whose temporary files go to `scratch`, but for `kleene` itself."""
    wanted, found = f"ZIG_LOCAL_CACHE_DIR={scratch}".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_zombie = (process / "stat").read_bytes().rpartition(b") ")[2][:1] == b"Z"
            if not is_zombie and wanted in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def is_left(scratch: Path) -> bool:
    """Return whether a process or a file is left there, after a moment."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if not compilers(scratch) and not list(scratch.iterdir()):
            return False
        time.sleep(0.05)
    return True


needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc")


needs_default = {  # what runs in the background, or under nohup, is told to ignore them
    number: pytest.mark.skipif(
        signal.getsignal(number) == signal.SIG_IGN, reason=f"{number.name} is ignored here"
    )
    for number in (signal.SIGHUP, signal.SIGINT)
}


@needs_proc
@pytest.mark.parametrize("number", [pytest.param(n, marks=m) for n, m in needs_default.items()])
def test_a_signal_leaves_no_folder_and_no_process(tmp_path: Path, number: int) -> None:
    child, scratch = waiting(tmp_path)
    child.send_signal(number)
    assert child.wait(30) == 128 + number
    assert not is_left(scratch)


@needs_proc
def test_so_it_is_under_a_limit(tmp_path: Path) -> None:
    child, scratch = waiting(tmp_path, "--timeout", "100")
    child.send_signal(signal.SIGTERM)
    assert child.wait(30) == 128 + signal.SIGTERM
    assert not is_left(scratch)


@needs_proc
def test_a_limit_passed_ends_compilers_too(tmp_path: Path) -> None:
    child, scratch = waiting(tmp_path, "--timeout", "3")
    assert child.wait(30) == 1
    assert not is_left(scratch)


@needs_proc
def test_what_a_killed_command_left_is_removed_by_the_next(tmp_path: Path) -> None:
    child, scratch = waiting(tmp_path)
    child.kill()
    child.wait()
    for process in compilers(scratch):
        os.kill(process, signal.SIGKILL)
    assert list(scratch.iterdir())
    environment = os.environ | {"TMPDIR": str(scratch), "KLEENE_CACHE_DIR": str(tmp_path / "cache")}
    command = [*COMMAND, "ir", "a.c", "--stats"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert not is_left(scratch)


@needs_proc
def test_a_signal_counts_in_a_compiled_loop() -> None:
    code = (
        "import ctypes, sys\n"
        "from kleene.cli.guard import guarded\n"
        "def body():\n"
        "    print('now', flush=True)\n"
        "    while True: ctypes.CDLL(None).sleep(100)  # Python looks at no signal meanwhile\n"
        "guarded(body)()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.2)
        child.send_signal(signal.SIGTERM)
        assert child.wait(20) == 128 + signal.SIGTERM


def test_a_name_that_is_no_text_is_printed_in_an_error(kleene: Kleene, tmp_path: Path) -> None:
    done = kleene("ir", os.fsdecode(b"absent\xff.c"), cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "absent<U+DCFF>.c: error[c/no-such-file]: no such file or folder\n"

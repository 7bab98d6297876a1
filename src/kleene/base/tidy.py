"""What must not outlive this process: processes it has started, folders and files half made.

Each is on one list from its beginning to its end. A block that ends, by an exception too, takes its
own off the list. A signal that ends the process at once leaves that to `tidy`, which the command
line calls (`kleene.cli.signals`). A process that is killed (SIGKILL) tidies nothing: the next one
removes its folders, which it knows by a lock that nobody holds any more.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_PREFIX = "kleene-"
_LOCK = "lock"
_TRIES = 20  # a killed process may still make a file while its folder is removed

_paths: set[Path] = set()
_groups: set[int] = set()  # process groups, each named by the process that leads it


def tidy() -> None:
    """End every process that was started, and remove what is half made; any thread may call it."""
    end_processes()
    for path in list(_paths):
        _remove(path)


def end_processes() -> None:
    """End every process that was started."""
    for group in list(_groups):
        end(group)


def forget() -> None:
    """Leave everything to the process this one was forked from."""
    _paths.clear()
    _groups.clear()


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """Keep account of a file or folder that the block makes and moves away or removes."""
    _paths.add(path)
    try:
        yield path
    finally:
        _paths.discard(path)


@contextmanager
def scratch() -> Iterator[Path]:
    """Make an empty folder for the block alone; folders that killed processes left are removed."""
    _remove_abandoned(Path(tempfile.gettempdir()))
    with unfinished(Path(tempfile.mkdtemp(prefix=_PREFIX))) as folder:
        lock = _locked(folder)
        inner = folder / "made"
        inner.mkdir()
        try:
            yield inner
        finally:
            if folder in _paths:  # and not left to the parent process
                _remove(folder)
            if lock is not None:
                os.close(lock)


@contextmanager
def started(group: int) -> Iterator[None]:
    """Keep account of a process group that the block ends."""
    _groups.add(group)
    try:
        yield
    finally:
        _groups.discard(group)


@contextmanager
def running(command: Sequence[str], **settings: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process for the block, in a group of its own, and end all of the group with it."""
    with subprocess.Popen(command, process_group=0, **settings) as child, started(child.pid):
        try:
            yield child
        finally:
            if child.returncode is None:  # not waited for yet: the number is still its own
                end(child.pid)


def run(
    command: Sequence[str],
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    input: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:
    """Return how a process ended, and what it wrote.

    Raises:
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it is not done in time; it has been ended.
    """
    pipe = subprocess.PIPE
    stdin = pipe if input else subprocess.DEVNULL
    with running(command, stdin=stdin, stdout=pipe, stderr=pipe, cwd=cwd, env=env) as child:
        out, err = child.communicate(input or None, timeout=timeout)
    return subprocess.CompletedProcess(command, child.returncode, out, err)


def end(group: int) -> None:
    """End a process group and all that its leader has started, in groups of their own too."""
    others = below(group)
    with suppress(OSError):  # it has ended by itself
        os.killpg(group, signal.SIGKILL)
    for process in others:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)


def below(process: int) -> list[int]:
    """Return the processes that a process has started, and those that these have."""
    try:
        found = [
            int(child)
            for thread in Path(f"/proc/{process}/task").iterdir()
            for child in (thread / "children").read_text().split()
        ]
    except OSError:
        return []
    return [*found, *(other for child in found for other in below(child))]


def _remove(path: Path) -> None:
    for _ in range(_TRIES):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()
        if not os.path.lexists(path):
            return
        time.sleep(0.01)


def _locked(folder: Path) -> int | None:
    """Lock a folder for as long as this process lives; None where there are no such locks."""
    try:
        import fcntl

        # The lock gets its name when it is held: else another process could take it first.
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        os.rename(folder / ".lock", folder / _LOCK)
    except (ImportError, OSError):
        return None
    return handle


def _remove_abandoned(parent: Path) -> None:
    """Remove folders of this user's whose lock nobody holds."""
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and _is_abandoned(entry):
                _remove(Path(entry.path))


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    try:
        import fcntl

        is_own = entry.stat(follow_symlinks=False).st_uid == os.getuid()
        if not is_own or not entry.is_dir(follow_symlinks=False):
            return False
        handle = os.open(os.path.join(entry.path, _LOCK), os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(handle)
    except (ImportError, OSError, AttributeError):  # AttributeError: no users on this system
        return False
    return True

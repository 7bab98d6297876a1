"""Files: read whole and never waited for, written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from kleene.base.tidy import unfinished

PathLike = str | os.PathLike[str]

_NOT_REGULAR = {
    stat.S_IFDIR: "it is a folder",
    stat.S_IFIFO: "it is a pipe, not a file",
    stat.S_IFSOCK: "it is a socket, not a file",
    stat.S_IFCHR: "it is a device, not a file",
    stat.S_IFBLK: "it is a device, not a file",
}


def read_file(path: PathLike) -> bytes:
    """Return what is in a file.

    Raises:
        OSError: it cannot be read, or is no file: to open a pipe would wait for someone to write.
            `strerror` says why.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | os.O_CLOEXEC)
    except (ValueError, UnicodeError) as error:  # a NUL, or a surrogate that stands for no byte
        raise OSError(22, _no_name(error), str(path)) from None
    if problem := _NOT_REGULAR.get(stat.S_IFMT(os.fstat(handle).st_mode)):
        os.close(handle)
        raise OSError(22, problem, str(path))
    with os.fdopen(handle, "rb") as file:
        return file.read()


def file_problem(path: PathLike) -> str | None:
    """Return why `path` is no file that could be read, or None if it is one."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return "no such file"
    except OSError as error:
        return error.strerror or str(error)
    except ValueError as error:
        return _no_name(error)
    return _NOT_REGULAR.get(stat.S_IFMT(mode))


def write_file(path: PathLike, raw: bytes) -> None:
    """Write a file: others see all of it, or what was there before.

    A device or a pipe is written to, and what a link points to is replaced.

    Raises:
        OSError: it cannot be written; nothing is left of it.
    """
    place = Path(path)
    if place.exists() and not place.is_file() and not place.is_dir():
        place.write_bytes(raw)
        return
    place = place.resolve()
    temporary = place.with_name(f".{place.name}"[:200] + f".{os.getpid()}")
    with unfinished(temporary):
        try:
            with temporary.open("xb") as file:
                file.write(raw)
            temporary.replace(place)
        except BaseException:  # the end of the time allowed comes as SystemExit
            temporary.unlink(missing_ok=True)
            raise


def _no_name(error: ValueError) -> str:
    return f"this can be no name of a file: {error}"

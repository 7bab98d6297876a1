"""A content-addressed cache on disk: safe under concurrent runs, never trusted blindly.

An entry is one file named by the SHA-256 of what it was made from, its key. It is written to a
temporary name and renamed into place, so a reader sees a whole entry or none. Its header carries a
digest of its kind, its key and its payload: an entry that is damaged, cut off, or another one's
under its name reads as a miss, and is made again. A folder that cannot be written costs speed,
never an answer.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kleene.base.files import read_file
from kleene.base.tidy import unfinished

_MAGIC = b"kleene-cache-2\n"
_DIGEST_BYTES = 32


def default_folder() -> Path:
    """Return `$KLEENE_CACHE_DIR`, else the XDG cache folder of this user."""
    if chosen := os.environ.get("KLEENE_CACHE_DIR"):
        return Path(chosen)
    xdg = os.environ.get("XDG_CACHE_HOME")
    if xdg and Path(xdg).is_absolute():
        return Path(xdg) / "kleene"
    try:
        return Path.home() / ".cache" / "kleene"
    except (
        RuntimeError
    ):  # a user of whom the system knows nothing: no folder, and nobody can make one
        return Path(os.devnull) / "kleene"


def key_of(*parts: bytes | str) -> str:
    """Return the key for an entry made from `parts`; their boundaries count."""
    digest = hashlib.sha256()
    for part in parts:
        # Names of files that are no UTF-8 have surrogates in them: each gives other bytes.
        raw = part.encode(errors="surrogatepass") if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Cache:
    """Bytes by key; `folder=None` remembers nothing."""

    folder: Path | None

    def get(self, kind: str, key: str) -> bytes | None:
        """Return the entry, or None if it is absent, damaged or unreadable."""
        path = self._path(kind, key)
        if path is None:
            return None
        try:
            raw = read_file(path)
        except OSError:
            return None
        head = len(_MAGIC) + _DIGEST_BYTES
        payload = raw[head:]
        return payload if raw[:head] == _head(kind, key, payload) else None

    def put(self, kind: str, key: str, payload: bytes) -> bool:
        """Store the entry; False where the folder cannot be written."""
        path = self._path(kind, key)
        if path is None:
            return False
        return replace(path, _head(kind, key, payload) + payload)

    def size(self) -> tuple[int, int]:
        """Return how many entries there are, and their bytes."""
        sizes = [_size_of(path) for path in self._entries()]
        return len(sizes), sum(sizes)

    def clear(self) -> int:
        """Delete every entry, and no other file; return how many there were."""
        entries = self._entries()
        for path in entries:
            path.unlink(missing_ok=True)
        return len(entries)

    def problem(self) -> str | None:
        """Return why the cache cannot be written, or None if it can."""
        if self.folder is None:
            return "switched off"
        return folder_problem(self.folder)

    def _path(self, kind: str, key: str) -> Path | None:
        return None if self.folder is None else self.folder / kind / key[:2] / key

    def _entries(self) -> list[Path]:
        """Return the files that `put` wrote: a folder chosen by hand may hold others."""
        if self.folder is None:
            return []
        return [path for path in self.folder.glob("*/*/*") if _is_entry(path)]


def folder_problem(folder: Path) -> str | None:
    """Return why no files can be made in a folder, or None if they can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"{folder}: {error.strerror}"


def replace(path: Path, raw: bytes, *, mode: int = 0o600) -> bool:
    """Write a file so that others see all of it or the one before; False where one cannot write."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".tmp-")
    except OSError:
        return False
    with unfinished(Path(name)):
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(raw)
            os.chmod(name, mode)
            os.replace(name, path)
        except OSError:
            with suppress(OSError):
                os.unlink(name)
            return False
    return True


def _is_entry(path: Path) -> bool:
    """Return whether `path` is an entry, or what a killed run left of one."""
    named_by_key = path.name.startswith(path.parent.name) and len(path.name) == 2 * _DIGEST_BYTES
    return (named_by_key or path.name.startswith(".tmp-")) and path.is_file()


def _head(kind: str, key: str, payload: bytes) -> bytes:
    """Return what an entry begins with."""
    digest = hashlib.sha256(f"{kind}/{key}/".encode())
    digest.update(payload)
    return _MAGIC + digest.digest()


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # another run replaced it between listing and asking
        return 0

"""How much memory there is: of the machine, or of the control group that this process is in."""

from __future__ import annotations

import os
from functools import cache

_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_USED = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")
_STATISTICS = ("/sys/fs/cgroup/memory.stat", "/sys/fs/cgroup/memory/memory.stat")
_RECLAIMED = (b"inactive_file", b"active_file")  # pages of files, which the kernel takes back


@cache
def total_bytes() -> int:
    """Return all memory that this process could have; 0 where that is not known."""
    total = _of_machine(b"MemTotal")
    limit = _limit()
    return min(total, limit) if limit else total


def free_bytes() -> int:
    """Return the memory that could be had now, pages of files that can be dropped included."""
    free = _of_machine(b"MemAvailable")
    limit = _limit()
    return min(free, max(0, limit - _used())) if limit else free


def held_bytes() -> int:
    """Return the memory that this process holds; 0 where that is not known."""
    try:
        resident = int(_read("/proc/self/statm").split()[1])
    except (OSError, IndexError):
        return 0
    return resident * os.sysconf("SC_PAGE_SIZE")


def _of_machine(name: bytes) -> int:
    try:
        lines = _read("/proc/meminfo").splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))
    except (OSError, StopIteration):
        pass
    try:
        pages = "SC_PHYS_PAGES" if name == b"MemTotal" else "SC_AVPHYS_PAGES"
        return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


@cache
def _limit() -> int:
    """Return the bytes that the control group may hold; 0 if that is all of the machine's."""
    for file in _GROUPS:
        try:
            limit = int(_read(file))
        except (OSError, ValueError):  # ValueError: "max"
            continue
        return limit if limit < _of_machine(b"MemTotal") else 0
    return 0


def _used() -> int:
    """Return what the control group holds, without pages of files."""
    for used, statistics in zip(_USED, _STATISTICS, strict=True):
        try:
            pages = [line.split() for line in _read(statistics).splitlines()]
            return int(_read(used)) - sum(int(n) for name, n in pages if name in _RECLAIMED)
        except (OSError, ValueError):
            continue
    return 0


def _read(file: str) -> bytes:
    with open(file, "rb") as opened:
        return opened.read()

"""Runs of Frama-C's Eva, the rival of `kleene invariants`, and what it reports.

Eva is on Debian: `apt-get install frama-c-base`. Two configurations stand for it here: `QUICK` is
what its manual begins with, plus its relational domains; `BEST` proved most of the loop tasks
within ten seconds a task: 53, where the precisions 1 and 3 proved 46 and 5 proved 48.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DOMAINS = "octagon,equality,gauges,symbolic-locations"
QUICK = ("-eva-precision", "1", "-eva-domains", DOMAINS)
BEST = ("-eva-precision", "8", "-eva-domains", DOMAINS)
LIMIT_S = 10.0
_ALARM = re.compile(r"\[eva:alarm\] ([^:\s]+):(\d+): Warning: *\n((?:  .*\n)+)")
# What its alarms are about, in the words of ours; what is not listed has no counterpart.
KINDS = (
    (r"uninitialized", "uninitialised"),
    (r"__FC_assert|assertion", "assert"),
    (r"overflow", "overflow"),
    (r"division by zero", "division"),
    (r"shift", "shift"),
    (r"out of bounds|accessing|valid_read|valid_string|precondition 'valid", "bounds"),
)


@dataclass(frozen=True, slots=True)
class Report:
    """What a run of Eva told; `alarms` is None if it did not come to an end.

    Attributes:
        seconds: how long it ran, with its start and parsing.
        alarms: kind of check, file, and line.
    """

    seconds: float
    alarms: tuple[tuple[str, str, int], ...] | None

    def is_proved(self, kinds: Iterable[str] | None = None) -> bool:
        """Return whether there is no alarm, of some kinds or of any."""
        wanted = None if kinds is None else set(kinds)
        alarms = self.alarms
        return alarms is not None and not any(
            wanted is None or kind in wanted for kind, _, _ in alarms
        )


@cache
def version() -> str | None:
    """Return Frama-C's version, None if it is not installed."""
    if shutil.which("frama-c") is None:
        return None
    done = subprocess.run(["frama-c", "-version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def run(
    files: Sequence[Path],
    options: Sequence[str] = BEST,
    defines: Sequence[str] = (),
    entry: str | None = None,
    limit_s: float = LIMIT_S,
) -> Report:
    """Return what Eva reports on a program, from its `main` or from another function."""
    words = ["frama-c", "-machdep", "gcc_x86_64", "-eva", *options]
    words += ["-cpp-extra-args=" + " ".join(f"-D{one}" for one in defines)]
    if entry is not None:
        words += ["-main", entry, "-lib-entry"]
    begin = time.perf_counter()
    try:
        done = subprocess.run(
            [*words, *map(str, files)], capture_output=True, text=True, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired:
        return Report(limit_s, None)
    seconds = time.perf_counter() - begin
    is_whole = "ANALYSIS SUMMARY" in done.stdout
    return Report(seconds, tuple(_alarms(done.stdout)) if is_whole else None)


def _alarms(text: str) -> Iterable[tuple[str, str, int]]:
    for file, line, message in _ALARM.findall(text):
        kind = next((kind for words, kind in KINDS if re.search(words, message)), "other")
        yield kind, Path(file).name, int(line)

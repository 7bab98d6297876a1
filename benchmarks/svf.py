"""SVF's answer to a program: of a run where `$KLEENE_WPA` names its `wpa`, else as recorded.

The recorded figures are of `wpa -ander` of SVF 3.4 (the wheel pysvf 1.0.0.50) on the same bitcode:
CPU seconds on 2 cores that others used too. That wheel needs glibc 2.38: on Debian 12 it runs once
its version needs are marked weak and the five functions it lacks are preloaded, so `$KLEENE_WPA`
may be a script that sets this up and ends with `exec wpa -extapi=… "$@"`.

Two things that SVF does not see, found with programs of ten lines: what a global array of pointers
is initialised with, `void (*table[])(void) = {f, g}`, so that a call of table[i] has no target; and
fields of constants reached by `getelementptr i8`, as clang writes them when it optimises. The
option `-model-arrays` mends the first, and tells elements apart. Sizes of sets and targets of calls
are then: dc 2.6, 35; bc 7.8, 29; curl 1.9, 0; htop 75, 1,310; lua 72, 238; libcurl 213, 3,921;
nginx 241, 13,182.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

LIMIT_S = 400


class Svf(NamedTuple):
    """What SVF found and took; 0 where it did not end.

    Solving counts building the constraint graph, solving and finalising. Sets are averaged over all
    its nodes, constants and numbers among them, and over pointer registers (`top-level`). Its
    sets count all read-only data without pointers as one object, and fields apart.
    """

    solve_s: float
    build_s: float
    memory_mb: float  # resident
    average: float
    average_pointers: float
    largest: int
    n_sites: int  # calls through pointers
    n_targets: int  # of these, all together
    is_run: bool = False


RECORDED = {
    "dc": Svf(0.087, 0.09, 71, 0.990, 2.57, 59, 23, 35),
    "bc": Svf(0.22, 0.17, 95, 2.91, 7.90, 49, 21, 29),
    "curl": Svf(0.41, 0.41, 188, 0.904, 2.13, 34, 0, 0),
    "htop": Svf(1.53, 0.40, 215, 21.4, 47.2, 145, 46, 1101),
    "lua": Svf(3.40, 1.11, 285, 23.6, 74.6, 147, 69, 238),
    "libcurl.so": Svf(14.7, 2.62, 904, 40.7, 85.5, 316, 1068, 1592),
    "nginx": Svf(107.5, 2.59, 1700, 208.5, 509.3, 834, 343, 33596),
    "sqlite3": Svf(176.0, 0.0, 2900, 0.0, 0.0, 0, 0, 0),  # stopped by hand
}


def svf_of(name: str, bitcode: Path) -> Svf:
    """Return what SVF makes of a program."""
    command, recorded = os.environ.get("KLEENE_WPA"), RECORDED[name]
    if command is None or not recorded.average:  # what did not end is not asked again
        return recorded
    return _run([*shlex.split(command), str(bitcode)])


def _run(command: list[str]) -> Svf:
    with tempfile.TemporaryFile("w+") as text:
        words = ["timeout", str(LIMIT_S), *command, "-ander", "-clock-type=cpu"]
        child = subprocess.Popen(words, stdout=text, stderr=subprocess.STDOUT)
        _, _, used = os.wait4(child.pid, 0)
        text.seek(0)
        printed = text.read()
    found: dict[str, float] = {}
    for word, value in re.findall(r"^(\S+) +([\d.]+)$", printed, re.MULTILINE):
        found.setdefault(word, float(value))  # what it prints twice counts once
    return Svf(
        found["TotalTime"],
        found["LLVMIRTime"] + found["SVFIRTime"],
        used.ru_maxrss * 1024 / 1e6,
        found["AvgPtsSetSize"],
        found["AvgTopLvlPtsSize"],
        int(found["MaxPtsSetSize"]),
        int(found["IndCallSites"]),
        int(found["IndEdgeSolved"]),
        is_run=True,
    )

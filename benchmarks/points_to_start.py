"""What does a points-to analysis cost a fresh process, and what a process that runs on?

Every row is the best of several fresh processes: the interpreter, NumPy, Numba and the machine code
of compiled loops are loaded, LLVM parses and prints the bitcode in a process of its own, and then
the same program is analysed once more in the same process. SVF's figures are the ones beside ours
in results/points_to.json: CPU seconds of `wpa -ander` on the same bitcode (reading it, building its
graph, and solving), and its resident set; run or recorded, as said there.

Memory is the peak of our process, of LLVM's (which has ended when solving begins), and of ours over
one that has analysed an empty program. The first row is that program; the second the empty one
where no compiled loop is on disk yet.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from harness import RESULTS, Measurement, Table
from points_to import DATA, LIBRARIES, PROGRAMS

EMPTY = "define i32 @main() {\n  ret i32 0\n}\n"
REPEAT = 2
CHILD = """\
import json, resource, sys, time
from pathlib import Path

def cpu(whose=resource.RUSAGE_SELF):
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime

def peak():
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) * 1024 / 1e6

def analysed():
    program = kleene.load(sys.argv[1], cache=False)
    read_s = time.perf_counter() - start
    program.points_to(library=sys.argv[2] == "library", device="cpu", threads=1)
    return read_s

start = time.perf_counter()
import kleene
read_s = analysed()
whole_s, cpu_s, llvm_cpu_s = time.perf_counter() - start, cpu(), cpu(resource.RUSAGE_CHILDREN)
memory, llvm = peak(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
start, before, llvm_before = time.perf_counter(), cpu(), llvm_cpu_s
again_read_s = analysed()
print(json.dumps({
    "read_s": read_s, "cpu_s": cpu_s, "llvm_cpu_s": llvm_cpu_s, "memory_MB": memory,
    "llvm_MB": llvm, "again_s": time.perf_counter() - start, "again_cpu_s": cpu() - before,
    "again_llvm_cpu_s": cpu(resource.RUSAGE_CHILDREN) - llvm_before, "n_modules": len(sys.modules),
}))
"""


def measured(file: Path, mode: str, **environment: str) -> dict[str, Any]:
    """Return what a fresh process measured, and how long it took from outside."""
    start = time.perf_counter()
    command = [sys.executable, "-c", CHILD, str(file), mode]
    surroundings = os.environ | environment
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)  # or all sources are compiled each time
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=surroundings)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    # What came after the first analysis is not a part of it.
    found["whole_s"] = time.perf_counter() - start - found["again_s"]
    return found


def best(file: Path, mode: str) -> dict[str, Any]:
    """Return the least of every figure over several processes, and the times of all."""
    runs = [measured(file, mode) for _ in range(REPEAT)]
    found: dict[str, Any] = {key: min(run[key] for run in runs) for key in runs[0]}
    return found | {"wholes": sorted(run["whole_s"] for run in runs)}


def main() -> None:
    if not DATA.exists():
        sys.exit(f"the programs are not in {DATA}: set KLEENE_DATA to the folder that has bitcode/")
    table = Table("points_to_start", "What does a points-to analysis cost a fresh process?")
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.ll"
        empty.write_text(EMPTY)
        measured(empty, "closed")  # compiles whatever is not compiled yet
        bare = best(empty, "closed")
        add(table, "an empty program", "closed", bare, bare)
        cold = measured(empty, "closed", NUMBA_CACHE_DIR=str(Path(folder) / "compiled"))
        add(table, "an empty program, loops not compiled yet", "closed", cold, bare)
    svf = {row["input"].partition(",")[0]: row for row in reversed(_measured_with_svf())}
    for name in PROGRAMS:
        mode = "library" if name in LIBRARIES else "closed"
        measured(DATA / f"{name}.bc", mode)
        add(table, name, mode, best(DATA / f"{name}.bc", mode), bare, svf[name])
    table.save()


def _measured_with_svf() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((RESULTS / "points_to.json").read_text())["rows"]
    return rows


def add(
    table: Table,
    name: str,
    mode: str,
    found: dict[str, Any],
    bare: dict[str, Any],
    beside: dict[str, Any] | None = None,
) -> None:
    """Add a program's row."""
    wholes = found.get("wholes", [found["whole_s"]])
    cpu_s, again_cpu_s = (
        found["cpu_s"] + found["llvm_cpu_s"],
        found["again_cpu_s"] + found["again_llvm_cpu_s"],
    )
    columns: dict[str, float | int] = {
        "CPU (s)": cpu_s,
        "of which LLVM's process": found["llvm_cpu_s"],
        "again, in the process (s)": found["again_s"],
        "again, CPU (s)": again_cpu_s,
        "memory (MB)": found["memory_MB"],
        "over the empty program (MB)": found["memory_MB"] - bare["memory_MB"],
        "LLVM's process (MB)": found["llvm_MB"],
    }
    if beside is not None:
        svf_s = beside["SVF bitcode to sets / ours"] * beside["bitcode to sets (s)"]
        columns |= {
            "SVF CPU (s)": svf_s,
            "SVF / ours, fresh": svf_s / cpu_s,
            "SVF / ours, again": svf_s / again_cpu_s,
            "SVF memory (MB)": beside["SVF memory (MB)"],
        }
    times = Measurement(wholes[-1], wholes[len(wholes) // 2], wholes[0], wholes[-1])
    table.row(input=name, size=mode, ours=times, **columns)


if __name__ == "__main__":
    main()

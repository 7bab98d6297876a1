"""How long do the points-to sets of real programs take, and how large are they, beside SVF's?

SVF's figures are recorded ones unless `$KLEENE_WPA` names its command: see `svf`. Its solve time
counts building the constraint graph, solving and finalising; ours counts solving, and stating the
constraints stands beside it. Every program has a process of its own; memory is the peak over the
bare import. How sets are counted, and what SVF counts, is said in `set_sizes` and `svf`; why they
differ is asked by `points_to_precision`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from harness import Measurement, Table
from svf import Svf, svf_of

HERE = Path(__file__).parent
DATA = Path(os.environ.get("KLEENE_DATA") or HERE.parents[1] / "shared" / "data") / "bitcode"


PROGRAMS = ("dc", "bc", "curl", "htop", "lua", "libcurl.so", "nginx", "sqlite3")
LIBRARIES = ("libcurl.so", "sqlite3")
# nginx loads modules: whatever dlsym finds is unknown, and so is nearly everything then.
NO_MODULES = "dlsym: nothing\n"

CHILD = """\
import json, sys, time
from pathlib import Path

def peak():
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024

import kleene
from kleene.analyses.points_to import PointsTo
from kleene.solvers import inclusion

file, mode, models = sys.argv[1], sys.argv[2], sys.argv[3:]
before, start = peak(), time.perf_counter()
program = kleene.load(file, cache=False)
read_s = time.perf_counter() - start
result = program.points_to(library=mode == "library", models=tuple(models), device="cpu", threads=1)
whole_s, memory = time.perf_counter() - start, peak() - before
analysis = PointsTo(library=mode == "library", models=tuple(models))
generate, solve = [], []
for _ in range(5):
    start = time.perf_counter()
    system = analysis.constraints(program)
    generate.append(time.perf_counter() - start)
    start = time.perf_counter()
    solution = inclusion.solve(system.problem, device="cpu", threads=1)
    solve.append(time.perf_counter() - start)
assert inclusion.difference(solution, result.solution) is None
from set_sizes import set_sizes
print(json.dumps({
    "read_s": read_s, "whole_s": whole_s, "memory_MB": memory * 1.048576,
    "generate": generate, "solve": solve, "n_nodes": system.problem.n_nodes,
    "n_constraints": system.problem.n_constraints, "n_objects": system.problem.n_objects,
    **set_sizes(program, system, solution),
}))
"""


def measured(name: str, mode: str, *models: str) -> dict[str, Any]:
    """Return what a fresh process measured; compiled loops are on disk already."""
    command = [sys.executable, "-c", CHILD, str(DATA / f"{name}.bc"), mode, *models]
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def times(first_s: float, every: list[float]) -> Measurement:
    """Return the times as a measurement."""
    return Measurement(first_s, sorted(every)[len(every) // 2], min(every), max(every))


def main() -> None:
    if not DATA.exists():
        sys.exit(f"the programs are not in {DATA}: set KLEENE_DATA to the folder that has bitcode/")
    table = Table("points_to", "How long do points-to sets of real programs take?")
    measured("dc", "closed")  # compiles whatever is not compiled yet
    rivals = {name: svf_of(name, DATA / f"{name}.bc") for name in PROGRAMS}
    for name, svf in rivals.items():
        mode = "library" if name in LIBRARIES else "closed"
        add(table, name, mode, svf, measured(name, mode))
        if mode == "closed":
            closed = times(0.0, table.rows[-1]["solve"]).median_s
            opened = measured(name, "library")
            table.rows[-1]["as a library, against closed"] = (
                times(0.0, opened["solve"]).median_s / closed
            )
    with tempfile.TemporaryDirectory() as folder:
        models = Path(folder) / "no_modules.txt"
        models.write_text(NO_MODULES)
        found = measured("nginx", "closed", str(models))
    add(table, "nginx", "closed, dlsym finds nothing", rivals["nginx"], found)
    for row in table.rows:
        row.pop("solve")
    table.save()


def add(table: Table, name: str, mode: str, svf: Svf, found: dict[str, Any]) -> None:
    """Add a program's row."""
    solve, generate = (times(found[key][0], found[key]) for key in ("solve", "generate"))
    whole_s = found["whole_s"]
    table.row(
        input=f"{name}, {mode}",
        size=f"{found['n_constraints']} constraints",
        ours=solve,
        **{
            "nodes": found["n_nodes"],
            "objects": found["n_objects"],
            "SVF": "run" if svf.is_run else "recorded",
            "SVF solve (s)": svf.solve_s,
            "SVF / ours": svf.solve_s / solve.median_s,
            "SVF / (ours with constraints)": svf.solve_s / (solve.median_s + generate.median_s),
            "constraints (s)": generate.median_s,
            "reading (s)": found["read_s"],
            "bitcode to sets (s)": whole_s,
            "SVF bitcode to sets / ours": (svf.solve_s + svf.build_s) / whole_s,
            "memory (MB)": found["memory_MB"],
            "SVF memory (MB)": svf.memory_mb,
            "pointers": found["n_pointers"],
            "unknown": found["unknown_share"],
            "average: locations": found["average_locations"],
            "average: allocations": found["average_allocations"],
            "average, as SVF counts": found["average_likened"],
            "SVF average": svf.average_pointers,
            "of all nodes": found["average_likened_of_all"],
            "SVF of all nodes": svf.average,
            "largest: locations": found["largest_locations"],
            "largest: allocations": found["largest_allocations"],
            "largest, as SVF counts": found["largest_likened"],
            "SVF largest": svf.largest,
            "indirect calls inside": found["n_calls"],
            "their targets": found["n_targets"],
            "that may leave": found["n_leaving"],
            "SVF indirect calls": svf.n_sites,
            "SVF targets": svf.n_targets,
        },
    )
    table.rows[-1]["solve"] = found["solve"]


if __name__ == "__main__":
    main()

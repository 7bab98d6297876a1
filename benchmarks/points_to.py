"""How long do the points-to sets of real programs take, and how large are they, beside SVF's?

SVF's figures are recorded ones: `wpa -ander` of SVF 3.4 on the same bitcode, CPU seconds on 2 cores
of an Ice Lake Xeon that others used too. Its wheel does not load on Debian 12 (glibc 2.38), so
it is not run here. Its solve time counts building the constraint graph, solving and finalising;
ours counts solving, and stating the constraints stands beside it. Every program has a process of
its own; memory is the peak over the bare import.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from harness import Measurement, Table

HERE = Path(__file__).parent
DATA = Path(os.environ.get("KLEENE_DATA") or HERE.parents[1] / "shared" / "data") / "bitcode"


class Recorded(NamedTuple):
    """What SVF took for a program: seconds, and the resident set in MB; 0 where it did not end."""

    solve_s: float
    build_s: float
    average: float
    largest: int
    memory_mb: int


SVF = {
    "dc": Recorded(0.087, 0.09, 1.0, 59, 71),
    "bc": Recorded(0.22, 0.17, 2.9, 49, 95),
    "curl": Recorded(0.41, 0.41, 0.9, 34, 188),
    "htop": Recorded(1.53, 0.40, 21.4, 145, 215),
    "lua": Recorded(3.40, 1.11, 23.6, 147, 285),
    "libcurl.so": Recorded(14.7, 2.62, 40.7, 316, 904),
    "nginx": Recorded(107.5, 2.59, 208.5, 834, 1700),
    "sqlite3": Recorded(176.0, 0.0, 0.0, 0, 2900),  # stopped by hand
}
LIBRARIES = ("libcurl.so", "sqlite3")
# nginx loads modules: whatever dlsym finds is unknown, and so is nearly everything then.
NO_MODULES = "dlsym: nothing\n"

CHILD = """\
import json, statistics, sys, time
from pathlib import Path

def peak():
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024

import numpy as np
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
state, solve = [], []
for _ in range(5):
    start = time.perf_counter()
    statement = analysis.state(program)
    state.append(time.perf_counter() - start)
    start = time.perf_counter()
    solution = inclusion.solve(statement.problem, device="cpu", threads=1)
    solve.append(time.perf_counter() - start)
assert inclusion.difference(solution, result.solution) is None
from kleene.analyses.points_to.answers.statistics import pointers_of
pointers = pointers_of(program, statement)
rows = solution.row_of[pointers]
allocation = statement.places.allocation
in_row = {int(r): solution.rows.objects(int(r)) for r in np.unique(rows)}
n_places = np.array([len(in_row[int(r)]) for r in rows])
n_storage = {r: len(np.unique(allocation[found])) for r, found in in_row.items()}
n_storage = np.array([n_storage[int(r)] for r in rows])
edges = np.bincount(solution.call_edges[:, 0], minlength=statement.problem.n_calls)
inside = ~solution.calls_outside
print(json.dumps({
    "read_s": read_s, "whole_s": whole_s, "memory_MB": memory * 1.048576,
    "state": state, "solve": solve, "n_nodes": statement.problem.n_nodes,
    "n_constraints": statement.problem.n_constraints, "n_objects": statement.problem.n_objects,
    "n_pointers": len(pointers), "average_places": float(n_places.mean()),
    "average_storage": float(n_storage.mean()), "largest_places": int(n_places.max()),
    "largest_storage": int(n_storage.max()),
    "unknown_share": float(solution.unknown[pointers].mean()),
    "n_calls": int(inside.sum()), "n_leaving": int((~inside).sum()),
    "targets": float(edges[inside].mean()) if inside.any() else 0.0,
}))
"""


def measured(name: str, mode: str, *models: str) -> dict[str, Any]:
    """Return what a fresh process measured; compiled loops are on disk already."""
    command = [sys.executable, "-c", CHILD, str(DATA / f"{name}.bc"), mode, *models]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
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
    for name, svf in SVF.items():
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
    add(table, "nginx", "closed, dlsym finds nothing", SVF["nginx"], found)
    for row in table.rows:
        row.pop("solve")
    table.save()


def add(table: Table, name: str, mode: str, svf: Recorded, found: dict[str, Any]) -> None:
    """Add a program's row."""
    solve, state = (times(found[key][0], found[key]) for key in ("solve", "state"))
    whole_s = found["whole_s"]
    table.row(
        input=f"{name}, {mode}",
        size=f"{found['n_constraints']} constraints",
        ours=solve,
        **{
            "nodes": found["n_nodes"],
            "objects": found["n_objects"],
            "SVF solve, recorded (s)": svf.solve_s,
            "SVF / ours": svf.solve_s / solve.median_s,
            "SVF / (ours with constraints)": svf.solve_s / (solve.median_s + state.median_s),
            "constraints (s)": state.median_s,
            "reading (s)": found["read_s"],
            "bitcode to sets (s)": whole_s,
            "SVF bitcode to sets / ours": (svf.solve_s + svf.build_s) / whole_s,
            "memory (MB)": found["memory_MB"],
            "SVF memory (MB)": svf.memory_mb,
            "pointers": found["n_pointers"],
            "unknown": found["unknown_share"],
            "average: places": found["average_places"],
            "average: storage": found["average_storage"],
            "SVF average": svf.average,
            "largest: places": found["largest_places"],
            "largest: storage": found["largest_storage"],
            "SVF largest": svf.largest,
            "indirect calls inside": found["n_calls"],
            "that may leave": found["n_leaving"],
            "targets a call inside": found["targets"],
        },
    )
    table.rows[-1]["solve"] = found["solve"]


if __name__ == "__main__":
    main()

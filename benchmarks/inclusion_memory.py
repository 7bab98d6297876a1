"""How much memory does solving inclusion problems take, beside dense sets?

Each solve has a process of its own, which has read the problem and solved a small one before: what
counts is how far memory rises from there. *Arrays* are those that NumPy was asked for, used or
not; *process* is what was in fact touched, compiled loops' own arrays included. The dense bound is
a bit for each node and object.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

from harness import RESULTS, machine

from kleene.solvers.inclusion import Problem, cpu
from kleene.solvers.inclusion.generate import TABLE_IV, points_to_like
from kleene.solvers.inclusion.paper import andersen
from kleene.solvers.inclusion.storage import load, save

SOLVERS = {
    "printed Andersen": andersen.solve,
    "cpu, 1 thread": cpu.solve,
    "cpu, 2 threads": lambda problem: cpu.solve(problem, threads=2),
}
SIZES = TABLE_IV | {"1 M nodes, 10 M rules": (1_000_000, 10_000_000)}
LARGEST_PAPER_ROWS = 600_000  # the printed algorithm takes many minutes beyond


def touched_bytes(name: str) -> int:
    """Return a figure of this process's memory: `VmRSS` is now, `VmHWM` the most so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def rise(solver: str, path: Path) -> dict[str, int]:
    """Return by how much solving the stored problem raises the memory of this process."""
    solve, problem = SOLVERS[solver], load(path)
    solve(points_to_like(3_000, 3_300, 1))
    before = touched_bytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins anew
    solve(problem)
    process = touched_bytes("VmHWM") - before
    tracemalloc.start()
    solve(problem)
    return {"process": process, "arrays": tracemalloc.get_traced_memory()[1]}


def measured(name: str, problem: Problem, solver: str) -> dict[str, str | int]:
    """Return one row of the table, from a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.npz"
        save(problem, path)
        command = [sys.executable, __file__, solver, str(path)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    print(f"inclusion_memory: {name}, {solver}: {told.strip()}", file=sys.stderr)
    return {
        "input": name,
        "nodes": problem.n_nodes,
        "rules": problem.n_constraints,
        "solver": solver,
        "dense_bytes": problem.n_nodes * problem.n_objects // 8,
        **json.loads(told),
    }


def line(row: dict[str, str | int]) -> str:
    """Return a row in Markdown, in units for people."""
    arrays, process, dense = (int(row[key]) for key in ("arrays", "process", "dense_bytes"))
    per_million = process / int(row["rules"]) * 1e6
    cells = [row["input"], f"{row['nodes']:,} nodes, {row['rules']:,} rules", row["solver"]]
    cells += [f"{size / 2**20:,.0f} MiB" for size in (arrays, process, per_million, dense)]
    return f"| {' | '.join(map(str, [*cells, f'{process / dense:.3f}']))} |"


def main() -> None:
    rows = []
    for name, size in SIZES.items():
        problem = points_to_like(*size, 1)
        for solver in SOLVERS:
            if solver != "printed Andersen" or problem.n_constraints <= LARGEST_PAPER_ROWS:
                rows.append(measured(name, problem, solver))
    head = ["input", "size", "solver", "arrays", "process", "process, per million rules"]
    head += ["dense bound", "process / dense"]
    text = [f"# {__doc__.splitlines()[0]}", "", " ".join(__doc__.splitlines()[2:]).strip(), ""]
    text += [
        f"`python benchmarks/inclusion_memory.py`, {datetime.now(UTC):%Y-%m-%d}, on {machine()}."
    ]
    text += ["", f"| {' | '.join(head)} |", f"| {' | '.join(['---'] * len(head))} |"]
    text += [line(row) for row in rows]
    (RESULTS / "inclusion_memory.md").write_text("\n".join(text) + "\n")
    (RESULTS / "inclusion_memory.json").write_text(json.dumps(rows, indent=1) + "\n")
    print("\n".join(text))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(rise(sys.argv[1], Path(sys.argv[2]))))
    else:
        main()

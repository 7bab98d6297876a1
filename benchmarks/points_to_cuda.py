"""Do a GPU, or it and the CPU together, find the points-to sets of large programs sooner?

One thread of the same host is the rival, and its sets must be theirs. The constraints are
generated once; every solver starts from them, in host memory, and its sets end there. Solvers are
measured in turn, so that what drifts is fair.
"""

from __future__ import annotations

import os
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from harness import Measurement, Table
from inclusion_families import in_turn

import kleene
from kleene.analyses.points_to import PointsTo
from kleene.solvers import inclusion

HERE = Path(__file__).parent
DATA = Path(os.environ.get("KLEENE_DATA") or HERE.parents[1] / "shared" / "data") / "bitcode"
NO_MODULES = "dlsym: nothing\n"  # nginx loads modules: what dlsym finds is unknown
PROGRAMS = ("lua", "libcurl.so", "nginx", "nginx, no modules", "sqlite3")
LIBRARIES = ("libcurl.so", "sqlite3")


def main() -> None:
    if not DATA.exists():
        sys.exit(f"the programs are not in {DATA}: set KLEENE_DATA to the folder that has bitcode/")
    table = Table("points_to_cuda", __doc__.splitlines()[0])
    with tempfile.TemporaryDirectory() as folder:
        no_modules = Path(folder) / "no_modules.txt"
        no_modules.write_text(NO_MODULES)
        for name in PROGRAMS:
            models = (no_modules,) if name.endswith("no modules") else ()
            program = kleene.load(DATA / f"{name.partition(',')[0]}.bc")
            analysis = PointsTo(library=name in LIBRARIES, models=models)
            rows(table, name, analysis.constraints(program).problem)
    table.save()


def rows(table: Table, name: str, problem: Any) -> None:
    n_threads = len(os.sched_getaffinity(0))
    solve = partial(inclusion.solve, problem)
    times = in_turn(
        {
            "1 CPU thread": partial(solve, device="cpu", threads=1),
            f"{n_threads} threads": partial(solve, device="cpu", threads=n_threads),
            "GPU": partial(solve, device="cuda"),
            "hybrid": partial(solve, device="hybrid"),
        }
    )
    one = times["1 CPU thread"]
    for solver in list(times)[1:]:
        row(table, f"{name}: {solver}", problem, times[solver], "1 CPU thread", one)
    hybrid = times.pop("hybrid")
    best = min(times, key=lambda solver: times[solver].median_s)
    row(table, f"{name}: hybrid beside the best", problem, hybrid, best, times[best])


def row(
    table: Table, name: str, problem: Any, ours: Measurement, rival: str, theirs: Measurement
) -> None:
    """Add a row for one solver beside another, whose sets must be its own."""
    table.row(
        input=name,
        size=f"{problem.n_nodes} nodes",
        ours=ours,
        rival=rival,
        theirs=theirs,
        agree=inclusion.difference(ours.result, theirs.result) is None,
        plan=ours.result.plan,
    )


if __name__ == "__main__":
    main()

"""How long does each question of dataflow take on a whole program, over load and points-to?

The first row of a program is what all clients share: loads forwarded, live ranges split, ranges of
all values through calls and memory. The second is the graph of data that evidence flows along. A
client's row is what it takes besides, its findings with their paths made; the last is all of them.
Times are those of one core.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from dataflow import solved
from harness import Measurement, Table

import kleene
from kleene.analyses.dataflow.clients import client
from kleene.analyses.dataflow.context import Context

DATA = Path(os.environ.get("KLEENE_DATA") or Path(__file__).parents[2] / "shared" / "data")
PROGRAMS = ("lua", "nginx", "sqlite3")
CLIENTS = ("null", "taint", "division", "uninitialised", "dead-code", "ranges")
REPEATS = 3


def once(known: Context) -> dict[str, tuple[float, str]]:
    """Return how long each step takes, and what it finds."""
    found = {}
    begin = start = time.process_time()

    def note(step: str, what: str) -> None:
        nonlocal start
        now = time.process_time()
        found[step], start = (now - start, what), now

    context = solved(known.program, known)
    note("ranges of all values", f"{context.values.constraints.n_names:,} names")
    note("graph of data", f"{context.data.n_names:,} names")
    for name in CLIENTS:
        note(f"client {name}", f"{len(client(name).answer(context).findings):,} findings")
    found["all of them"] = (time.process_time() - begin, "")
    return found


def main() -> None:
    table = Table("dataflow_clients", (__doc__ or "").splitlines()[0])
    for name in PROGRAMS:
        program = kleene.load(DATA / "bitcode" / f"{name}.bc")
        known = Context(program, library=name == "sqlite3")
        assert known.points_to is not None
        runs = [once(known) for _ in range(1 + REPEATS)]
        for step, (first_s, what) in runs[0].items():
            times = sorted(run[step][0] for run in runs[1:])
            measured = Measurement(first_s, times[len(times) // 2], times[0], times[-1])
            size = f"{len(program.instructions):,} instructions"
            table.row(input=f"{name}: {step}", size=size, ours=measured, found=what)
    table.save()


if __name__ == "__main__":
    main()

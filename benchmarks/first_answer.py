"""How long until a command gives its first answer, on a fresh machine and then again?

Each row copies the package into an empty folder, with an empty HOME beside it: no machine code, no
compiled Python, no cached program. The first run is that; the warm ones are fresh processes after
it, of which the median counts. Processor time stands beside it, which others on the machine disturb
less. With a path to another checkout (`python benchmarks/first_answer.py ../base`), its package is
measured likewise and stands beside ours.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import Measurement, Table
from points_to import DATA

HERE = Path(__file__).parents[1]
EXAMPLES = HERE / "examples"
ROWS = {  # by command, input and instructions
    ("points-to", "examples/events", 111): EXAMPLES / "events",
    ("points-to", "dc", 8568): DATA / "dc.bc",
    ("points-to", "lua", 45224): DATA / "lua.bc",
    ("dataflow null", "examples/lookup", 69): EXAMPLES / "lookup",
    ("kernels", "examples/loops/plate.c", 193): EXAMPLES / "loops" / "plate.c",
    ("invariants", "search.c", 50): EXAMPLES / "invariants" / "search.c",
    ("invariants", "ring.c", 46): EXAMPLES / "invariants" / "ring.c",
    ("invariants --whole-program", "search.c", 50): EXAMPLES / "invariants" / "search.c",
    ("invariants", "dc", 8568): DATA / "dc.bc",
}
CALL = "from kleene.cli import main; main()"
REPEAT = 5


def measured(checkout: Path, name: str, program: Path) -> tuple[Measurement, float, float]:
    """Return the wall times of the first and of later processes, and their processor times."""
    with tempfile.TemporaryDirectory() as folder:
        home, package = Path(folder) / "home", Path(folder) / "src"
        home.mkdir()
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(checkout / "src", package, ignore=ignored)
        environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(package)}
        command = [sys.executable, "-c", CALL, *name.split(), str(program)]
        times, busy = [], []
        for _ in range(1 + REPEAT):
            start, before_s = time.perf_counter(), _busy_s()
            done = subprocess.run(command, check=False, capture_output=True, env=environment)
            times.append(time.perf_counter() - start)
            busy.append(_busy_s() - before_s)
            assert done.returncode in (0, 3), done.stderr.decode()  # 3: something was found
    first, *warm = times
    measurement = Measurement(first, statistics.median(warm), min(warm), max(warm))
    return measurement, busy[0], statistics.median(busy[1:])


def _busy_s() -> float:
    """Return the processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    base = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    table = Table("first_answer", "How long until the first answer, cold and warm?")
    for (command, name, n_instructions), program in ROWS.items():
        if not program.exists():
            print(f"absent: {program}")
            continue
        ours, first_s, warm_s = measured(HERE, command, program)
        facts = {"first run (CPU s)": first_s, "warm process (CPU s)": warm_s}
        if base is not None:
            theirs, first_s, warm_s = measured(base, command, program)
            facts |= {"base: first run (s)": theirs.first_s, "base: warm (s)": theirs.median_s}
            facts |= {"base: first run (CPU s)": first_s, "base: warm (CPU s)": warm_s}
        size = f"{n_instructions} instructions"
        table.row(command=command, input=name, size=size, ours=ours, **facts)
    table.save()


if __name__ == "__main__":
    main()

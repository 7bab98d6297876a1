"""How long until `kleene points-to` gives its first answer, on a fresh machine and then again?

Each row copies the package into an empty folder, with an empty HOME beside it: no machine code, no
compiled Python, no cached program. The first run is that; the warm ones are fresh processes after
it, of which the median counts. With a path to another checkout (`python benchmarks/first_answer.py
../base`), its package is measured likewise and stands beside ours.
"""

from __future__ import annotations

import os
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
ROWS = {
    ("examples/events", 111): HERE / "examples" / "events",
    ("dc", 8568): DATA / "dc.bc",
    ("lua", 45224): DATA / "lua.bc",
}
CALL = "from kleene.cli import main; main()"
REPEAT = 5


def measured(checkout: Path, program: Path) -> Measurement:
    """Return the wall times of the first and of later processes."""
    with tempfile.TemporaryDirectory() as name:
        home, package = Path(name) / "home", Path(name) / "src"
        home.mkdir()
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(checkout / "src", package, ignore=ignored)
        environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(package)}
        command = [sys.executable, "-c", CALL, "points-to", str(program)]
        times = []
        for _ in range(1 + REPEAT):
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True, env=environment)
            times.append(time.perf_counter() - start)
    first, *warm = times
    return Measurement(first, statistics.median(warm), min(warm), max(warm))


def main() -> None:
    base = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    table = Table("first_answer", "How long until the first answer, cold and warm?")
    for (name, n_instructions), program in ROWS.items():
        if not program.exists():
            print(f"absent: {program}")
            continue
        ours = measured(HERE, program)
        facts = {"first run (s)": ours.first_s, "warm process (s)": ours.median_s}
        if base is not None:
            theirs = measured(base, program)
            facts |= {"base: first run (s)": theirs.first_s, "base: warm (s)": theirs.median_s}
        table.row(input=name, size=f"{n_instructions} instructions", ours=ours, **facts)
    table.save()


if __name__ == "__main__":
    main()

"""How long until a command gives its first answer, on a fresh machine and then again?

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


def measured(checkout: Path, name: str, program: Path) -> Measurement:
    """Return the wall times of the first and of later processes of a command."""
    with tempfile.TemporaryDirectory() as folder:
        home, package = Path(folder) / "home", Path(folder) / "src"
        home.mkdir()
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(checkout / "src", package, ignore=ignored)
        environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(package)}
        command = [sys.executable, "-c", CALL, *name.split(), str(program)]
        times = []
        for _ in range(1 + REPEAT):
            start = time.perf_counter()
            done = subprocess.run(command, check=False, capture_output=True, env=environment)
            times.append(time.perf_counter() - start)
            assert done.returncode in (0, 3), done.stderr.decode()  # 3: something was found
    first, *warm = times
    return Measurement(first, statistics.median(warm), min(warm), max(warm))


def main() -> None:
    base = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    table = Table("first_answer", "How long until the first answer, cold and warm?")
    for (command, name, n_instructions), program in ROWS.items():
        if not program.exists():
            print(f"absent: {program}")
            continue
        ours = measured(HERE, command, program)
        facts = {"first run (s)": ours.first_s, "warm process (s)": ours.median_s}
        if base is not None:
            theirs = measured(base, command, program)
            facts |= {"base: first run (s)": theirs.first_s, "base: warm (s)": theirs.median_s}
        size = f"{n_instructions} instructions"
        table.row(command=command, input=name, size=size, ours=ours, **facts)
    table.save()


if __name__ == "__main__":
    main()

"""How long from C source to points-to sets, and how much of it is the C compiler's?

The sources are released ones, unpacked in the folder $KLEENE_SOURCES: `lua-5.4.4/src` (Debian's
lua5.4) and `sqlite3/sqlite3.c` (3.53.2, the amalgamation in the npm package better-sqlite3
12.11.1). Nothing comes from a cache. Clang compiles files in parallel, one a core; reading has LLVM
link and print what clang made. Each row is a fresh process, the best of several, with loops
compiled before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from harness import Measurement, Table

SOURCES = Path(os.environ.get("KLEENE_SOURCES") or Path(__file__).parents[2] / "sources")
REPEAT = 3


class Input(NamedTuple):
    """Sources of one program: a file or folder, what to leave out, and how it is entered."""

    path: str
    without: str
    mode: str


INPUTS = {
    "lua 5.4.4": Input("lua-5.4.4/src", "!*luac.c", "closed"),
    "sqlite, one file": Input("sqlite3/sqlite3.c", "", "library"),
}
CHILD = """\
import json, resource, sys, time
from pathlib import Path

def cpu(whose=resource.RUSAGE_SELF):
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime

start = time.perf_counter()
from kleene.base.cache import Cache
from kleene.frontends.c import driver
from kleene.frontends.c.compiler import Options
from kleene.frontends.c.inputs import discover
from kleene.frontends.c.units import gather

path, without, mode = sys.argv[1:]
sources = discover((path,), (without,) if without else ())
units = gather(
    sources, options=Options(), cc=None, cache=Cache(None), jobs=None, normalise=False
)
compile_s = time.perf_counter() - start
compile_cpu_s = cpu(resource.RUSAGE_CHILDREN)
program = driver._remembered(units, Cache(None))
read_s = time.perf_counter() - start - compile_s
result = program.points_to(library=mode == "library", device="cpu", threads=1)
whole_s = time.perf_counter() - start
print(json.dumps({
    "compile_s": compile_s, "compile_cpu_s": compile_cpu_s, "read_s": read_s, "whole_s": whole_s,
    "rest_cpu_s": cpu() + cpu(resource.RUSAGE_CHILDREN) - compile_cpu_s,
    "n_files": len(sources),
    "n_lines": sum(Path(source.path).read_bytes().count(b"\\n") for source in sources),
    "n_instructions": len(program.instructions),
    "n_constraints": result.system.problem.n_constraints,
}))
"""


def measured(chosen: Input) -> dict[str, Any]:
    """Return what a fresh process measured."""
    command = [sys.executable, "-c", CHILD, str(SOURCES / chosen.path), chosen.without, chosen.mode]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    if not SOURCES.exists():
        sys.exit(f"the sources are not in {SOURCES}: set KLEENE_SOURCES to the folder of them")
    table = Table("points_to_source", "How long from C source to points-to sets?")
    for name, chosen in INPUTS.items():
        measured(chosen)  # compiles whatever is not compiled yet
        runs = sorted((measured(chosen) for _ in range(REPEAT)), key=lambda run: run["whole_s"])
        least, wholes = runs[0], [run["whole_s"] for run in runs]
        times = Measurement(wholes[-1], wholes[len(wholes) // 2], wholes[0], wholes[-1])
        table.row(
            input=f"{name}, {chosen.mode}",
            size=f"{least['n_lines']} lines in {least['n_files']} files",
            ours=times,
            **{
                "instructions": least["n_instructions"],
                "constraints": least["n_constraints"],
                "clang (s)": least["compile_s"],
                "clang, CPU (s)": least["compile_cpu_s"],
                "reading (s)": least["read_s"],
                "analysis (s)": least["whole_s"] - least["compile_s"] - least["read_s"],
                "without clang (s)": least["whole_s"] - least["compile_s"],
                "without clang, CPU (s)": least["rest_cpu_s"],
            },
        )
    table.save()


if __name__ == "__main__":
    main()

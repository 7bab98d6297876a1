"""How long do verdicts on loops take, and how many loops are found parallel, beside compilers?

The rivals' counts are recorded, not measured here: Polly of LLVM 19 (`-ffast-math`) and gcc 12
(`-O3 -ftree-parallelize-loops=4`) on PolyBench/C 4.2.1, whose 30 computations our C versions are. A
loop is parallelisable if it is PAR, PRIV, COPY or RED; outermost ones are PAR or PRIV, in no other.
"""

from __future__ import annotations

import os
import re
import runpy
import tempfile
import time
from collections import Counter
from pathlib import Path

from harness import Measurement, Table

from kleene.frontends.c.loops import read
from kleene.frontends.c.source import Source
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict, verdicts_of
from kleene.transforms.loops import tables

TESTS = Path(__file__).parents[1] / "tests"
PROGRAMS = TESTS / "programs"
N_LOOPS = 1000
REPEAT = 3
_WANTED = re.compile(r"/[/*] (PAR|PRIV|COPY|RED|SEQ|MAY)\b")


def judged(files: list[Path]) -> tuple[dict[Path, list[LoopVerdict]], float]:
    """Return the verdicts on all loops, and how many seconds of it were parsing."""
    found: dict[Path, list[LoopVerdict]] = {}
    parsing_s = 0.0
    for file in files:
        start = time.perf_counter()
        (unit,) = read([Source(str(file), "c")], jobs=1)
        parsing_s += time.perf_counter() - start
        found[file] = [one for table in tables(unit) for one in verdicts_of(table)]
    return found, parsing_s


def timed(
    files: list[Path], repeat: int
) -> tuple[Measurement, dict[Path, list[LoopVerdict]], float]:
    """Return the times, the verdicts, and the least time that parsing took."""
    times, parsing = [], []
    for _ in range(repeat + 1):
        start = time.perf_counter()
        found, parsing_s = judged(files)
        times.append(time.perf_counter() - start)
        parsing.append(parsing_s)
    later = sorted(times[1:]) or times
    measured = Measurement(times[0], later[len(later) // 2], later[0], later[-1])
    return measured, found, min(parsing)


def is_as_wanted(file: Path, loops: list[LoopVerdict]) -> bool:
    """Return whether every verdict is that of the comment in its line."""
    lines = file.read_text().splitlines()
    wanted = [_WANTED.search(lines[one.place.line - 1]) for one in loops]
    return all(
        match is not None and match[1] == one.verdict
        for match, one in zip(wanted, loops, strict=True)
    )


def outermost(loops: list[LoopVerdict]) -> int:
    """Return how many loops are PAR or PRIV, and in no other such loop."""
    found: list[LoopVerdict] = []
    for one in loops:
        around = [o for o in found if o.place.line < one.place.line <= o.end_line]
        if one.verdict in (Verdict.PAR, Verdict.PRIV) and not around:
            found.append(one)
    return len(found)


def polybench(table: Table) -> None:
    """Measure the 30 computations."""
    files = sorted((PROGRAMS / "polybench").glob("*.c"))
    ours, found, parsing_s = timed(files, REPEAT)
    loops = [one for listed in found.values() for one in listed]
    counts = Counter(one.verdict for one in loops)
    parallel = len(loops) - counts[Verdict.SEQ] - counts[Verdict.MAY]
    table.row(
        input="PolyBench, 30 computations",
        size=f"{len(loops)} loops",
        ours=ours,
        agree=all(is_as_wanted(file, listed) for file, listed in found.items()),
        **{
            "parsing (s)": parsing_s,
            "parallelisable": f"{parallel} of 122",
            "Polly (recorded)": "99 of 122",
            "outermost": f"{sum(map(outermost, found.values()))} of 52",
            "gcc (recorded)": "32 of 52",
            "Polly outermost (recorded)": "45 of 52",
        },
    )


def corpus(table: Table, folder: Path) -> None:
    """Measure a thousand loops: those of the tests, and random ones of many shapes."""
    program = runpy.run_path(str(TESTS / "offload/kernels/random_loops.py"))["program"]
    files = sorted([*PROGRAMS.glob("polybench/*.c"), *PROGRAMS.glob("loops/*.c")])
    n, seed = sum(len(listed) for listed in judged(files)[0].values()), 0
    while n < N_LOOPS:
        file = folder / f"random{seed}.c"
        file.write_text(program(seed, 14))
        files.append(file)
        n += len(judged([file])[0][file])
        seed += 1
    ours, found, parsing_s = timed(files, 0)
    counts = Counter(one.verdict.value for listed in found.values() for one in listed)
    shown = ", ".join(f"{counts[one.value]} {one.value}" for one in Verdict)
    table.row(
        input=f"loops of the tests and {seed} random files",
        size=f"{n} loops",
        ours=ours,
        **{"parsing (s)": parsing_s, "verdicts": shown},
    )


def main() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    table = Table("kernels", __doc__.splitlines()[0])
    polybench(table)
    with tempfile.TemporaryDirectory() as folder:
        corpus(table, Path(folder))
    table.save()


if __name__ == "__main__":
    main()

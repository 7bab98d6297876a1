"""How long do verdicts on loops take, and how many loops are found parallel, beside compilers?

The rivals' counts are recorded, not measured here: Polly of LLVM 19 (`-ffast-math`) and gcc 12
(`-O3 -ftree-parallelize-loops=4`) on PolyBench/C 4.2.1, whose 30 computations our C versions are. A
loop is parallelisable if it is PAR, PRIV, COPY or RED; outermost ones are PAR or PRIV, in no other.
"""

from __future__ import annotations

import os
import re
import resource
import runpy
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

from harness import Measurement, Table, measure

from kleene.frontends.c.loops import read
from kleene.frontends.c.source import Source
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict, verdicts_of
from kleene.transforms.loops import tables

TESTS = Path(__file__).parents[1] / "tests"
PROGRAMS = TESTS / "programs"
N_LOOPS = 1000
REPEAT = 2
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


def cpu_s() -> float:
    """Return the CPU time of this process and of the compilers that it started."""
    both = [resource.getrusage(one) for one in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


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
    before = cpu_s()
    ours = measure(partial(judged, files), repeat=REPEAT)
    used_s = (cpu_s() - before) / (REPEAT + 1)
    found, parsing_s = ours.result
    loops = [one for listed in found.values() for one in listed]
    counts = Counter(one.verdict for one in loops)
    parallel = len(loops) - counts[Verdict.SEQ] - counts[Verdict.MAY]
    table.row(
        input="PolyBench, 30 computations",
        size=f"{len(loops)} loops",
        ours=ours,
        agree=all(is_as_wanted(file, listed) for file, listed in found.items()),
        **{
            "CPU (s)": used_s,
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
    counts: Counter[str] = Counter()
    before, start, parsing_s, n_random = cpu_s(), time.perf_counter(), 0.0, 0
    while counts.total() < N_LOOPS:
        if not files:
            files.append(folder / f"random{n_random}.c")
            files[0].write_text(program(n_random, 14))
            n_random += 1
        found, seconds = judged([files.pop()])
        counts.update(one.verdict.value for listed in found.values() for one in listed)
        parsing_s += seconds
    took_s = time.perf_counter() - start
    shown = ", ".join(f"{counts[one.value]} {one.value}" for one in Verdict)
    table.row(
        input=f"loops of the tests and {n_random} random files",
        size=f"{counts.total()} loops",
        ours=Measurement(took_s, took_s, took_s, took_s),
        **{"CPU (s)": cpu_s() - before, "parsing (s)": parsing_s, "verdicts": shown},
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

"""Ask whether CPU and GPU together ever beat the better of the two, and what sharing costs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial

from harness import Table, measure, seconds

from kleene.kernels import launch
from kleene.solvers.inclusion import Problem, Solution, cpu, cuda, difference, hybrid
from kleene.solvers.inclusion.generate import points_to_like, random_cps, van_horn_mairson

QUESTION = "Do CPU and GPU together solve inclusion problems faster than the better of the two?"
THREADS = os.cpu_count() or 1
FORCED_UP_TO_BYTES = 1 << 28  # of rows: beyond, sending them to the host takes seconds


def cases() -> Iterator[tuple[str, str, Callable[[], Problem]]]:
    for m in (512, 7168):
        yield "Van Horn-Mairson", f"{31 * m + 49} terms", partial(van_horn_mairson, m)
    for n in (8_000, 16_000):
        yield "random CPS, seed 1", f"{n} lambdas", partial(random_cps, n, 1)
    for n, rows in ((53_362, 55_977), (558_867, 565_655)):
        size = f"{n} nodes, {rows} rows"
        yield "points-to graph, seed 1", size, partial(points_to_like, n, rows, 1)


def row(table: Table, input: str, size: str, problem: Problem) -> None:
    """Measure all solvers; the rival is the better of CPU and GPU alone."""
    told: list[dict[str, float]] = []
    ours = measure(partial(hybrid.solve, problem, threads=THREADS), repeat=3)
    hybrid.solve(problem, threads=THREADS, trace=told.append)
    alone: dict[str, Callable[[], Solution]] = {
        "CPU, 1 thread": partial(cpu.solve, problem, threads=1),
        f"CPU, {THREADS} threads": partial(cpu.solve, problem, threads=THREADS),
        "GPU": partial(cuda.solve, problem),
    }
    times = {
        name: measure(solve, repeat=3 if name == "GPU" else 1) for name, solve in alone.items()
    }
    best = min(times, key=lambda name: times[name].median_s)
    solved = [*times.values()]
    shared = "-"
    if cuda.forecast(problem) < FORCED_UP_TO_BYTES:
        forced = measure(partial(_always_shared, problem), repeat=1)
        solved.append(forced)
        shared = seconds(forced.median_s)
    columns = hybrid.paper_columns(told)
    table.row(
        input=input,
        size=size,
        ours=ours,
        rival=best,
        theirs=times[best],
        agree=all(difference(ours.result, other.result) is None for other in solved),
        **{name: seconds(t.median_s) for name, t in times.items()},
        **{
            "sharing forced": shared,
            "rounds shared": f"{ours.result.statistics['shared_rounds']:.0f}",
            "rounds on the GPU alone": f"{100 * columns['rounds_on_gpu_share']:.0f} %",
        },
    )


def _always_shared(problem: Problem) -> Solution:
    return hybrid.solve(problem, threads=THREADS, costs=hybrid.Costs.none())


def main() -> None:
    if reason := launch.gpu_problem():
        sys.exit(f"this benchmark needs a GPU: {reason}")
    for small in (van_horn_mairson(8), points_to_like(2_000, 3_000, 1)):  # compiles everything
        for solve in (cuda.solve, partial(cpu.solve, threads=THREADS), _always_shared):
            solve(small)
    costs = hybrid.Costs.measured(THREADS)
    print(f"speed ratio {costs.speed_ratio:.1f}, bus {costs.bus_bytes_per_s / 1e9:.1f} GB/s")
    table = Table("inclusion_hybrid", QUESTION)
    for input, size, make in cases():
        row(table, input, size, make())
    table.save()


if __name__ == "__main__":
    main()

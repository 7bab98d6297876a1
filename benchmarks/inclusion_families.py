"""Ask who solves which family of inclusion problems fastest, and whether the hybrid ever loses."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from harness import RESULTS, Measurement, Table, measure, seconds

from kleene.kernels import launch
from kleene.solvers.inclusion import Problem, Solution, cpu, cuda, difference, hybrid
from kleene.solvers.inclusion.generate import (
    TABLE_IV,
    points_to_like,
    random_cps,
    van_horn_mairson,
)
from kleene.solvers.inclusion.paper import andersen, eigencfa

QUESTION = (
    "Which solver is fastest on which family, the hybrid one (ours) beside the better of CPU and "
    "GPU (the rival)?"
)
THREADS = os.cpu_count() or 1
LEVELS = (8, 64, 512, 1024, 2048, 4096, 7168)
LAMBDAS = (2_000, 4_000, 8_000, 16_000, 32_000)
# What takes a minute or more is not asked: the printed algorithms on 1,024 levels, on 2,000 lambdas
# and on gimp. inclusion_cpu.py has them on all graphs.
PAPER_LEVELS = 512
PAPER_GRAPHS = ("perl", "vim")
FORCED_UP_TO_BYTES = 1 << 24  # of rows: beyond, sending them to the host takes seconds
LONG_S = 0.5  # a CPU solve of this length is measured once

Solve = Callable[[], Solution]


@dataclass(frozen=True, slots=True)
class Case:
    """A problem, and the printed algorithm for it if that ends soon."""

    family: str
    size: str
    make: Callable[[], Problem]
    printed: Callable[[Problem], Solution] | None = None


def cases() -> Iterator[Case]:
    for m in LEVELS:
        printed = eigencfa.solve if m <= PAPER_LEVELS else None
        yield Case(
            "Van Horn-Mairson", f"{31 * m + 49:,} terms", partial(van_horn_mairson, m), printed
        )
    for n in LAMBDAS:
        yield Case("random CPS, seed 1", f"{n:,} lambdas", partial(random_cps, n, 1))
    for name, (n_nodes, n_rows) in TABLE_IV.items():
        make = partial(points_to_like, n_nodes, n_rows, 1)
        printed = andersen.solve if name in PAPER_GRAPHS else None
        yield Case(f"graph of {name}'s size", f"{n_nodes:,} nodes, {n_rows:,} rows", make, printed)
    large = partial(points_to_like, 1_000_000, 10_000_000, 1)
    yield Case("a large graph", "1,000,000 nodes, 10,000,000 rows", large)


def timed(solve: Solve) -> Measurement:
    """Measure a solver of the CPU: compiled as it is, its first call counts as well as any."""
    start_s = time.perf_counter()
    result = solve()
    once_s = time.perf_counter() - start_s
    if once_s < LONG_S:
        return measure(solve, repeat=3)
    return Measurement(once_s, once_s, once_s, once_s, result)


def row(table: Table, case: Case) -> dict[str, float]:
    """Add a row; return the median seconds by solver."""
    problem = case.make()
    ours = measure(partial(hybrid.solve, problem, threads=THREADS), repeat=5)
    times = {
        "cpu, 1 thread": timed(partial(cpu.solve, problem, threads=1)),
        f"cpu, {THREADS} threads": timed(partial(cpu.solve, problem, threads=THREADS)),
        "cuda": measure(partial(cuda.solve, problem), repeat=5),
    }
    best = min(times, key=lambda name: times[name].median_s)
    rivals = dict(times)
    if case.printed is not None:
        rivals["paper, 1 thread"] = timed(partial(case.printed, problem))
    if cuda.forecast(problem) < FORCED_UP_TO_BYTES:
        rivals["sharing forced"] = timed(partial(always_shared, problem))
    shown = {name: seconds(t.median_s) for name, t in sorted(rivals.items(), reverse=True)}
    run = dict(times["cuda"].result.statistics)
    table.row(
        input=case.family,
        size=case.size,
        ours=ours,
        rival=best,
        theirs=times[best],
        agree=all(difference(ours.result, other.result) is None for other in rivals.values()),
        **{"nodes": problem.n_nodes, "facts": ours.result.n_facts, **shown},
        **{
            "cuda, device alone": seconds(run["solve_s"]),
            "rounds shared": f"{ours.result.statistics.get('shared_rounds', 0):.0f}",
        },
    )
    return {"hybrid": ours.median_s, **{name: t.median_s for name, t in times.items()}}


def always_shared(problem: Problem) -> Solution:
    return hybrid.solve(problem, threads=THREADS, costs=hybrid.Costs.none())


def draw(table: Table, found: list[dict[str, float]]) -> None:
    """Write the hybrid's speed by the better of the others, and the growth over the graphs."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 5), layout="constrained")
    names = [f"{line['input']}, {line['size']}" for line in table.rows]
    ratios = [line["ratio"] for line in table.rows]
    axes.barh(range(len(names)), ratios, color="#2a6f97")
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.invert_yaxis()
    axes.axvline(1, color="k", linewidth=0.8)
    axes.axvline(0.95, color="k", linewidth=0.8, linestyle=":")
    axes.set(xlabel="speed of the hybrid solver by that of the better of CPU and GPU")
    figure.savefig(RESULTS / "inclusion_families_speed.png", dpi=110)
    pyplot.close(figure)
    graphs = [
        (line["nodes"], times)
        for line, times in zip(table.rows, found, strict=True)
        if line["input"].startswith("graph of")
    ]
    if graphs:
        _draw_growth(pyplot, graphs)


def _draw_growth(pyplot: Any, graphs: list[tuple[int, dict[str, float]]]) -> None:
    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for solver in ("cpu, 1 thread", "cuda", "hybrid"):
        style = "--" if solver == "hybrid" else "-"
        axes.plot([n for n, _ in graphs], [t[solver] for _, t in graphs], "o" + style, label=solver)
    axes.set(xscale="log", yscale="log", xlabel="nodes", ylabel="seconds")
    axes.set_title("Points-to graphs of the sizes of Table IV, 53 k to 559 k nodes", fontsize=10)
    axes.legend()
    figure.savefig(RESULTS / "inclusion_families_growth.png", dpi=110)
    pyplot.close(figure)


def compile_everything() -> None:
    for small in (van_horn_mairson(8), random_cps(500, 1), points_to_like(2_000, 3_000, 1)):
        for threads in (1, THREADS):
            cpu.solve(small, threads=threads)
        cuda.solve(small)
        always_shared(small)
    eigencfa.solve(van_horn_mairson(8))
    andersen.solve(points_to_like(2_000, 3_000, 1))
    hybrid.Costs.measured(THREADS)


def main() -> None:
    if reason := launch.gpu_problem():
        sys.exit(f"this benchmark needs a GPU: {reason}")
    compile_everything()
    table = Table("inclusion_families", QUESTION)
    found: list[dict[str, float]] = []
    for _, family in groupby(cases(), key=lambda case: case.family.split()[0]):
        found += [row(table, case) for case in family]
        table.save()  # after each family: the large ones take long
        draw(table, found)


if __name__ == "__main__":
    main()

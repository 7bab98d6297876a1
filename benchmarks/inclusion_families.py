"""Ask who solves which family of inclusion problems fastest, and whether the hybrid ever loses."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from harness import RESULTS, Measurement, Table, measure, seconds

from kleene.kernels import launch
from kleene.solvers.inclusion import Problem, Solution, choice, cuda, difference, engine, solve
from kleene.solvers.inclusion.generate import (
    TABLE_IV,
    points_to_like,
    random_cps,
    van_horn_mairson,
)
from kleene.solvers.inclusion.paper import andersen, eigencfa, sharing

QUESTION = (
    "Which solver is fastest on which family, the hybrid one (ours) beside the better of CPU and "
    "GPU (the rival)?"
)
THREADS = os.cpu_count() or 1
LEVELS = (8, 64, 256, 512, 1024, 2048, 4096, 7168)
LAMBDAS = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
# What takes long is not asked: inclusion_cpu.py has the printed algorithms on larger problems.
PAPER_LEVELS = 256
PAPER_GRAPHS = ("perl",)
FORCED_UP_TO_BYTES = 1 << 22  # of rows: beyond, sending them to the host takes seconds
SMALL_GRAPHS = (3_000, 10_000, 20_000, 30_000)  # nodes: where CPU and GPU are nearly even
REPEATS = ((0.05, 12), (0.3, 4), (float("inf"), 3))  # how often, by what a first call took

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
    for n in SMALL_GRAPHS:
        make = partial(points_to_like, n, n + n // 20, 2)
        yield Case("a small graph", f"{n:,} nodes, {n + n // 20:,} rows", make)
    for name, (n_nodes, n_rows) in TABLE_IV.items():
        make = partial(points_to_like, n_nodes, n_rows, 1)
        printed = andersen.solve if name in PAPER_GRAPHS else None
        yield Case(f"graph of {name}'s size", f"{n_nodes:,} nodes, {n_rows:,} rows", make, printed)
    large = partial(points_to_like, 1_000_000, 10_000_000, 1)
    yield Case("a large graph", "1,000,000 nodes, 10,000,000 rows", large)


def in_turn(solvers: dict[str, Solve]) -> dict[str, Measurement]:
    """Measure solvers in turn, each first as often as another, so that what drifts is fair.

    A CPU that takes long, and twice as long as the quickest, is not asked more than twice. The
    GPU's first calls lock memory, and are no measure.
    """
    firsts = {name: timed(solve) for name, solve in solvers.items()}
    times = {name: [timed(solve)[0]] for name, solve in solvers.items()}
    least_s = min(once[0] for once in times.values())
    long_s = max(2 * least_s, REPEATS[0][0])
    names = [n for n in solvers if times[n][0] < long_s or not n.startswith("cpu")]
    n_repeats = next(n for most_s, n in REPEATS if least_s < most_s)
    for name in names:
        times[name].clear()
    gc.collect()
    gc.disable()
    for turn in range(n_repeats):
        for place in range(len(names)):
            name = names[(turn + place) % len(names)]
            times[name].append(timed(solvers[name])[0])
    gc.enable()
    return {
        name: Measurement(first_s, median(times[name]), min(times[name]), max(times[name]), result)
        for name, (first_s, result) in firsts.items()
    }


def timed(solve: Solve) -> tuple[float, Solution]:
    start_s = time.perf_counter()
    result = solve()
    return time.perf_counter() - start_s, result


def row(table: Table, case: Case) -> dict[str, float]:
    """Add a row; return the median seconds by solver."""
    problem = case.make()
    times = in_turn(
        {
            "hybrid": partial(solve, problem, device="hybrid"),
            "cpu, 1 thread": partial(solve, problem, device="cpu", threads=1),
            f"cpu, {THREADS} threads": partial(solve, problem, device="cpu", threads=THREADS),
            "cuda": partial(solve, problem, device="cuda"),
        }
    )
    ours = times.pop("hybrid")
    best = min(times, key=lambda name: times[name].median_s)
    rivals = dict(times)
    if case.printed is not None:
        rivals["paper, 1 thread"] = measure(partial(case.printed, problem), repeat=1)
    if cuda.forecast(problem) < FORCED_UP_TO_BYTES:
        rivals["iterations shared"] = measure(partial(sharing.solve, problem), repeat=1)
    shown = {name: seconds(t.median_s) for name, t in sorted(rivals.items(), reverse=True)}
    run = dict(times["cuda"].result.statistics)
    few = problem.n_nodes < choice.FEW_NODES
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
            "expected": "few nodes" if few else str(choice.expected(problem)),
            "raced": "yes" if "gpu_was_first" in ours.result.statistics else "no",
        },
    )
    return {"hybrid": ours.median_s, **{name: t.median_s for name, t in times.items()}}


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
            solve(small, device="cpu", threads=threads)
        solve(small, device="cuda")
        engine.both(small)
        sharing.solve(small)
    eigencfa.solve(van_horn_mairson(8))
    andersen.solve(points_to_like(2_000, 3_000, 1))
    choice.expected(random_cps(500, 1))  # measures this machine


def main() -> None:
    if reason := launch.gpu_problem():
        sys.exit(f"this benchmark needs a GPU: {reason}")
    compile_everything()
    table = Table("inclusion_families", QUESTION)
    found = [row(table, case) for case in cases()]
    table.save()
    draw(table, found)


if __name__ == "__main__":
    main()

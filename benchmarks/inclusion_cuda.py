"""Ask how fast the GPU solves inclusion problems, against the CPU, and what bounds it."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from harness import RESULTS, Measurement, Table, measure, seconds

from kleene.kernels import launch
from kleene.solvers.inclusion import Problem, cuda, difference
from kleene.solvers.inclusion.generate import (
    TABLE_IV,
    points_to_like,
    random_cps,
    van_horn_mairson,
)

QUESTION = (
    "How fast does the GPU solve inclusion problems, transfers included, "
    "against the CPU's solver on all cores?"
)
LEVELS = (8, 64, 512, 1024, 2048, 4096, 7168)
LAMBDAS = (2_000, 4_000, 8_000, 16_000, 32_000)
GRAPHS = TABLE_IV | {"a million nodes": (1_000_000, 10_000_000)}
BANDWIDTH_BYTES_PER_S = 4.8e12  # of an H200's memory
STRIP_BYTES = 512  # a strip of the source and one of the destination: at most this
ONE_THREAD_UP_TO_S = 4.0  # beyond this on all cores, one thread is not asked


def cases() -> Iterator[tuple[str, str, Callable[[], Problem]]]:
    for m in LEVELS:
        yield "Van Horn-Mairson", f"{31 * m + 49} terms", partial(van_horn_mairson, m)
    for n in LAMBDAS:
        yield "random CPS, seed 1", f"{n} lambdas", partial(random_cps, n, 1)
    for name, (n_nodes, n_rows) in GRAPHS.items():
        size = f"{n_nodes} nodes, {n_rows} rows"
        yield f"points-to graph like {name}", size, partial(points_to_like, n_nodes, n_rows, 1)


def cpu_solver() -> Any | None:
    """Return the CPU's solver, compiled, or None if there is none."""
    try:
        cpu = importlib.import_module("kleene.solvers.inclusion.cpu")
    except ModuleNotFoundError:
        return None
    for problem in (van_horn_mairson(8), random_cps(500, 1), points_to_like(2_000, 3_000, 1)):
        for threads in (1, os.cpu_count() or 1):
            cpu.solve(problem, threads=threads)
    return cpu


def best_resident(problem: Problem) -> tuple[float, dict[str, float]]:
    """Return the least time on the device alone of three runs, and that run's statistics."""
    runs = [dict(cuda.solve(problem).statistics) for _ in range(3)]
    best = min(runs, key=lambda run: run["solve_s"])
    return best["solve_s"], best


def extras(problem: Problem, ours: Measurement) -> dict[str, str | int | float]:
    resident_s, run = best_resident(problem)
    moved_bytes = run["strips"] * STRIP_BYTES
    n_facts = ours.result.n_facts
    return {
        "facts": n_facts,
        "device alone": seconds(resident_s),
        "prepare, send, fetch": ", ".join(
            seconds(run[name]) for name in ("prepare_s", "send_s", "fetch_s")
        ),
        "rounds, sweeps": f"{run['rounds']:.0f}, {run['sweeps']:.0f}",
        "G facts/s": n_facts / resident_s / 1e9,
        "GB looked at": moved_bytes / 1e9,
        "share of 4.8 TB/s": moved_bytes / resident_s / BANDWIDTH_BYTES_PER_S,
        "GB of rows": 24 * run["rows"] * run["words_per_row"] / 1e9,
    }


def row(table: Table, cpu: Any | None, input: str, size: str, problem: Problem) -> None:
    if reason := cuda.problem_with(problem):
        print(f"{input} ({size}): {reason}", file=sys.stderr)
        return
    ours = measure(partial(cuda.solve, problem), repeat=3)
    more = extras(problem, ours)
    if cpu is None:
        table.row(input=input, size=size, ours=ours, **more)
        return
    n_threads = os.cpu_count() or 1
    theirs = measure(partial(cpu.solve, problem, threads=n_threads), repeat=1)
    if theirs.median_s <= ONE_THREAD_UP_TO_S:
        one = measure(partial(cpu.solve, problem, threads=1), repeat=1)
        more["CPU, 1 thread"] = seconds(one.median_s)
    table.row(
        input=input,
        size=size,
        ours=ours,
        rival=f"Kleene's CPU solver, {n_threads} threads",
        theirs=theirs,
        agree=difference(ours.result, theirs.result) is None,
        **more,
    )


def draw_rounds(name: str, problem: Problem) -> None:
    """Write inclusion_cuda_rounds.json and .png: where the time of one solve goes, by round."""
    rounds: list[dict[str, float]] = []
    cuda.solve(problem, trace=rounds.append)
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / "inclusion_cuda_rounds"
    path.with_suffix(".json").write_text(json.dumps({"input": name, "rounds": rounds}) + "\n")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 4), layout="constrained")
    below = [0.0] * len(rounds)
    for kind in ("copy_s", "push_s", "pull_s", "offset_s"):
        values = [1e3 * row.get(kind, 0.0) for row in rounds]
        axes.bar(range(len(rounds)), values, bottom=below, label=kind.removesuffix("_s"))
        below = [low + value for low, value in zip(below, values, strict=True)]
    axes.set(xlabel="round", ylabel="milliseconds on the GPU", title=name)
    changed = axes.twinx()
    changed.plot([row["changed_rows"] for row in rounds], "k.-", label="rows with news")
    changed.set(yscale="log", ylabel="rows with news")
    axes.legend(title="rules")
    figure.savefig(path.with_suffix(".png"), dpi=110)
    pyplot.close(figure)


def main() -> None:
    if reason := launch.gpu_problem():
        sys.exit(f"this benchmark needs a GPU: {reason}")
    cpu = cpu_solver()
    cuda.solve(points_to_like(2_000, 3_000, 1))  # compiles every kernel
    table = Table("inclusion_cuda", QUESTION)
    for input, size, make in cases():
        row(table, cpu, input, size, make())
    table.save()
    draw_rounds(f"{input}, {size}", make())  # the last and largest


if __name__ == "__main__":
    main()

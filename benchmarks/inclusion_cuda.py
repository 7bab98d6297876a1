"""Ask what bounds the GPU on inclusion problems: where the time goes, and what was looked at."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from harness import RESULTS, Table, measure, seconds

from kleene.kernels import launch
from kleene.solvers.inclusion import Problem, cuda
from kleene.solvers.inclusion.generate import (
    TABLE_IV,
    points_to_like,
    random_cps,
    van_horn_mairson,
)

QUESTION = "Where does the GPU's time go on inclusion problems, and what bounds it?"
BANDWIDTH_BYTES_PER_S = 4.8e12  # of an H200's memory
STRIP_BYTES = 512  # a strip of the source and one of the destination: at most this


def cases() -> Iterator[tuple[str, str, Callable[[], Problem]]]:
    for m in (512, 7168):
        yield "Van Horn-Mairson", f"{31 * m + 49:,} terms", partial(van_horn_mairson, m)
    for n in (8_000, 32_000):
        yield "random CPS, seed 1", f"{n:,} lambdas", partial(random_cps, n, 1)
    for name in ("perl", "gcc", "gimp"):
        n_nodes, n_rows = TABLE_IV[name]
        size = f"{n_nodes:,} nodes, {n_rows:,} rows"
        yield f"graph of {name}'s size", size, partial(points_to_like, n_nodes, n_rows, 1)
    large = partial(points_to_like, 1_000_000, 10_000_000, 1)
    yield "a large graph", "1,000,000 nodes, 10,000,000 rows", large


def row(table: Table, input: str, size: str, problem: Problem) -> None:
    if reason := cuda.problem_with(problem):
        print(f"{input} ({size}): {reason}", file=sys.stderr)
        return
    ours = measure(partial(cuda.solve, problem), repeat=5)
    run = dict(ours.result.statistics)
    n_facts, looked_at_bytes = ours.result.n_facts, run["strips"] * STRIP_BYTES
    names = ("prepare_s", "send_s", "solve_s", "fetch_s")
    table.row(
        input=input,
        size=size,
        ours=ours,
        **{
            "facts": n_facts,
            "prepare, send, solve, fetch": ", ".join(seconds(run[name]) for name in names),
            "rounds, sweeps": f"{run['rounds']:.0f}, {run['sweeps']:.0f}",
            "G facts/s": n_facts / run["solve_s"] / 1e9,
            "GB looked at": looked_at_bytes / 1e9,
            "share of 4.8 TB/s": looked_at_bytes / run["solve_s"] / BANDWIDTH_BYTES_PER_S,
            "GB of rows": 24 * run["rows"] * run["words_per_row"] / 1e9,
        },
    )


def trace_rounds(name: str, problem: Problem) -> None:
    """Write inclusion_cuda_rounds.json and .png: where the time of one solve goes, by round."""
    rounds: list[Mapping[str, float]] = []
    cuda.solve(problem, trace=rounds.append)
    RESULTS.mkdir(parents=True, exist_ok=True)
    record = json.dumps({"input": name, "rounds": rounds})
    (RESULTS / "inclusion_cuda_rounds.json").write_text(record + "\n")
    draw_rounds(name, rounds)


def draw_rounds(name: str, rounds: list[Mapping[str, float]]) -> None:
    """Draw the time of each kind of rules and the rows with news, by round."""
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
    figure.savefig(RESULTS / "inclusion_cuda_rounds.png", dpi=110)
    pyplot.close(figure)


def main() -> None:
    if reason := launch.gpu_problem():
        sys.exit(f"this benchmark needs a GPU: {reason}")
    for small in (points_to_like(2_000, 3_000, 1), van_horn_mairson(300)):  # compiles every kernel
        cuda.solve(small)
    table = Table("inclusion_cuda", QUESTION)
    for input, size, make in cases():
        row(table, input, size, make())
    table.save()
    trace_rounds(f"{input}, {size}", make())  # the last and largest


if __name__ == "__main__":
    main()

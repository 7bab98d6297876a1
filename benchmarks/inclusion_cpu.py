"""How fast does the CPU solver find inclusion sets, beside the printed algorithms and itself?

Rivals: EigenCFA's sparse algorithm on control flow, the parallel Andersen algorithm on graphs like
those of C programs (both as printed, one thread); the solver itself without one of its ideas, which
is what each idea is worth; and one thread beside two, which can gain no more than the cores that
others leave free (`cores_free`). The growth from 53,362 to 558,867 nodes is
drawn in `inclusion_growth.png`, with the GPU's solvers where a GPU answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from harness import RESULTS, Measurement, Table, machine, measure

from kleene.kernels import launch
from kleene.solvers.inclusion import Problem, Solution, cpu, difference, solve
from kleene.solvers.inclusion.cpu.solver import Solver
from kleene.solvers.inclusion.generate import (
    TABLE_IV,
    points_to_like,
    random_cps,
    van_horn_mairson,
)
from kleene.solvers.inclusion.offline import reduce
from kleene.solvers.inclusion.paper import andersen, eigencfa

Solve = Callable[[], Solution]
LARGEST_PAPER_M = 512  # 1,024 takes minutes: the printed algorithm grows with the fourth power
LARGEST_PAPER_LAMBDAS = 1_000  # 2,000 takes minutes
Growth = dict[str, dict[int, float]]  # by solver: seconds by nodes


def without_classes(problem: Problem) -> Solution:
    """Solve with an edge for every use of every object."""
    reduced = reduce(problem)
    return reduced.expand(Solver(reduced.problem, n_direct=1 << 30).solution())


def without_merging(problem: Problem) -> Solution:
    """Solve the problem as it comes."""
    return Solver(problem).solution()


def size_of(problem: Problem) -> str:
    return f"{problem.n_nodes:,} nodes, {problem.n_constraints:,} rules"


def compare(
    table: Table, name: str, problem: Problem, rivals: dict[str, Solve]
) -> dict[str, float]:
    """Add a row for each rival, without any one for us alone; return the seconds of each."""
    ours = measure(partial(cpu.solve, problem), repeat=5)
    known = {"input": name, "size": size_of(problem), "facts": f"{ours.result.n_facts:,}"}
    if not rivals:
        table.row(ours=ours, **known)
    seconds = {"cpu, 1 thread": ours.median_s}
    for rival, its_solve in rivals.items():
        theirs: Measurement = measure(its_solve, repeat=2)
        agree = difference(ours.result, theirs.result) is None
        table.row(ours=ours, rival=rival, theirs=theirs, agree=agree, **known)
        seconds[rival] = theirs.median_s
    return seconds


def free_cores() -> float:
    """Return how many times as fast as one thread two are now, at work that shares nothing."""
    text = bytes(1 << 25)
    one = measure(lambda: [hashlib.sha256(text).digest() for _ in range(2)], repeat=3)
    with ThreadPoolExecutor(2) as pool:
        two = measure(lambda: list(pool.map(hashlib.sha256, [text, text])), repeat=3)
    return one.median_s / two.median_s


def compare_threads(table: Table, name: str, problem: Problem) -> float:
    """Add a row for two threads beside one; return the seconds of two."""
    n_free = free_cores()
    two = measure(partial(cpu.solve, problem, threads=2), repeat=5)
    one = measure(partial(cpu.solve, problem), repeat=5)
    table.row(
        input=f"{name}, 2 threads",
        size=size_of(problem),
        ours=two,
        rival="1 thread",
        theirs=one,
        agree=difference(one.result, two.result) is None,
        facts=f"{one.result.n_facts:,}",
        cores_free=f"{n_free:.2f}",
    )
    return two.median_s


def closures(table: Table) -> None:
    for m in (8, 64, 512, 7_168):
        problem = van_horn_mairson(m)
        rivals = {"EigenCFA": partial(eigencfa.solve, problem)} if m <= LARGEST_PAPER_M else {}
        compare(table, f"Van Horn-Mairson, {31 * m + 49:,} terms", problem, rivals)
    for n_lambdas in (1_000, 8_000):
        problem = random_cps(n_lambdas, 1)
        is_small = n_lambdas <= LARGEST_PAPER_LAMBDAS
        rivals = {"EigenCFA": partial(eigencfa.solve, problem)} if is_small else {}
        if n_lambdas == 8_000:
            rivals["without classes"] = partial(without_classes, problem)
        compare(table, f"random CPS, {n_lambdas:,} lambdas", problem, rivals)


def programs(table: Table) -> Growth:
    """Measure graphs of the paper's sizes; return how each solver grows."""
    growth: Growth = {}
    on_gpu = ("cuda", "hybrid") if launch.gpu_problem() is None else ()
    for name, size in sorted(TABLE_IV.items(), key=lambda item: item[1]):
        problem = points_to_like(*size, 1)
        rivals = {
            "printed Andersen": partial(andersen.solve, problem),
            "without classes": partial(without_classes, problem),
            "without merging first": partial(without_merging, problem),
        }
        rivals |= {device: partial(solve, problem, device=device) for device in on_gpu}
        seconds = compare(table, f"graph of {name}'s size", problem, rivals)
        seconds["cpu, 2 threads"] = compare_threads(table, f"graph of {name}'s size", problem)
        for solver, value in seconds.items():
            growth.setdefault(solver, {})[problem.n_nodes] = value
    return growth


def draw(growth: Growth, path: Path) -> None:
    """Draw seconds over nodes, a line for each solver."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for solver, seconds in growth.items():
        if not solver.startswith("without"):
            axes.plot(list(seconds), list(seconds.values()), marker="o", label=solver)
    axes.set(xscale="log", yscale="log", xlabel="nodes", ylabel="median seconds")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.suptitle("Graphs of the points-to paper's sizes: how solving time grows")
    figure.supxlabel(machine(), fontsize=6)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main() -> None:
    table = Table("inclusion_cpu", __doc__.splitlines()[0])
    closures(table)
    draw(programs(table), RESULTS / "inclusion_growth.png")
    for name, problem in (
        ("Van Horn-Mairson, 222,257 terms", van_horn_mairson(7_168)),
        ("random CPS, 1,000 lambdas", random_cps(1_000, 1)),
        ("random CPS, 8,000 lambdas", random_cps(8_000, 1)),
        ("random CPS, 16,000 lambdas", random_cps(16_000, 1)),
        ("graph of 1,000,000 nodes", points_to_like(1_000_000, 1_100_000, 1)),
        ("graph of 1,000,000 nodes and 10,000,000 rules", points_to_like(1_000_000, 10_000_000, 1)),
    ):
        compare_threads(table, name, problem)
    table.save()


if __name__ == "__main__":
    main()

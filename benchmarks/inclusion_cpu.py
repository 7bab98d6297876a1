"""How fast does the CPU solver find inclusion sets, beside the printed algorithms and itself?

Rivals: EigenCFA's sparse algorithm on control flow, the parallel Andersen algorithm on graphs like
those of C programs (both as printed, one thread); the solver itself without one of its ideas, which
is what each idea is worth; and one thread beside two.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from harness import Measurement, Table, measure

from kleene.solvers.inclusion import Problem, Solution, cpu, difference
from kleene.solvers.inclusion.cpu.waves import Waves
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


def without_classes(problem: Problem) -> Solution:
    """Solve with an edge for every use of every object."""
    reduced = reduce(problem)
    return reduced.expand(Waves(reduced.problem, n_direct=1 << 30).solution())


def without_merging(problem: Problem) -> Solution:
    """Solve the problem as it comes."""
    return Waves(problem).solution()


def compare(table: Table, name: str, problem: Problem, rivals: dict[str, Solve]) -> None:
    """Add a row for each rival; without any, one for us alone."""
    ours = measure(partial(cpu.solve, problem), repeat=5)
    size = f"{problem.n_nodes:,} nodes, {problem.n_constraints:,} rules"
    extra = {"facts": f"{ours.result.n_facts:,}"}
    if not rivals:
        table.row(input=name, size=size, ours=ours, **extra)
    for rival, solve in rivals.items():
        theirs: Measurement = measure(solve, repeat=2)
        agree = difference(ours.result, theirs.result) is None
        table.row(
            input=name, size=size, ours=ours, rival=rival, theirs=theirs, agree=agree, **extra
        )


def main() -> None:
    table = Table("inclusion_cpu", __doc__.splitlines()[0])
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
    for name, (n_variables, n_rows) in TABLE_IV.items():
        problem = points_to_like(n_variables, n_rows, 1)
        compare(
            table,
            f"graph of {name}'s size",
            problem,
            {
                "printed Andersen": partial(andersen.solve, problem),
                "without classes": partial(without_classes, problem),
                "without merging first": partial(without_merging, problem),
            },
        )
    for name, problem in (
        ("random CPS, 16,000 lambdas", random_cps(16_000, 1)),
        ("graph of 1,000,000 nodes", points_to_like(1_000_000, 1_100_000, 1)),
    ):
        compare_threads(table, name, problem)
    table.save()


def compare_threads(table: Table, name: str, problem: Problem) -> None:
    """Add a row for two threads beside one."""
    two = measure(partial(cpu.solve, problem, threads=2), repeat=3)
    one = measure(partial(cpu.solve, problem), repeat=3)
    size = f"{problem.n_nodes:,} nodes, {problem.n_constraints:,} rules"
    table.row(
        input=f"{name}, 2 threads",
        size=size,
        ours=two,
        rival="1 thread",
        theirs=one,
        agree=difference(one.result, two.result) is None,
        facts=f"{one.result.n_facts:,}",
    )


if __name__ == "__main__":
    main()

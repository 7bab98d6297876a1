"""How fast are the flow sets of the paper's own programs found, from text and by solving alone?

The Van Horn-Mairson family has 31·m + 49 terms, and every call counts, as in the paper on EigenCFA
(Prabhu, Ramalingam, Might and Hall, POPL 2011); its times are those of a GTX 480 and of one core.
Ours are of solving, without and with the way from Scheme text to the targets of all calls. The
rival is the passes of the paper's algorithm on this machine, one thread, as far as they end soon;
filling its rows from Python and reading them back has a column of its own. It passes over the calls
from the outermost on, which takes 7 passes; from the innermost on it would take m + 7. The dense
family is random binary CPS, stated as a problem. Sets of all variables must be equally large
everywhere.
`python benchmarks/cfa.py million` takes a program of a million terms alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from harness import RESULTS, Measurement, Table, measure, seconds

from kleene.analyses.cfa import CFA, CFAResult
from kleene.frontends.scheme import parse
from kleene.kernels import launch
from kleene.solvers.inclusion import Problem, Solution, cpu, cuda
from kleene.solvers.inclusion.generate import random_cps, van_horn_mairson
from kleene.solvers.inclusion.paper import eigencfa

LEVELS = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 7168)
A_MILLION = 32257  # levels with a million terms
LAMBDAS = (8_000, 32_000)
PAPER_GPU_S = (0.4e-3, 0.7e-3, 1.15e-3, 2.27e-3, 6.51e-3, 24e-3, 94.5e-3, 0.4, 2.49, 21.3, 173.0)
PAPER_CPU_S = (
    0.1e-3, 0.16e-3, 0.33e-3, 0.84e-3, 4.2e-3, 34.7e-3, 0.4, 5.6, 84.0, 1200.0, 12600.0,
)  # fmt: skip
PAPER = dict(zip(LEVELS, zip(PAPER_GPU_S, PAPER_CPU_S, strict=True), strict=True))
RIVAL = "EigenCFA's passes"
RIVAL_LEVELS = 1024
REPEATS = ((0.05, 9), (0.5, 5), (2.0, 2), (float("inf"), 1))  # how often, by a first call's time


def van_horn_mairson_text(m: int) -> str:
    """Return the program of `van_horn_mairson` as Scheme.

    Calls with one argument meet procedures with two in it, which binary CPS lets pass: here they
    are given a 0, and procedures with one formal a second one, `_`.
    """
    start = "((lambda (halt _) ((lambda (ap _) ((lambda (id _) ((lambda (j0 _) "
    levels = "".join(
        f"((lambda (f{i} k{i}) (f{i} (lambda (t{i} _) (halt t{i} 0))"
        f" (lambda (r{i} q{i}) (f{i} (lambda (u{i} _) (halt u{i} 0)) k{i})))) (lambda (x{i} j{i}) "
        for i in range(1, m + 1)
    )
    chain = "".join(f"(z{i} x{i + 1} (lambda (z{i + 1} _) " for i in range(m))
    inner = f"((lambda (z0 kz) {chain}(kz x{m} 0){'))' * m}) (lambda (y ky) (ky y 0)) j{m})"
    closing = "".join(f") j{i})" for i in range(m - 1, -1, -1))
    end = ") (lambda (v0 _) (halt v0 0)) 0)) (lambda (a ka) (ka a 0)) 0))"
    end += " (lambda (b kb) (b b kb)) 0))"
    return f"{start}{levels}{inner}{closing}{end} (lambda (h _) (h h 0)) 0)"


def analysed(text: str, device: str) -> CFAResult:
    """Return the answer to a text, with the targets of all calls found."""
    result = CFA(reachable_only=False).run(parse(text), device=device)
    assert result.reach.targets
    return result


def often(fn: Callable[[], Any]) -> Measurement:
    """Measure what takes long less often."""
    first = measure(fn, repeat=1)
    repeat = next(n for most_s, n in REPEATS if first.min_s < most_s)
    return first if repeat == 1 else measure(fn, repeat=repeat)


def solvers() -> dict[str, Callable[[Problem], Solution]]:
    found = {"cpu": partial(cpu.solve_by_size, threads=1)}
    return found if launch.gpu_problem() else {"cuda": cuda.solve, **found}


def passes(problem: Problem) -> tuple[Measurement, float]:
    """Measure the passes of the paper's algorithm; return how long all the rest took, too."""
    whole = often(partial(eigencfa.solve, problem))
    n_times = 1 if whole.median_s > 2 else 5
    answers = [eigencfa.solve(problem) for _ in range(n_times)]
    times = sorted(answer.statistics["passes_s"] for answer in answers)
    middle = times[len(times) // 2]
    found = Measurement(times[-1], middle, times[0], times[-1], answers[-1])
    return found, whole.median_s - middle


def n_facts(solution: Solution, nodes: slice) -> int:
    return int(solution.rows.sizes()[solution.row_of[nodes]].sum())


def family(table: Table, m: int) -> dict[str, float]:
    """Add the row of a program; return its times by what was done where."""
    text = van_horn_mairson_text(m)
    core = parse(text)
    problem = CFA(reachable_only=False).constraints(core).problem
    binary = van_horn_mairson(m, inner_first=False)
    n_lambdas = len(binary.function_object)
    expected = n_facts(cpu.solve(binary, threads=1), slice(n_lambdas, None))
    solved = {where: often(partial(solve, problem)) for where, solve in solvers().items()}
    whole = {where: often(partial(analysed, text, where)) for where in solved}
    counts = {n_facts(t.result, slice(core.n_variables)) for t in solved.values()}
    counts |= {n_facts(t.result.solution, slice(core.n_variables)) for t in whole.values()}
    rival, shown_set_up = None, {"EigenCFA's set-up": "-"}
    if m <= RIVAL_LEVELS:
        rival, set_up_s = passes(binary)
        counts.add(n_facts(rival.result, slice(n_lambdas, None)))
        shown_set_up = {"EigenCFA's set-up": seconds(set_up_s)}
    shown = {f"solving, {where}": seconds(t.median_s) for where, t in solved.items()}
    shown |= {f"text to targets, {where}": seconds(t.median_s) for where, t in whole.items()}
    ours = min(solved.values(), key=lambda t: t.median_s)
    gpu_s, cpu_s = PAPER.get(m, (None, None))
    table.row(
        input="Van Horn-Mairson",
        size=f"{31 * m + 49:,} terms",
        ours=ours,
        rival=RIVAL if rival else None,
        theirs=rival,
        agree=counts == {expected},
        **{
            "the paper's GPU": seconds(gpu_s) if gpu_s else "-",
            "the paper's CPU": seconds(cpu_s) if cpu_s else "-",
            **shown_set_up,
            **shown,
            **speed(expected, ours),
        },
    )
    found = {f"solving, {where}": t.median_s for where, t in solved.items()}
    found |= {f"text to targets, {where}": t.median_s for where, t in whole.items()}
    return found | ({RIVAL: rival.median_s} if rival else {})


def speed(facts: int, ours: Measurement) -> dict[str, str]:
    return {"facts": f"{facts:,}", "facts/s": f"{facts / ours.median_s:.2g}"}


def dense(table: Table, n_lambdas: int) -> None:
    problem = random_cps(n_lambdas, 1)
    solved = {where: often(partial(solve, problem)) for where, solve in solvers().items()}
    ours = min(solved.values(), key=lambda t: t.median_s)
    counts = {t.result.n_facts for t in solved.values()}
    table.row(
        input="random binary CPS, seed 1",
        size=f"{n_lambdas:,} lambdas",
        ours=ours,
        agree=len(counts) == 1,
        **{f"solving, {where}": seconds(t.median_s) for where, t in solved.items()},
        **speed(counts.pop(), ours),
    )


def draw(found: dict[int, dict[str, float]]) -> None:
    """Write the growth of the family: ours and the paper's."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    paper = {"the paper's GPU": 0, "the paper's CPU": 1}
    for name, which in paper.items():
        axes.plot(_terms(LEVELS), [PAPER[m][which] for m in LEVELS], "s--", label=name)
    for name in dict.fromkeys(name for times in found.values() for name in times):
        known = [m for m in found if name in found[m]]
        axes.plot(_terms(known), [found[m][name] for m in known], "o-", label=name)
    axes.set(xscale="log", yscale="log", xlabel="terms", ylabel="median seconds")
    axes.set_title("0CFA of the Van Horn-Mairson family", fontsize=10)
    axes.legend(fontsize=8)
    figure.savefig(RESULTS / "cfa_growth.png", dpi=110)
    pyplot.close(figure)


def _terms(levels: Any) -> Any:
    return 31 * np.array(levels) + 49


def main() -> None:
    family(Table("warm", ""), 8)  # compiles
    if sys.argv[1:] == ["million"]:
        table = Table("cfa_million", __doc__ or "")
        family(table, A_MILLION)
        table.save()
        return
    table = Table("cfa", __doc__ or "")
    for n_lambdas in LAMBDAS:
        dense(table, n_lambdas)
    found = {m: family(table, m) for m in LEVELS}
    table.save()
    draw(found)


if __name__ == "__main__":
    main()

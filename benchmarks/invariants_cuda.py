"""From how many packs on does a GPU solve the octagons of a whole program sooner than the CPU?

The packs are those of all checks that intervals leave open, of all functions at once: of lua,
nginx and sqlite3, of a part of sqlite3's, and of sqlite3 several times, as of a larger program.
Making the packs is not in the times; sending them and fetching the verdicts is. "ours" is what
`auto` chooses (`device`), the rival the CPU with all its cores. CUDA has
begun before. Verdicts must be equal.

    python benchmarks/invariants_cuda.py [FILE.npz ...]    packs from files, if given
    python benchmarks/invariants_cuda.py --save FOLDER     writes these files
"""

from __future__ import annotations

import os
import sys
from dataclasses import fields
from functools import partial
from pathlib import Path

import numpy as np
from harness import Table, measure

from kleene.base.device import Device
from kleene.kernels import launch
from kleene.kernels.octagon_flow import FlowGraphs, FlowProblem, solve

DATA = Path(os.environ.get("KLEENE_DATA") or Path(__file__).parents[2] / "shared" / "data")
PROGRAMS = ("lua", "nginx", "sqlite3")
PARTS, TIMES = (50, 200, 600), (4, 16)


def packs(name: str) -> FlowProblem:
    """Return the packs of a program."""
    import kleene
    from kleene.analyses.invariants.whole import interpret
    from kleene.analyses.invariants.whole.packs import packs_of

    run = interpret(kleene.load(DATA / "bitcode" / f"{name}.bc"))
    return packs_of(run.context, run.pointers, run.checks).problem


def saved(problem: FlowProblem, file: Path) -> None:
    """Write packs to a file."""
    columns = {one.name: getattr(problem, one.name) for one in fields(FlowProblem)}
    graphs = columns.pop("graphs")
    columns |= {f"graphs_{one.name}": getattr(graphs, one.name) for one in fields(FlowGraphs)}
    np.savez_compressed(file, **columns)


def read(file: Path) -> FlowProblem:
    """Return packs from a file."""
    with np.load(file) as found:
        graphs = FlowGraphs(*(found[f"graphs_{one.name}"] for one in fields(FlowGraphs)))
        rest = {name: found[name] for name in found.files if not name.startswith("graphs_")}
    return FlowProblem(graphs=graphs, **{**rest, "n_checks": int(rest["n_checks"])})


def repeated(problem: FlowProblem, packs: list[int]) -> FlowProblem:
    """Return some packs, in some order, a pack perhaps several times with checks of its own."""
    graphs, n = problem.graphs, len(packs)
    chosen = np.array(packs)
    assert np.array_equal(problem.graph, np.arange(problem.n_packs))  # a graph for each pack

    def parts(column: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
        return list(np.split(column, np.cumsum(sizes)[:-1]))

    def offsets(column: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Return offsets of chosen parts: each one's own, behind those of the parts before."""
        every, before, found = parts(column, sizes), 0, []
        ends = np.append(column, end_of[id(column)])[np.cumsum(sizes)]
        for pack in packs:
            found.append(every[pack] - every[pack][0] + before)
            before += int(ends[pack] - every[pack][0])
        return np.concatenate(found)

    n_nodes, n_edges = problem.n_nodes, problem.n_edges
    end_of = {
        id(graphs.in_offsets): len(graphs.edge_source),
        id(graphs.out_offsets): len(graphs.edge_target),
        id(problem.edge_ops): int(problem.node_ops[0]),
        id(problem.node_ops): len(problem.code),
    }
    sources, targets = (parts(one, n_edges) for one in (graphs.edge_source, graphs.edge_target))
    heads = parts(graphs.is_head, n_nodes)
    flow = FlowGraphs(
        np.append(0, np.cumsum(n_nodes[chosen])),
        offsets(graphs.in_offsets, n_nodes + 1),
        np.concatenate([sources[pack] for pack in packs]),
        offsets(graphs.out_offsets, n_nodes + 1),
        np.concatenate([targets[pack] for pack in packs]),
        np.concatenate([heads[pack] for pack in packs]),
    )
    edge_ops = offsets(problem.edge_ops, n_edges + 1)
    node_ops = offsets(problem.node_ops, n_nodes + 1)
    places, shift = [], []
    for column, sizes in ((problem.edge_ops, n_edges + 1), (problem.node_ops, n_nodes + 1)):
        starts = np.append(column, end_of[id(column)])[np.append(0, np.cumsum(sizes))]
        for nth, pack in enumerate(packs):
            places.append(np.arange(starts[pack], starts[pack + 1]))
            shift.append(np.full(len(places[-1]), nth))
    n_edge_ops = sum(len(one) for one in places[:n])
    at = np.concatenate(places)
    asks = problem.code[at] >= 3
    least = problem.least[at].copy()
    numbered = np.concatenate(shift)[asks] * problem.n_checks + least[asks]
    checks, least[asks] = np.unique(numbered, return_inverse=True)
    ranges = [parts(column, problem.n_variables) for column in (problem.low, problem.high)]
    low, high = (np.concatenate([one[pack] for pack in packs]) for one in ranges)
    return FlowProblem(
        flow, np.arange(n), problem.n_variables[chosen], low, high,
        edge_ops, node_ops + n_edge_ops, problem.code[at], problem.first[at], problem.second[at],
        least, problem.most[at], len(checks),
    )  # fmt: skip


def inputs(files: list[str]) -> list[tuple[str, FlowProblem]]:
    """Return problems and what they are."""
    if files:
        found = {Path(file).stem: read(Path(file)) for file in files}
    else:
        found = {name: packs(name) for name in PROGRAMS}
    rows = list(found.items())
    largest = found["sqlite3"]
    step = {n: max(largest.n_packs // n, 1) for n in PARTS}
    rows += [
        (f"sqlite3, {n} packs", repeated(largest, list(range(0, n * s, s))))
        for n, s in step.items()
    ]
    every = list(range(largest.n_packs))
    rows += [(f"sqlite3, {n} times", repeated(largest, every * n)) for n in TIMES]
    return rows


def main() -> None:
    """Solve all problems on both."""
    if sys.argv[1:2] == ["--save"]:
        for name in PROGRAMS:
            saved(packs(name), Path(sys.argv[2]) / f"{name}.npz")
        return
    table = Table("invariants_cuda", __doc__.partition("\n")[0])
    launch.gpu_problem()  # CUDA has begun: `auto` would count that in
    for name, problem in inputs(sys.argv[1:]):
        ours = measure(partial(solve, problem), repeat=3)
        cpu = measure(partial(solve, problem, device=Device.CPU), repeat=3)
        extra: dict[str, str | float] = {"device": ours.result.device.value}
        if launch.gpu_problem() is None:
            gpu = measure(partial(solve, problem, device=Device.CUDA), repeat=3)
            assert np.array_equal(gpu.result.proved, cpu.result.proved)
            assert np.array_equal(gpu.result.n_evaluations, cpu.result.n_evaluations)
            extra["gpu_s"] = gpu.median_s
        table.row(
            input=name,
            size=f"{problem.n_packs} packs, {int(problem.n_nodes.sum())} nodes",
            ours=ours,
            rival="CPU, all cores",
            theirs=cpu,
            agree=np.array_equal(ours.result.proved, cpu.result.proved),
            proved=int(cpu.result.proved.sum()),
            **extra,
        )
    table.save()


if __name__ == "__main__":
    main()

"""How much sooner do two threads answer questions of dataflow than one?

Ours are two threads, the rival is one; the runs of both alternate. Functions are looked at alone
(`whole_program=False`), or together, over load and points-to; generated constraints are those of
`dataflow_cuda.py`, side by side. The answers must be equal. Times are those of a clock on the wall.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from dataflow_cuda import generated, repeated
from harness import Measurement, Table

import kleene
from kleene.analyses.dataflow.clients import client
from kleene.analyses.dataflow.context import Context
from kleene.ir.program import Program
from kleene.solvers.dataflow import Constraints, solve
from kleene.transforms.splitting import split_program

DATA = Path(os.environ.get("KLEENE_DATA") or Path(__file__).parents[2] / "shared" / "data")
PROGRAMS = ("nginx", "sqlite3")
REPEATS = 5
Answer = list[Any]  # arrays, or texts


def splitting(program: Program, strategy: str, threads: int) -> Answer:
    found = split_program(program, strategy, threads=threads)
    return [found.operand, found.value, found.kind, found.point, found.offsets, found.operands]


def alone(program: Program, threads: int) -> Answer:
    return [Context(program, library=True, whole_program=False, threads=threads).facts.rows]


def together(known: Context, threads: int) -> Context:
    context = Context(known.program, library=known.library, threads=threads)
    context.__dict__["points_to"] = known.points_to
    for mine in ("_effects", "memory_accesses"):  # who touches what belongs to the time
        context.points_to.__dict__.pop(mine, None)
    return context.forwarded


def ranges(known: Context, threads: int) -> Answer:
    return [together(known, threads).facts.rows]


def nulls(known: Context, threads: int) -> Answer:
    return [repr(one) for one in client("null").answer(together(known, threads)).findings]


def solving(constraints: Constraints, threads: int) -> Answer:
    fresh = Constraints(constraints.operator, constraints.width, constraints.attribute,
                        constraints.offsets, constraints.operands, constraints.given)  # fmt: skip
    return [solve(fresh, threads=threads).rows]


def inputs() -> Iterator[tuple[str, str, Callable[[int], Answer]]]:
    for name in PROGRAMS:
        program = kleene.load(DATA / "bitcode" / f"{name}.bc")
        known = Context(program, library=name == "sqlite3")
        assert known.points_to is not None
        size = f"{len(program.instructions):,} instructions"
        for strategy in ("essa", "null"):
            yield f"{name}: splitting, {strategy}", size, partial(splitting, program, strategy)
        yield f"{name}: ranges, functions alone", size, partial(alone, program)
        yield f"{name}: ranges, whole program", size, partial(ranges, known)
        yield f"{name}: null, whole program", size, partial(nulls, known)
    for n_islands in (10, 500):
        constraints = repeated(generated(1_000_000 // n_islands), 1_000_000)
        size = f"{constraints.n_names:,} constraints"
        yield f"generated, {n_islands} islands: solving", size, partial(solving, constraints)


def beside(call: Callable[[int], Answer]) -> tuple[Measurement, Measurement]:
    """Return the times of two threads and of one, whose runs alternate."""
    times: dict[int, list[float]] = {2: [], 1: []}
    found: dict[int, Answer] = {}
    for _ in range(1 + REPEATS):
        for threads, seconds in times.items():
            start = time.perf_counter()
            found[threads] = call(threads)
            seconds.append(time.perf_counter() - start)
    two, one = (
        Measurement(first, statistics.median(rest), min(rest), max(rest), found[threads])
        for threads, (first, *rest) in times.items()
    )
    return two, one


def main() -> None:
    table = Table("dataflow_threads", (__doc__ or "").splitlines()[0])
    for name, size, call in inputs():
        two, one = beside(call)
        agree = all(np.array_equal(a, b) for a, b in zip(two.result, one.result, strict=True))
        table.row(input=name, size=size, ours=two, rival="one thread", theirs=one, agree=agree)
    table.save()


if __name__ == "__main__":
    main()

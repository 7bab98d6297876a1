"""From how many constraints on does a GPU solve dataflow sooner than a thread of the CPU?

Constraints are those of generated functions (loops in a row, arithmetic, tests, arguments that are
results of others), side by side as a whole program has them, and those of sqlite3. The schedule and
the thresholds are made before, for both; what the GPU needs besides, and sending and fetching, are
in its time. The facts must be equal, bit for bit. "first call" compiles.

    python benchmarks/dataflow_cuda.py [sqlite3.npz]        constraints from a file, if given
    python benchmarks/dataflow_cuda.py --save sqlite3.npz   writes that file
"""

from __future__ import annotations

import os
import random
import sys
from functools import partial
from pathlib import Path

import numpy as np
from harness import Table, measure

from kleene.solvers.dataflow import ConstraintBuilder, Constraints, Flag, Operator, Predicate, solve
from kleene.solvers.dataflow.cuda import Plan

DATA = Path(os.environ.get("KLEENE_DATA") or Path(__file__).parents[2] / "shared" / "data")
SIZES = (100_000, 1_000_000, 10_000_000)
_COLUMNS = ("operator", "width", "attribute", "offsets", "operands", "given")
_ARITHMETIC = (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.AND, Operator.OR,
               Operator.SHIFT_RIGHT, Operator.UNSIGNED_REMAINDER)  # fmt: skip


class _Functions:
    """Writes functions one after another; each may take results of those before it."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._build = ConstraintBuilder()
        self._results: list[int] = []
        (self._true,) = self._one(Operator.CONSTANT, attribute=1)

    def _one(self, operator: int, operands: tuple[int, ...] = (), **more: int) -> list[int]:
        names = self._build.names(1)
        self._build.define(names, operator, list(operands), offsets=[0, len(operands)], **more)
        return [int(name) for name in names]

    def constraints(self, n_names: int) -> Constraints:
        while self._build.n_names < n_names:
            self._function()
        return self._build.constraints()

    def _function(self) -> None:
        chance = self._chance
        values = []
        for _ in range(2):
            near = self._results[-64:]
            if near and chance.random() < 0.7:
                taken = tuple(chance.choice(near) for _ in range(2))
                values += self._one(Operator.JOIN, taken, width=32)
            else:
                number = chance.randrange(-9, 99)
                values += self._one(Operator.CONSTANT, width=32, attribute=number)
        reached = self._true
        for _ in range(chance.randint(1, 3)):
            reached = self._loop(values, reached)
        result = (values[-1], reached, values[chance.randrange(len(values))], reached)
        self._results += self._one(Operator.PHI, result, width=32)

    def _loop(self, values: list[int], before: int) -> int:
        """Write `for (i = x; i < y; i += c) s = s op i;`; return the name of the edge behind it."""
        chance, build = self._chance, self._build
        head, at, enter, leave, condition, inside, step, total, sum_ = build.names(9).tolist()
        start, end = (chance.choice(values) for _ in range(2))
        (by,) = self._one(Operator.CONSTANT, width=32, attribute=chance.randint(1, 4))
        nsw = int(Flag.NSW)
        build.define([head], Operator.JOIN, [before, enter])
        build.define([at], Operator.PHI, [start, before, step, enter], width=32)
        build.define([condition], Operator.COMPARE, [at, end], attribute=Predicate.SLT)
        build.define([enter], Operator.WHEN, [head, condition], attribute=1)
        build.define([leave], Operator.WHEN, [head, condition], attribute=0)
        build.define([inside], Operator.REFINE, [at, end], width=32, attribute=Predicate.SLT)
        build.define([step], Operator.ADD, [inside, by], width=32, attribute=nsw)
        build.define([total], Operator.PHI, [start, before, sum_, enter], width=32)
        here = [inside, total]
        for _ in range(chance.randint(2, 12)):
            pair = chance.choice(here), chance.choice([*here, *values[:2]])
            here += self._one(chance.choice(_ARITHMETIC), pair, width=32, attribute=0)
        build.define([sum_], Operator.AND, [here[-1], end], width=32)
        values += self._one(Operator.REFINE, (at, end), width=32, attribute=Predicate.SGE)
        values.append(total)
        return leave


def generated(n_names: int) -> Constraints:
    """Return the constraints of generated functions, so many names or a few more."""
    return _Functions(1).constraints(n_names)


def repeated(one: Constraints, n_names: int) -> Constraints:
    """Return copies of constraints side by side, as many as make so many names."""
    count = -(-n_names // one.n_names)
    which = np.arange(count, dtype=np.int64)[:, None]
    number = np.where(one.operator == Operator.CONSTANT, 1, 0) * (one.width > 1)
    return Constraints(
        np.tile(one.operator, count),
        np.tile(one.width, count),
        (one.attribute + which % 97 * number).ravel(),
        np.append(0, (one.offsets[1:] + which * len(one.operands)).ravel()),
        (one.operands + which * one.n_names).ravel().astype(np.int32),
        one.given,
    )


def sqlite3() -> Constraints:
    """Return the constraints of sqlite3."""
    import kleene
    from kleene.analyses.dataflow.context import Context

    program = kleene.load(DATA / "bitcode" / "sqlite3.bc")
    return Context(program, library=True).forwarded.values.constraints


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--save"]:
        found = sqlite3()
        np.savez_compressed(arguments[1], **{name: getattr(found, name) for name in _COLUMNS})
        return
    table = Table("dataflow_cuda", (__doc__ or "").splitlines()[0])
    tile = generated(SIZES[0])
    inputs = {f"generated, {n:,}": partial(repeated, tile, n) for n in SIZES}
    if arguments:
        columns = np.load(arguments[0])
        inputs["sqlite3"] = lambda: Constraints(*(columns[name] for name in _COLUMNS))
    for name, make in inputs.items():
        constraints = make()
        assert constraints.thresholds  # and the schedule: made before
        repeat = 1 if constraints.n_names > 5_000_000 else 3
        gpu = measure(partial(solve, constraints, device="cuda"), repeat=repeat)
        cpu = measure(partial(solve, constraints), repeat=repeat)
        sizes = np.diff(constraints.schedule.component_offsets)
        plan = Plan.of(constraints)
        table.row(
            input=name,
            size=f"{constraints.n_names:,} constraints",
            ours=gpu,
            rival="CPU, one thread (Numba)",
            theirs=cpu,
            agree=bool(np.array_equal(gpu.result.rows, cpu.result.rows)),
            **{
                "largest component": f"{int(sizes.max()):,}",
                "longest path": f"{plan.n_levels:,} components",
            },
        )
    table.save()


if __name__ == "__main__":
    main(sys.argv[1:])

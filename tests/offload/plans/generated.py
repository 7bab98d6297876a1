"""Generated functions beside the C that they were generated from: the same calls, compared."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from kleene.codegen import cuda, python, runtime, threads
from kleene.codegen.plan import Plan
from kleene.codegen.text import element_of
from kleene.frontends.c.loops import read
from kleene.frontends.c.source import Source
from kleene.ir.loops.tree import Function, Unit
from kleene.kernels import launch
from kleene.offload.kernels import Kernels
from kleene.offload.plans import plan_of
from kleene.offload.plans.built import compiled
from kleene.offload.plans.call import call_c, call_nest, parameters_of, result_of
from tests.offload.kernels.loop_programs import PROGRAMS


def plans_of(unit: Unit) -> dict[str, Plan]:
    """Return the plan of every function with loops."""
    result = Kernels().verdicts_on([unit])
    by_name = {one.table.function: one for one in result.functions}
    return {f.name: plan_of(f, by_name[f.name]) for f in unit.functions if f.name in by_name}


@cache
def polybench() -> dict[str, Unit]:
    """Return the thirty computations by the names of their files, read once in a run."""
    files = sorted(PROGRAMS.glob("polybench/*.c"))
    found = read([Source(str(one), "c") for one in files])
    return {file.stem: unit for file, unit in zip(files, found, strict=True)}


@cache
def polybench_plans() -> dict[str, Plan]:
    """Return the plans of the thirty computations by the names of their functions."""
    return {name: plan for unit in polybench().values() for name, plan in plans_of(unit).items()}


class Compared:
    """Functions in three forms: as they are written, on threads, and as kernels."""

    def __init__(self, sources: Iterable[str], plans: dict[str, Plan], folder: Path) -> None:
        self.plans = plans
        with_kernels = [one for one in plans.values() if one.steps]
        self._file = folder / "kernels.cu"
        self._file.write_text(cuda.source(with_kernels))
        self._written = compiled("\n".join(sources))
        self._threads = compiled(threads.source(list(plans.values())))

    def assert_same(self, function: Function, args: list[Any], seed: int = 1) -> None:
        """Call all three forms with copies of the same arguments, and compare what they leave."""
        plan = self.plans[function.name]
        wanted = _copies(args)
        answers = [self._call(self._written, plan, wanted)]
        made = {"threads": _copies(args)}
        suffix = "_parallel" if plan.steps else "_sequential"
        answers.append(self._call(self._threads, plan, made["threads"], suffix))
        if plan.steps:
            for least_tiled in (1 << 30, 0):
                form = "tiles" if least_tiled == 0 else "kernels"
                made[form] = _copies(args)
                answers.append(self._kernels(plan, made[form], seed, least_tiled))
                if not re.search(r"run\.(tiles|rows|columns|resident|scan)\(", python.source(plan)):
                    break
        for form, values in made.items():
            for symbol, value, other in zip(plan.parameters, values, wanted, strict=True):
                if isinstance(value, np.ndarray):
                    _compare(f"{function.name}: {symbol.name} by {form}", value, other)
        for answer in answers[1:]:
            if answers[0] is not None:
                _compare(f"{function.name}: its result", np.array(answer), np.array(answers[0]))

    def _call(self, library: ctypes.CDLL, plan: Plan, args: list[Any], suffix: str = "") -> Any:
        names = [one.name for one in plan.parameters]
        given = dict(zip(names, args, strict=True))
        return call_c(library, plan.function + suffix, parameters_of(plan), result_of(plan), given)

    def _kernels(self, plan: Plan, args: list[Any], seed: int, least_tiled: int) -> Any:
        names: dict[str, Any] = dict(runtime.NAMESPACE)
        exec(python.source(plan), names)
        told = (plan.function, parameters_of(plan), plan.overlaps, names["sections"])
        runtime.Arguments(*told).prepared(args)
        with launch.on_host(seed=seed):
            run = runtime.Run(launch.load(self._file).launch, np)
            run.on_cpu = partial(call_nest, self._threads)
            run.least_tiled = least_tiled
            run.most_resident = -1 if least_tiled else run.most_resident
            run.one_scanned = run.one_scanned if least_tiled else 0
            return names["steps"](run, *args)


def _copies(args: list[Any]) -> list[Any]:
    return [one.copy() if isinstance(one, np.ndarray) else one for one in args]


def _compare(what: str, value: np.ndarray, wanted: np.ndarray) -> None:
    if value.dtype.kind == "f":
        np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-12, err_msg=what)
    else:
        np.testing.assert_array_equal(value, wanted, err_msg=what)


def arguments(function: Function, sizes: dict[str, int], seed: int = 0) -> list[Any]:
    """Return random arguments: arrays have the greatest size to the power of their dimensions."""
    rng = np.random.default_rng(seed)
    made: list[Any] = []
    for one in function.parameters:
        if one.type.kind == "int":
            made.append(sizes[one.name])
        elif one.type.kind == "float":
            made.append(1.5)
        else:
            n_dimensions, kind = 0, one.type
            while kind.kind in ("pointer", "array") and kind.target is not None:
                n_dimensions, kind = n_dimensions + 1, kind.target
            n = max(sizes.values()) ** n_dimensions
            dtype = np.dtype(python.dtype_name(element_of(one.type)))
            values = rng.random(n) + 0.5 if dtype.kind == "f" else rng.integers(0, 4, n)
            made.append(values.astype(dtype))
    return made

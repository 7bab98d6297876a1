"""From how many related variables on do octagons of the library belong on a GPU?

A value with `device="cuda"` lies on the GPU, and every operation gives a new one there; the same on
values in host memory is the rival. All variables are integers and related, in one component.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numba
from harness import RESULTS, Table, machine, measure
from octagon_inputs import loose, point_of

from kleene import Octagon
from kleene.algebra import expression
from kleene.algebra.dbm import magnitude
from kleene.algebra.partition import Kinds
from kleene.kernels import launch, minplus

SIZES = (16, 32, 64, 128, 256, 512, 1024)
CALLS = 5  # in one measurement
TIMES = f", {CALLS} times"


def octagon(n: int, device: str, seed: int) -> Octagon:
    """Return an octagon of n variables, each related to all others."""
    names = tuple(f"x{k:04}" for k in range(n))
    m = loose(n, "int64", seed)
    dtype = minplus.exact_dtype(n, magnitude(m))
    builder = Octagon.top(names, device=device).builder()
    builder.store(names, m.astype(dtype), 1, Kinds(tighten=True, is_mixed=False))
    return builder.build()


def operations(n: int, device: str) -> dict[str, Callable[[], Any]]:
    """Return the operations by name, on values that lie there."""
    a, b = (octagon(n, device, seed) for seed in (0, 1))
    both, point = a.join(b), point_of(n, 0)
    guard = expression("x0001 - x0002") - int(point[1] - point[2] - 95) <= 0
    return {
        "guard x - y <= c": lambda: a.meet([guard]),
        "x := x + c": lambda: a.assign("x0001", "x0001 + 3"),
        "x := y + c": lambda: a.assign("x0001", "x0002 + 3"),
        "forget x": lambda: a.forget("x0001"),
        "join": lambda: a.join(b),
        "meet, closed": lambda: a.meet(both),
        "widening": lambda: a.widen(both),
        "inclusion": lambda: a <= both,
    }


def repeated(operation: Callable[[], Any]) -> Any:
    for _ in range(CALLS):
        found = operation()
    launch.current().xp.cuda.Device().synchronize()
    return found


def rows(table: Table, n: int) -> None:
    here, there = operations(n, "cpu"), operations(n, "cuda")
    for name in here:
        repeat = 5 if n <= 512 else 2
        ours = measure(partial(repeated, there[name]), repeat=repeat)
        theirs = measure(partial(repeated, here[name]), repeat=repeat)
        table.row(
            input=f"{name}{TIMES}",
            size=f"n = {n}",
            ours=ours,
            rival=f"host memory, {numba.get_num_threads()} CPU threads",
            theirs=theirs,
            agree=ours.result == theirs.result,
        )


def draw(table: Table) -> None:
    """Draw the growth of each operation, and of their sum, in both places."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = list(dict.fromkeys(row["input"] for row in table.rows))
    figure, every = pyplot.subplots(3, 3, figsize=(11, 9), layout="constrained", sharex=True)
    for axes, name in zip(every.flat, [*names, None], strict=True):
        for side, label in (("theirs", "host memory"), ("ours", "GPU")):
            axes.plot(SIZES, [total(table, n, side, name) for n in SIZES], marker="o", label=label)
        axes.set(
            xscale="log", yscale="log", title=name.removesuffix(TIMES) if name else "sum of all"
        )
        axes.set_xticks(SIZES, [str(n) for n in SIZES], fontsize=7)
        axes.grid(alpha=0.3)
    every.flat[0].legend()
    figure.supxlabel(f"variables, all related; {machine()}", fontsize=7)
    figure.supylabel("seconds, one call")
    figure.savefig(RESULTS / "octagon_cuda_library_growth.png", dpi=110)
    pyplot.close(figure)


def total(table: Table, n: int, side: str, name: str | None) -> float:
    """Return the least seconds of one call of an operation, or of each once."""
    chosen = [row for row in table.rows if row["size"] == f"n = {n}"]
    return sum(row[side]["min_s"] for row in chosen if name in (None, row["input"])) / CALLS


def main() -> None:
    table = Table("octagon_cuda_library", __doc__.splitlines()[0])
    for n in SIZES:
        rows(table, n)
    table.save()
    draw(table)
    sums = {n: (total(table, n, "theirs", None), total(table, n, "ours", None)) for n in SIZES}
    for n, (cpu_s, cuda_s) in sums.items():
        print(f"n = {n}: {cpu_s * 1e3:.3g} ms in host memory, {cuda_s * 1e3:.3g} ms on the GPU")


if __name__ == "__main__":
    main()

"""How fast are a GPU's octagon operations: against its memory, the paper's table, the same CPU?

The paper (Banterle, Giacobazzi: A fast implementation of the octagon abstract domain on graphics
hardware, SAS 2007) gives seconds for 20 runs in float32, on a Pentium D and a GeForce 7950; so do
the rows "paper:" here, in float64, with one CPU thread of the same host as the rival. Its guard
writes two cells; closing again after it is a row of its own, which the paper has not. Octagons stay
on the GPU. Every answer is compared with the CPU's, or with what it must be, before its time is
kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
from harness import Measurement, Table, measure
from octagon_cuda import close_here, copied, once, wait
from octagon_inputs import dense, loose, point_of

from kleene.kernels import minplus
from kleene.kernels.minplus import cuda

BANDWIDTH_BYTES_PER_S = 4.8e12
N_RUNS = 20
PAPER_NAMES = ("closure", "union", "assign", "guard", "widening", "emptiness", "reduction")
PAPER_S = {  # variables: (CPU, GPU) in the order of the names
    128: ((40.4, 6.45), (0.096, 0.085), (0.007, 0.01), (0.00012, 0.073), (0.109, 0.099),
          (43.7, 95.9), (0.073, 0.78)),
    512: ((2950, 206), (1.5, 0.104), (0.081, 0.024), (0.00022, 0.078), (1.79, 0.109),
          (2716, 1019), (1.16, 0.9)),
    1024: ((24863, 1804), (6.83, 0.109), (0.229, 0.022), (0.0019, 0.08), (7.33, 0.129),
           (19501, 4881), (4.62, 0.94)),
    2048: ((199020, 14470), (24.4, 0.119), (0.318, 0.029), (0.00015, 0.087), (29.0, 0.133),
           (156830, 19912), (15.5, 1.06)),
    4096: ((2172000, 23951), (73.2, 0.182), (0.472, 0.045), (0.00015, 0.107), (103, 0.154),
           (1254600, 149340), (46.4, 1.2)),
}  # fmt: skip
Run = Callable[..., Any]


def many(run: Run, m: Any = None) -> Any:
    """Run 20 times: on the octagon given, or on what `run` knows."""
    for turn in range(N_RUNS):
        run(m, turn)
    wait()
    return m


def twenty(one: Measurement) -> Measurement:
    """Return the times of 20 runs, from those of one."""
    times = {name: N_RUNS * value for name, value in one.times().items()}
    return Measurement(**times, result=one.result)


class Paper:
    """A row of the paper's table, regenerated."""

    def __init__(self, table: Table, n: int) -> None:
        self.table, self.n = table, n

    def row(self, name: str, ours: Measurement, theirs: Measurement | None, agree: bool) -> None:
        """Add what the paper's table has, beside it."""
        cpu_s, gpu_s = PAPER_S[self.n][PAPER_NAMES.index(name)]
        extra = {"paper's CPU, s": cpu_s, "paper's GPU, s": gpu_s}
        extra |= {"paper's GPU / ours": gpu_s / ours.median_s}
        self.add(f"paper: {name}", ours, theirs, agree, extra)

    def add(
        self, name: str, ours: Measurement, theirs: Measurement | None, agree: bool, extra: Any
    ) -> None:
        """Add a row."""
        self.table.row(
            input=f"{name}, {N_RUNS} runs",
            size=f"n = {self.n}",
            ours=ours,
            rival=None if theirs is None else "1 CPU thread",
            theirs=theirs,
            agree=agree,
            **{"type": "float64", **extra},
        )

    def both(self, there: Run, here: Run, a: Any, m: Any) -> tuple[Measurement, Measurement, bool]:
        """Measure on copies of an octagon, on the GPU and on the host; are they the same then?"""
        ours = measure(partial(many, there), repeat=3, setup=partial(copied, a))
        theirs = measure(partial(many, here), repeat=3, setup=m.copy)
        return ours, theirs, bool(np.array_equal(cuda.to_host(ours.result), theirs.result))

    def close(self) -> None:
        """Closing, and finding that there is no point, at the last pivot."""
        start, result = dense(self.n, "float64"), None
        contradiction = start.copy()
        contradiction[minplus.cell(2 * self.n - 1, 0)] = -1
        contradiction[minplus.cell(0, 2 * self.n - 1)] = 0
        for name, m in (("closure", start), ("emptiness", contradiction)):
            source = cuda.to_device(m)
            result = source.copy()

            def run(_m: Any, _turn: int, out: Any = result, of: Any = source) -> None:
                out[...] = of
                cuda.close(out, None, False)

            ours = measure(partial(many, run), repeat=2)
            found, theirs = cuda.to_host(result), None
            if name == "closure":
                theirs = twenty(once(close_here, m))
                assert np.array_equal(found, theirs.result)
            elif self.n < 4096:
                theirs = twenty(_emptied(m))
            is_empty = bool((found == minplus.lowest(m.dtype)).all())
            self.row(name, ours, theirs, is_empty == (name == "emptiness"))

    def combine(self) -> None:
        """Union, widening, and comparing two that are equal."""
        here, other = loose(self.n, "float64"), loose(self.n, "float64", 1)
        b, none = cuda.to_device(other), np.zeros(0, np.float64)
        a = cuda.to_device(here)
        union = self.both(
            lambda m, _: cuda.join(m, a, b), lambda m, _: minplus.join(m, here, other), a, here
        )
        self.row("union", *union)
        widening = self.both(
            lambda m, _: cuda.widen(m, a, b, None, none),
            lambda m, _: minplus.widen(m, here, other), a, here,
        )  # fmt: skip
        self.row("widening", *widening)
        answers: list[bool] = []
        reduction = self.both(
            lambda m, _: answers.append(bool(cuda.equals(m, a, None))),
            lambda m, _: answers.append(minplus.equals(m, here)),
            a,
            here,
        )
        self.row("reduction", *reduction[:2], all(answers))

    def change(self) -> None:
        """Assignment, guard, and guard with closing again, each turn of which tightens."""
        here = loose(self.n, "float64")
        a = cuda.to_device(here)
        self.row(
            "assign",
            *self.both(
                lambda m, _: cuda.assign(m, None, 1, 0, False, 3, -3),
                lambda m, _: minplus.assign(m, 1, 0, up=3, down=-3),
                a,
                here,
            ),
        )
        at = int(point_of(self.n, 0)[2] - point_of(self.n, 0)[1])  # V'[4] - V'[2] at the point
        cells = [
            (np.array([2]), np.array([4]), np.array([at - 76 - turn], np.float64))
            for turn in range(N_RUNS)
        ]
        there = [tuple(map(cuda.to_device, columns)) for columns in cells]
        guard = self.both(
            lambda m, turn: cuda.add(m, None, *there[turn], None),
            lambda m, turn: minplus.add(m, *cells[turn]), a, here,
        )  # fmt: skip
        self.row("guard", *guard)
        closed = self.both(
            lambda m, turn: bool(cuda.close_after(m, None, *there[turn], None, False)),
            lambda m, turn: minplus.close_after(m, *cells[turn]), a, here,
        )  # fmt: skip
        changed = int((closed[0].result != a).sum())
        assert changed > self.n
        self.add("guard, closed again", *closed, {})

    def assign_linear(self) -> None:
        """An assignment the paper has not: x0 := [1, 2] x1 - x2 + [-3, 5]."""
        here = loose(self.n, "float64")
        lows, highs = np.array([1, -1], np.float64), np.array([2, -1], np.float64)
        form = np.array([1, 2]), lows, highs
        there, up, down = tuple(map(cuda.to_device, form)), np.float64(5), np.float64(3)
        assigned = self.both(
            lambda m, _: cuda.assign_linear(m, None, 0, minplus.Forms(*there, up, down), False),
            lambda m, _: minplus.assign_linear(m, 0, minplus.Forms(*form, up, down)),
            cuda.to_device(here),
            here,
        )
        self.add("interval linear form", *assigned, {})


def _emptied(m: Any) -> Measurement:
    """Return how long one thread takes to find that there is no point."""
    found = measure(lambda given: minplus.close(given), repeat=1, setup=m.copy)
    assert found.result is False
    return found


def bandwidth(table: Table, n: int, dtype: str) -> None:
    """How near to the memory's speed are operations that look at every cell?"""
    here, other = loose(n, dtype), loose(n, dtype, 1)
    a, b = cuda.to_device(here), cuda.to_device(other)
    out, none, same = a.copy(), np.zeros(0, dtype), a.copy()
    expected = np.empty_like(here)
    for name, run, oracle, n_passes in (
        ("join", partial(cuda.join, out, a, b), minplus.join, 3),
        ("meet", partial(cuda.meet, out, a, b), minplus.meet, 3),
        ("widen", partial(cuda.widen, out, a, b, None, none), minplus.widen, 3),
        ("narrow", partial(cuda.narrow, out, a, b, None), minplus.narrow, 3),
        ("equals", lambda: bool(cuda.equals(a, same, None)), None, 2),
    ):
        run()
        agree = bool(cuda.equals(a, same, None))
        if oracle is not None:
            oracle(expected, here, other)
            agree = bool(np.array_equal(expected, cuda.to_host(out)))
        ours = measure(partial(many, lambda _m, _turn, run=run: run()), repeat=3)
        speed = N_RUNS * n_passes * a.nbytes / ours.min_s
        share = f"{speed / BANDWIDTH_BYTES_PER_S:.0%}"
        extra: dict[str, Any] = {"type": dtype, "TB/s": speed / 1e12, "share": share}
        table.row(input=f"{name}, {N_RUNS} runs", size=f"n = {n}", ours=ours, agree=agree, **extra)


def minimal(table: Table, n: int, dtype: str = "int32") -> None:
    """The smallest set of constraints, where all are needed: as many sums as a closure has."""
    m = loose(n, dtype)
    there, kept = cuda.to_device(m), np.empty(len(m), np.bool_)
    marks = cuda.to_device(kept)

    def run() -> None:
        cuda.minimal(marks, there, None)
        wait()

    ours = measure(run, repeat=3)
    theirs = measure(lambda: minplus.minimal(kept, m), repeat=1)
    agree = bool(np.array_equal(kept, cuda.to_host(marks)))
    rival = f"{numba.get_num_threads()} CPU threads"
    extra = {"type": dtype}
    size = f"n = {n}"
    table.row(
        input="minimal", size=size, ours=ours, rival=rival, theirs=theirs, agree=agree, **extra
    )


def main() -> None:
    table = Table("octagon_cuda_operations", __doc__.splitlines()[0])
    close_here(dense(128, "float64").copy())  # compiles
    for n in (256, 1024, 2048):
        minimal(table, n)
    numba.set_num_threads(1)
    for n in PAPER_S:
        row = Paper(table, n)
        row.close()
        row.combine()
        row.change()
        row.assign_linear()
    for n in (4096, 8192):
        bandwidth(table, n, "int32")
    table.save()


if __name__ == "__main__":
    main()

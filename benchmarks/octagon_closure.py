"""How near is the octagon closure to the cores' limit, and how far ahead of PPL's?

The limit is measured in the same run: sums and minima on registers alone, no memory. "G/s" counts
the 4n³ sums that a closure of n variables needs at least. Recorded rivals (another machine, its
limit 22.5 G/s in float64): APRON 21.8 s and ELINA 2.3 s at n = 1024; "recorded" is their share of
that machine's limit. Rows of one thread are its CPU time, so that others on the machine do not
count, and ratios to PPL are of the shortest times; rows of more threads are times by the clock.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numba
import numpy as np

from benchmarks import octagon_peak as peak
from benchmarks import octagon_phases as phases
from benchmarks import ppl
from benchmarks.harness import RESULTS, Measurement, Table, measure
from kleene.kernels import minplus
from kleene.kernels.minplus import reference

SIZES = (64, 128, 256, 512, 1024, 2048)
TYPES = tuple(d.name for d in minplus.DTYPES)
LARGEST_PPL = {"float64": 1024, "int64": 64}
PPL_KINDS = {"float64": "double", "int64": "mpz_class"}
RECORDED_PER_S = 22.5e9
RECORDED_S = {  # n: APRON, ELINA
    64: (5.18e-3, 0.57e-3),
    128: (41e-3, 3.3e-3),
    256: (322e-3, 21e-3),
    512: (2.57, 161e-3),
    1024: (21.8, 2.316),
}
PARTS = ("one", "threads")


def dense(n: int, dtype: Any, seed: int) -> Any:
    """Return an octagon with every constraint, around a random point, small enough to be exact."""
    random = np.random.default_rng(seed)
    spread = 20 if np.dtype(dtype).kind == "f" else max(1, min(20, minplus.limit(dtype, n) // 5))
    point = random.integers(-spread, spread + 1, n)
    ends = np.stack([point, -point], axis=1).reshape(-1)
    i, j = np.divmod(np.arange(4 * n * n), 2 * n)
    i, j = i[j <= (i | 1)], j[j <= (i | 1)]
    m = (ends[j] - ends[i] + random.integers(0, spread + 1, len(i))).astype(dtype)
    m[i == j] = 0
    return m


def closed(m: Any) -> Any:
    assert minplus.close(m)
    return m


def measure_alone(
    fn: Callable[[Any], Any], *, repeat: int, setup: Callable[[], Any]
) -> Measurement:
    """Return the CPU times of `fn(setup())` in this thread, as `measure` does by the clock."""
    times, result = [], None
    for _ in range(repeat + 1):
        given = setup()
        start = time.thread_time()
        result = fn(given)
        times.append(time.thread_time() - start)
    first_s, *others = times
    return Measurement(first_s, statistics.median(others), min(others), max(others), result)


def repeats(n: int) -> int:
    return 50 if n <= 256 else 9 if n <= 512 else 5 if n <= 1024 else 3


def agrees(m: Any, theirs: ppl.Octagon, n_looked_at: int = 200) -> bool:
    """Return whether bounds on two variables are PPL's, which rounds those on one with integers."""
    random = np.random.default_rng(0)
    ends = random.integers(0, 2 * minplus.n_variables(len(m)), (n_looked_at, 2)).tolist()
    pairs = [(i, j) for i, j in ends if i >> 1 != j >> 1]
    return all(theirs.bound(i, j) == m[minplus.cell(i, j)] for i, j in pairs)


def one_thread(table: Table, sizes: list[int]) -> None:
    """One octagon, one thread: the share of the limit, and PPL beside."""
    numba.set_num_threads(1)
    for dtype in TYPES:
        limit = peak.per_s(dtype)
        for n in sizes:
            m = dense(n, dtype, n)
            ours = measure_alone(closed, repeat=repeats(n), setup=m.copy)
            rate = 4 * n**3 / ours.min_s
            extra = {
                "type": dtype,
                "G/s": rate / 1e9,
                "limit, G/s": limit / 1e9,
                "share": f"{rate / limit:.0%}",
            }
            if dtype == "float64" and n in RECORDED_S:
                shares = (4 * n**3 / seconds / RECORDED_PER_S for seconds in RECORDED_S[n])
                extra["recorded"] = "APRON {:.1%}, ELINA {:.1%}".format(*shares)
            rival = {} if n > LARGEST_PPL.get(dtype, 0) or ppl.problem() else beside(m, ours)
            if rival:
                extra["by"] = f"{rival['theirs'].min_s / ours.min_s:.1f}"
            table.row(input="dense", size=f"n = {n}", ours=ours, **rival, **extra)


def beside(m: Any, ours: Any) -> dict[str, Any]:
    """Return PPL's part of a row."""
    n, kind = minplus.n_variables(len(m)), PPL_KINDS[m.dtype.name]
    rival = ppl.Octagon.of(m, kind)
    repeat = 5 if n <= 256 else 1
    theirs = measure_alone(ppl.Octagon.close, repeat=repeat, setup=rival.copy)
    rival.close()
    return {"rival": f"PPL {kind}", "theirs": theirs, "agree": agrees(ours.result, rival)}


def steps(table: Table, sizes: list[int]) -> None:
    """What the time goes to."""
    numba.set_num_threads(1)
    for dtype in ("float64", "int32"):
        for n in (n for n in sizes if 64 < n <= 1024):
            m = dense(n, dtype, n)
            phases.times_s(m.copy(), n)
            runs = [phases.times_s(m.copy(), n) for _ in range(repeats(n))]
            spent = min(runs, key=sum)
            parts = ", ".join(
                f"{name} {s / sum(spent):.1%}" for name, s in zip(phases.STEPS, spent, strict=True)
            )
            ours = measure_alone(closed, repeat=repeats(n), setup=m.copy)
            table.row(input="steps", size=f"n = {n}", type=dtype, ours=ours, steps=parts)


def threads(table: Table, sizes: list[int], counts: list[int]) -> None:
    """One octagon on more and more threads, beside itself on one; the limit grows, too."""
    for dtype in ("float64", "int32"):
        limits = {count: peak.per_s(dtype, count) for count in counts}
        for n in (n for n in sizes if n >= 128):
            m = dense(n, dtype, n)
            numba.set_num_threads(1)
            alone = measure(closed, repeat=repeats(n), setup=m.copy)
            for count in (count for count in counts if count > 1):
                numba.set_num_threads(count)
                ours = measure(closed, repeat=repeats(n), setup=m.copy)
                rate = 4 * n**3 / ours.min_s
                table.row(
                    input=f"dense, {count} threads",
                    size=f"n = {n}",
                    ours=ours,
                    rival="one thread",
                    theirs=alone,
                    agree=bool(np.array_equal(ours.result, alone.result)),
                    type=dtype,
                    **{
                        "G/s": rate / 1e9,
                        "limit, G/s": limits[count] / 1e9,
                        "share": f"{rate / limits[count]:.0%}",
                        "speed-up": f"{alone.min_s / ours.min_s:.2f} of {count}",
                    },
                )


def batches(table: Table, counts: list[int]) -> None:
    """Ten thousand octagons in one call, on one thread and beside that on more."""
    for least, most in ((16, 32), (1, 64)):
        sizes = np.random.default_rng(1).integers(least, most + 1, 10_000)
        offsets = minplus.offsets_of(sizes)
        for dtype in TYPES:
            seen = {n: dense(n, dtype, n) for n in range(least, most + 1)}
            m = np.concatenate([seen[int(n)] for n in sizes])
            for count in counts:
                numba.set_num_threads(count)
                how = measure_alone if count == 1 else measure
                ours = how(partial(close_batch, offsets), repeat=9, setup=m.copy)
                rate = len(sizes) / ours.min_s
                table.row(
                    input=f"batch, {count} thread{'s' if count > 1 else ''}",
                    size=f"{len(sizes):,} of n = {least}..{most}",
                    type=dtype,
                    ours=ours,
                    agree=are_closed(ours.result, offsets, sizes, seen),
                    **{"closures/s": f"{rate:,.0f}", "closures/s a thread": f"{rate / count:,.0f}"},
                )


def are_closed(m: Any, offsets: Any, sizes: Any, seen: dict[int, Any]) -> bool:
    """Return whether the first octagon of each size is what the reference makes of it."""
    agree = True
    for n, start in seen.items():
        expected, t = start.copy(), int(np.flatnonzero(sizes == n)[0])
        reference.close(expected, False)
        agree &= np.array_equal(m[offsets[t] : offsets[t + 1]], expected)
    return agree


def close_batch(offsets: Any, m: Any) -> Any:
    assert minplus.close(m, offsets).all()
    return m


def draw(table: Table) -> None:
    """Draw sums a second by n, each type under its limit, and the rivals in float64."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = [row for row in table.rows if row["input"] == "dense"]
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for colour, dtype in enumerate(TYPES):
        own = [row for row in rows if row["type"] == dtype]
        n = [int(row["size"].removeprefix("n = ")) for row in own]
        style = {"color": f"C{colour}"}
        axes.plot(n, [row["G/s"] for row in own], "o-", label=dtype, **style)
        axes.axhline(own[0]["limit, G/s"], ls="--", lw=1, **style)
        rivals = [(x, row["theirs"]) for x, row in zip(n, own, strict=True) if row["theirs"]]
        if dtype == "float64" and rivals:
            rates = [4 * x**3 / theirs["min_s"] / 1e9 for x, theirs in rivals]
            axes.plot([x for x, _ in rivals], rates, "s:", label="PPL double", color="#8a7968")
    axes.set(xscale="log", yscale="log", xlabel="variables", ylabel="G sums with minima a second")
    axes.set_xticks(SIZES, [str(n) for n in SIZES], minor=False)
    axes.set_xticks([], minor=True)
    axes.set_title("Closure on one thread; dashed: the limit of the core's registers")
    axes.legend(fontsize=8)
    figure.savefig(RESULTS / f"{table.name}_roofline.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--parts", default=",".join(PARTS))
    chosen = parser.parse_args()
    sizes = [int(n) for n in chosen.sizes.split(",")]
    counts = [int(n) for n in chosen.threads.split(",")]
    question, parts = __doc__.splitlines()[0], chosen.parts.split(",")
    if "one" in parts:
        table = Table("octagon_closure", question)
        one_thread(table, sizes)
        steps(table, sizes)
        batches(table, [1])
        table.save()
        draw(table)
    if "threads" in parts:
        table = Table("octagon_closure_threads", question)
        threads(table, sizes, counts)
        batches(table, counts)
        table.save()
    if reason := ppl.problem():
        print(reason)


if __name__ == "__main__":
    main()

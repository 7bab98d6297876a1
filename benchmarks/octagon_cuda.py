"""How fast does a GPU close octagons: against its limit, the paper's GPU, the host's CPU threads?

Octagons stay on the GPU. "T/s" counts the 4n³ sums with minima that a closure of n variables needs
at least; an H200 can do 16.7 T/s (132 multiprocessors, 64 a clock, 1.98 GHz), twice as many of 16
bits.
Every answer is compared before its time is kept: with the reference or the CPU back end, and where
that would take too long, with the int32 answer, for all types hold the same integers here.

The paper's table (Banterle, Giacobazzi: A fast implementation of the octagon abstract domain on
graphics hardware, SAS 2007) gives seconds for 20 runs in float32; so do the rows "paper:" here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numba
import numpy as np
from harness import RESULTS, Measurement, Table, machine, measure

from kleene.base.device import Device
from kleene.kernels import launch, minplus
from kleene.kernels.minplus import batch, cuda, reference

Extra = dict[str, Any]
LIMIT_PER_S = 16.7e12
BANDWIDTH_BYTES_PER_S = 4.8e12
CPU_TYPES = ("int32", "float32")
SIZES = (128, 256, 512, 1024, 2048, 4096, 8192)
GROWTH = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
N_RUNS = 20
PAPER_GPU_S = {  # vars: closure, union, assign, guard, widening, emptiness, reduction
    128: (6.45, 0.085, 0.0100, 0.073, 0.099, 95.9, 0.78),
    512: (206, 0.104, 0.024, 0.078, 0.109, 1019, 0.90),
    1024: (1804, 0.109, 0.022, 0.080, 0.129, 4881, 0.94),
    2048: (14470, 0.119, 0.029, 0.087, 0.133, 19912, 1.06),
    4096: (23951, 0.182, 0.045, 0.107, 0.154, 149340, 1.20),
}


def wait() -> None:
    launch.current().xp.cuda.Device().synchronize()


@cache
def dense(n: int, dtype: str, seed: int = 0) -> Any:
    """Return an octagon with every constraint, around a random point, as an array of the host."""
    if dtype != "int32":
        return dense(n, "int32", seed).astype(dtype)
    random = np.random.default_rng(n + seed)
    point = random.integers(-10, 11, n, dtype=np.int32)
    ends = np.stack([point, -point], axis=1).reshape(-1)
    m = random.integers(0, 21, minplus.size(n), dtype=np.int32)
    for i in range(2 * n):
        start, end = (i + 1) ** 2 // 2, (i | 1) + 1
        m[start : start + end] += ends[:end] - ends[i]
        m[start + i] = 0
    return m


def copied(there: Any) -> Any:
    """Return a copy on the GPU that is ready."""
    copy = there.copy()
    wait()
    return copy


def close_there(m: Any) -> Any:
    assert minplus.close(m, device=Device.CUDA)
    return m


def close_here(m: Any) -> Any:
    assert minplus.close(m)
    return m


@cache
def closed_there(n: int, dtype: str = "int32") -> Any:
    return close_there(cuda.to_device(dense(n, dtype)))


@cache
def closed_here(n: int, dtype: str) -> Measurement:
    """Return how long the CPU's threads take, and what they find."""
    repeat = 7 if n <= 1024 else 1
    return measure(close_here, repeat=repeat, setup=partial(np.array, dense(n, dtype)))


def close_one(table: Table, n: int, dtype: str) -> None:
    there = cuda.to_device(dense(n, dtype))
    ours = measure(close_there, repeat=9 if n < 4096 else 3, setup=partial(copied, there))
    rate = 4 * n**3 / ours.min_s
    limit = LIMIT_PER_S * (2 if dtype == "int16" else 1)
    extra: Extra = {"type": dtype, "T/s": rate / 1e12, "share": f"{rate / limit:.0%}"}
    found = cuda.to_host(ours.result)
    if dtype not in CPU_TYPES or (n == SIZES[-1] and dtype != "int32"):
        integers = np.ceil(found) if dtype.startswith("float") else found
        same = np.array_equal(integers, cuda.to_host(closed_there(n)))
        table.row(input="closure", size=f"n = {n}", ours=ours, agree=bool(same), **extra)
        return
    theirs = closed_here(n, dtype)
    table.row(
        input="closure",
        size=f"n = {n}",
        ours=ours,
        rival=f"{numba.get_num_threads()} CPU threads",
        theirs=theirs,
        agree=bool(np.array_equal(found, theirs.result)),
        **extra,
    )


def many(run: Callable[[], Any]) -> None:
    for _ in range(N_RUNS):
        run()
    wait()


def paper_row(table: Table, n: int, name: str, run: Callable[[], Any], agree: bool) -> None:
    names = ("closure", "union", "assign", "guard", "widening", "emptiness", "reduction")
    theirs = PAPER_GPU_S[n][names.index(name)]
    ours = measure(partial(many, run), repeat=3)
    extra: Extra = {
        "type": "float32",
        "paper's GPU, s": theirs,
        "paper / ours": theirs / ours.median_s,
    }
    table.row(input=f"paper: {name}, 20 runs", size=f"n = {n}", ours=ours, agree=agree, **extra)


def paper(table: Table, n: int) -> None:
    """Regenerate a row of the paper's table; the CPU back end judges."""
    here, other = closed_here(n, "float32").result, dense(n, "float32", 1)
    a, b, start = (cuda.to_device(m) for m in (here, other, dense(n, "float32")))
    out, expected = a.copy(), np.empty_like(here)

    def agrees(run: Callable[[], Any], judge: Callable[[], Any], judged: Any, found: Any) -> bool:
        run()
        judge()
        return bool(np.array_equal(judged, cuda.to_host(found)))

    def closing(source: Any) -> None:
        out[...] = source
        cuda.close(out, False)

    again = partial(closing, start)
    paper_row(table, n, "closure", again, agrees(again, lambda: None, here, out))
    union = partial(cuda.join, out, a, b)
    judge = partial(minplus.join, expected, here, other)
    paper_row(table, n, "union", union, agrees(union, judge, expected, out))
    widening = partial(cuda.widen, out, a, b, np.zeros(0, np.float32))
    judge = partial(minplus.widen, expected, here, other)
    paper_row(table, n, "widening", widening, agrees(widening, judge, expected, out))
    moved, there = here.copy(), a.copy()
    assign = partial(cuda.assign, there, 1, 0, False, 3, -3)
    judge = partial(minplus.assign, moved, 1, 0, up=3, down=-3)
    paper_row(table, n, "assign", assign, agrees(assign, judge, moved, there))
    cells = (np.array([2]), np.array([5]), np.array([-1], np.float32))
    guard = partial(cuda.add, there, *map(cuda.to_device, cells))
    judge = partial(minplus.add, moved, *cells)
    paper_row(table, n, "guard", guard, agrees(guard, judge, moved, there))
    same = a.copy()
    paper_row(table, n, "reduction", partial(cuda.equals, a, same), cuda.equals(a, same))
    contradiction = start.copy()
    contradiction[minplus.cell(2 * n - 1, 0)] = -1
    contradiction[minplus.cell(0, 2 * n - 1)] = 0
    empty = partial(closing, contradiction)
    lowest = np.full_like(here, minplus.lowest(here.dtype))
    paper_row(table, n, "emptiness", empty, agrees(empty, lambda: None, lowest, out))


def bandwidth(table: Table, n: int, dtype: str) -> None:
    """How near to the memory's speed are operations that look at every cell?"""
    a, b = closed_there(n, dtype), cuda.to_device(dense(n, dtype, 1))
    out, none = a.copy(), np.zeros(0, dtype)
    same = a.copy()
    host_a, host_b, expected = cuda.to_host(a), dense(n, dtype, 1), np.empty(len(a), dtype)
    for name, run, judge, n_passes in (
        ("join", partial(cuda.join, out, a, b), reference.join, 3),
        ("meet", partial(cuda.meet, out, a, b), reference.meet, 3),
        ("widen", partial(cuda.widen, out, a, b, none), None, 3),
        ("narrow", partial(cuda.narrow, out, a, b), reference.narrow, 3),
        ("equals", partial(cuda.equals, a, same), None, 2),
    ):
        run()
        agree = bool(cuda.equals(a, same))
        if judge is not None:
            judge(expected, host_a, host_b)
            agree = bool(np.array_equal(expected, cuda.to_host(out)))
        ours = measure(partial(many, run), repeat=3)
        speed = N_RUNS * n_passes * a.nbytes / ours.min_s
        extra = {
            "type": dtype,
            "TB/s": speed / 1e12,
            "share": f"{speed / BANDWIDTH_BYTES_PER_S:.0%}",
        }
        table.row(input=f"{name}, 20 runs", size=f"n = {n}", ours=ours, agree=agree, **extra)


def close_batch(offsets: Any, m: Any) -> Any:
    assert bool(batch.close(m, offsets, device=Device.CUDA).all())
    return m


def close_batch_here(offsets: Any, m: Any) -> Any:
    assert batch.close(m, offsets).all()
    return m


def batches(table: Table, dtype: str, least: int, most: int, n_octagons: int = 100_000) -> None:
    sizes = np.random.default_rng(1).integers(least, most + 1, n_octagons)
    offsets = batch.offsets_of(sizes)
    m = np.concatenate([dense(int(n), dtype) for n in sizes])
    there, cut = cuda.to_device(m), cuda.to_device(offsets)
    ours = measure(partial(close_batch, cut), repeat=5, setup=partial(copied, there))
    extra: Extra = {"type": dtype, "M closures/s": n_octagons / ours.median_s / 1e6}
    size, found = f"{n_octagons:,} of n = {least}..{most}", cuda.to_host(ours.result)
    if dtype not in CPU_TYPES:
        for n in range(least, most + 1):
            one, t = dense(n, dtype).copy(), int(np.flatnonzero(sizes == n)[0])
            reference.close(one, False)
            assert np.array_equal(found[offsets[t] : offsets[t + 1]], one)
        table.row(input="batch", size=size, ours=ours, agree=True, **extra)
        return
    theirs = measure(partial(close_batch_here, offsets), repeat=2, setup=m.copy)
    rival = f"{numba.get_num_threads()} CPU threads"
    agree = bool(np.array_equal(found, theirs.result))
    table.row(input="batch", size=size, ours=ours, rival=rival, theirs=theirs, agree=agree, **extra)


def there_and_back(m: Any) -> None:
    cuda.to_host(close_there(cuda.to_device(m)))


def growth(dtype: str = "int32") -> None:
    """Write octagon_cuda_growth.json and .png: closing one octagon on both sides, by size."""
    rows = []
    for n in GROWTH:
        m = dense(n, dtype)
        repeat = 9 if n <= 1024 else 2
        there = cuda.to_device(m)
        on_gpu = measure(close_there, repeat=repeat, setup=partial(copied, there))
        travelling = measure(partial(there_and_back, m), repeat=repeat)
        here = closed_here(n, dtype)
        assert np.array_equal(cuda.to_host(on_gpu.result), here.result)
        rows.append(
            {
                "n": n,
                "cpu_s": here.min_s,
                "cuda_s": on_gpu.min_s,
                "cuda_with_copies_s": travelling.min_s,
            }
        )
    record = {"type": dtype, "machine": machine(), "rows": rows}
    (RESULTS / "octagon_cuda_growth.json").write_text(json.dumps(record, indent=1) + "\n")


def draw_growth() -> None:
    """Draw octagon_cuda_growth.png from the JSON beside it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    record = json.loads((RESULTS / "octagon_cuda_growth.json").read_text())
    rows = record["rows"]
    sizes = [row["n"] for row in rows]
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for key, label in (
        ("cpu_s", "CPU, all threads"),
        ("cuda_s", "GPU, octagon there"),
        ("cuda_with_copies_s", "GPU, octagon copied there and back"),
    ):
        axes.plot(sizes, [row[key] for row in rows], marker="o", label=label)
    axes.set(xscale="log", yscale="log", xlabel="variables", ylabel="seconds")
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.grid(alpha=0.3)
    axes.legend()
    figure.suptitle(f"Closing one dense octagon of {record['type']}", fontsize=11)
    figure.supxlabel(record["machine"], fontsize=6)
    figure.savefig(RESULTS / "octagon_cuda_growth.png", dpi=110)
    pyplot.close(figure)


def main() -> None:
    table = Table("octagon_cuda", __doc__.splitlines()[0])
    RESULTS.mkdir(parents=True, exist_ok=True)
    for dtype in ("int32", "float32", "float64", "int16", "int64"):
        batches(table, dtype, 16, 32)
    for n in (4096, 8192):
        bandwidth(table, n, "int32")
    table.save()
    for n in PAPER_GPU_S:
        paper(table, n)
    table.save()
    for dtype, sizes in (
        *((dtype, SIZES) for dtype in CPU_TYPES),
        *((dtype, (1024, 4096, 8192)) for dtype in ("float64", "int16", "int64")),
    ):
        for n in sizes:
            close_one(table, n, dtype)
    table.save()
    growth()
    draw_growth()


if __name__ == "__main__":
    main()

"""How fast does a GPU close octagons: against its limit, and the CPU threads of the same host?

"T/s" counts the 4n³ sums with minima that a closure of n variables needs at least. The limit is
measured in the same run: the same sums and minima on registers alone (octagon_peak.cu). On paper an
H200 does 16.7 T/s of int32 (132 multiprocessors, 64 a clock, 1.98 GHz).

Octagons stay on the GPU, but for the column "copied": there they come from the host and go back.
Every answer is compared before its time is kept: with the CPU's, and where that would take too
long, with the GPU's of int32, for all types hold the same integers here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
from harness import RESULTS, Measurement, Table, measure
from octagon_inputs import dense

from kleene.kernels import launch, minplus
from kleene.kernels.minplus import CUDA_FROM_VARIABLES, cuda

TYPES = {
    "int32": "int",
    "float64": "double",
    "int16": "short",
    "int64": "long long",
}
PEAK_VALUES, PEAK_ROUNDS = 32, 20_000  # as in octagon_peak.cu
SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
LONGEST_S = 5  # of one closure on the CPU; what would take longer is left out
Times = dict[tuple[str, int], float]  # of the last size: by type and threads


def wait() -> None:
    launch.current().xp.cuda.Device().synchronize()


def copied(there: Any) -> Any:
    """Return a copy on the GPU that is ready."""
    copy = there.copy()
    wait()
    return copy


def closed(m: Any) -> Any:
    assert minplus.close(m)
    return m


def there_and_back(m: Any) -> Any:
    return cuda.to_host(closed(cuda.to_device(m)))


@cache
def peak_per_s(dtype: str) -> float:
    """Return how many sums with minima the GPU does a second, on registers alone."""
    xp = launch.current().xp
    folder = Path(cuda.__file__).parent
    options = ("-std=c++17", f"-I{folder}", f"-DVALUE_T={TYPES[dtype]}")
    code = Path(__file__).with_name("octagon_peak.cu").read_text()
    kernel = xp.RawModule(code=code, options=options).get_function("peak")
    lanes = 2 if dtype == "int16" else 1
    word = np.dtype(np.uint32 if lanes == 2 else dtype)
    n_blocks = 16 * xp.cuda.Device().attributes["MultiProcessorCount"]
    out = xp.empty(n_blocks * 256, word)
    arguments = (out, word.type(1), np.int32(PEAK_ROUNDS))

    def run() -> None:
        kernel((n_blocks,), (256,), arguments)
        wait()

    return lanes * PEAK_VALUES * PEAK_ROUNDS * len(out) / measure(run, repeat=3).min_s


@cache
def oracle(n: int) -> Any:
    return there_and_back(dense(n, "int32"))


def once(close: Callable[[Any], Any], m: Any) -> Measurement:
    """Return how long one closure takes that no other warmed: for long ones."""
    given = m.copy()
    start = time.perf_counter()
    found = close(given)
    seconds = time.perf_counter() - start
    return Measurement(seconds, seconds, seconds, seconds, found)


def on_cpu(m: Any, n: int, n_threads: int, times: Times) -> Measurement | None:
    """Return how long so many threads take, if the last size lets us expect it is not too long."""
    key = m.dtype.name, n_threads
    if 8 * times.get(key, 0) > LONGEST_S:
        return None
    numba.set_num_threads(n_threads)
    try:
        found = once(closed, m) if n >= 2048 else measure(closed, repeat=7, setup=m.copy)
    finally:
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    times[key] = found.min_s
    return found


def close_one(table: Table, n: int, dtype: str, times: Times) -> None:
    m = dense(n, dtype)
    there = cuda.to_device(m)
    ours = measure(closed, repeat=9 if n < 4096 else 3, setup=partial(copied, there))
    travelling = once(there_and_back, m) if n >= 4096 else measure(partial(there_and_back, m))
    n_threads = numba.config.NUMBA_NUM_THREADS
    theirs, alone = on_cpu(m, n, n_threads, times), on_cpu(m, n, 1, times)
    found, expected = cuda.to_host(ours.result), oracle(n).astype(dtype)
    if theirs is not None:
        expected = theirs.result
    else:
        found = np.ceil(found) if dtype.startswith("float") else found
    rate, limit = 4 * n**3 / ours.min_s, peak_per_s(dtype)
    extra: dict[str, Any] = {"type": dtype, "T/s": rate / 1e12, "limit, T/s": limit / 1e12}
    extra["share"] = f"{rate / limit:.0%}"
    extra["copied, ms"] = travelling.min_s * 1e3
    if alone is not None:
        extra |= {"1 thread, ms": alone.min_s * 1e3, "1 thread / ours": alone.min_s / ours.min_s}
    table.row(
        input="closure",
        size=f"n = {n}",
        ours=ours,
        rival=None if theirs is None else f"{n_threads} CPU threads",
        theirs=theirs,
        agree=bool(np.array_equal(found, expected)),
        **extra,
    )


def close_batch(offsets: Any, m: Any) -> Any:
    assert bool(minplus.close(m, offsets).all())
    return m


def close_batch_here(offsets: Any, m: Any) -> Any:
    assert minplus.close(m, offsets).all()
    return m


def batches(table: Table, dtype: str, least: int, most: int, n_octagons: int = 100_000) -> None:
    sizes = np.random.default_rng(1).integers(least, most + 1, n_octagons)
    offsets = minplus.offsets_of(sizes)
    m = np.concatenate([dense(int(n), dtype) for n in sizes])
    there, cut = cuda.to_device(m), cuda.to_device(offsets)
    ours = measure(partial(close_batch, cut), repeat=5, setup=partial(copied, there))
    theirs = measure(partial(close_batch_here, offsets), repeat=2, setup=m.copy)
    table.row(
        input="batch",
        size=f"{n_octagons:,} of n = {least}..{most}",
        ours=ours,
        rival=f"{numba.get_num_threads()} CPU threads",
        theirs=theirs,
        agree=bool(np.array_equal(cuda.to_host(ours.result), theirs.result)),
        **_described(dtype, n_octagons / ours.median_s / 1e6),
    )


def _described(dtype: str, rate: float) -> dict[str, Any]:
    return {"type": dtype, "M closures/s": rate}


def closures(record: Any, dtype: str) -> tuple[list[int], list[Any]]:
    """Return the sizes and the rows of closures of a type."""
    rows = [row for row in record["rows"] if row["input"] == "closure" and row["type"] == dtype]
    return [int(row["size"].removeprefix("n = ")) for row in rows], rows


def draw_growth(axes: Any, record: Any, dtype: str) -> None:
    """Draw the seconds of closing one octagon on both sides, by size."""
    sizes, rows = closures(record, dtype)
    for label, seconds_of in (
        ("1 CPU thread", lambda row: row.get("1 thread, ms", np.nan) / 1e3),
        ("all CPU threads", lambda row: (row["theirs"] or {}).get("min_s", np.nan)),
        ("GPU, copied there and back", lambda row: row["copied, ms"] / 1e3),
        ("GPU, octagon there", lambda row: row["ours"]["min_s"]),
    ):
        axes.plot(sizes, [seconds_of(row) for row in rows], marker="o", label=label)
    axes.axvline(CUDA_FROM_VARIABLES, color="grey", linestyle=":", label="`auto` takes the GPU")
    axes.set(yscale="log", ylabel="seconds", title=f"closing one dense octagon of {dtype}")
    axes.legend()


def draw_limits(axes: Any, record: Any) -> None:
    """Draw the sums a second of each type by size, and its limit as a broken line."""
    for dtype in TYPES:
        sizes, rows = closures(record, dtype)
        (line,) = axes.plot(sizes, [row["T/s"] for row in rows], marker="o", label=dtype)
        axes.axhline(rows[0]["limit, T/s"], color=line.get_color(), linestyle="--", alpha=0.6)
    axes.set(yscale="log", ylim=(0.01, 50), ylabel="T sums with minima a second")
    axes.set_title("broken: on registers alone")
    axes.legend()


def draw() -> None:
    """Draw octagon_cuda_growth.png from octagon_cuda.json."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    record = json.loads((RESULTS / "octagon_cuda.json").read_text())
    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(18, 5), layout="constrained")
    draw_growth(left, record, "int32")
    draw_growth(middle, record, "float64")
    draw_limits(right, record)
    for axes in (left, middle, right):
        axes.set(xscale="log", xlabel="variables")
        axes.set_xticks(SIZES, [str(n) for n in SIZES], fontsize=8)
        axes.grid(alpha=0.3)
    figure.supxlabel(record["machine"], fontsize=6)
    figure.savefig(RESULTS / "octagon_cuda_growth.png", dpi=110)
    pyplot.close(figure)


def main() -> None:
    table, times = Table("octagon_cuda", __doc__.splitlines()[0]), Times()
    batches(table, "int32", 1, 64, 20_000)
    for dtype in TYPES:
        batches(table, dtype, 16, 32)
        for n in SIZES:
            close_one(table, n, dtype, times)
        table.save()
    draw()


if __name__ == "__main__":
    main()

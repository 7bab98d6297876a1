"""Ask from which size on the GPU ORs bit rows faster than the CPU, and how near memory speed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numba
import numpy as np
from harness import Measurement, Table, measure

from kleene.base.device import Device
from kleene.kernels import launch
from kleene.kernels.bit_rows import or_rows

QUESTION = (
    "From which size on does the GPU OR bit rows faster than the CPU, "
    "and how near is each to memory bandwidth?"
)
# Rows, words a row, pairs. The second list asks for a large machine: only beside a GPU. Its first
# two have many pairs a row, where sending the rows to the GPU may pay.
SIZES = [(500, 8, 2_000), (4_000, 32, 16_000), (20_000, 128, 80_000), (50_000, 256, 200_000)]
GPU_SIZES = [(20_000, 256, 320_000), (20_000, 256, 2_560_000), (150_000, 1024, 600_000)]


@dataclass
class Case:
    """Random pairs over random sparse rows; made here, seeded by the size."""

    n_rows: int
    n_words: int
    n_pairs: int

    def __post_init__(self) -> None:
        random = np.random.default_rng(self.n_rows)
        shape = (self.n_rows, self.n_words)
        # The AND of six random words has each bit set with probability 1/64.
        words = (random.integers(0, 2**64, shape, np.uint64) for _ in range(6))
        self.delta = np.bitwise_and.reduce(list(words))
        self.rows = np.roll(self.delta, 1, axis=0)
        self.ends = random.integers(0, self.n_rows, (2, self.n_pairs)).astype(np.int32)

    def size(self) -> str:
        """Return the size in words."""
        return f"{self.n_rows} rows x {self.n_words} words, {self.n_pairs} pairs"

    def moved_bytes(self, n_changed: int) -> int:
        """Return the least traffic: a pair reads two rows, a changed row and its news move too."""
        return 8 * self.n_words * (2 * self.n_pairs + 3 * n_changed)

    def fresh_copy(self, xp: Any = np) -> tuple[Any, ...]:
        """Return the arguments of one call, as arrays of `xp`."""
        rows = xp.array(self.rows)
        arrays = [xp.asarray(array) for array in (self.delta, *self.ends)]
        return (rows, *arrays, xp.zeros_like(rows))


def run(device: Device, args: tuple[Any, ...]) -> tuple[Any, ...]:
    changed = or_rows(*args, device=device)
    return args[0], args[4], changed


def run_on_gpu(args: tuple[Any, ...]) -> tuple[Any, ...]:
    result = run(Device.CUDA, args)
    launch.current().xp.cuda.Device().synchronize()
    return result


def numpy_reduceat(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the same by the fastest NumPy we know: sort by destination, OR runs, compare."""
    rows, delta, sources, destinations, fresh = args
    order = np.argsort(destinations, kind="stable")
    targets, starts = np.unique(destinations[order], return_index=True)
    gained = np.bitwise_or.reduceat(delta[sources[order]], starts) & ~rows[targets]
    rows[targets] |= gained
    fresh[targets] |= gained
    return rows, fresh, targets[gained.any(axis=1)]


@numba.njit(parallel=True)
def parallel_copy(to: Any, source: Any) -> None:
    for i in numba.prange(len(source)):
        to[i] = source[i]


def copy_bytes_per_s(copy: Callable[..., Any], xp: Any = np, n_bytes: int = 1 << 28) -> float:
    """Return how fast `copy` moves memory, reads and writes both counted."""
    source, to = xp.ones(n_bytes // 8), xp.empty(n_bytes // 8)
    return 2 * n_bytes / measure(lambda: copy(to, source), repeat=5).min_s


def cpu_systems(case: Case) -> Iterator[tuple[str, Measurement, float]]:
    n_threads = numba.config.NUMBA_NUM_THREADS
    for count in sorted({1, n_threads}):
        numba.set_num_threads(count)
        bandwidth = copy_bytes_per_s(np.copyto if count == 1 else parallel_copy)
        found = measure(partial(run, Device.CPU), setup=case.fresh_copy)
        # Small rounds stay on one thread whatever is allowed.
        name = "Numba, 1 thread" if count == 1 else f"Numba, up to {count} threads"
        yield name, found, bandwidth


def gpu_systems(case: Case) -> Iterator[tuple[str, Measurement, float]]:
    xp = launch.current().xp

    def resident_copy() -> tuple[Any, ...]:
        arrays = case.fresh_copy(xp)
        xp.cuda.Device().synchronize()
        return arrays

    def copy(to: Any, source: Any) -> None:
        xp.copyto(to, source)
        xp.cuda.Device().synchronize()

    bandwidth = copy_bytes_per_s(copy, xp, 1 << 32)
    resident = measure(run_on_gpu, setup=resident_copy)
    yield "CUDA, rows on the GPU", resident, bandwidth
    travelling = measure(partial(run, Device.CUDA), setup=case.fresh_copy)
    yield "CUDA, rows sent and fetched", travelling, bandwidth


def same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return all(_same_array(a, b) for a, b in zip(one, other, strict=True))


def _same_array(a: Any, b: Any) -> bool:
    return np.array_equal(a if isinstance(a, np.ndarray) else a.get(), b)


def main() -> None:
    has_gpu = launch.gpu_problem() is None
    table = Table("bit_rows", QUESTION)
    for size in SIZES + (GPU_SIZES if has_gpu else []):
        case = Case(*size)
        theirs = measure(numpy_reduceat, setup=case.fresh_copy, repeat=3)
        systems = [*cpu_systems(case), *(gpu_systems(case) if has_gpu else ())]
        for system, ours, bandwidth in systems:
            rate = case.moved_bytes(len(theirs.result[2])) / ours.median_s
            table.row(
                input="random pairs, 1.6 % of bits set, made here",
                size=case.size(),
                system=system,
                rival="NumPy reduceat",
                ours=ours,
                theirs=theirs,
                agree=same(ours.result, theirs.result),
                **{"GB/s": rate / 1e9, "share of copy speed": rate / bandwidth},
            )
    table.save()


if __name__ == "__main__":
    main()

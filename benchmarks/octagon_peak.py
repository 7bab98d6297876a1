"""How many sums with minima a second can the cores do at most, with everything in registers?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from threading import Barrier, Thread
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from kleene.kernels import machine_code  # noqa: F401 - so that Numba knows device functions
from kleene.kernels.minplus.cpu.emit import Emit
from kleene.kernels.minplus.cpu.vector import lanes, to_nearest, upwards

N_ROUNDS = 1 << 16
SHAPES = ((4, 4), (5, 4), (6, 3), (8, 2))  # vectors on the left and on the right of the sums


def kernel(n_left: int, n_right: int, use_fma: bool) -> Any:
    """Return code that takes minima with all sums of two of its registers, round after round."""

    def typed(_context: Any, data: Any, n_rounds: Any) -> Any:
        def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            emit = Emit(context, builder, data)
            if not use_fma:
                emit.one = None
            array = context.make_array(data)(context, builder, arguments[0])
            place = arguments[1].type
            n_all = n_left + n_right + n_left * n_right
            start = [emit.load(array.data, place(emit.n_lanes * k)) for k in range(n_all)]
            rights = start[n_left : n_left + n_right]

            def round_(_k: Any, values: list[Any]) -> list[Any]:
                # Opaque, or LLVM would see that every round does the same.
                lefts = [emit.opaque(value) for value in values[:n_left]]
                sums = [emit.add(a, b) for a, b in product(lefts, rights)]
                old = values[n_left:]
                return lefts + [emit.least(x, y) for x, y in zip(sums, old, strict=True)]

            results = emit.loop(arguments[1], start[:n_left] + start[n_left + n_right :], round_)
            for k, value in enumerate(results):
                emit.store(value, array.data, place(emit.n_lanes * k))
            return context.get_dummy_value()

        return types.none(data, types.int64), build

    rounds = intrinsic(typed)

    @njit(nogil=True)
    def run(data, n_rounds):  # type: ignore[no-untyped-def]
        upwards()
        rounds(data, n_rounds)
        to_nearest()

    return run


def kernels(dtype: Any) -> Iterator[tuple[Any, int]]:
    """Return kernels, and how many sums each does in a round."""
    floats = np.dtype(dtype).kind == "f"
    for (left, right), use_fma in product(SHAPES, (False, True) if floats else (False,)):
        yield kernel(left, right, use_fma), left * right * lanes(np.dtype(dtype))


def per_s(dtype: Any, n_threads: int = 1, repeat: int = 9) -> float:
    """Return the most sums with minima a second that some threads do together in this type."""
    best = 0.0
    for run, n_sums in kernels(dtype):
        run(np.zeros(4096, dtype), 1)
        for _ in range(repeat):
            seconds = _together(run, dtype, n_threads)
            best = max(best, n_threads * N_ROUNDS * n_sums / seconds)
    return best


def _together(run: Any, dtype: Any, n_threads: int) -> float:
    """Return how long the slowest thread takes: by the clock; one alone, of CPU time."""
    barrier, times = Barrier(n_threads), [0.0] * n_threads

    def work(k: int) -> None:
        data = np.zeros(4096, dtype)
        barrier.wait()
        clock = time.perf_counter if n_threads > 1 else time.thread_time
        start = clock()
        run(data, N_ROUNDS)
        times[k] = clock() - start

    threads = [Thread(target=work, args=(k,)) for k in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(times)

"""How near is the octagon closure to the core's limit, and how far ahead of PPL's?

The limit is measured in the same run: sums and minima on registers alone, no memory. "G/s" counts
the 4n³ sums that a closure of n variables needs at least. Recorded rivals (another machine, its
limit 22.5 G/s in float64): APRON 21.8 s and ELINA 2.3 s at n = 1024, which is 0.9 % and 8.3 %.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numba
import numpy as np
import ppl
from harness import Table, measure
from numba import njit, types
from numba.extending import intrinsic

from kleene.kernels import minplus
from kleene.kernels.minplus import batch, reference
from kleene.kernels.minplus.cpu.vector import Emit, lanes, to_nearest, upwards

SIZES = (64, 128, 256, 512, 1024)
LARGEST_PPL = {"float64": 256, "int64": 64}
PPL_KINDS = {"float64": "double", "int64": "mpz_class"}
N_ROUNDS = 1 << 16


def peak_kernel(n_sums: int, use_fma: bool) -> Any:
    """Return compiled code that does `n_sums` vector sums and minima a round, on registers."""

    def typed(_context: Any, data: Any, n_rounds: Any) -> Any:
        def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            emit = Emit(context, builder, data.dtype)
            if not use_fma:
                emit.one = None
            array = context.make_array(data)(context, builder, arguments[0])
            index = arguments[1].type
            step = emit.load(array.data, index(0))
            start = [emit.load(array.data, index(emit.n_lanes * k)) for k in range(n_sums)]

            def round_(_k: Any, values: list[Any]) -> list[Any]:
                return [emit.least(emit.add(step, value), value) for value in values]

            for k, value in enumerate(emit.loop(arguments[1], start, round_)):
                emit.store(value, array.data, index(emit.n_lanes * k))
            return context.get_dummy_value()

        return types.none(data, types.int64), build

    rounds = intrinsic(typed)

    @njit
    def run(data, n_rounds):  # type: ignore[no-untyped-def]
        upwards()
        rounds(data, n_rounds)
        to_nearest()

    return run


def peak_per_s(dtype: Any) -> float:
    """Return the most sums and minima a second that the core does in this type."""
    best = 0.0
    for n_sums in (8, 12, 16, 20, 24):
        for use_fma in (False, True):
            run, data = peak_kernel(n_sums, use_fma), np.zeros(4096, dtype)
            run(data, 1)
            n_lanes = lanes(np.dtype(dtype))
            for _ in range(5):
                start = time.perf_counter()
                run(data, N_ROUNDS)
                best = max(best, N_ROUNDS * n_sums * n_lanes / (time.perf_counter() - start))
    return best


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


def agrees(m: Any, theirs: ppl.Octagon, n_looked_at: int = 200) -> bool:
    """Return whether bounds on two variables are PPL's, which rounds those on one with integers."""
    random = np.random.default_rng(0)
    ends = random.integers(0, 2 * minplus.n_variables(len(m)), (n_looked_at, 2)).tolist()
    pairs = [(i, j) for i, j in ends if i >> 1 != j >> 1]
    return all(theirs.bound(i, j) == m[minplus.cell(i, j)] for i, j in pairs)


def one_thread(table: Table) -> None:
    """One octagon, one thread: the share of the limit, and PPL beside."""
    numba.set_num_threads(1)
    for dtype in (d.name for d in minplus.DTYPES):
        peak = peak_per_s(dtype)
        for n in SIZES:
            m = dense(n, dtype, n)
            ours = measure(closed, repeat=9 if n < 1024 else 5, setup=m.copy)
            rate = 4 * n**3 / ours.min_s
            extra = {
                "type": dtype,
                "G/s": rate / 1e9,
                "limit, G/s": peak / 1e9,
                "share": f"{rate / peak:.0%}",
            }
            if n > LARGEST_PPL.get(dtype, 0) or ppl.problem():
                table.row(input="dense", size=f"n = {n}", ours=ours, **extra)
                continue
            rival = ppl.Octagon.of(m, PPL_KINDS[dtype])
            theirs = measure(ppl.Octagon.close, repeat=3, setup=rival.copy)
            rival.close()
            agree = agrees(ours.result, rival)
            name = f"PPL {PPL_KINDS[dtype]}"
            table.row(
                input="dense",
                size=f"n = {n}",
                ours=ours,
                rival=name,
                theirs=theirs,
                agree=agree,
                **extra,
            )


def two_threads(table: Table) -> None:
    """One octagon on two threads, beside itself on one."""
    for dtype in ("float64", "int32"):
        for n in (512, 1024):
            m = dense(n, dtype, n)
            numba.set_num_threads(1)
            theirs = measure(closed, repeat=7, setup=m.copy)
            numba.set_num_threads(2)
            ours = measure(closed, repeat=7, setup=m.copy)
            agree = bool(np.array_equal(ours.result, theirs.result))
            table.row(
                input="dense, 2 threads",
                size=f"n = {n}",
                type=dtype,
                ours=ours,
                rival="one thread",
                theirs=theirs,
                agree=agree,
            )


def batches(table: Table) -> None:
    """Ten thousand octagons of 16 to 32 variables in one call on two threads."""
    numba.set_num_threads(2)
    sizes = np.random.default_rng(1).integers(16, 33, 10_000)
    offsets = batch.offsets_of(sizes)
    for dtype in (d.name for d in minplus.DTYPES):
        seen = {n: dense(n, dtype, n) for n in range(16, 33)}
        m = np.concatenate([seen[int(n)] for n in sizes])
        ours = measure(partial(close_batch, offsets), repeat=5, setup=m.copy)
        for n, one in seen.items():
            reference.close(one, False)
            t = int(np.flatnonzero(sizes == n)[0])
            assert np.array_equal(ours.result[offsets[t] : offsets[t + 1]], one)
        rate = {"closures/s": f"{len(sizes) / ours.median_s:,.0f}"}
        size = f"{len(sizes):,} of n = 16..32"
        table.row(input="batch, 2 threads", size=size, type=dtype, ours=ours, **rate)


def close_batch(offsets: Any, m: Any) -> Any:
    assert batch.close(m, offsets).all()
    return m


def main() -> None:
    table = Table("octagon_closure", __doc__.splitlines()[0])
    one_thread(table)
    two_threads(table)
    batches(table)
    table.save()
    if reason := ppl.problem():
        print(reason)


if __name__ == "__main__":
    main()

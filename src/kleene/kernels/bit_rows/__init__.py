"""Bit rows: sets as rows of 64-bit words, and the step difference propagation repeats.

Row r holds a set; bit b of word w is element 64 w + b. A solver keeps the sets (`rows`), what they
gained last round (`delta`), and pairs (source, destination) of its copy edges. One call propagates
a round; what it returns is the next round's `delta` and the rows worth visiting:

    fresh = np.zeros_like(rows)
    changed = or_rows(rows, delta, sources, destinations, fresh)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.base.device import Device
from kleene.kernels import launch
from kleene.kernels.bit_rows import cpu

__all__ = ["choose", "or_rows"]

# Rows in host memory must travel: delta, rows and fresh there, rows and fresh back, five rows for
# every row; a pair reads two. Measured on an H200 against 16 CPU threads (benchmarks/bit_rows.py,
# 20,000 rows of 256 words): 16 pairs a row 27.7 ms against 20.1 ms, 128 pairs a row 38.8 ms against
# 128 ms, which makes 64 a gain of about two. At 4,000 rows of 32 words the sides are even (1.0 ms
# against 1.2 ms), and below that the launch alone costs more than the CPU's whole round.
CUDA_FROM_PAIRS_PER_ROW = 64
CUDA_FROM_WORDS = 1 << 22


def or_rows(
    rows: Any,
    delta: Any,
    sources: Any,
    destinations: Any,
    fresh: Any,
    *,
    device: Device = Device.CPU,
) -> Any:
    """Return the indices (intp) of the rows that gained a bit, in ascending order.

    For every pair, `rows[destination] |= delta[source]`; every bit that `rows` lacked before the
    call is also set in `fresh`, which is added to, never cleared. `delta` is read only and apart,
    so the result does not depend on the order of the pairs, nor on the device.

    Args:
        rows: uint64, n_rows x n_words, C-contiguous; changed in place.
        delta: uint64, any number of rows x n_words, C-contiguous.
        sources: int32 or int64, a row of `delta` for each pair.
        destinations: of the same type and length, a row of `rows` for each pair.
        fresh: of the shape and type of `rows`; changed in place.
        device: where to run. With CuPy arrays (device CUDA) nothing leaves the GPU.

    Raises:
        ValueError: shapes, types or indices do not fit, or the arrays overlap.
        SourceError: `kernels/no-gpu` where CUDA is asked for and cannot be used.
    """
    _check(rows, delta, sources, destinations, fresh)
    device = Device(device)
    if device is Device.AUTO:
        device, _ = choose(len(sources), rows)
    if device is Device.CPU:
        if not isinstance(rows, np.ndarray):
            raise ValueError("the rows are on the GPU: ask for the device 'cuda' or 'auto'")
        return cpu.or_rows(rows, delta, sources, destinations, fresh)
    if device is Device.HYBRID:
        raise ValueError("one call runs on one device: ask for 'cpu', 'cuda' or 'auto'")
    from kleene.kernels.bit_rows import cuda

    return cuda.or_rows(rows, delta, sources, destinations, fresh)


def choose(n_pairs: int, rows: Any) -> tuple[Device, str]:
    """Return the faster device for `n_pairs` pairs on `rows`, and why."""
    if not isinstance(rows, np.ndarray):
        return Device.CUDA, "the rows are on the GPU"
    if reason := launch.gpu_problem():
        return Device.CPU, reason
    n_words, per_row = n_pairs * rows.shape[1], n_pairs / max(1, len(rows))
    said = f"{n_words} words to OR, {per_row:.3g} pairs a row; a GPU pays from {CUDA_FROM_WORDS}"
    said += f" words and {CUDA_FROM_PAIRS_PER_ROW} pairs a row"
    if n_words < CUDA_FROM_WORDS or per_row < CUDA_FROM_PAIRS_PER_ROW:
        return Device.CPU, said
    needed, free = 3 * rows.nbytes, launch.gpu_free_bytes()
    if needed > free:
        return Device.CPU, f"needs {needed >> 20} MiB, the GPU has {free >> 20} MiB free"
    return Device.CUDA, said


def _check(rows: Any, delta: Any, sources: Any, destinations: Any, fresh: Any) -> None:
    arrays = (rows, delta, sources, destinations, fresh)
    if len({isinstance(array, np.ndarray) for array in arrays}) > 1:
        raise ValueError("pass NumPy arrays only, or CuPy arrays only")
    for name, array in (("rows", rows), ("delta", delta), ("fresh", fresh)):
        if array.dtype != np.uint64 or array.ndim != 2 or not array.flags.c_contiguous:
            raise ValueError(f"{name} must be a C-contiguous matrix of uint64")
    if rows.shape != fresh.shape or rows.shape[1] != delta.shape[1]:
        shapes = f"{rows.shape}, {fresh.shape} and {delta.shape}"
        raise ValueError(f"the shapes of rows, fresh and delta do not fit: {shapes}")
    if sources.dtype != destinations.dtype or sources.dtype not in (np.int32, np.int64):
        raise ValueError("sources and destinations must both be int32 or both int64")
    if sources.ndim != 1 or sources.shape != destinations.shape:
        raise ValueError("sources and destinations must be vectors of one length")
    _check_range("sources", sources, len(delta))
    _check_range("destinations", destinations, len(rows))
    _check_apart(rows, delta, fresh)


def _check_range(name: str, indices: Any, n_rows: int) -> None:
    if not indices.flags.c_contiguous:
        raise ValueError(f"{name} must be contiguous")
    if len(indices) and (int(indices.min()) < 0 or int(indices.max()) >= n_rows):
        raise ValueError(f"{name} has an index outside 0..{n_rows - 1}")


def _check_apart(rows: Any, delta: Any, fresh: Any) -> None:
    """Refuse overlapping arrays: the answer would depend on the order of the pairs."""
    on_host = isinstance(rows, np.ndarray)
    xp = np if on_host else launch.current().xp
    for one, other in ((rows, delta), (rows, fresh), (delta, fresh)):
        if xp.may_share_memory(one, other):
            raise ValueError("rows, delta and fresh must not share memory")
    if on_host and not (rows.flags.writeable and fresh.flags.writeable):
        raise ValueError("rows and fresh are changed in place and must be writeable")

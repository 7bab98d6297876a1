"""Calls with arrays of NumPy: what is used goes to the GPU, what is written comes back."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from kleene.codegen.runtime.checks import Prepared
from kleene.codegen.runtime.launching import GridTooLargeError, Run


def _elements(array: Any, section: tuple[int, int] | None) -> tuple[int, int]:
    """Return the elements of an array that are in a section: all, if that is not known."""
    if section is None:
        return 0, array.size
    size = array.dtype.itemsize
    return max(section[0], 0) // size, min(-(-section[1] // size), array.size)


_PIECE = 1 << 20  # bytes of pinned memory that a thread copies at once
_N_MOVERS = 16
_DIRECT = 1 << 20  # bytes up to which the driver copies


class _Movers:
    """Threads that move arrays between NumPy and the GPU through pinned memory.

    The driver copies pageable memory with one thread at a few gigabytes a second. Here each thread
    has a piece of pinned memory and a stream: while one piece is on the link, others are filled.
    All pieces together stay in the caches of the host, so that its memory is read or written once.
    """

    def __init__(self, piece_bytes: int = _PIECE, n_threads: int = _N_MOVERS) -> None:
        import cupy

        self._cupy = cupy
        self._piece_bytes = piece_bytes
        self._pool = ThreadPoolExecutor(n_threads)
        self._memory = cupy.cuda.alloc_pinned_memory(piece_bytes * n_threads)
        first = np.frombuffer(self._memory, np.uint8, piece_bytes * n_threads).ctypes.data
        self._addresses = [first + n * piece_bytes for n in range(n_threads)]
        self._streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(n_threads)]
        self._device = cupy.cuda.Device().id

    def move(self, pointer: int, flat: Any, is_in: bool) -> None:
        """Copy contiguous storage to the GPU, or from there; done when it returns."""
        starts = range(0, flat.nbytes, self._piece_bytes)
        n = len(self._streams)
        ends = (pointer, flat.ctypes.data, flat.nbytes)
        jobs = [
            self._pool.submit(self._moved, *ends, starts[one::n], one, is_in)
            for one in range(min(n, len(starts)))
        ]
        for one in jobs:
            one.result()

    def _moved(
        self, pointer: int, address: int, n_bytes: int, starts: range, number: int, is_in: bool
    ) -> None:
        pinned, stream = self._addresses[number], self._streams[number]
        on_link, move = self._cupy.cuda.runtime.memcpyAsync, ctypes.memmove
        with self._cupy.cuda.Device(self._device):
            for first in starts:
                size = min(self._piece_bytes, n_bytes - first)
                if is_in:
                    move(pinned, address + first, size)
                    on_link(pointer + first, pinned, size, 1, stream.ptr)
                    stream.synchronize()
                else:
                    on_link(pinned, pointer + first, size, 2, stream.ptr)
                    stream.synchronize()
                    move(address + first, pinned, size)


_movers: _Movers | None = None


def _move(pointer: int, flat: Any, is_in: bool) -> None:
    """Copy a part of an array of NumPy to the GPU, or from there."""
    global _movers
    import cupy

    cupy.cuda.get_current_stream().synchronize()
    if flat.nbytes > _DIRECT:
        if _movers is None:
            _movers = _Movers()
        _movers.move(pointer, flat, is_in)
        return
    address = flat.ctypes.data
    given = (pointer, address) if is_in else (address, pointer)
    cupy.cuda.runtime.memcpy(*given, flat.nbytes, 1 if is_in else 2)


def moved_in(run: Run, array: Any, moved: tuple[Any, ...]) -> Any:
    """Return an array on the device, with what of it goes in."""
    if not isinstance(array, np.ndarray) or run.xp is np:
        return array.reshape(-1)
    on_device = run.xp.empty(array.size, array.dtype)
    _copy(run, on_device, array, moved[0], True)
    return on_device


def moved_out(run: Run, array: Any, on_device: Any, moved: tuple[Any, ...]) -> None:
    """Copy what comes out back."""
    if isinstance(array, np.ndarray) and run.xp is not np:
        _copy(run, on_device, array, moved[1], False)


def _copy(
    run: Run, on_device: Any, array: Any, section: tuple[int, int] | None, is_in: bool
) -> None:
    """Copy a section of an array of NumPy to the same elements of the device's, or from there."""
    first, end = _elements(array, section)
    if end <= first:
        return
    flat = array.reshape(-1)[first:end]
    if run.xp is not np:
        _move(on_device.data.ptr + first * array.itemsize, flat, is_in)
    elif is_in:
        on_device[first:end] = flat
    else:
        flat[...] = on_device[first:end]


def parts_executed(
    run: Run, steps: Callable[..., Any], known: Prepared, args: Sequence[Any]
) -> None:
    """Execute a call with storage on the device for the sections of NumPy's arrays alone.

    What `steps` does with them is to launch kernels, which stay in the sections.

    Raises:
        NotExecutedError: the GPU has too little memory for them; no argument has changed.
    """
    values = known.given(args)
    moved = [(n, name) for n, name in known.arrays if isinstance(args[n], np.ndarray)]
    n_launches = run.n_launches
    try:
        for position, name in moved:
            array = args[position]
            first, end = _elements(array, known.sections[name][0])
            first, end = (first, end) if first < end else (0, 0)
            values[position] = run.part(first, end, array.dtype)
        for position, name in moved:
            _copy(run, values[position], args[position], known.sections[name][0], True)
        steps(run, *values)
    except (MemoryError, GridTooLargeError) as error:
        if run.n_launches > n_launches and len(moved) < len(known.arrays):
            raise  # an array of CuPy is changed where it lies
        raise NotExecutedError(error) from error
    for position, name in moved:
        _copy(run, values[position], args[position], known.sections[name][1], False)


def executed(run: Run, steps: Callable[..., Any], known: Prepared, args: Sequence[Any]) -> Any:
    """Execute a call: arrays of NumPy go to the GPU before it, and what it writes comes back.

    Raises:
        NotExecutedError: the GPU has too little memory, or a grid would be too large; no argument
            has changed.
        MemoryError: the GPU has too little memory, and arrays of CuPy may have changed.
    """
    values = known.given(args)
    n_launches = run.n_launches
    try:
        if not known.is_there:
            for position, name in known.arrays:
                values[position] = moved_in(run, args[position], known.sections[name])
        result = steps(run, *values)
    except (MemoryError, GridTooLargeError) as error:  # CuPy's error is a MemoryError
        is_copied = not known.is_there and run.xp is not np
        is_numpy = all(isinstance(args[position], np.ndarray) for position, _ in known.arrays)
        if run.n_launches > n_launches and not (is_copied and is_numpy):
            raise  # an array is changed where it lies
        raise NotExecutedError(error) from error
    if not known.is_there:
        for position, name in known.arrays:
            moved_out(run, args[position], values[position], known.sections[name])
    return result


class NotExecutedError(Exception):
    """A call that was not executed on the GPU; its arguments have not changed.

    Attributes:
        is_memory: whether the GPU has too little memory.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.is_memory = isinstance(error, MemoryError)

"""Calls with arrays of NumPy: what is used goes to the GPU, what is written comes back."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
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


_PIECE = 4 << 20  # bytes of pinned memory that a thread copies at once
_MANY = 16 << 20  # bytes from which on pieces are that large; half of it before
_N_MOVERS = 16
_DIRECT = 1 << 20  # bytes of an array up to which the driver copies
Section = tuple[int, int]  # bytes from the first to before the end


class _Movers:
    """Threads that move arrays between NumPy and the GPU through pinned memory.

    The driver copies pageable memory with one thread at some 7 gigabytes a second. Here each thread
    has a piece of pinned memory and a stream: while one piece is on the link, others are filled.
    All arrays of a call are moved together: 34 gigabytes a second from some 256 MiB on. Smaller
    pieces are slower, since Python does something for each.
    """

    def __init__(self) -> None:
        import cupy

        self._cupy = cupy
        self._pool = ThreadPoolExecutor(_N_MOVERS)
        self._memory = cupy.cuda.alloc_pinned_memory(_PIECE * _N_MOVERS)
        first = np.frombuffer(self._memory, np.uint8, _PIECE * _N_MOVERS).ctypes.data
        self._addresses = [first + n * _PIECE for n in range(_N_MOVERS)]
        self._streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(_N_MOVERS)]
        self._device = cupy.cuda.Device().id

    def move(self, ends: Sequence[tuple[int, int, int]], is_in: bool) -> None:
        """Copy storage to the GPU, or from there; done when it returns.

        `ends` are the address on the GPU, that of the host, and the number of bytes.
        """
        total = sum(size for _, _, size in ends)
        piece = _PIECE if total >= _MANY else _PIECE // 2
        pieces = [
            (pointer + at, address + at, min(piece, size - at))
            for pointer, address, size in ends
            for at in range(0, size, piece)
        ]
        left = iter(pieces)  # one for all threads: Python gives each piece to one of them
        n = min(_N_MOVERS, len(pieces))
        jobs = [self._pool.submit(self._moved, left, number, is_in) for number in range(n)]
        for one in jobs:
            one.result()

    def _moved(self, left: Iterator[tuple[int, int, int]], number: int, is_in: bool) -> None:
        pinned, stream = self._addresses[number], self._streams[number]
        on_link, move = self._cupy.cuda.runtime.memcpyAsync, ctypes.memmove
        with self._cupy.cuda.Device(self._device):
            for pointer, address, size in left:
                if is_in:
                    move(pinned, address, size)
                    on_link(pointer, pinned, size, 1, stream.ptr)
                    stream.synchronize()
                else:
                    on_link(pinned, pointer, size, 2, stream.ptr)
                    stream.synchronize()
                    move(address, pinned, size)


_movers: _Movers | None = None


def _move(ends: Sequence[tuple[int, int, int]], is_in: bool) -> None:
    """Copy parts of arrays of NumPy to the GPU, or from there."""
    global _movers
    import cupy

    cupy.cuda.get_current_stream().synchronize()
    many = [one for one in ends if one[2] > _DIRECT]
    for pointer, address, size in ends:
        if size <= _DIRECT:
            given = (pointer, address) if is_in else (address, pointer)
            cupy.cuda.runtime.memcpy(*given, size, 1 if is_in else 2)
    if many:
        if _movers is None:
            _movers = _Movers()
        _movers.move(many, is_in)


def _copy(run: Run, arrays: Sequence[tuple[Any, Any, Section | None]], is_in: bool) -> None:
    """Copy sections of arrays of NumPy to the same elements of the device's, or from there.

    Each is given as the device's array, NumPy's and the section.
    """
    ends = []
    for on_device, array, section in arrays:
        first, end = _elements(array, section)
        if end <= first:
            continue
        flat = array.reshape(-1)[first:end]
        if run.xp is not np:
            pointer = on_device.data.ptr + first * array.itemsize
            ends.append((pointer, flat.ctypes.data, flat.nbytes))
        elif is_in:
            on_device[first:end] = flat
        else:
            flat[...] = on_device[first:end]
    if ends:
        _move(ends, is_in)


def moved_in(run: Run, arrays: Sequence[Any], sections: Sequence[Section | None]) -> list[Any]:
    """Return arrays on the device, with the sections of NumPy's."""
    if run.xp is np:
        return [one.reshape(-1) for one in arrays]
    found, copied = [], []
    for array, section in zip(arrays, sections, strict=True):
        if not isinstance(array, np.ndarray):
            found.append(array.reshape(-1))
            continue
        found.append(run.xp.empty(array.size, array.dtype))
        copied.append((found[-1], array, section))
    _copy(run, copied, True)
    return found


def moved_out(
    run: Run,
    arrays: Sequence[Any],
    on_device: Sequence[Any],
    sections: Sequence[Section | None],
) -> None:
    """Copy sections of the device's arrays back to NumPy's."""
    if run.xp is not np:
        copied = zip(on_device, arrays, sections, strict=True)
        _copy(run, [one for one in copied if isinstance(one[1], np.ndarray)], False)


def executed(run: Run, steps: Callable[..., Any], known: Prepared, args: Sequence[Any]) -> Any:
    """Execute a call: arrays of NumPy go to the GPU before it, and what it writes comes back.

    Raises:
        NotExecutedError: the GPU has too little memory, or a grid would be too large; no argument
            has changed.
        MemoryError: the GPU has too little memory, and arrays of CuPy may have changed.
    """
    values = known.given(args)
    arrays = [args[position] for position, _ in known.arrays]
    n_launches = run.n_launches
    try:
        if not known.is_there:
            ins = [known.sections[name][0] for _, name in known.arrays]
            moved = moved_in(run, arrays, ins)
            for (position, _), one in zip(known.arrays, moved, strict=True):
                values[position] = one
        result = steps(run, *values)
    except (MemoryError, GridTooLargeError) as error:  # CuPy's error is a MemoryError
        is_copied = not known.is_there and run.xp is not np
        is_numpy = all(isinstance(one, np.ndarray) for one in arrays)
        if run.n_launches > n_launches and not (is_copied and is_numpy):
            raise  # an array is changed where it lies
        raise NotExecutedError(error) from None
    if not known.is_there:
        outs = [known.sections[name][1] for _, name in known.arrays]
        moved_out(run, arrays, [values[position] for position, _ in known.arrays], outs)
    return result


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
        _copy(run, [(values[n], args[n], known.sections[name][0]) for n, name in moved], True)
        steps(run, *values)
    except (MemoryError, GridTooLargeError) as error:
        if run.n_launches > n_launches and len(moved) < len(known.arrays):
            raise  # an array of CuPy is changed where it lies
        raise NotExecutedError(error) from None
    _copy(run, [(values[n], args[n], known.sections[name][1]) for n, name in moved], False)


class NotExecutedError(Exception):
    """A call that was not executed on the GPU; its arguments have not changed.

    Attributes:
        is_memory: whether the GPU has too little memory.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.is_memory = isinstance(error, MemoryError)

"""What generated Python needs to run: launches, and arrays that are checked and moved.

This file needs NumPy alone, and CuPy for a GPU; it is part of every file that is written to stand
alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

REDUCTION_THREADS = 256
_TILE_THREADS = 128
_MAX_BLOCKS = 1024  # of a reduction: more partial results would cost more than they save
ONE_RESIDENT = 4096  # threads up to which one block does all steps of a loop
ONE_BLOCK = 8192  # iterations up to which one block does a reduction alone
BLOCKS = {2: (32, 8), 3: (32, 4, 2)}
_MAX_GRID = (2**31 - 1, 65535, 65535)


def quotient(a: int, b: int) -> int:
    """Return C's a / b, which rounds to zero."""
    found = abs(a) // abs(b)
    return found if (a < 0) == (b < 0) else -found


def remainder(a: int, b: int) -> int:
    """Return C's a % b, which has the sign of a."""
    return a - b * quotient(a, b)


def hull(pieces: Sequence[tuple[int, int, int]]) -> tuple[int, int]:
    """Return the bytes from the first to the end of sections, of those with trips."""
    found = [(first, end) for trips, first, end in pieces if trips > 0 and first < end]
    return (min(f for f, _ in found), max(e for _, e in found)) if found else (0, 0)


class Run:
    """A place where kernels run, by a function that launches one and a module of arrays."""

    def __init__(self, launch: Callable[..., None], xp: Any) -> None:
        self._launch = launch
        self.xp = xp
        self._partial: dict[Any, Any] = {}
        self.on_cpu: Callable[[str, Sequence[Any]], None] | None = None  # calls compiled C
        self.most_resident = 1 << 21  # points of a step up to which loops are one launch
        self.least_tiled = 64  # rows, columns and terms from which on sums are by tiles or warps
        self.blocks = dict(BLOCKS)

    def grid(self, name: str, counts: Sequence[int], args: Sequence[Any]) -> None:
        """Launch a thread for each point of a box; without counts, one thread."""
        if not counts:
            self._launch(name, (1,), (1,), args)
            return
        if min(counts) <= 0:
            return
        block = self.blocks.get(len(counts)) or (line_of(counts[0]),)
        grid = tuple(-(-count // size) for count, size in zip(counts, block, strict=True))
        if any(size > most for size, most in zip(grid, _MAX_GRID, strict=False)):
            raise OverflowError(f"{name}: a grid of {grid} blocks is too large")
        self._launch(name, grid, block, args)

    def tiles(
        self,
        name: str,
        counts: Sequence[int],
        depth: int,
        tile: tuple[int, int],
        args: Sequence[Any],
    ) -> None:
        """Launch a kernel by tiles of rows and columns if there are enough; else one by threads."""
        if min(*counts, depth) < self.least_tiled or min(counts) <= 0:
            self.grid(name, counts, args)
            return
        columns, rows = counts
        grid = (-(-columns // tile[1]), -(-rows // tile[0]))
        if grid[1] > _MAX_GRID[1]:
            raise OverflowError(f"{name}: a grid of {grid} blocks is too large")
        self._launch(f"{name}_tiled", grid, (_TILE_THREADS,), args)

    def rows(self, name: str, counts: Sequence[int], depth: int, args: Sequence[Any]) -> None:
        """Launch a kernel with a warp for each row if sums are long; else one by threads."""
        if depth < self.least_tiled or counts[0] <= 0:
            self.grid(name, counts, args)
            return
        self._launch(f"{name}_rows", (-(-counts[0] // 8),), (256,), args)

    def columns(self, name: str, counts: Sequence[int], depth: int, args: Sequence[Any]) -> None:
        """Launch a kernel with blocks for 32 columns each if sums are long; else one by threads."""
        if depth < self.least_tiled or counts[0] <= 0:
            self.grid(name, counts, args)
            return
        threads = 128 if self.xp is np else 1024
        self._launch(f"{name}_columns", (-(-counts[0] // 32),), (threads,), args)

    def resident(self, name: str, points: int, has_loops: bool, args: Sequence[Any]) -> bool:
        """Launch a loop whole, if its largest step has few points; return whether it was done.

        One block takes up to `ONE_RESIDENT` points in turn, if these have no loops of their own.
        Else they are divided among blocks on all multiprocessors, which are launched together.
        """
        if points > self.most_resident:
            return False
        barrier = self.xp.zeros(1, np.uint32)
        if self.xp is np:
            self._launch(name, (1,), (64,), (*args, barrier))
        elif points <= ONE_RESIDENT and not has_loops:
            self._launch(name, (1,), (min(1024, _warps(points)),), (*args, barrier))
        else:
            n = self._n_processors()
            threads = min(1024, _warps(-(-points // n))) if has_loops else 1024
            blocks = min(n, -(-points // threads))
            self._launch(name, (blocks,), (threads,), (*args, barrier), together=True)
        return True

    def _n_processors(self) -> int:
        """Return the number of multiprocessors of the device."""
        found: int = self.xp.cuda.Device().attributes["MultiProcessorCount"]
        return found

    def reduce(self, name: str, count: int, args: Sequence[Any], dtype: Any) -> None:
        """Launch a reduction over iterations, and the combination of its blocks' results."""
        blocks = reduction_blocks(count)
        key = (dtype, 0 if self.xp is np else self.xp.cuda.get_current_stream().ptr)
        partial = self._partial.get(key)
        if partial is None:
            partial = self._partial[key] = self.empty(_MAX_BLOCKS, dtype)
        self._launch(name, (blocks,), (REDUCTION_THREADS,), (*args, partial))
        if blocks > 1:
            given = (*args, partial, np.int32(blocks))
            self._launch(f"{name}_total", (1,), (REDUCTION_THREADS,), given)

    def scan(self, name: str, args: Sequence[Any]) -> None:
        """Launch a scan, which one block does."""
        self._launch(name, (1,), (64 if self.xp is np else 1024,), args)

    def host(self, name: str, args: Sequence[Any], written: str) -> None:
        """Execute a sequential loop on the host, on copies of arrays; copy those back it writes.

        Of each argument `written` says "w" or "r".
        """
        if self.on_cpu is None:
            raise RuntimeError(f"{name} is executed by the host, which has no such function")
        given = [one.get() if hasattr(one, "get") else one for one in args]
        self.on_cpu(name, given)
        for one, copy, way in zip(args, given, written, strict=True):
            if way == "w" and copy is not one:
                one.set(copy)

    def scalar(self, value: Any, dtype: Any) -> Any:
        """Return a variable of the device."""
        return self.xp.full(1, value, dtype)

    def empty(self, size: int, dtype: Any) -> Any:
        """Return an array of the device."""
        return self.xp.zeros(max(size, 1), dtype)

    def like(self, array: Any) -> Any:
        """Return an array of the same size."""
        return self.xp.empty_like(array)

    def copy(self, to: Any, array: Any) -> None:
        """Copy an array of the device to another one."""
        to[...] = array

    def fetch(self, scalar: Any) -> Any:
        """Return the value of a variable of the device."""
        return scalar.item()

    def element(self, array: Any, index: int) -> Any:
        """Return the value of an element of the device."""
        return array.reshape(-1)[index].item()


def reduction_blocks(count: int) -> int:
    """Return how many blocks share the iterations of a reduction."""
    return 1 if count <= ONE_BLOCK else min(_MAX_BLOCKS, -(-count // (REDUCTION_THREADS * 4)))


class Launcher:
    """Kernels of CUDA C++, compiled by CuPy, which keeps them; launched on the current stream."""

    def __init__(self, source: str) -> None:
        import cupy

        self._module = cupy.RawModule(code=source, options=("-std=c++17",))
        self._kernels: dict[str, Callable[..., None]] = {}

    def __call__(self, name: str, grid: Any, block: Any, args: Any, together: bool = False) -> None:
        """Launch a kernel; arguments are arrays of CuPy, and scalars of NumPy.

        With `together`, all blocks are on the GPU at once, and may wait for each other.
        """
        kernel = self._kernels.get(name)
        if kernel is None:
            # The function itself: what CuPy wraps it into looks at its attributes in each launch.
            kernel = self._kernels[name] = self._module.get_function(name).kernel
        kernel(grid, block, args, 0, None, together)


def device_run(source: str) -> Run:
    """Return the GPU as a place where kernels of CUDA C++ run, compiled."""
    import cupy

    return Run(Launcher(source), cupy)


def _warps(count: int) -> int:
    """Return the threads of the warps that have so many."""
    return -(-max(count, 1) // 32) * 32


def line_of(count: int) -> int:
    """Return the threads of a block of one dimension: few if there would be few blocks."""
    return 256 if count >= 1 << 17 else 64 if count >= 1 << 12 else 32


class ArgumentError(TypeError):
    """An argument that does not fit its parameter.

    Attributes:
        id: what is wrong, a name that stays the same: `kernels/array-too-small`.
        parameter: which one; empty if it is the number of them.
        place: where the parameter is declared, if that is known.
        hint: what would fit.
    """

    def __init__(
        self, id: str, message: str, hint: str, parameter: str = "", place: str = ""
    ) -> None:
        at = f"{place}: " if place else ""
        super().__init__(f"{at}error[{id}]: {message}; {hint}")
        self.id, self.parameter, self.place, self.hint = id, parameter, place, hint


class Prepared:
    """What is known of a call before it runs; arrays themselves are not kept.

    Attributes:
        values: scalars in their types, None for arrays; in the order of the parameters.
        arrays: positions of arrays with their names.
        sections: of each array the bytes that go in, that come out, that are used for sure.
        overlap: two arrays that share storage though they must not.
        is_there: whether all arrays are on the GPU.
    """

    def __init__(
        self,
        values: list[Any],
        arrays: list[tuple[int, str]],
        sections: Mapping[str, Any],
        overlap: tuple[str, str] | None,
        is_there: bool,
    ) -> None:
        self.values, self.arrays, self.sections = values, arrays, sections
        self.overlap, self.is_there = overlap, is_there

    def given(self, args: Sequence[Any]) -> list[Any]:
        """Return the arguments of a call, scalars in their types."""
        found = list(self.values)
        for position, _ in self.arrays:
            found[position] = args[position]
        return found


class Arguments:
    """The checks of a function's arguments; what a call like an earlier one needs is kept."""

    def __init__(
        self,
        function: str,
        parameters: Sequence[tuple[str, str, str]],
        overlaps: Sequence[tuple[str, str]],
        sections: Callable[..., Mapping[str, Any]],
        places: Mapping[str, str] | None = None,
    ) -> None:
        self.function, self.parameters, self.overlaps = function, parameters, overlaps
        self.sections, self.places = sections, places or {}
        self._known: dict[Any, Prepared] = {}

    def prepared(self, args: Sequence[Any]) -> Prepared:
        """Return what is known of a call, if all arguments fit.

        The checks hang on types, sizes, addresses and the values of scalars: where these are those
        of an earlier call, so is the answer.

        Raises:
            ArgumentError: there are too many or too few; one is of a wrong type, not contiguous,
                too small, or read-only though it is written.
        """
        key: Any = None
        found = None
        try:
            key = tuple([_seen(one) for one in args])
            found = self._known.get(key)
        except (TypeError, AttributeError):  # what is no argument at all: say so below
            key = None
        if found is None:
            found = self._checked(args)
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            if key is not None:
                self._known[key] = found
        return found

    def _checked(self, args: Sequence[Any]) -> Prepared:
        if len(args) != len(self.parameters):
            names = ", ".join(name for name, _, _ in self.parameters)
            message = f"{self.function} takes {len(self.parameters)} arguments, not {len(args)}"
            hint = f"call {self.function}({names})"
            raise ArgumentError("kernels/argument-count", message, hint)
        given: dict[str, Any] = {}
        for (name, kind, dtype), value in zip(self.parameters, args, strict=True):
            is_scalar = kind == "scalar"
            given[name] = (self._scalar if is_scalar else self._array)(name, dtype, value)
        whole = [n for n, kind, dtype in self.parameters if kind == "scalar" and _is_whole(dtype)]
        sections = self.sections(*(given[name] for name in whole))
        for name, moved in sections.items():
            self._check_section(name, given[name], moved)
        arrays = [(n, one[0]) for n, one in enumerate(self.parameters) if one[1] == "array"]
        is_there = all(hasattr(given[name].data, "ptr") for _, name in arrays)
        overlap = overlapping(self.overlaps, given)
        values = [None if one[1] == "array" else given[one[0]] for one in self.parameters]
        return Prepared(values, arrays, sections, overlap, is_there)

    def _argument_error(self, id: str, name: str, message: str, hint: str) -> ArgumentError:
        text = f"{self.function}: argument '{name}' {message}"
        return ArgumentError(id, text, hint, name, self.places.get(name, ""))

    def _array(self, name: str, dtype: str, value: Any) -> Any:
        if not hasattr(value, "dtype") or not hasattr(value, "nbytes"):
            message = f"must be an array of {dtype}, not {type(value).__name__}"
            raise self._argument_error(
                "kernels/not-an-array", name, message, f"numpy.asarray(x, '{dtype}') is one"
            )
        if value.dtype != np.dtype(dtype):
            message = f"is an array of {value.dtype}, not of {dtype}"
            raise self._argument_error(
                "kernels/wrong-dtype", name, message, f"x.astype('{dtype}') converts it"
            )
        if not value.flags.c_contiguous:
            hint = "numpy.ascontiguousarray makes a copy that is"
            raise self._argument_error("kernels/not-contiguous", name, "is not contiguous", hint)
        return value

    def _scalar(self, name: str, dtype: str, value: Any) -> Any:
        kind = np.dtype(dtype)
        hint = f"pass a number that a {dtype} holds"
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            message = f"must be a number of {dtype}, not {value!r}"
            raise self._argument_error("kernels/not-a-number", name, message, hint) from None
        if kind.kind == "f":
            return number
        limits = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
        if not number.is_integer() or not limits[0] <= int(value) <= limits[1]:
            raise self._argument_error(
                "kernels/out-of-range", name, f"is {value}, which is no {dtype}", hint
            )
        return int(value)

    def _check_section(self, name: str, array: Any, moved: tuple[Any, ...]) -> None:
        """Check that an array holds every byte that the function uses for sure."""
        first, end = moved[2]
        if first < 0:
            message = "is used before its beginning"
            hint = "check the sizes: a subscript is below 0"
            raise self._argument_error("kernels/array-used-before", name, message, hint)
        if end > array.nbytes:
            needed = -(-end // array.dtype.itemsize)
            message = f"has {array.size} elements, {needed} are needed"
            hint = f"pass at least {needed}, or smaller sizes"
            raise self._argument_error("kernels/array-too-small", name, message, hint)
        if moved[1] != (0, 0) and not getattr(array.flags, "writeable", True):
            hint = "pass a copy, which can be written"
            raise self._argument_error(
                "kernels/array-read-only", name, "is written, but read-only", hint
            )


_MAX_KNOWN = 256  # kinds of calls that are kept


def _is_whole(dtype: str) -> bool:
    return np.dtype(dtype).kind in "iub"


def _seen(value: Any) -> Any:
    """Return what the checks look at: of an array its type, size, address and flags."""
    if isinstance(value, np.ndarray):
        told = value.__array_interface__["data"]
        return (value.dtype, value.nbytes, told, value.flags.c_contiguous)
    if isinstance(value, (int, float, np.generic)):
        return value  # equal numbers are converted to the same
    return (value.dtype, value.nbytes, value.data.ptr, value.flags.c_contiguous, value.device.id)


def overlapping(
    pairs: Sequence[tuple[str, str]], given: Mapping[str, Any]
) -> tuple[str, str] | None:
    """Return a pair of arrays that share storage, if there is one."""
    ends = {}
    for name in {name for pair in pairs for name in pair}:
        array = given[name]
        start = array.data.ptr if hasattr(array.data, "ptr") else array.ctypes.data
        ends[name] = (start, start + array.nbytes, hasattr(array.data, "ptr"))
    for first, second in pairs:
        a, b = ends[first], ends[second]
        if a[2] == b[2] and a[0] < b[1] and b[0] < a[1]:
            return first, second
    return None


def _elements(array: Any, section: tuple[int, int] | None) -> tuple[int, int]:
    """Return the elements of an array that are in a section: all, if that is not known."""
    if section is None:
        return 0, array.size
    size = array.dtype.itemsize
    return max(section[0], 0) // size, min(-(-section[1] // size), array.size)


_PIECE = 4 << 20  # bytes of pinned memory that a thread copies at once
_N_MOVERS = 16
_DIRECT = 1 << 20  # bytes up to which the driver copies


class _Movers:
    """Threads that move arrays between NumPy and the GPU through pinned memory.

    The driver copies pageable memory with one thread at a few gigabytes a second. Here each thread
    has a piece of pinned memory and a stream: while one piece is on the link, others are filled.
    """

    def __init__(self) -> None:
        import cupy

        self._cupy = cupy
        self._pool = ThreadPoolExecutor(_N_MOVERS)
        self._pieces: list[Any] = []
        for _ in range(_N_MOVERS):
            memory = cupy.cuda.alloc_pinned_memory(_PIECE)
            view = np.frombuffer(memory, np.uint8, _PIECE)
            self._pieces.append((view, cupy.cuda.Stream(non_blocking=True)))
        self._device = cupy.cuda.Device().id

    def move(self, pointer: int, flat: Any, is_in: bool) -> None:
        """Copy contiguous storage to the GPU, or from there; done when it returns."""
        raw = flat.view(np.uint8)
        starts = range(0, raw.size, _PIECE)
        jobs = [
            self._pool.submit(self._moved, pointer, raw, starts[n::_N_MOVERS], n, is_in)
            for n in range(min(_N_MOVERS, len(starts)))
        ]
        for one in jobs:
            one.result()

    def _moved(self, pointer: int, raw: Any, starts: range, n: int, is_in: bool) -> None:
        view, stream = self._pieces[n]
        copy = self._cupy.cuda.runtime.memcpyAsync
        address = view.ctypes.data
        with self._cupy.cuda.Device(self._device):
            for first in starts:
                part = raw[first : first + _PIECE]
                if is_in:
                    view[: part.size] = part
                    copy(pointer + first, address, part.size, 1, stream.ptr)
                    stream.synchronize()
                else:
                    copy(address, pointer + first, part.size, 2, stream.ptr)
                    stream.synchronize()
                    part[:] = view[: part.size]


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
    first, end = _elements(array, moved[0])
    if end > first:
        pointer = on_device.data.ptr + first * array.itemsize
        _move(pointer, array.reshape(-1)[first:end], True)
    return on_device


def moved_out(run: Run, array: Any, on_device: Any, moved: tuple[Any, ...]) -> None:
    """Copy what comes out back."""
    if not isinstance(array, np.ndarray) or run.xp is np:
        return
    first, end = _elements(array, moved[1])
    if end > first:
        pointer = on_device.data.ptr + first * array.itemsize
        _move(pointer, array.reshape(-1)[first:end], False)


def executed(run: Run, steps: Callable[..., Any], known: Prepared, args: Sequence[Any]) -> Any:
    """Execute a call: arrays of NumPy go to the GPU before it, and what it writes comes back.

    Raises:
        TooLittleMemoryError: the GPU has too little; no argument has changed.
    """
    values = known.given(args)
    if known.is_there:
        return steps(run, *values)
    try:
        for position, name in known.arrays:
            values[position] = moved_in(run, args[position], known.sections[name])
    except MemoryError as error:  # CuPy's is one
        raise TooLittleMemoryError(str(error)) from error
    try:
        result = steps(run, *values)
    except MemoryError as error:
        if any(not isinstance(args[position], np.ndarray) for position, _ in known.arrays):
            raise  # an array of CuPy is changed where it lies
        raise TooLittleMemoryError(str(error)) from error
    for position, name in known.arrays:
        moved_out(run, args[position], values[position], known.sections[name])
    return result


class TooLittleMemoryError(MemoryError):
    """A call that the GPU has too little memory for; its arguments have not changed."""


class Called:
    """A generated function on the GPU, by CuPy: call it with arrays of NumPy or CuPy."""

    def __init__(
        self,
        name: str,
        parameters: Sequence[tuple[str, str, str]],
        overlaps: Sequence[tuple[str, str]],
        sections: Callable[..., Any],
        steps: Callable[..., Any],
        source: str,
    ) -> None:
        self.name, self.steps, self.source = name, steps, source
        self.arguments = Arguments(name, parameters, overlaps, sections)
        self._run: Run | None = None

    def run(self) -> Run:
        """Return where kernels run: they are compiled at the first call."""
        if self._run is None:
            self._run = device_run(self.source)
        return self._run

    def __call__(self, *args: Any) -> Any:
        """Call the function; arrays that it writes are changed in place."""
        known = self.arguments.prepared(args)
        if known.overlap is not None:
            first, second = known.overlap
            message = f"{self.name}: arguments '{first}' and '{second}' overlap"
            hint = "pass a copy of one: this file has no sequential form"
            raise ArgumentError("kernels/arrays-overlap", message, hint, second)
        return executed(self.run(), self.steps, known, args)


NAMESPACE = {"np": np, "math": math, "quotient": quotient, "remainder": remainder, "hull": hull}

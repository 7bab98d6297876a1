"""What generated Python needs to run: launches, and arrays that are checked and moved.

This file needs NumPy alone, and CuPy for a GPU; it is part of every file that is written to stand
alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

REDUCTION_THREADS = 256
_MAX_BLOCKS = 1024  # of a reduction: more partial results would cost more than they save
_ONE_BLOCK = 8192  # iterations up to which one block does a reduction alone
_BLOCKS = {2: (32, 8), 3: (32, 4, 2)}
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
        self.most_resident = 1 << 21  # points of a step up to which loops are one launch
        self.least_tiled = 64  # rows, columns and terms from which on sums are by tiles or warps

    def grid(self, name: str, counts: Sequence[int], args: Sequence[Any]) -> None:
        """Launch a thread for each point of a box; without counts, one thread."""
        if not counts:
            self._launch(name, (1,), (1,), args)
            return
        if min(counts) <= 0:
            return
        block = _BLOCKS.get(len(counts)) or (_line(counts[0]),)
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
        self._launch(f"{name}_tiled", grid, (256,), args)

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

        One block takes up to `_ONE_BLOCK` points in turn, if these have no loops of their own. Else
        points are divided among blocks on all multiprocessors, which are launched together.
        """
        if points > self.most_resident:
            return False
        barrier = self.xp.zeros(1, np.uint32)
        if self.xp is np:
            self._launch(name, (1,), (64,), (*args, barrier))
        elif points <= _ONE_BLOCK and not has_loops:
            self._launch(name, (1,), (min(1024, _warps(points)),), (*args, barrier))
        else:
            n = self._n_processors()
            threads = min(1024, _warps(-(-points // n)))
            blocks = min(n, -(-points // threads))
            self._launch(name, (blocks,), (threads,), (*args, barrier), together=True)
        return True

    def _n_processors(self) -> int:
        """Return the number of multiprocessors of the device."""
        found: int = self.xp.cuda.Device().attributes["MultiProcessorCount"]
        return found

    def reduce(self, name: str, count: int, args: Sequence[Any], dtype: Any) -> None:
        """Launch a reduction over iterations, and the combination of its blocks' results."""
        blocks = 1
        if count > _ONE_BLOCK:
            blocks = min(_MAX_BLOCKS, -(-count // (REDUCTION_THREADS * 4)))
        partial = self._partial.get(dtype)
        if partial is None:
            partial = self._partial[dtype] = self.xp.zeros(_MAX_BLOCKS, dtype)
        self._launch(name, (blocks,), (REDUCTION_THREADS,), (*args, partial))
        if blocks > 1:
            given = (*args, partial, np.int32(blocks))
            self._launch(f"{name}_total", (1,), (REDUCTION_THREADS,), given)

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


def _warps(count: int) -> int:
    """Return the threads of the warps that have so many."""
    return -(-max(count, 1) // 32) * 32


def _line(count: int) -> int:
    """Return the threads of a block of one dimension: few if there would be few blocks."""
    return 256 if count >= 1 << 17 else 64 if count >= 1 << 12 else 32


class ArgumentError(TypeError):
    """An argument that does not fit its parameter, which the message names."""


def checked(
    function: str, parameters: Sequence[tuple[str, str, str]], args: Sequence[Any]
) -> dict[str, Any]:
    """Return the arguments of a call by name, if all fit.

    Args:
        function: the name, for messages.
        parameters: of each its name, "array" or "scalar", and its type as NumPy names it.
        args: what was given.

    Raises:
        ArgumentError: there are too many or too few, or one is of a wrong type or not contiguous.
    """
    if len(args) != len(parameters):
        names = ", ".join(name for name, _, _ in parameters)
        raise ArgumentError(
            f"{function}({names}) takes {len(parameters)} arguments, not {len(args)}"
        )
    found = {}
    for (name, kind, dtype), value in zip(parameters, args, strict=True):
        where = f"{function}: argument '{name}'"
        if kind == "scalar":
            found[name] = _scalar(where, dtype, value)
            continue
        if not hasattr(value, "dtype") or not hasattr(value, "nbytes"):
            raise ArgumentError(f"{where} must be an array of {dtype}, not {type(value).__name__}")
        if value.dtype != np.dtype(dtype):
            raise ArgumentError(f"{where} is an array of {value.dtype}, not of {dtype}")
        if not value.flags.c_contiguous:
            note = "numpy.ascontiguousarray makes a copy that is"
            raise ArgumentError(f"{where} is not contiguous: {note}")
        found[name] = value
    return found


def _scalar(where: str, dtype: str, value: Any) -> Any:
    kind = np.dtype(dtype)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{where} must be a number of {dtype}, not {value!r}") from None
    if kind.kind == "f":
        return number
    limits = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
    if not number.is_integer() or not limits[0] <= int(value) <= limits[1]:
        raise ArgumentError(f"{where} is {value}, which is no {dtype}")
    return int(value)


def check_sections(function: str, sections: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Check that arrays hold every byte that the function may use.

    Raises:
        ArgumentError: one is too small.
    """
    for name, moved in sections.items():
        array = given[name]
        first, end = moved[2]
        if first < 0:
            raise ArgumentError(f"{function}: argument '{name}' is used before its beginning")
        if end > array.nbytes:
            needed = -(-end // array.dtype.itemsize)
            message = f"has {array.size} elements, {needed} are needed"
            raise ArgumentError(f"{function}: argument '{name}' {message}")
        if moved[1] != (0, 0) and not getattr(array.flags, "writeable", True):
            raise ArgumentError(f"{function}: argument '{name}' is written, but read-only")


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


def moved_in(run: Run, array: Any, moved: tuple[Any, ...]) -> Any:
    """Return an array on the device, flat, with what of it goes in."""
    flat = array.reshape(-1)
    if not isinstance(array, np.ndarray) or run.xp is np:
        return flat
    first, end = _elements(array, moved[0])
    on_device = run.xp.empty(flat.size, array.dtype)
    if end > first:
        on_device[first:end].set(flat[first:end])
    return on_device


def moved_out(run: Run, array: Any, on_device: Any, moved: tuple[Any, ...]) -> None:
    """Copy what comes out back."""
    if not isinstance(array, np.ndarray) or run.xp is np:
        return
    first, end = _elements(array, moved[1])
    if end > first:
        flat = array.reshape(-1)
        flat[first:end] = on_device[first:end].get()


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
        self.name, self.parameters, self.overlaps = name, parameters, overlaps
        self.sections, self.steps, self.source = sections, steps, source
        self._run: Run | None = None

    def run(self) -> Run:
        """Return where kernels run: they are compiled at the first call."""
        if self._run is None:
            import cupy

            module = cupy.RawModule(code=self.source, options=("-std=c++17",))
            kernels: dict[str, Any] = {}

            def launch(name: str, grid: Any, block: Any, args: Any, together: bool = False) -> None:
                kernel = kernels.get(name) or kernels.setdefault(name, module.get_function(name))
                if together:
                    kernel.kernel(grid, block, tuple(args), 0, None, True)
                else:
                    kernel(grid, block, tuple(args))

            self._run = Run(launch, cupy)
        return self._run

    def __call__(self, *args: Any) -> Any:
        """Call the function; arrays that it writes are changed in place."""
        given = checked(self.name, self.parameters, args)
        integers = [
            given[name]
            for name, kind, dtype in self.parameters
            if kind == "scalar" and np.dtype(dtype).kind in "iub"
        ]
        sections = self.sections(*integers)
        check_sections(self.name, sections, given)
        pair = overlapping(self.overlaps, given)
        if pair is not None:
            raise ArgumentError(f"{self.name}: {pair[0]} and {pair[1]} overlap")
        run, moved = self.run(), dict(given)
        for name, one in sections.items():
            moved[name] = moved_in(run, given[name], one)
        result = self.steps(run, *moved.values())
        for name, one in sections.items():
            moved_out(run, given[name], moved[name], one)
        return result


NAMESPACE = {"np": np, "math": math, "quotient": quotient, "remainder": remainder, "hull": hull}

"""Where kernels run: the grid of each kind of launch, and CuPy, which compiles and launches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

REDUCTION_THREADS = 256
_TILE_THREADS = 128
_MAX_BLOCKS = 1024  # of a reduction: more partial results would cost more than they save
MOST_RESIDENT = 1 << 21  # points of a step up to which loops are one launch
ONE_RESIDENT = 4096  # threads up to which one block does all steps of a loop
ONE_BLOCK = 8192  # iterations up to which one block does a reduction alone
ONE_SCAN = 4096  # iterations up to which one block does a scan alone
SCAN_TILES = 4  # of a block of a scan, at the least; each has four terms for each thread
BINS_BYTES = 16 << 10  # of a block's bins: eight of 256 threads fit on a multiprocessor
BLOCKS = {2: (32, 8), 3: (32, 4, 2)}
_MAX_GRID = (2**31 - 1, 65535, 65535)


class Run:
    """A place where kernels run, by a function that launches one and a module of arrays."""

    def __init__(self, launch: Callable[..., None], xp: Any) -> None:
        self._launch = launch
        self.n_launches = 0  # so far
        self.xp = xp
        self._partial: dict[Any, Any] = {}
        self.on_cpu: Callable[[str, Sequence[Any]], None] | None = None  # calls compiled C
        self.most_resident = MOST_RESIDENT
        self.least_tiled = 64  # rows, columns and terms from which on sums are by tiles or warps
        self.one_scanned = ONE_SCAN
        self.blocks = dict(BLOCKS)

    def _start(self, name: str, grid: Any, block: Any, args: Any, **more: Any) -> None:
        self.n_launches += 1
        self._launch(name, grid, block, args, **more)

    def grid(self, name: str, counts: Sequence[int], args: Sequence[Any]) -> None:
        """Launch a thread for each point of a box; without counts, one thread."""
        if not counts:
            self._start(name, (1,), (1,), args)
            return
        if min(counts) <= 0:
            return
        block = block_of(counts, self.blocks)
        grid = tuple(-(-count // size) for count, size in zip(counts, block, strict=True))
        _check_grid(name, grid)
        self._start(name, grid, block, args)

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
        _check_grid(name, grid)
        self._start(f"{name}_tiled", grid, (_TILE_THREADS,), args)

    def rows(self, name: str, counts: Sequence[int], depth: int, args: Sequence[Any]) -> None:
        """Launch a kernel with a warp for each row if sums are long; else one by threads."""
        if depth < self.least_tiled or counts[0] <= 0:
            self.grid(name, counts, args)
            return
        self._start(f"{name}_rows", (-(-counts[0] // 8),), (256,), args)

    def columns(self, name: str, counts: Sequence[int], depth: int, args: Sequence[Any]) -> None:
        """Launch a kernel with blocks for 32 columns each if sums are long; else one by threads."""
        if depth < self.least_tiled or counts[0] <= 0:
            self.grid(name, counts, args)
            return
        threads = 128 if self.xp is np else 1024
        self._start(f"{name}_columns", (-(-counts[0] // 32),), (threads,), args)

    def resident(self, name: str, points: int, args: Sequence[Any]) -> bool:
        """Launch a loop whole, if its largest step has few points; return whether it was done.

        One block takes up to `ONE_RESIDENT` points in turn. Else they are divided among blocks on
        all multiprocessors, which are launched together.
        """
        if points > self.most_resident:
            return False
        barrier = self.xp.zeros(1, np.uint32)
        if self.xp is np:
            self._start(name, (1,), (64,), (*args, barrier))
        elif points <= ONE_RESIDENT:
            self._start(name, (1,), (min(1024, _warps(points)),), (*args, barrier))
        else:
            n = self._n_processors()
            blocks = min(n, -(-points // 1024))
            self._start(name, (blocks,), (1024,), (*args, barrier), together=True)
        return True

    def _n_processors(self) -> int:
        """Return the number of multiprocessors of the device."""
        found: int = self.xp.cuda.Device().attributes["MultiProcessorCount"]
        return found

    def reduce(
        self,
        name: str,
        counts: Sequence[int],
        args: Sequence[Any],
        dtype: Any,
        is_located: bool = False,
    ) -> None:
        """Launch a reduction over points, and the combination of its blocks' results.

        If it `is_located`, blocks leave the numbers of points beside their results.
        """
        blocks = reduction_blocks(counts)
        given = (*args, self._partials(dtype))
        if is_located:
            given = (*given, self._partials(np.int64, "at"))
        self._start(name, (blocks,), (REDUCTION_THREADS,), given)
        if blocks > 1:
            given = (*given, np.int32(blocks))
            self._start(f"{name}_total", (1,), (REDUCTION_THREADS,), given)

    def _partials(self, dtype: Any, use: str = "value") -> Any:
        """Return the array in which blocks leave their results, kept for each stream."""
        key = (dtype, use, 0 if self.xp is np else self.xp.cuda.get_current_stream().ptr)
        partial = self._partial.get(key)
        if partial is None:
            partial = self._partial[key] = self.empty(_MAX_BLOCKS + 1, dtype)
        return partial

    def scan(self, name: str, count: int, args: Sequence[Any], dtype: Any) -> None:
        """Launch a scan over iterations; if there are many, after the totals of its blocks."""
        threads = 64 if self.xp is np else REDUCTION_THREADS
        blocks = 1 if count <= self.one_scanned else scan_blocks(count, threads)
        given = (*args, self._partials(dtype))
        if blocks > 1:
            self._start(f"{name}_totals", (blocks,), (threads,), given)
        self._start(name, (blocks,), (threads,), given)

    def bins(self, name: str, counts: Sequence[int], array: Any, args: Sequence[Any]) -> None:
        """Launch a kernel that updates an array, with bins of its blocks if there are few."""
        blocks = bins_blocks(counts, array.size, array.dtype.itemsize)
        if not blocks:
            self.grid(name, counts, args)
            return
        threads = 64 if self.xp is np else REDUCTION_THREADS
        self._start(f"{name}_bins", (blocks,), (threads,), (*args, np.int32(array.size)))

    def host(self, name: str, args: Sequence[Any], written: str) -> None:
        """Execute a sequential loop on the host, on copies of arrays; copy those back it writes.

        Of each argument `written` says "w" or "r".
        """
        if self.on_cpu is None:
            raise RuntimeError(f"{name} is executed by the host, which has no such function")
        self.n_launches += 1
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

    def part(self, first: int, end: int, dtype: Any) -> Any:
        """Return an array of `end` elements of the device; those from `first` have storage.

        Where a kernel is given it, elements have the places that they have in the whole array:
        it begins `first` elements before its storage.
        """
        if self.xp is np:
            return np.empty(end, dtype)
        storage = self.xp.empty(end - first, dtype)
        size = storage.dtype.itemsize
        cuda = self.xp.cuda
        address = storage.data.ptr - first * size
        memory = cuda.UnownedMemory(address, end * size, storage, cuda.Device().id)
        return self.xp.ndarray((end,), dtype, cuda.MemoryPointer(memory, 0))

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


def reduction_blocks(counts: Sequence[int]) -> int:
    """Return how many blocks share the points of a reduction."""
    count = math.prod(max(one, 0) for one in counts)
    return 1 if count <= ONE_BLOCK else min(_MAX_BLOCKS, -(-count // (REDUCTION_THREADS * 4)))


def scan_blocks(count: int, threads: int = REDUCTION_THREADS) -> int:
    """Return how many blocks share the iterations of a scan."""
    return max(1, min(_MAX_BLOCKS, -(-count // (4 * threads * SCAN_TILES))))


def bins_blocks(counts: Sequence[int], n_bins: int, n_bytes: int) -> int:
    """Return how many blocks have bins of their own; 0 if the array itself is updated.

    Each adds its bins to the array: these are to be at most a quarter of all updates.
    """
    if not 0 < n_bins <= BINS_BYTES // n_bytes:
        return 0
    points = math.prod(max(one, 0) for one in counts)
    return min(_MAX_BLOCKS, points // (4 * n_bins), -(-points // 4096))


class GridTooLargeError(OverflowError):
    """A launch of more blocks than a grid may have."""


class UnusableGpuError(RuntimeError):
    """A GPU for which kernels cannot be compiled, or that does not load them."""


def _check_grid(name: str, grid: Sequence[int]) -> None:
    if any(size > most for size, most in zip(grid, _MAX_GRID, strict=False)):
        raise GridTooLargeError(f"{name}: a grid of {tuple(grid)} blocks is too large")


def block_of(counts: Sequence[int], blocks: Mapping[int, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the threads of a block along x, y, z for so many threads in all.

    `blocks` are the shapes by their dimensions. A grid has at most 65535 blocks along y and z: a
    block becomes taller until they suffice, and narrower when it has 1024 threads.

        counts (4, 1_000_000), shape (32, 8): 125,000 blocks along y; (32, 16) gives 62,500
    """
    found = list(blocks.get(len(counts)) or (line_of(counts[0]),))
    for axis in range(1, len(counts)):
        while found[axis] < (1024, 1024, 64)[axis] and -(-counts[axis] // found[axis]) > 65535:
            if math.prod(found) >= 1024:
                widest = max((n for n in range(len(found)) if n != axis), key=lambda n: found[n])
                if found[widest] == 1:
                    break
                found[widest] //= 2
            found[axis] *= 2
    return tuple(found)


class Launcher:
    """Kernels of CUDA C++, compiled by CuPy, which keeps them; launched on the current stream."""

    def __init__(self, source: str) -> None:
        import cupy

        self._module = cupy.RawModule(code=source, options=("-std=c++17",))
        self._kernels: dict[str, Callable[..., None]] = {}
        errors = (cupy.cuda.compiler.CompileException, cupy.cuda.driver.CUDADriverError)
        try:
            with ThreadPoolExecutor(1) as pool:  # the context begins while NVRTC compiles
                pool.submit(_begin, cupy.cuda.Device().id)
                self._module.compile()
        except errors as error:  # of NVRTC or of the driver, older than the other or than the GPU
            raise UnusableGpuError(f"{type(error).__name__}: {error}") from error

    def __call__(self, name: str, grid: Any, block: Any, args: Any, together: bool = False) -> None:
        """Launch a kernel; arguments are arrays of CuPy, and scalars of NumPy.

        With `together`, all blocks are on the GPU at once, and may wait for each other.
        """
        kernel = self._kernels.get(name)
        if kernel is None:
            # The function itself: what CuPy wraps it into looks at its attributes in each launch.
            kernel = self._kernels[name] = self._module.get_function(name).kernel
        kernel(grid, block, args, 0, None, together)


def _begin(device: int) -> None:
    """Make the context of a GPU: 0.2 s, if there is none yet."""
    import cupy

    with cupy.cuda.Device(device):
        cupy.cuda.runtime.free(0)


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

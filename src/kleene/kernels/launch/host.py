"""The host runner: the same `.cu`, compiled by `zig c++` and executed thread by thread on the CPU.

`host.cpp` runs the grid and watches every access; this module compiles, calls, and turns its
report into a `KernelError` that names the kernel, the words, the threads and the source lines.
"""

from __future__ import annotations

import ctypes
import math
import platform
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from kleene.kernels.launch.api import Dim, Source
from kleene.kernels.launch.host_build import Library, build, compiler
from kleene.kernels.launch.host_report import KernelError, Region, Report, fault_of

_MAX_THREADS = 1024
_running = threading.Lock()  # host.cpp keeps one grid's state in global variables


@cache
def problem() -> str | None:
    """Return why the host runner cannot be used, or None if it can."""
    if platform.machine() != "x86_64":
        return f"the host runner switches threads on x86-64 only, this is {platform.machine()}"
    if compiler() is None:
        return "the package 'ziglang' is not installed"
    return None


@dataclass(frozen=True, slots=True)
class Host:
    """The host runner; a seed other than 0 shuffles blocks and threads, and splits at atomics."""

    seed: int = 0

    @property
    def name(self) -> str:
        """Return what it is."""
        return "host runner (zig c++, one thread at a time, no GPU)"

    @property
    def xp(self) -> ModuleType:
        """Return NumPy."""
        return np

    def load(self, source: Source) -> HostModule:
        """Return the source compiled; libraries are cached by content."""
        return HostModule(build(source), self.seed)

    def to_host(self, array: Any, out: Any) -> None:
        """Copy `array` into `out` unless it is `out` itself."""
        if array is not out:
            out[...] = array


@dataclass(frozen=True, slots=True)
class HostModule:
    """A `.cu` file as a library of this process."""

    library: Library
    seed: int

    def launch(
        self, name: str, grid: Dim, block: Dim, args: Sequence[Any], *, shared_bytes: int = 0
    ) -> None:
        """Run kernel `name` to its end; raise `KernelError` on anything CUDA forbids."""
        if not math.prod(grid):
            return
        if not 0 < math.prod(block) <= _MAX_THREADS:
            raise ValueError(f"{name}: a block has 1 to {_MAX_THREADS} threads, not {block}")
        regions = self._checked(name, args)
        start, n_bytes = self.library.dynamic_shared()
        if shared_bytes > n_bytes:
            raise ValueError(f"{name}: asks {shared_bytes} bytes of dynamic shared memory")
        report = Report()
        with _running:
            self.library.raw.kleene_launch(
                self.library.entry(name),
                _pointers(args),
                (Region * len(regions))(*(region for _, region in regions)),
                ctypes.c_uint32(len(regions)),
                _dim(grid),
                _dim(block),
                ctypes.c_uint64(start),
                ctypes.c_uint64(n_bytes),
                ctypes.c_uint32(shared_bytes),
                ctypes.c_uint64(self.seed),
                ctypes.byref(report),
            )
        if report.fault:
            positions = [position for position, _ in regions]
            raise fault_of(report, name, positions, grid, block, self.library)

    def _checked(self, name: str, args: Sequence[Any]) -> list[tuple[int, Region]]:
        """Return the arrays among `args` with their positions, if all fit the signature."""
        sizes = self.library.signature(name)
        if len(sizes) != len(args):
            raise ValueError(f"{name}: takes {len(sizes)} arguments, got {len(args)}")
        regions = []
        for position, (arg, (n_bytes, pointee_bytes)) in enumerate(zip(args, sizes, strict=True)):
            is_array = isinstance(arg, np.ndarray)
            wanted = pointee_bytes if is_array else n_bytes
            if is_array != bool(pointee_bytes) or not hasattr(arg, "dtype"):
                raise ValueError(f"{name}: argument {position} must be an array or a NumPy scalar")
            if arg.dtype.itemsize != wanted:
                raise ValueError(f"{name}: argument {position} is {arg.dtype}, not {wanted} bytes")
            if is_array:
                if not arg.flags.c_contiguous:
                    raise ValueError(f"{name}: argument {position} is not contiguous")
                word_bytes = min(arg.dtype.itemsize, 4)
                regions.append((position, Region(arg.ctypes.data, arg.nbytes, word_bytes)))
        return regions


def _pointers(args: Sequence[Any]) -> ctypes.Array[ctypes.c_void_p]:
    """Return the address of each argument's value; an array's value is its address."""
    values = [
        np.array(arg.ctypes.data, np.uint64) if isinstance(arg, np.ndarray) else np.array(arg)
        for arg in args
    ]
    table = (ctypes.c_void_p * len(values))(*(value.ctypes.data for value in values))
    table.keep_alive = values  # type: ignore[attr-defined]
    return table


def _dim(size: Dim) -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * 3)(*size, *(1,) * (3 - len(size)))


__all__ = ["Host", "HostModule", "KernelError", "problem"]

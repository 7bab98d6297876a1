"""The GPU, through CuPy: NVRTC compiles the `.cu`, the driver runs it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from kleene.base.cache import key_of
from kleene.kernels.launch.api import Dim, Module, Source

_STATIC_LIMIT_BYTES = 48 << 10  # a kernel must ask before it may use more shared memory


@cache
def problem() -> str | None:
    """Return why no GPU can be used, or None if one can."""
    try:
        import cupy
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == "cupy"
        return "CuPy is not installed" if missing else f"CuPy cannot be imported: {error}"
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
        return None if n_devices else "CuPy sees no device"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"the CUDA driver does not answer: {error}"


def free_bytes() -> int:
    """Return the device memory that nobody holds now, or CuPy's pool for no one."""
    import cupy

    return int(cupy.cuda.Device().mem_info[0] + cupy.get_default_memory_pool().free_bytes())


@dataclass(frozen=True, slots=True)
class Gpu:
    """The current CUDA device."""

    @property
    def name(self) -> str:
        """Return the device's name."""
        import cupy

        device = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        return str(device["name"].decode())

    @property
    def xp(self) -> Any:
        """Return CuPy."""
        import cupy

        return cupy

    def load(self, source: Source) -> Module:
        """Return the source compiled for this device; CuPy caches it by content."""
        # CuPy's cache knows a kernel by its text and options, not by the headers it includes.
        headers = key_of(*(header.read_bytes() for header in source.headers()))
        options = (*source.options(), f"-I{source.path.parent}", f"-DHEADERS=0x{headers[:16]}")
        return _GpuModule(self.xp.RawModule(code=source.text(), options=options))

    def to_host(self, array: Any, out: Any) -> None:
        """Copy `array` into `out` unless it is `out` itself."""
        if array is not out:
            array.get(out=out)


@dataclass(slots=True)
class _GpuModule:
    module: Any
    kernels: dict[str, Any] = field(default_factory=dict)

    def launch(
        self,
        name: str,
        grid: Dim,
        block: Dim,
        args: Sequence[Any],
        *,
        shared_bytes: int = 0,
        together: bool = False,
    ) -> None:
        """Queue kernel `name` on the current stream; an empty grid is no work.

        With `together` all blocks are on the device at once, or the launch fails.
        """
        if not math.prod(grid):
            return
        kernel = self.kernels.get(name)
        if kernel is None:
            kernel = self.kernels[name] = self.module.get_function(name)
        if shared_bytes > _STATIC_LIMIT_BYTES:
            kernel.max_dynamic_shared_size_bytes = shared_bytes
        if together:
            kernel.kernel(grid, block, tuple(args), shared_bytes, None, True)
        else:
            kernel(grid, block, tuple(args), shared_mem=shared_bytes)

"""Which module computes for a device.

A back end is a package of this room with the operations of `kleene.kernels.minplus` on one octagon,
every argument by its place as in `reference`, and its module `batch` with those on many.
"""

from __future__ import annotations

from typing import Any

from kleene.base.device import Device
from kleene.kernels import launch
from kleene.kernels.minplus import cpu

# From here on the library's operations that close are four times as fast on an H200 as on the 16
# threads of its host, a guard 2.6 times, and no other loses more than 0.2 ms
# (benchmarks/octagon_cuda_library.py); at 256 variables the common ones lose five to ten times.
CUDA_FROM_VARIABLES = 512


def of(device: Device) -> Any:
    """Return the back end for `device`."""
    if device is Device.CPU or device is Device.AUTO:
        return cpu
    if device is Device.CUDA:
        from kleene.kernels.minplus import cuda  # compiles nothing yet, but few callers ask for it

        return cuda
    raise ValueError(f"one call runs on one device, not {device!r}: ask for 'cpu' or 'cuda'")


def choose(n_variables: int) -> tuple[Device, str]:
    """Return where an octagon should lie that many operations will be asked of, and why."""
    if n_variables < CUDA_FROM_VARIABLES:
        return Device.CPU, f"{n_variables} variables; a GPU pays from {CUDA_FROM_VARIABLES}"
    if reason := launch.gpu_problem():
        return Device.CPU, reason
    return Device.CUDA, f"{n_variables} variables; a GPU pays from {CUDA_FROM_VARIABLES}"

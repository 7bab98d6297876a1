"""Which module computes for a device.

A back end is a package of this room with the operations of `kleene.kernels.minplus` on one octagon,
every argument by its place as in `reference`, and its module `batch` with those on many.
"""

from __future__ import annotations

from typing import Any

from kleene.base.device import Device
from kleene.kernels import launch
from kleene.kernels.minplus import cpu

# Closing one dense octagon of int32 on an H200 against 16 CPU threads, copies there and back
# included (benchmarks/octagon_cuda.py): 64 variables 0.34 ms against 0.16 ms, 128 variables 0.29 ms
# against 0.63 ms. Everything else on an octagon of the host costs less than copying it.
CUDA_FROM_VARIABLES = 128


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

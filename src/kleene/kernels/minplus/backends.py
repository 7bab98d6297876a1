"""Which module computes for a device.

A back end is a package of this room with the operations of `kleene.kernels.minplus` on one octagon,
every argument by its place as in `reference`, and its module `batch` with those on many.
"""

from __future__ import annotations

from typing import Any

from kleene.base.device import Device
from kleene.kernels import launch
from kleene.kernels.minplus import cpu

# From here on every operation that looks at all cells is faster on an H200 than on its host, each
# on octagons that lie there (benchmarks/octagon_cuda.py, octagon_cuda_operations.py). At 512
# variables of float32, in microseconds: closure 463 against 3,110 on 16 threads; against one
# thread, a constraint with closing again 74 against 111, join 13 against 250, comparison 45 against
# 166. At 128 variables the constraint takes 100 against 12, the join 18 against 9.
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

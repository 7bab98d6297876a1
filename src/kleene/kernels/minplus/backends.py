"""Which module computes for a device.

A back end is a package of this room with the operations of `kleene.kernels.minplus` on one octagon,
every argument by its place as in `reference`, and its module `batch` with those on many.
"""

from __future__ import annotations

from typing import Any

from kleene.base.device import Device
from kleene.kernels.minplus import cpu


def of(device: Device) -> Any:
    """Return the back end for `device`."""
    if device is Device.CPU or device is Device.AUTO:
        return cpu
    if device is Device.CUDA:
        from kleene.kernels.minplus import cuda  # compiles nothing yet, but few callers ask for it

        return cuda
    raise ValueError(f"one call runs on one device, not {device!r}: ask for 'cpu' or 'cuda'")

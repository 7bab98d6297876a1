"""Where the cells of a component lie, in host memory or on the GPU; operations on them run there.

A value is asked for with a device: with "cpu" all its components are in host memory, with "cuda"
all on the GPU, with "auto" those with so many variables that this pays. They stay where they are
from one operation to the next: only answers are copied, and components that grow or shrink past
that size. Cells of Python's integers (see `cells`) are always in host memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.base.device import Device
from kleene.base.errors import SourceError
from kleene.kernels import launch
from kleene.kernels.minplus import choose, n_variables

Cells = Any  # a vector of NumPy or CuPy
CPU = Device.CPU  # to read it off its class takes as long as a step of a small operation


def checked(device: Device | str) -> Device:
    """Return the device if it is one to compute on.

    Raises:
        SourceError: `algebra/no-device`.
    """
    if device not in (Device.CPU, Device.CUDA, Device.AUTO):
        message = f"{device!r} is no device for octagons: ask for 'cpu', 'cuda' or 'auto'"
        raise SourceError(None, "algebra/no-device", message)
    if device == Device.CUDA and (reason := launch.gpu_problem()):
        raise SourceError(None, "algebra/no-device", reason, "'auto' takes a GPU if there is one")
    return Device(device)


def plan(n: int, device: Device) -> tuple[Device, str]:
    """Return where a component of n variables lies in a value with this device, and why."""
    return choose(n) if device is Device.AUTO else (device, "asked for")


def where(m: Cells) -> Device:
    """Return where cells lie."""
    return Device.CPU if is_here(m) else Device.CUDA


def is_here(m: Cells) -> bool:
    """Return whether cells lie in host memory."""
    return type(m) is np.ndarray


def settled(m: Cells, device: Device) -> Cells:
    """Return the cells of a component where they belong, which is mostly where they are."""
    if device is CPU and type(m) is np.ndarray:
        return m
    wanted, _ = plan(n_variables(len(m)), device)
    return here(m) if wanted is Device.CPU or m.dtype == object else there(m)


def here(m: Cells) -> np.ndarray:
    """Return an array of host memory with these elements."""
    if type(m) is np.ndarray:
        return m
    return cuda().to_host(m)  # type: ignore[no-any-return]


def there(m: Cells) -> Any:
    """Return an array on the GPU with these elements."""
    return cuda().to_device(m) if type(m) is np.ndarray else m


def beside(m: Cells, array: Any) -> Any:
    """Return an array of host memory, or a copy on the GPU if `m` is there."""
    return array if type(m) is np.ndarray else there(array)


def cuda() -> Any:
    """Return the kernels' operations on GPUs."""
    from kleene.kernels.minplus import cuda  # few callers ask for it

    return cuda

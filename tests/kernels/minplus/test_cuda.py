"""Every law of this folder on the CUDA back end, and what is its own.

On a GPU if one answers, else in the host runner: there large octagons are cut into smaller tiles.
"""

from contextlib import ExitStack
from inspect import signature

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.base.device import Device
from kleene.kernels import launch, minplus
from kleene.kernels.launch import host
from kleene.kernels.minplus import cuda, reference
from kleene.kernels.minplus.cuda import closure
from tests.kernels.conftest import CUDA, GPU_PROBLEM
from tests.kernels.minplus import test_batch, test_close, test_operations
from tests.kernels.minplus.octagon_inputs import DTYPES, octagons, random_octagon

LAWS = {
    name: law
    for module in (test_batch, test_close, test_operations)
    for name, law in vars(module).items()
    if name.startswith("test_") and "backend" in signature(law).parameters
}
globals().update(LAWS)


class Moved:
    """A back end for arrays of the host: they go to the device, and what is written comes back."""

    def __init__(self, operations):
        self.operations = operations

    def __getattr__(self, name):
        operation = getattr(self.operations, name)
        return Moved(operation) if name == "batch" else lambda *args: moved(operation, args)


def moved(operation, args):
    there = [cuda.to_device(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    found = operation(*there)
    for arg, array in zip(args, there, strict=True):
        if isinstance(arg, np.ndarray) and array is not arg:
            arg[...] = cuda.to_host(array)
    return found if found is None or isinstance(found, bool) else cuda.to_host(found)


@pytest.fixture(scope="module", params=[CUDA])
def place(request):
    if request.param == "cuda-host" and (reason := host.problem()):
        pytest.skip(f"no GPU ({GPU_PROBLEM}) and no host runner ({reason})")
    with ExitStack() as stack:
        if request.param == "cuda-host":
            stack.enter_context(launch.on_host())
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            patch.setattr(closure, "SHAPE", closure.Shape(side=4, pivots=16))
        yield request.param


@pytest.fixture(scope="module")
def backend(place):
    return Moved(cuda)

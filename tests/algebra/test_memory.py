"""Values on the GPU obey the laws of values in host memory, and stay there.

On a GPU if one answers, else in the host runner: there with few examples, and arrays of a type of
their own play those of the GPU, so that none can slip back unseen.
"""

from collections import Counter
from contextlib import ExitStack
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene import Octagon
from kleene.algebra import memory
from kleene.algebra.octagon import NumericDomain
from kleene.base.device import Device
from kleene.kernels import launch, minplus
from kleene.kernels.launch import host
from kleene.kernels.minplus import OBJECT, cuda
from tests.algebra.dense import NAMES, run, steps

GPU_PROBLEM = launch.gpu_problem()
USUAL = settings.get_current_profile_name()
settings.register_profile("very few", settings.default, max_examples=4)
settings.load_profile(USUAL if GPU_PROBLEM is None else "very few")


def laws(name):
    """Return the tests of a module, read anew under the profile of here."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = spec_from_file_location(f"{name}_there", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return {key: law for key, law in vars(module).items() if key.startswith("test_")}


globals().update(laws("test_dense"))
settings.load_profile(USUAL)


class There(np.ndarray):
    """An array of the host runner that plays one of the GPU."""


@pytest.fixture(scope="module", autouse=True)
def place():
    """The GPU if one answers, else the host runner; new values lie there."""
    if GPU_PROBLEM and (reason := host.problem()):
        pytest.skip(f"no GPU ({GPU_PROBLEM}) and no host runner ({reason})")
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setitem(NumericDomain.__dict__["top"].__func__.__kwdefaults__, "device", Device.CUDA)
        if GPU_PROBLEM:
            stack.enter_context(launch.on_host())
            patch.setattr(launch, "gpu_problem", lambda: None)
            patch.setattr(cuda, "to_device", lambda array: np.array(array).view(There))
        yield


def is_all_there(value):
    components = [*value.partition, *(value.raw or ())]
    exact = (component.cells for component in components if component.cells.dtype != OBJECT)
    return all(memory.where(cells) is Device.CUDA for cells in exact)


SMALL = st.integers(-6, 9)
EXAMPLES = settings(max_examples=25 if GPU_PROBLEM is None else 6)


@EXAMPLES
@given(st.lists(steps(5, SMALL), max_size=8), st.lists(steps(5, SMALL), max_size=8), st.booleans())
def test_values_never_leave(a, b, reals):
    (x, _), (y, _) = run(a, 5, reals=reals), run(b, 5, reals=reals)
    made = [x, y, x.join(y), x.meet(y), x.widen(y, thresholds=[2, 7]), x.narrow(y), x.forget("v")]
    made += [x.project("v w"), x.substitute("v", "w + 1"), x.assign({"v": "w", "w": "v - 2"})]
    made.append(x.assign("v", "2*w - 3*x + 1"))
    assert all(map(is_all_there, made))


def chain(**options):
    """Return an octagon of 12 related variables, and what a chain of operations makes of it."""
    names = [f"x{k}" for k in range(12)]
    rows = [f"x{k} - x{k + 1} <= {k % 3}" for k in range(11)]
    value = Octagon.top(names, **options).meet(*rows, "x0 + x11 <= 9", "x0 >= -50")

    def operations():
        other = value.assign("x3", "x4 + 2").meet("x5 <= 3").forget("x7")
        wider = value.join(other).widen(value.assign("x1", "x1 + 1"))
        assert other <= wider
        assert not wider <= other
        return wider.meet("x9 - x2 <= 4"), wider.bound("x0 + x1")

    return operations


def test_operations_copy_answers_only(monkeypatch):
    operations, moved = chain(), Counter()

    def count(name):
        function = getattr(cuda, name)

        def counted(array):
            moved[name] = max(moved[name], array.size)
            return function(array)

        monkeypatch.setattr(cuda, name, counted)

    count("to_host")
    count("to_device")
    found, bounds = operations()
    assert 0 < max(moved.values()) <= 2 * 12
    expected, expected_bounds = chain(device="cpu")()
    assert (str(found), bounds) == (str(expected), expected_bounds)


def test_they_say_where_they_lie():
    value = Octagon.of_constraints("x - y <= 1", "z <= 3")
    assert [one.device for one in value.placement()] == [Device.CUDA, Device.CUDA]
    assert {one.why for one in value.placement()} == {"asked for"}
    wide = Octagon.of_constraints(f"x <= {1 << 80}")
    assert wide.placement() == ((("x",), Device.CPU, "its bounds fit no machine integer"),)
    assert Octagon.of_constraints("x <= 1", device="cpu").placement()[0].device is Device.CPU


def test_auto_moves_components_that_grow_and_shrink(monkeypatch):
    monkeypatch.setattr(minplus, "CUDA_FROM_VARIABLES", 4)
    value = Octagon.top(NAMES, device="auto").meet("v - w <= 1", "x - y <= 2", "v >= 0", "y <= 5")
    assert {one.device for one in value.placement()} == {Device.CPU}
    grown = value.meet("w - x <= 3")
    (component,) = grown.placement()
    assert (component.device, component.why) == (Device.CUDA, "4 variables; a GPU pays from 4")
    assert grown.bound("v").high == value.meet("w - x <= 3").bound("v").high == 11
    assert grown.satisfies("v - y <= 6")
    shrunk = grown.forget("w")
    assert {one.device for one in shrunk.placement()} == {Device.CPU}
    assert shrunk.satisfies("v - y <= 6")


@pytest.mark.parametrize("device", ["cpu", "cuda", "auto"])
def test_values_of_both_places_go_together(device):
    value = Octagon.of_constraints("0 <= x <= 3", "x - y <= 1", device=device)
    other = Octagon.of_constraints("1 <= x <= 5", "y - x <= 1")
    assert value.join(other).bound("x") == other.join(value).bound("x") == (0, 5)
    assert value.meet(other) == other.meet(value)
    assert value.meet(other) <= value
    assert str(value) == "{0 <= x <= 3, x - y <= 1}"
    assert Octagon.of_json(value.to_json()) == value
    assert hash(Octagon.of_json(value.to_json())) == hash(value)

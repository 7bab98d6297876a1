"""Every law of this folder on the CUDA back end, and what is its own.

On a GPU if one answers, else in the host runner: there with fewer examples, and with smaller tiles.
"""

from contextlib import ExitStack
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from math import gcd
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.base.device import Device
from kleene.kernels import launch, minplus
from kleene.kernels.launch import host
from kleene.kernels.minplus import cuda, reference
from kleene.kernels.minplus.cuda import closure
from kleene.kernels.minplus.layout import Forms
from tests.kernels.conftest import CUDA, GPU_PROBLEM
from tests.kernels.minplus.conftest import OneOctagon
from tests.kernels.minplus.octagon_inputs import (
    DTYPES,
    EXACT_DTYPES,
    closed_octagons,
    columns,
    constraints,
    converted,
    magnitude,
    octagons,
    of_constraints,
    random_octagon,
)

USUAL = settings.get_current_profile_name()
settings.register_profile("few", settings.default, max_examples=10)
settings.load_profile(USUAL if GPU_PROBLEM is None else "few")


def laws(name):
    """Return the tests of a module that take a back end, read anew under the profile of here."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = spec_from_file_location(f"{name}_of_cuda", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    tests = {key: law for key, law in vars(module).items() if key.startswith("test_")}
    return {key: law for key, law in tests.items() if "backend" in signature(law).parameters}


OPERATIONS = ("operations", "operations_variables", "operations_minimal", "assign_linear")
for name in ("close", *OPERATIONS, "batch"):
    globals().update(laws(f"test_{name}"))


class Moved:
    """A back end for arrays of the host: they go to the device, and what is written comes back."""

    def __init__(self, operations):
        self.operations = operations

    def __getattr__(self, name):
        operation = getattr(self.operations, name)
        return lambda *args: moved(operation, args)


def moved(operation, args):
    every = [one for arg in args for one in (arg if isinstance(arg, Forms) else [arg])]
    arrays = {id(arg): arg for arg in every if isinstance(arg, np.ndarray)}
    there = {key: cuda.to_device(array) for key, array in arrays.items()}  # what is one, stays one

    def sent(arg):
        return Forms(*map(sent, arg)) if isinstance(arg, Forms) else there.get(id(arg), arg)

    found = operation(*map(sent, args))
    for key, array in arrays.items():
        if there[key] is not array:
            array[...] = cuda.to_host(there[key])
    return found if isinstance(found, bool | int | None) else cuda.to_host(found)


@pytest.fixture(scope="module", params=[CUDA])
def place(request):
    """Where CUDA runs: the GPU if one answers, else the host runner."""
    if request.param == "cuda-host" and (reason := host.problem()):
        pytest.skip(f"no GPU ({GPU_PROBLEM}) and no host runner ({reason})")
    with ExitStack() as stack:
        if request.param == "cuda-host":
            stack.enter_context(launch.on_host())
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            patch.setattr(closure, "SMALL", closure.Shape(side=4, pivots=16))
        yield request.param


@pytest.fixture(scope="module")
def backend(place):
    """The CUDA back end."""
    return OneOctagon(Moved(cuda))


@pytest.fixture(scope="module")
def tiles(backend):
    """The CUDA back end, where every octagon counts as large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(closure, "LARGEST_TILE", 0)
        patch.setattr(closure, "LARGEST_ALONE", 0)
        yield backend


@given(m=octagons(max_n=9), tighten=st.booleans())
def test_tiles_close_any_octagon(m, tighten, tiles):
    expected = m.copy()
    assert tiles.close(m, tighten) == reference.close(expected, tighten)
    assert np.array_equal(m, expected)


@given(m=closed_octagons(max_n=9), data=st.data(), tighten=st.booleans())
def test_tiles_close_again_after_constraints(m, data, tighten, tiles):
    if tighten:
        reference.close(m, True)
    n = minplus.n_variables(len(m))
    added = columns(data.draw(constraints(n, st.integers(-6, 9), max_size=4)), m.dtype)
    expected = m.copy()
    reference.add(expected, *added)
    assert tiles.close_after(m, *added, tighten) == reference.close(expected, tighten)
    assert np.array_equal(m, expected)


@given(m=closed_octagons(max_n=6), data=st.data(), tighten=st.booleans())
def test_constraints_of_the_host_do_the_same(m, data, tighten, backend):
    if tighten:
        reference.close(m, True)
    n = minplus.n_variables(len(m))
    rows = data.draw(constraints(n, st.integers(-6, 9), max_size=3))
    expected = m.copy()
    given_rows = [[row[part] for row in rows] for part in range(3)]
    found = backend.constrain(m, *given_rows, tighten)
    assert found == reference.close_after(expected, *columns(rows, m.dtype), tighten)
    assert np.array_equal(m, expected)


@given(m=octagons(max_n=9), tighten=st.booleans())
def test_tiles_strengthen_any_octagon(m, tighten, tiles):
    expected = m.copy()
    assert tiles.strengthen(m, tighten) == reference.strengthen(expected, tighten)
    assert np.array_equal(m, expected)


@given(m=closed_octagons(max_n=9))
def test_tiles_find_the_minimal_constraints(m, tiles):
    kept, expected = np.ones(len(m), np.bool_), np.ones(len(m), np.bool_)
    tiles.minimal(kept, m)
    reference.minimal(expected, m)
    assert np.array_equal(kept, expected)


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_tiles_widen_the_type_where_sums_overflow(bits, tiles):
    """Bounds that cancel, near the end of the type: they exceed every limit, the results do not."""
    dtype, most = np.dtype(f"int{bits}"), 2 ** (bits - 1) - 8
    rows = [(0, 2, most), (2, 4, -most), (4, 6, most), (6, 8, 1 - most), (8, 9, 2)]
    m = of_constraints(5, dtype, rows)
    assert tiles.close(m, False)
    assert m[minplus.cell(0, 8)] == 1


@pytest.mark.parametrize("dtype", [np.int16, np.int32])
def test_dense_octagons_stay_in_a_narrow_type(dtype, place, tiles, monkeypatch):
    """Where every cell has a bound, sums stay small however many variables there are."""
    most = (2 ** (8 * np.dtype(dtype).itemsize - 2) - 8) // 8 - 1
    random = np.random.default_rng(1)
    m = random_octagon(40, np.int64, random, spread=most // 4)
    m[minplus.cell(5, 0)] = m.max() + 1  # near the limit, and far beyond that for sparse ones
    assert most // 2 < magnitude(m) <= most
    narrow, expected = m.astype(dtype), m.copy()
    only = {np.dtype(dtype).name: closure._OF_LARGE[np.dtype(dtype).name][:1]}
    monkeypatch.setattr(closure, "_OF_LARGE", only)
    assert tiles.close(narrow, True)
    assert reference.close(expected, True)
    assert np.array_equal(narrow, expected)
    narrow[minplus.cell(7, 2)] = minplus.infinity(dtype)
    narrow[minplus.cell(5, 0)] = most - 1
    with pytest.raises(AssertionError, match="the last type"):
        tiles.close(narrow, True)


@given(dtype=DTYPES, seed=st.integers(0, 2**32), data=st.data())
def test_batches_of_small_and_large_octagons(dtype, seed, data, backend):
    random = np.random.default_rng(seed)
    sizes = data.draw(st.permutations([3, 66, 0, 20]))
    offsets = minplus.offsets_of(sizes)
    parts = [random_octagon(n, dtype, random, 0.3) for n in sizes]
    m = np.concatenate(parts)
    assert backend.batch.close(m, offsets, False).all()
    kept, expected = np.ones(len(m), np.bool_), np.ones(len(m), np.bool_)
    backend.batch.minimal(kept, m, offsets)
    for t, part in enumerate(parts):
        here = slice(offsets[t], offsets[t + 1])
        reference.close(part, False)
        reference.minimal(expected[here], part)
        assert np.array_equal(m[here], part)
    assert np.array_equal(kept, expected)


def groups_of(m):
    """Return the least variable of each one's group, by the definition."""
    square, free = reference.whole(m).astype(object), minplus.infinity(m.dtype)
    rows, labels = range(len(square)), list(range(len(square) // 2))
    for i in rows:
        for j in rows:
            bound, of_i, of_j = square[i][j], square[i][i ^ 1], square[j ^ 1][j]
            is_implied = free not in (of_i, of_j) and 2 * bound >= of_i + of_j
            if i >> 1 != j >> 1 and bound != free and not is_implied:
                old, new = sorted((labels[i >> 1], labels[j >> 1]))[::-1]
                labels = [new if label == old else label for label in labels]
    return labels


@given(parts=st.lists(octagons(max_n=7), max_size=3), dtype=DTYPES)
def test_related_variables_are_grouped(parts, dtype, backend):
    parts = [converted(m, dtype) for m in parts]
    sizes = [minplus.n_variables(len(m)) for m in parts]
    offsets, starts = minplus.offsets_of(sizes), np.cumsum([0, *sizes])
    expected = [label for m in parts for label in groups_of(m)]
    m = np.concatenate([np.empty(0, dtype), *parts])
    assert backend.labels(m, offsets, starts).tolist() == expected
    assert [label for m in parts for label in backend.labels(m).tolist()] == expected


def test_long_chains_are_one_group(backend):
    n = 40
    m = of_constraints(n, np.dtype(np.int16), [(2 * k, 2 * k + 2, 1) for k in range(n - 1)])
    assert backend.labels(m).tolist() == [0] * n
    m[minplus.cell(40, 42)] = minplus.infinity(m.dtype)
    assert backend.labels(m).tolist() == [0] * 21 + [21] * (n - 21)


@given(m=octagons(EXACT_DTYPES, max_n=4), factor=st.integers(1, 6), scale=st.integers(1, 40))
def test_integers_are_surveyed(m, factor, scale, backend):
    is_bound = m != minplus.infinity(m.dtype)
    m[is_bound] *= factor
    bounds = m[is_bound].tolist()
    assert backend.greatest(m) == max(map(abs, bounds), default=0)
    assert backend.divisor(m, scale) == gcd(scale, *bounds)


class There(np.ndarray):
    """An array of the host runner that plays one of the GPU."""


def test_the_public_names_compute_where_arrays_lie(place, monkeypatch):
    def there(array):
        moved = cuda.to_device(array)
        return moved.view(There) if isinstance(moved, np.ndarray) else moved

    asked, close = [], cuda.close
    monkeypatch.setattr(cuda, "close", lambda *args: asked.append(args) or close(*args))
    here = of_constraints(2, np.dtype(np.int32), [(1, 0, 10), (0, 2, 2)])
    m = there(here)
    assert minplus.close(m)
    assert minplus.close(here)
    assert len(asked) == 1
    minplus.forget(m, 0)
    assert cuda.to_host(m)[minplus.cell(3, 2)] == 14
    assert bool(minplus.equals(m, m, there(np.array([0, len(m)])))[0])


def test_arrays_of_elsewhere_are_refused(place):
    class Elsewhere:
        dtype = np.dtype(np.int32)

        def __len__(self):
            return minplus.size(2)

    for call in (
        lambda m: cuda.close(m, None, False),
        lambda m: cuda.join(m, m, m),
        lambda m: cuda.assign(m, None, 0, 0, False, 1, 1),
        lambda m: cuda.close(m, m, False),
    ):
        with pytest.raises(
            ValueError, match=r"must be on the GPU, not .*Elsewhere: use `to_device`"
        ):
            call(Elsewhere())


@pytest.mark.parametrize("seed", [1, 2])
def test_any_schedule_gives_the_same(seed, place):
    """The host runner shuffles blocks and threads; a GPU has a schedule of its own."""
    if place != "cuda-host":
        pytest.skip("schedules are chosen in the host runner only")
    random = np.random.default_rng(seed)
    m = random_octagon(66, np.int32, random, 0.3)
    expected = m.copy()
    rows, bounds = random.integers(0, 8, (2, 40)), random.integers(-3, 9, 40).astype(np.int32)
    reference.close(expected, False)
    reference.add(expected, *rows, bounds)
    with launch.on_host(seed):
        cuda.close(m, None, False)
        cuda.add(m, None, *rows, bounds, None)
    assert np.array_equal(m, expected)


def test_auto_weighs_the_copies(monkeypatch):
    few, many = minplus.CUDA_FROM_VARIABLES - 1, minplus.CUDA_FROM_VARIABLES
    monkeypatch.setattr(launch, "gpu_problem", lambda: None)
    device, reason = minplus.choose(few)
    assert (device, str(few) in reason) == (Device.CPU, True)
    assert minplus.choose(many)[0] is Device.CUDA
    monkeypatch.setattr(launch, "gpu_problem", lambda: "no such thing here")
    assert minplus.choose(many) == (Device.CPU, "no such thing here")


settings.load_profile(USUAL)

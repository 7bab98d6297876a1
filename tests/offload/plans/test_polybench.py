"""The thirty computations as kernels: right, without races, and on threads."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

from kleene.codegen.contractions import contraction_of
from kleene.codegen.plan import Kernel, Reduction
from kleene.codegen.rows import sums_of
from kleene.ir.loops import tree
from kleene.kernels.launch import host
from tests.offload.kernels.loop_programs import PROGRAMS
from tests.offload.plans.generated import Compared, arguments, polybench, polybench_plans

FILES = sorted(PROGRAMS.glob("polybench/*.c"))
SIZES = (11, 9, 7, 13, 6)  # in the order of a function's parameters


@pytest.fixture(scope="module")
def units():
    return polybench()


@pytest.fixture(scope="module")
def plans():
    return polybench_plans()


@pytest.fixture(scope="module")
def compared(plans, tmp_path_factory):
    if (reason := host.problem()) is not None:
        pytest.skip(reason)
    folder: Path = tmp_path_factory.mktemp("polybench")
    return Compared([one.read_text() for one in FILES], plans, folder)


@pytest.mark.parametrize("name", [one.stem for one in FILES])
def test_kernels_and_threads_compute_what_the_program_does(name, units, compared):
    (function,) = units[name].functions
    integers = [one.name for one in function.parameters if one.type.kind == "int"]
    sizes = dict(zip(integers, SIZES, strict=False))
    if "steps" in sizes:
        sizes["steps"] = 3
    assert compared.plans[function.name].steps, compared.plans[function.name].reason
    compared.assert_same(function, arguments(function, sizes))
    compared.assert_same(function, arguments(function, dict.fromkeys(sizes, 1)), seed=0)


def test_no_loop_is_run_by_one_thread(plans):
    launches = [one for plan in plans.values() for one in plan.kernels()]
    assert len(launches) > 60
    for one in launches:
        if isinstance(one, Reduction):
            ends = (*one.before, *one.after)
        else:
            assert isinstance(one, Kernel)
            ends = () if one.axes else one.body
        assert not any(isinstance(inner, tree.Loop) for inner in tree.walk(ends)), one.name


@pytest.mark.parametrize(
    ("name", "axes"),
    [
        ("gemm", [("i", "j")]),
        ("jacobi_2d", [("i", "j"), ("i", "j")]),
        ("heat_3d", [("i", "j", "k"), ("i", "j", "k")]),
        ("symm", [("i", "j"), ("j", "k")]),
        ("trmm", [("i", "j")]),
        ("syrk", [("i", "j")]),
        ("atax", [("j",), ("i",), ("j",)]),
        ("floyd_warshall", [("i", "j")] * 10),
    ],
)
def test_axes(plans, name, axes):
    found = [
        tuple(axis.variable.name for axis in one.axes)
        for one in plans[name].kernels()
        if isinstance(one, Kernel)
    ]
    assert found == axes


def test_sums_of_products_are_computed_by_tiles(plans):
    tiled = [one.name for plan in plans.values() for one in plan.kernels() if is_tiled(plan, one)]
    assert {"gemm_i_j", "two_products_i_j", "syrk_i_j", "syr2k_i_j", "covariance_i_j_2"} <= {*tiled}
    assert "jacobi_2d_i_j" not in tiled


def is_tiled(plan, one):
    return isinstance(one, Kernel) and contraction_of(plan, one) is not None


@pytest.mark.parametrize("name", ["gemm", "syrk", "covariance"])
def test_tiles_that_are_not_whole(name, units, compared):
    (function,) = units[name].functions
    integers = [one.name for one in function.parameters if one.type.kind == "int"]
    sizes = dict(zip(integers, (130, 70, 35), strict=False))
    compared.assert_same(function, arguments(function, sizes), seed=0)


def test_sums_along_rows_and_columns_are_computed_by_several_threads(plans):
    found = {
        one.name: made.way
        for plan in plans.values()
        for one in plan.kernels()
        if isinstance(one, Kernel) and (made := sums_of(plan, one)) is not None
    }
    by_rows = {name for name, way in found.items() if way == "rows"}
    assert {"atax_i", "gesummv_i", "mvt_i", "gemver_i_3"} <= by_rows
    assert {"atax_j_2", "mvt_i_2", "gemver_i", "gramschmidt_j"} <= {*found} - by_rows

"""What is no problem is refused, with the table, row and value; builders number what they make."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from kleene.base.errors import SourceError
from kleene.solvers.inclusion import BY_LAYOUT, NONE, Problem
from kleene.solvers.inclusion.builder import ConstraintBuilder
from kleene.solvers.inclusion.check import check
from tests.solvers.inclusion.strategies import problem_of, problems


def good() -> Problem:
    """A problem with a row in every table: 4 nodes, 3 objects, 1 function, 1 call."""
    return problem_of(
        4,
        contents=[2, NONE, 3],
        allocation_offsets=[0, 2, 3],
        address_node=[0, 1],
        address_object=[0, 2],
        copy_destination=[1],
        copy_source=[0],
        load_destination=[2],
        load_pointer=[0],
        store_pointer=[0],
        store_source=[1],
        offset_destination=[3],
        offset_source=[0],
        offset_amount=[1],
        function_object=[2],
        function_result=[3],
        formals=[[0, 1]],
        call_callee=[1],
        actuals=[[0]],
        flagged_node=[2],
        flags=[3],
    )


def refused(**changes: Any) -> list[tuple[str, str]]:
    """Return the errors of the good problem with some columns changed."""
    columns = {
        name: np.array(value, np.int32) if isinstance(value, list) else value
        for name, value in changes.items()
    }
    with pytest.raises(SourceError) as caught:
        check(replace(good(), **columns))
    return [(error.id, error.message) for error in caught.value]


@given(problem=problems())
def test_what_the_strategies_draw_is_accepted(problem: Problem) -> None:
    check(problem)


NODE_COLUMNS = [
    *("address_node", "copy_destination", "copy_source", "load_destination", "load_pointer"),
    *("store_pointer", "store_source", "offset_destination", "offset_source"),
    *("call_callee", "flagged_node"),
]


@pytest.mark.parametrize("name", NODE_COLUMNS)
@pytest.mark.parametrize("value", [4, -1, -(2**31)])
def test_nodes_out_of_range(name: str, value: int) -> None:
    column = getattr(good(), name).copy()
    column[-1] = value
    row = len(column) - 1
    message = f"{name}: row {row} holds {value}, which is none of 4 nodes"
    assert refused(**{name: column}) == [("inclusion/no-such-node", message)]


@pytest.mark.parametrize("value", [4, -2])
@pytest.mark.parametrize(
    "name", ["contents", "function_result", "function_rest", "formals", "call_result", "actuals"]
)
def test_nodes_that_may_be_missing(name: str, value: int) -> None:
    column = getattr(good(), name).copy()
    column[-1] = value
    ((id, message),) = refused(**{name: column})
    assert id == "inclusion/no-such-node"
    assert message.startswith(f"{name}: row {len(column) - 1} holds {value},")


@pytest.mark.parametrize("value", [3, -1])
@pytest.mark.parametrize("name", ["address_object", "function_object"])
def test_objects_out_of_range(name: str, value: int) -> None:
    column = getattr(good(), name).copy()
    column[0] = value
    message = f"{name}: row 0 holds {value}, which is none of 3 objects"
    assert refused(**{name: column}) == [("inclusion/no-such-object", message)]


MOVES = {
    "allocation_layout": [0, 1],
    "image_rows": [0, NONE],
    "image_offsets": [0, 1, 3],
    "images": [1, 0, 1],
}


def test_offset_kinds_are_accepted() -> None:
    columns = {name: np.array(value, np.int32) for name, value in MOVES.items()}
    check(replace(good(), offset_amount=np.array([BY_LAYOUT], np.int32), **columns))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"allocation_layout": [0]}, "2 allocations have 1 layouts, and 1 layouts 2 rows"),
        ({"image_rows": [0]}, "2 allocations have 2 layouts, and 2 layouts 1 rows"),
        ({"allocation_layout": [0, -1]}, "row 1 holds -1, which is no layout"),
        ({"allocation_layout": [0, 0]}, "but allocations of that layout differ in size"),
        ({"image_rows": [1, NONE]}, "row 0 holds 1, but there are 2 rows of images"),
        ({"image_rows": [-2, NONE]}, "row 0 holds -2, but there are 2 rows of images"),
        ({"images": [1, 0, 2]}, "row 2 holds 2, which is outside the allocation"),
        ({"images": [-1, 0, 1]}, "row 0 holds -1, which is outside the allocation"),
        ({"image_rows": [NONE, 0]}, "row 0 holds 1, which is outside the allocation"),
        (
            {"offset_amount": [BY_LAYOUT - 1]},
            "row 0 holds -3, which is no amount, ANY or offset kind",
        ),
    ],
)
def test_images_that_lead_astray(change: dict[str, list[int]], message: str) -> None:
    assert any(message in found for _, found in refused(**(MOVES | change)))


def test_amounts_and_flags() -> None:
    assert refused(offset_amount=[-2], flags=[4]) == [
        (
            "inclusion/bad-amount",
            "offset_amount: row 0 holds -2, which is no amount, ANY or offset kind",
        ),
        ("inclusion/bad-flags", "flags: row 0 holds 4, which is no sum of known flags"),
    ]
    assert refused(flags=[-1])[0][0] == "inclusion/bad-flags"


def test_an_object_is_one_function_at_most() -> None:
    changes = {
        "function_object": [2, 0, 2],
        "function_result": [3, 3, 3],
        "function_rest": [NONE] * 3,
        "formal_offsets": [0, 2, 2, 2],
    }
    message = "function_object: row 2 holds 2, which is a function already"
    assert refused(**changes) == [("inclusion/function-twice", message)]


def test_a_function_has_no_constant_contents() -> None:
    message = "constant_object: row 1 holds 2, which is a function: these have no constant contents"
    assert refused(constant_object=[0, 2]) == [("inclusion/constant-function", message)]


def test_further_bad_rows_are_counted() -> None:
    with pytest.raises(SourceError) as caught:
        check(replace(good(), formals=np.array([9, 9], np.int32)))
    assert caught.value.notes == ("1 more rows of formals are wrong likewise",)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (np.array([0.0, 1.0]), "an array of float64"),
        (np.array([0, 1]), "an array of int64"),
        (np.array([True, False]), "an array of bool"),
        ((0, 1), "a tuple"),
        (np.zeros((2, 1), np.int32), "an array of 2 dimensions"),
        (np.zeros(4, np.int32)[::2], "a view with strides"),
    ],
)
def test_columns_that_are_no_integers(column: object, kind: str) -> None:
    message = f"address_node is {kind}: it must be an int32 array of one dimension"
    assert refused(address_node=column) == [("inclusion/bad-column", message)]


@pytest.mark.parametrize("n_nodes", [-1, 2**31, 4.0, None])
def test_the_number_of_nodes(n_nodes: object) -> None:
    ((id, message),) = refused(n_nodes=n_nodes)
    assert (id, repr(n_nodes) in message) == ("inclusion/bad-size", True)


def test_tables_with_columns_of_different_lengths() -> None:
    message = "rows of one table differ: copy_destination has 2, copy_source has 1"
    assert refused(copy_destination=[0, 0]) == [("inclusion/bad-length", message)]


@pytest.mark.parametrize(
    ("name", "offsets", "message"),
    [
        ("allocation_offsets", [], "0 rows, but 0 allocations need 1"),
        ("allocation_offsets", [0, 2], "row 1 holds 2, but there are 3 objects"),
        ("allocation_offsets", [0, 4, 3], "row 2 holds 3, less than 4 before it"),
        ("formal_offsets", [1, 2], "row 0 holds 1: the first offset is 0"),
        ("formal_offsets", [0, 1, 2], "3 rows, but 1 functions need 2"),
        ("formal_offsets", [0, 1], "row 1 holds 1, but there are 2 formals"),
        ("actual_offsets", [0], "1 rows, but 1 calls need 2"),
    ],
)
def test_offsets_that_do_not_cut(name: str, offsets: list[int], message: str) -> None:
    assert refused(**{name: offsets}) == [("inclusion/bad-offsets", f"{name}: {message}")]


def test_formals_of_a_function_that_is_none() -> None:
    empty = np.empty(0, np.int32)
    changes = {"function_object": empty, "function_result": empty, "function_rest": empty}
    ((id, message),) = refused(**changes)
    assert id == "inclusion/bad-offsets"
    assert message == "formal_offsets: 2 rows, but 0 functions need 1"


def test_builders_refuse_what_is_no_node() -> None:
    builder = ConstraintBuilder()
    builder.copy(builder.node(), 1)
    with pytest.raises(SourceError, match="copy_source: row 0 holds 1, which is none of 1 nodes"):
        builder.problem()
    builder = ConstraintBuilder()
    builder.flag(builder.node(), 1.5)  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="flags is an array of float64"):
        builder.problem()


def test_builders_write_every_table() -> None:
    b = ConstraintBuilder()
    n0, n1, n2, n3 = (b.node() for _ in range(4))
    first = b.allocation([n2, NONE])
    second = b.allocation([n3])
    b.address(n0, first)
    b.address(n1, second)
    b.copy(n1, n0)
    b.load(n2, n0)
    b.store(n0, n1)
    b.offset(n3, n0, 1)
    assert b.function([n0, n1], n3, allocation=second) == second
    assert b.call(n1, [n0]) == 0
    b.flag(n2, 3)
    for name, column in good().columns().items():
        assert np.array_equal(getattr(b.problem(), name), column), name

"""Layouts cut storage where C's types do, and say what shares its contents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.analyses.points_to.images import LocationTable
from kleene.analyses.points_to.layouts import Layouts
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET
from kleene.analyses.points_to.offset_edges import OffsetEdges
from tests.analyses.points_to.memory_types import Memory, Tree, arrays, size, starts, trees

NODE = ("struct", ("int", "ptr", "ptr"))
NAMED = ("struct", (("array", 16, "char"), "ptr"))


def plain(tree: Tree) -> LocationTable:
    memory = Memory()
    type_id = memory.type(tree)
    layouts = memory.layouts()
    layouts.plain(type_id)
    return layouts.finish(OffsetEdges())


def row(table: LocationTable, layout: int = 0) -> slice:
    return slice(*table.location_offsets[layout : layout + 2].tolist())


@given(trees())
def test_a_location_begins_where_something_begins(tree: Tree) -> None:
    table = plain(tree)
    begins = set(starts(tree))
    unknown = int(
        np.flatnonzero(np.append(table.byte[row(table)], UNKNOWN_OFFSET) == UNKNOWN_OFFSET)[0]
    )
    for byte in range(size(tree)):
        location = table.location(0, byte)
        around = arrays(tree, byte)
        if byte in begins:
            assert location < unknown
            exact = all(byte < array.begin + array.stride for array in around)
            assert (table.stride[location] == 0) == exact
            assert not exact or table.byte[location] == byte
        elif location < unknown:  # padding behind an array is a location too
            assert any(array.end == byte for array in arrays(tree, byte - 1))
    assert table.location(0, -1) == -1
    assert table.location(0, size(tree) + 1) == -1


def contents(table: LocationTable, byte: int) -> int:
    """Return the number of the contents that a byte belongs to."""
    location = table.locations(np.array([0]), np.array([byte]), is_around=True)[0]
    return int(table.contents_class[location])


@given(trees())
def test_bytes_of_a_word_share_contents(tree: Tree) -> None:
    table = plain(tree)
    for word in range(0, size(tree), 8):
        bytes_ = range(word, min(word + 8, size(tree)))
        assert len({contents(table, byte) for byte in bytes_}) == 1


@given(trees(), st.data())
def test_elements_share_contents(tree: Tree, data: st.DataObject) -> None:
    table = plain(tree)
    byte = data.draw(st.sampled_from(sorted(starts(tree))))
    for array in arrays(tree, byte):
        first = array.begin + (byte - array.begin) % array.stride
        assert contents(table, byte) == contents(table, first)


@pytest.mark.parametrize(
    ("fields", "numbers"),
    [
        (("ptr", "ptr"), {0: 0, 8: 1}),
        (("int", "int", "ptr", "int"), {0: 0, 4: 0, 8: 1, 16: 2}),
        (("ptr", ("array", 3, "int"), "int", "ptr"), {0: 0, 8: 1, 16: 1, 20: 1, 24: 2}),
        (("ptr", ("array", 2, ("struct", ("ptr", "ptr"))), "ptr"), {0: 0, 8: 1, 16: 2, 24: 1}),
        (("ptr", ("packed", ("int", "ptr")), "ptr"), {0: 0, 8: 1, 12: 1, 16: 1, 24: 2}),
        (("wide", ("union", ("int",)), "ptr"), {0: 0, 8: 1, 16: 2, 20: 2, 24: 3}),
    ],
)
def test_words_without_common_bytes_have_contents_of_their_own(
    fields: Tree, numbers: dict[int, int]
) -> None:
    table = plain(("struct", fields))
    assert {byte: contents(table, byte) for byte in numbers} == numbers


def test_storage_that_may_begin_inside_a_word_has_one_contents() -> None:
    table = plain(("struct", ("int", "int", "int", "int")))
    assert {contents(table, byte) for byte in range(16)} == {0}


@given(trees())
def test_contents_classes_are_dense(tree: Tree) -> None:
    table = plain(tree)
    classes = table.contents_class
    assert set(classes[classes >= 0].tolist()) == set(range(int(table.n_classes[0])))


def test_struct_with_a_leading_buffer_keeps_its_fields() -> None:
    table = plain(NAMED)
    buffer, rest, pointer = (table.location(0, byte) for byte in (0, 5, 16))
    assert table.contents_class[buffer] == table.contents_class[rest]
    assert table.contents_class[buffer] != table.contents_class[pointer]
    assert [table.stride[p] for p in (buffer, rest, pointer)] == [0, 1, 0]


def test_union_members_overlap_every_four_bytes() -> None:
    table = plain(("union", ("ptr", ("struct", ("int", "int")))))
    assert table.byte[:2].tolist() == [0, 4]
    large = plain(("union", (("array", 40, "ptr"),)))
    assert large.n_classes.tolist() == [1]


def test_padding_behind_an_array_is_a_location() -> None:
    table = plain(("struct", (("array", 3, "char"), "int")))
    assert table.byte[table.location(0, 3)] == 3


def layouts_of(*wanted: Tree) -> tuple[Layouts, list[int]]:
    memory = Memory()
    type_ids = [memory.type(tree) for tree in wanted]
    return memory.layouts(), type_ids


def test_each_distinct_layout_is_kept_once() -> None:
    layouts, (node, named) = layouts_of(NODE, NAMED)
    asked = [layouts.plain(node), layouts.repeated(node), layouts.plain(named), layouts.cells()]
    assert asked == [
        layouts.plain(node),
        layouts.repeated(node),
        layouts.plain(named),
        layouts.cells(),
    ]
    assert len(set(asked)) == 4
    assert layouts.raw(-1) == layouts.raw(-1, [])
    assert layouts.function(2) == layouts.function(2) != layouts.function(3)


def test_a_table_can_be_kept_element_by_element() -> None:
    layouts, (table,) = layouts_of(("struct", (("array", 5, "ptr"),)))
    layouts.unrolled(table)
    table = layouts.finish(OffsetEdges(), has_unknown=False)
    assert table.byte.tolist() == [0, 8, 16, 24, 32]
    assert len(set(table.contents_class.tolist())) == 5


def test_repeated_storage_has_a_first_and_others() -> None:
    layouts, (node,) = layouts_of(NODE)
    layouts.repeated(node)
    table = layouts.finish(OffsetEdges(), has_unknown=False)
    assert table.byte.tolist() == [0, 24, 8, 32, 16, 40]
    assert table.stride.tolist() == [0, 24] * 3
    assert table.contents_class.tolist() == [0, 0, 1, 1, 2, 2]
    assert table.location(0, 24 * 1000 + 8) == table.location(0, 32)


def test_a_last_array_of_no_or_one_element_goes_on() -> None:
    for count in (0, 1):
        layouts, (message,) = layouts_of(("struct", ("int", "int", ("array", count, "ptr"))))
        layouts.repeated(message)
        table = layouts.finish(OffsetEdges(), has_unknown=False)
        assert table.location(0, 4) != table.location(0, 8)
        assert table.location(0, 16) == table.location(0, 8 + 8 * 77)
        assert table.n_classes.tolist() == [2]  # two numbers in a word, pointers


def test_raw_storage_has_cells_and_what_was_asked_for() -> None:
    layouts, _ = layouts_of()
    known, unknown = layouts.raw(24, [4, 99]), layouts.raw(-1, [12, 200])
    table = layouts.finish(OffsetEdges(), has_unknown=False)
    assert table.byte[row(table, known)].tolist() == [0, 4, 8, 16]
    bytes_ = table.byte[row(table, unknown)].tolist()
    assert bytes_ == [0, 8, 12, *range(16, 128, 8), 200, 208, 216]
    assert table.stride[row(table, unknown)].tolist()[-1] == 8


def test_the_larger_of_two_structs_speaks_for_its_prefix() -> None:
    base, derived = NODE, ("struct", ("int", "ptr", "ptr", "ptr"))
    layouts, (small, large) = layouts_of(base, derived)
    assert layouts.merged([small, large], [8], -1) == layouts.repeated(large)
    assert layouts.merged([small, large], [8], 32) == layouts.plain(large)
    assert layouts.merged([small], [], 24) == layouts.plain(small)
    assert layouts.merged([], [], 40) == layouts.raw(40)


def test_types_that_disagree_make_raw_storage_with_locations_of_both() -> None:
    layouts, both = layouts_of(("struct", ("int", "int")), ("struct", ("ptr", "int", "int")))
    layout = layouts.merged(both, [], 16)
    table = layouts.finish(OffsetEdges(), has_unknown=False)
    assert table.byte[row(table, layout)].tolist() == [0, 4, 8, 12]


def test_storage_larger_than_its_type_is_raw_behind_it() -> None:
    layouts, (pair,) = layouts_of(("struct", ("int", "int", "ptr")))
    layout = layouts.merged([pair], [], 40)
    table = layouts.finish(OffsetEdges(), has_unknown=False)
    assert table.byte[row(table, layout)].tolist() == [0, 4, 8, 16, 24, 32]


def test_storage_without_a_size_is_raw() -> None:
    memory = Memory()
    opaque = memory.types.named("struct.hidden")
    layouts = memory.layouts()
    assert layouts.plain(opaque) == layouts.raw(-1) == layouts.repeated(opaque)


def test_functions_have_one_location_and_no_contents() -> None:
    layouts, _ = layouts_of()
    layouts.function(1)
    edges = OffsetEdges()
    edges.number(1)
    edges.number(-8, 8)
    table = layouts.finish(edges)
    assert table.n_locations.tolist() == [1]
    assert table.n_classes.tolist() == [0]
    assert table.contents_class.tolist() == [-1]


def test_deep_nests_stay_small() -> None:
    tree: Tree = "int"
    for _ in range(12):
        tree = ("array", 2, ("struct", (tree, "int")))
    assert plain(tree).n_locations[0] < 2000

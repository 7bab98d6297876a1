"""Shapes cut storage where C's types do, and say what shares its contents."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kleene.analyses.points_to.images import Layout
from kleene.analyses.points_to.layouts import Shapes
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET
from kleene.analyses.points_to.offset_edges import Moves
from tests.analyses.points_to.memory_types import Memory, Tree, arrays, size, starts, trees

NODE = ("struct", ("int", "ptr", "ptr"))
NAMED = ("struct", (("array", 16, "char"), "ptr"))


def plain(tree: Tree) -> Layout:
    memory = Memory()
    type_id = memory.type(tree)
    shapes = memory.shapes()
    shapes.plain(type_id)
    return shapes.finish(Moves())


def row(layout: Layout, shape: int = 0) -> slice:
    return slice(*layout.place_offsets[shape : shape + 2].tolist())


@given(trees())
def test_a_place_begins_where_something_begins(tree: Tree) -> None:
    layout = plain(tree)
    begins = set(starts(tree))
    blur = int(
        np.flatnonzero(np.append(layout.byte[row(layout)], UNKNOWN_OFFSET) == UNKNOWN_OFFSET)[0]
    )
    for byte in range(size(tree)):
        place = layout.place(0, byte)
        around = arrays(tree, byte)
        if byte in begins:
            assert place < blur
            exact = all(byte < array.begin + array.stride for array in around)
            assert (layout.stride[place] == 0) == exact
            assert not exact or layout.byte[place] == byte
        elif place < blur:  # padding behind an array is a place too
            assert any(array.end == byte for array in arrays(tree, byte - 1))
    assert layout.place(0, -1) == -1
    assert layout.place(0, size(tree) + 1) == -1


@given(trees(), st.data())
def test_elements_share_contents_and_fields_do_not(tree: Tree, data: st.DataObject) -> None:
    layout = plain(tree)
    begins = sorted(starts(tree))
    first, second = (data.draw(st.sampled_from(begins)) for _ in range(2))

    def folded(byte: int) -> int:
        for depth in range(len(arrays(tree, byte))):
            array = arrays(tree, byte)[depth]
            byte = array.begin + (byte - array.begin) % array.stride
        return byte

    classes = [layout.contents_class[layout.place(0, byte)] for byte in (first, second)]
    assert min(classes) >= 0
    assert (classes[0] == classes[1]) == (folded(first) == folded(second))


@given(trees())
def test_contents_classes_are_dense(tree: Tree) -> None:
    layout = plain(tree)
    classes = layout.contents_class
    assert set(classes[classes >= 0].tolist()) == set(range(int(layout.n_classes[0])))


def test_struct_with_a_leading_buffer_keeps_its_fields() -> None:
    layout = plain(NAMED)
    buffer, rest, pointer = (layout.place(0, byte) for byte in (0, 5, 16))
    assert layout.contents_class[buffer] == layout.contents_class[rest]
    assert layout.contents_class[buffer] != layout.contents_class[pointer]
    assert [layout.stride[p] for p in (buffer, rest, pointer)] == [0, 1, 0]


def test_union_members_overlap_every_four_bytes() -> None:
    layout = plain(("union", ("ptr", ("struct", ("int", "int")))))
    assert layout.byte[:2].tolist() == [0, 4]
    large = plain(("union", (("array", 40, "ptr"),)))
    assert large.n_classes.tolist() == [1]


def test_padding_behind_an_array_is_a_place() -> None:
    layout = plain(("struct", (("array", 3, "char"), "int")))
    assert layout.byte[layout.place(0, 3)] == 3


def shapes_of(*wanted: Tree) -> tuple[Shapes, list[int]]:
    memory = Memory()
    type_ids = [memory.type(tree) for tree in wanted]
    return memory.shapes(), type_ids


def test_each_distinct_shape_is_kept_once() -> None:
    shapes, (node, named) = shapes_of(NODE, NAMED)
    asked = [shapes.plain(node), shapes.repeated(node), shapes.plain(named), shapes.cells()]
    assert asked == [shapes.plain(node), shapes.repeated(node), shapes.plain(named), shapes.cells()]
    assert len(set(asked)) == 4
    assert shapes.raw(-1) == shapes.raw(-1, [])
    assert shapes.function(2) == shapes.function(2) != shapes.function(3)


def test_a_table_can_be_kept_element_by_element() -> None:
    shapes, (table,) = shapes_of(("struct", (("array", 5, "ptr"),)))
    shapes.unrolled(table)
    layout = shapes.finish(Moves(), has_unknown=False)
    assert layout.byte.tolist() == [0, 8, 16, 24, 32]
    assert len(set(layout.contents_class.tolist())) == 5


def test_repeated_storage_has_a_first_and_others() -> None:
    shapes, (node,) = shapes_of(NODE)
    shapes.repeated(node)
    layout = shapes.finish(Moves(), has_unknown=False)
    assert layout.byte.tolist() == [0, 24, 8, 32, 16, 40]
    assert layout.stride.tolist() == [0, 24] * 3
    assert layout.contents_class.tolist() == [0, 0, 1, 1, 2, 2]
    assert layout.place(0, 24 * 1000 + 8) == layout.place(0, 32)


def test_a_last_array_of_no_or_one_element_goes_on() -> None:
    for count in (0, 1):
        shapes, (message,) = shapes_of(("struct", ("int", "int", ("array", count, "ptr"))))
        shapes.repeated(message)
        layout = shapes.finish(Moves(), has_unknown=False)
        assert layout.place(0, 4) != layout.place(0, 8)
        assert layout.place(0, 16) == layout.place(0, 8 + 8 * 77)
        assert layout.n_classes.tolist() == [3]


def test_raw_storage_has_cells_and_what_was_asked_for() -> None:
    shapes, _ = shapes_of()
    known, unknown = shapes.raw(24, [4, 99]), shapes.raw(-1, [12, 200])
    layout = shapes.finish(Moves(), has_unknown=False)
    assert layout.byte[row(layout, known)].tolist() == [0, 4, 8, 16]
    bytes_ = layout.byte[row(layout, unknown)].tolist()
    assert bytes_ == [0, 8, 12, *range(16, 128, 8), 200, 208, 216]
    assert layout.stride[row(layout, unknown)].tolist()[-1] == 8


def test_the_larger_of_two_structs_speaks_for_its_prefix() -> None:
    base, derived = NODE, ("struct", ("int", "ptr", "ptr", "ptr"))
    shapes, (small, large) = shapes_of(base, derived)
    assert shapes.merged([small, large], [8], -1) == shapes.repeated(large)
    assert shapes.merged([small, large], [8], 32) == shapes.plain(large)
    assert shapes.merged([small], [], 24) == shapes.plain(small)
    assert shapes.merged([], [], 40) == shapes.raw(40)


def test_types_that_disagree_make_raw_storage_with_places_of_both() -> None:
    shapes, both = shapes_of(("struct", ("int", "int")), ("struct", ("ptr", "int", "int")))
    shape = shapes.merged(both, [], 16)
    layout = shapes.finish(Moves(), has_unknown=False)
    assert layout.byte[row(layout, shape)].tolist() == [0, 4, 8, 12]


def test_storage_larger_than_its_type_is_raw_behind_it() -> None:
    shapes, (pair,) = shapes_of(("struct", ("int", "int", "ptr")))
    shape = shapes.merged([pair], [], 40)
    layout = shapes.finish(Moves(), has_unknown=False)
    assert layout.byte[row(layout, shape)].tolist() == [0, 4, 8, 16, 24, 32]


def test_storage_without_a_size_is_raw() -> None:
    memory = Memory()
    opaque = memory.types.named("struct.hidden")
    shapes = memory.shapes()
    assert shapes.plain(opaque) == shapes.raw(-1) == shapes.repeated(opaque)


def test_functions_have_one_place_and_no_contents() -> None:
    shapes, _ = shapes_of()
    shapes.function(1)
    moves = Moves()
    moves.number(1)
    moves.number(-8, 8)
    layout = shapes.finish(moves)
    assert layout.n_places.tolist() == [1]
    assert layout.n_classes.tolist() == [0]
    assert layout.contents_class.tolist() == [-1]


def test_deep_nests_stay_small() -> None:
    tree: Tree = "int"
    for _ in range(12):
        tree = ("array", 2, ("struct", (tree, "int")))
    assert plain(tree).n_places[0] < 2000

"""Offset images are distinct where C keeps fields apart: precision, pinned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.analyses.points_to.images import LocationTable
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET
from kleene.analyses.points_to.offset_edges import EdgeKind, OffsetEdges
from tests.analyses.points_to.memory_types import Memory, Tree, images


@dataclass
class Pinned:
    """Storage of one type, asked by bytes."""

    table: LocationTable
    edges: dict[tuple[int, ...], int]
    layout: int

    def bytes(self, at: int, *edge: int) -> list[int]:
        """Return the bytes of the locations that a edge takes the location of a byte to."""
        location = self.table.location(self.layout, at)
        found = images(self.table, self.layout, location, self.edges[edge])
        base = int(self.table.location_offsets[self.layout])
        return sorted(int(self.table.byte[base + one]) for one in found)


def pinned(tree: Tree, *wanted: tuple[int, ...], kind: str = "plain") -> Pinned:
    memory, edges = Memory(), OffsetEdges()
    type_id = memory.type(tree)
    layouts = memory.layouts()
    layout = getattr(layouts, kind)(type_id)
    numbers = {edge: edges.number(*edge) for edge in wanted}
    return Pinned(layouts.finish(edges, has_unknown=False), numbers, layout)


def test_steps_in_bytes_leave_an_array() -> None:
    memory, edges = Memory(), OffsetEdges()
    type_id = memory.type(("struct", (("array", 4, "ptr"), "ptr")))
    layouts = memory.layouts()
    layout = layouts.plain(type_id)
    numbers = {(8,): edges.number(8), (8, 1): edges.number(8, kind=EdgeKind.BYTES)}
    found = Pinned(layouts.finish(edges, has_unknown=False), numbers, layout)
    assert found.bytes(8, 8) == [8]
    assert found.bytes(8, 8, 1) == [8, 32]


def test_every_element_that_leaves_an_array_but_not_its_storage_is_followed() -> None:
    memory, edges = Memory(), OffsetEdges()
    pair = ("struct", ("ptr", "ptr"))
    type_id = memory.type(("struct", (("array", 8, pair), *["ptr"] * 8)))  # behind 128 bytes
    layouts = memory.layouts()
    layout = layouts.plain(type_id)
    numbers = {(112,): edges.number(112, kind=EdgeKind.BYTES)}
    found = Pinned(layouts.finish(edges, has_unknown=False), numbers, layout)
    assert found.bytes(16, 112) == [128, 144, 160, 176, 192]  # from elements 1 to 5, of 7


NAMED = ("struct", (("array", 16, "char"), "ptr", "ptr"))
MIXED = ("struct", ("ptr", ("array", 4, "ptr"), "ptr"))  # the array lies from 8 to 40


def test_struct_starting_with_a_buffer_keeps_its_fields() -> None:
    memory = pinned(NAMED, (16,), (24,), (0, 8), (-16,), (0, 32))
    assert memory.bytes(0, 16) == [16]
    assert memory.bytes(0, 24) == [24]
    assert memory.bytes(16, -16) == [0]
    assert memory.bytes(0, 0, 32) == [0, 32]


def test_bytes_of_an_object_are_walked_over_a_leading_buffer() -> None:
    memory = pinned(NAMED, (0, 1), (1,))
    assert memory.bytes(0, 0, 1) == memory.bytes(1, 0, 1) == [UNKNOWN_OFFSET, 0, 1, 16, 24, 32]
    assert memory.bytes(0, 1) == [1]
    assert memory.bytes(1, 1) == [1, 16]


def test_a_buffer_behind_a_field_is_not_left() -> None:
    memory = pinned(("struct", ("ptr", ("array", 16, "char"), "ptr")), (0, 1), (8, 1), (1,), (-1,))
    assert memory.bytes(0, 8, 1) == memory.bytes(8, 0, 1) == [8, 9]
    assert memory.bytes(8, 1) == memory.bytes(9, 1) == [9]
    assert memory.bytes(9, -1) == [8, 9]
    alone = pinned(("struct", (("array", 16, "char"),)), (0, 1), (1,))
    assert alone.bytes(0, 0, 1) == [0, 1, 16]
    assert alone.bytes(1, 1) == [1]


def test_container_of_is_exact() -> None:
    memory = pinned(("struct", ("int", ("struct", ("ptr", "ptr")), "ptr")), (-8,), (-16,), (8,))
    assert memory.bytes(8, -8) == [0]
    assert memory.bytes(16, -16) == [0]
    assert memory.bytes(16, -8) == [8]
    assert memory.bytes(16, 8) == [24]


def test_counting_up_stays_in_an_inner_array() -> None:
    memory = pinned(MIXED, (8,), (16,), (0, 8), (8, 8), (32,))
    assert memory.bytes(8, 8) == [16]
    assert memory.bytes(16, 8) == memory.bytes(24, 16) == [16]
    assert memory.bytes(16, 0, 8) == [8, 16]
    assert memory.bytes(8, 32) == [40]  # from its first element a constant leaves it
    assert memory.bytes(16, 32) == [48]  # and one that is as large as the array


def test_counting_down_stays_in_an_inner_array() -> None:
    memory = pinned(MIXED, (-8,), (-16,))
    assert memory.bytes(16, -8) == [8, 16]
    assert memory.bytes(8, -8) == [0]
    assert memory.bytes(16, -16) == [0, 8, 16]  # from the second element it goes out


def test_an_index_behind_a_field_stays_in_that_array() -> None:
    memory = pinned(MIXED, (8, 8), (8, 16))
    assert memory.bytes(0, 8, 8) == [8, 16]
    assert memory.bytes(0, 8, 16) == [8, 16]


def test_an_end_pointer_comes_back() -> None:
    memory = pinned(("array", 4, "ptr"), (32,), (-8,), (0, 8))
    assert memory.bytes(0, 32) == [32]
    assert memory.bytes(32, -8) == [8]
    assert memory.bytes(0, 0, 8) == [0, 8, 32]
    assert memory.table.contents_class[memory.table.location(memory.layout, 32)] == -1
    single = pinned("ptr", (8,), (-8,))
    assert single.bytes(0, 8) == [8]
    assert single.bytes(8, -8) == [0]


def test_an_index_from_the_end_is_in_an_array_that_ends_there() -> None:
    grid = ("struct", (("array", 6, ("struct", ("ptr", "ptr"))), "ptr"))  # 104 bytes
    memory = pinned(("array", 2, grid), (0, 104), (0, 48), (8, 104))
    assert memory.bytes(0, 0, 104) == memory.bytes(208, 0, 104) == [0, 104, 208]
    assert memory.bytes(208, 0, 48) == [208]
    assert memory.bytes(208, 8, 104) == [8, 112]
    tail = pinned(("array", 2, ("struct", ("ptr", ("array", 3, "ptr")))), (0, 8), (64,))
    assert tail.bytes(64, 0, 8) == [40, 48, 64]


def test_an_end_exists_only_where_an_offset_leads() -> None:
    assert pinned("ptr", (16,)).table.n_locations.tolist() == [1]
    assert pinned("ptr", (8,)).table.n_locations.tolist() == [2]
    assert pinned("ptr", (4,)).table.n_locations.tolist() == [3]


def test_nested_arrays_of_structs() -> None:
    inner = ("struct", ("ptr", ("array", 2, "ptr")))  # 24 bytes
    memory = pinned(("array", 5, inner), (8,), (24,), (0, 24), (0, 8), (8, 8), (8, 24, 8), (-8,))
    assert memory.bytes(0, 8) == [8]
    assert memory.bytes(24, 8) == [32]
    assert memory.bytes(0, 24) == memory.bytes(24, 24) == [24]
    assert memory.bytes(0, 0, 24) == [0, 24, 120]
    assert memory.bytes(8, 0, 24) == [8, 32]
    assert memory.bytes(8, 0, 8) == [8, 16]  # not into the next struct
    assert memory.bytes(0, 8, 24, 8) == [8, 16, 32, 40]
    assert memory.bytes(32, -8) == [24]
    assert memory.bytes(40, -8) == [32, 40]


def test_an_index_with_two_strides_is_not_their_divisor() -> None:
    inner = ("struct", ("ptr", ("array", 3, "ptr")))
    memory = pinned(("array", 5, inner), (8, 32, 8), (8, 8))
    assert memory.bytes(0, 8, 8) == [8, 16]
    assert memory.bytes(0, 8, 32, 8) == [8, 16, 40, 48]


def test_a_byte_within_a_location_gives_that_location_and_unknown_offset() -> None:
    memory = pinned(MIXED, (4,), (-4,), (0, 4))
    assert memory.bytes(0, 4) == [UNKNOWN_OFFSET, 0]
    assert memory.bytes(40, -4) == [UNKNOWN_OFFSET, 16]
    unknown = int(np.flatnonzero(memory.table.byte == UNKNOWN_OFFSET)[0])
    everything = set(range(int(memory.table.n_locations[0])))
    assert images(memory.table, 0, unknown, memory.edges[(4,)]) == everything
    assert len(memory.bytes(0, 0, 4)) == len(everything)


def test_union_members_are_found_by_byte() -> None:
    tree = ("struct", ("int", ("union", ("ptr", ("struct", ("int", "int"))))))
    memory = pinned(tree, (8,), (12,), (-4,), (-12,))
    assert memory.bytes(0, 8) == [8]
    assert memory.bytes(0, 12) == [12]
    assert memory.bytes(12, -4) == [8]
    assert memory.bytes(12, -12) == [0]


def test_a_large_union_is_left_where_it_ends() -> None:
    tree = ("struct", (("union", (("array", 64, "ptr"),)), "ptr"))
    memory = pinned(tree, (8,), (512,), (-8,))
    assert memory.bytes(0, 512) == [512]
    assert memory.bytes(8, 8) == [8, 512]  # cells are no array of the source
    assert memory.bytes(512, -8) == [8]


def test_flexible_array_member() -> None:
    tree = ("struct", ("int", "int", ("array", 0, "ptr")))
    memory = pinned(tree, (8,), (4,), (8, 8), (80,), (-8,), kind="repeated")
    assert memory.bytes(0, 4) == [4]
    assert memory.bytes(0, 8) == [8]
    assert memory.bytes(0, 8, 8) == [8, 16]
    assert memory.bytes(0, 80) == memory.bytes(16, 80) == [16]
    assert memory.bytes(8, -8) == [0]
    assert memory.bytes(16, -8) == [8, 16]


def test_heap_arrays_wrap() -> None:
    memory = pinned(
        ("struct", ("int", "ptr")), (8,), (16,), (0, 16), (24,), (-16,), kind="repeated"
    )
    assert memory.bytes(0, 8) == [8]
    assert memory.bytes(0, 16) == [16]
    assert memory.bytes(0, 24) == [24]
    assert memory.bytes(16, 24) == [24]
    assert memory.bytes(0, 0, 16) == [0, 16]
    assert memory.bytes(16, -16) == [0, 16]


def test_a_heap_array_is_the_same_far_away() -> None:
    memory = pinned(("struct", ("ptr", "ptr")), (-16008,), (16008,), kind="repeated")
    assert memory.bytes(16, -16008) == [8, 24]
    assert memory.bytes(8, -16008) == []
    assert memory.bytes(0, 16008) == memory.bytes(16, 16008) == [24]


def test_an_index_from_before_the_array() -> None:
    memory = pinned(("array", 1, "ptr"), (-16, 8), (-8, 8))
    assert memory.bytes(0, -16, 8) == memory.bytes(0, -8, 8) == [0, 8]


def test_a_stride_that_fits_no_array_finds_each_element() -> None:
    few = pinned(("array", 2, ("packed", ("ptr", "int"))), (0, 8))
    assert few.bytes(0, 0, 8) == [UNKNOWN_OFFSET, 0, 8, 12, 24]  # 16 is in the second pointer
    more = pinned(("array", 5, ("packed", ("ptr", "int", "char"))), (0, 16))
    assert more.bytes(0, 0, 16) == [UNKNOWN_OFFSET, 0, 13, 21, 25]  # 48 is in an int, 64 is a char


def test_bytes_before_and_behind_are_dropped() -> None:
    memory = pinned(("struct", ("ptr", "ptr")), (-8,), (24,), (-800,), (8,))
    assert memory.bytes(0, -8) == memory.bytes(0, 24) == memory.bytes(8, -800) == []
    assert memory.bytes(8, 8) == [16]


def test_large_arrays_cost_no_more_than_small_ones() -> None:
    memory = pinned(("struct", ("ptr", ("array", 1 << 30, "char"), "ptr")), (-1,), (-5000,), (0, 1))
    assert memory.bytes(9, -1) == [8, 9]
    assert memory.bytes(9, -5000) == [UNKNOWN_OFFSET, 0, 8, 9]
    assert memory.bytes(9, 0, 1) == [8, 9]

"""Walks over bytes that a compiler took several at once, and addresses that it cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.analyses.points_to.constraints.assumptions import Assumptions
from kleene.kernels import compiled
from tests.analyses.points_to.test_constraints_ir import main_of

WALK = """
  %end = getelementptr i8, ptr @table, i64 48
  br label %loop
loop:
  %at = phi ptr [ @table, %0 ], [ %next, %loop ]
  store ptr %at, ptr @p, align 8
  %next = getelementptr inbounds nuw i8, ptr %at, i64 8
  %done = icmp eq ptr %next, %end
  br i1 %done, label %rest, label %loop
rest:
  %left = phi ptr [ %next, %loop ], [ %one, %rest ]
  store ptr %left, ptr @q, align 8
  %one = getelementptr inbounds nuw i8, ptr %left, i64 1
  %stop = icmp eq i32 %n, 0
  br i1 %stop, label %out, label %rest
out:
"""
STEPS = """
  br label %loop
loop:
  %at = phi ptr [ @table, %0 ], [ %next, %loop ]
  store ptr %at, ptr @p, align 8
  %next = getelementptr inbounds ptr, ptr %at, i64 1
  %done = icmp eq i32 %n, 0
  br i1 %done, label %out, label %loop
out:
"""
TABLE = "@table = global { [4 x ptr], [12 x i8], i32 } zeroinitializer"
CUT = """
  %x = ptrtoint ptr @a to i64
  %low = trunc i64 %x to i32
  %more = add i32 %low, 1
  store i32 %more, ptr @p, align 4
"""


def test_an_unrolled_walk_comes_to_every_field(tmp_path: Path) -> None:
    found = main_of(tmp_path, WALK, head=TABLE)
    assert {"table", "table+8", "table+32", "table+33"} <= found.holds("p")
    assert {"table+33", "table+44"} <= found.holds("q")


def test_steps_of_elements_stay_in_their_array(tmp_path: Path) -> None:
    assert main_of(tmp_path, STEPS, head=TABLE).holds("p") == {"table", "table+8"}


def test_a_cut_address_is_said_to_be_lost(tmp_path: Path) -> None:
    said = Assumptions.CUT.said()
    assert said in main_of(tmp_path, CUT).system.assumptions
    assert said not in main_of(tmp_path, STEPS, head=TABLE).system.assumptions


TWO = "%two = type { [1 x ptr], ptr, [5 x ptr] }\n@two = global %two zeroinitializer"
INDEX = "  %i = sext i32 %n to i64\n"
EARLY = """
  %early = getelementptr ptr, ptr @two, i64 %i
  %late = getelementptr inbounds nuw i8, ptr %early, i64 16
  store ptr %late, ptr @p, align 8
"""
IN_PLACE = """
  %at = getelementptr inbounds %two, ptr @two, i64 0, i32 2, i64 %i
  store ptr %at, ptr @p, align 8
"""
MEMBER = """
  %element = getelementptr inbounds %pair, ptr @pairs, i64 %i
  %member = getelementptr inbounds %pair, ptr %element, i64 0, i32 1
  store ptr %member, ptr @p, align 8
"""


def test_an_index_may_come_before_the_way_to_its_array(tmp_path: Path) -> None:
    found = main_of(tmp_path, INDEX + EARLY, head=TWO).holds("p")
    assert {"two+16", "two+24"} <= found
    exact = main_of(tmp_path, INDEX + IN_PLACE, head=TWO).holds("p")
    assert exact == {"two+16", "two+24", "two+56"}  # one past the end


def test_a_member_of_an_element_is_no_such_way(tmp_path: Path) -> None:
    pairs = "@pairs = global { [4 x %pair], ptr } zeroinitializer"
    assert main_of(tmp_path, INDEX + MEMBER, head=pairs).holds("p") == {"pairs+8", "pairs+24"}


def test_a_small_array_in_front_holds_no_large_index(tmp_path: Path) -> None:
    head = "%front = type { [1 x ptr], [4 x %pair] }\n@front = global %front zeroinitializer"
    body = """
  %early = getelementptr %pair, ptr @front, i64 %i
  %late = getelementptr inbounds nuw i8, ptr %early, i64 8
  store ptr %late, ptr @p, align 8
"""
    assert {"front+8", "front+24"} <= main_of(tmp_path, INDEX + body, head=head).holds("p")


def test_bytes_are_counted_from_where_an_index_began(tmp_path: Path) -> None:
    head = "@bytes = global { ptr, [16 x i8], ptr } zeroinitializer"
    body = """
  %early = getelementptr i8, ptr @bytes, i64 %i
  %late = getelementptr i8, ptr %early, i64 8
  store ptr %late, ptr @p, align 8
"""
    found = main_of(tmp_path, INDEX + body, head=head).holds("p")
    assert {"bytes", "bytes+8", "bytes+9", "bytes+24"} <= found


def test_an_early_index_may_lead_outside(tmp_path: Path) -> None:
    body = """
  %early = getelementptr %pair, ptr getelementptr (i8, ptr @pairs, i64 64), i64 %i
  %late = getelementptr inbounds i8, ptr %early, i64 -56
  store ptr %late, ptr @p, align 8
"""
    pairs = "@pairs = global { [4 x %pair] } zeroinitializer"
    found = main_of(tmp_path, INDEX + body, head=pairs).holds("p")
    assert {"pairs+8", "pairs+24"} <= found


STRAY = """
  %stray = getelementptr i8, ptr @array, i64 -8
  %more = getelementptr i8, ptr %stray, i64 {more}
  %at = getelementptr ptr, ptr %more, i64 %i
  store ptr %at, ptr @p, align 8
"""


@pytest.mark.parametrize("more", [-8, 0, 4, 8, 24])
def test_a_constant_in_front_of_an_index_may_lead_outside(tmp_path: Path, more: int) -> None:
    head = "@array = global [4 x ptr] zeroinitializer"
    found = main_of(tmp_path, INDEX + STRAY.format(more=more), head=head).holds("p")
    assert {"array", "array+8"} <= found


def test_a_long_way_leads_outside_and_back(tmp_path: Path) -> None:
    steps = [f"  %s{n} = getelementptr i8, ptr %s{n - 1}, i64 -8" for n in range(1, 90)]
    body = "\n".join(["  %s0 = getelementptr i8, ptr @array, i64 -8", *steps, ""])
    body += """  %at = getelementptr ptr, ptr %s89, i64 %i
  store ptr %at, ptr @p, align 8
"""
    head = "@array = global [4 x ptr] zeroinitializer"
    assert {"array", "array+8"} <= main_of(tmp_path, INDEX + body, head=head).holds("p")


def test_constants_lead_outside_and_back(tmp_path: Path) -> None:
    head = "@fields = global { ptr, ptr, ptr } zeroinitializer"
    body = """
  %stray = getelementptr i8, ptr @fields, i64 -16
  %back = getelementptr i8, ptr %stray, i64 24
  store ptr %back, ptr @p, align 8
"""
    assert main_of(tmp_path, body, head=head).holds("p") == {"fields+8"}


@pytest.mark.parametrize("first", ["[0 x i32]", "{}", "[2 x i8]"])
def test_a_walk_over_bytes_leaves_an_array_of_them_behind_an_empty_member(
    tmp_path: Path, first: str
) -> None:
    head = f"@s = global {{ {first}, [13 x i8], ptr }} zeroinitializer"
    text = """
  %i = sext i32 %n to i64
  %at = getelementptr i8, ptr @s, i64 %i
  store ptr %at, ptr @p, align 8
"""
    assert "s+16" in main_of(tmp_path, text, head=head).holds("p")


def test_addresses_wrap_around(tmp_path: Path) -> None:
    """Twice half of all addresses, and eight bytes: without a warning of NumPy's, too."""
    head = "@fields = global { ptr, ptr, ptr } zeroinitializer"
    body = f"""
  %at = getelementptr [{1 << 32} x i8], ptr @fields, i64 {1 << 32}, i64 8
  store ptr %at, ptr @p, align 8
"""
    with compiled.interpreted(True):
        assert main_of(tmp_path, body, head=head).holds("p") == {"fields+8"}

"""Walks over bytes that a compiler took several at once, and addresses that it cut."""

from __future__ import annotations

from pathlib import Path

from tests.analyses.points_to.test_statement_ir import main_of

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
  %low = lshr i64 ptrtoint (ptr @a to i64), 8
  %byte = trunc i64 %low to i8
  store i8 %byte, ptr @p, align 1
"""


def test_an_unrolled_walk_comes_to_every_field(tmp_path: Path) -> None:
    found = main_of(tmp_path, WALK, head=TABLE)
    assert {"table", "table+8", "table+32", "table+33"} <= found.holds("p")
    assert {"table+33", "table+44"} <= found.holds("q")


def test_steps_of_elements_stay_in_their_array(tmp_path: Path) -> None:
    assert main_of(tmp_path, STEPS, head=TABLE).holds("p") == {"table", "table+8"}


def test_a_cut_address_is_said_to_be_lost(tmp_path: Path) -> None:
    said = "addresses cut to fewer bits are not put together again"
    assert said in main_of(tmp_path, CUT).statement.assumptions
    assert said not in main_of(tmp_path, STEPS, head=TABLE).statement.assumptions

"""Locals stay in memory where an access may be outside of them, and only there."""

from __future__ import annotations

import pytest

from kleene.frontends.c.kept import Fields, Keeper, with_marks

HEAD = """
%struct.pair = type { i32, i32 }
%struct.box = type { [2 x i32], %struct.pair, <{ i8, ptr }> }
"""
LOCALS = {"%a": "[2 x i32]", "%b": "%struct.box", "%x": "i32", "%p": "ptr", "%m": "[2 x [3 x i32]]"}
SIZES = {
    "[2 x i32]": 8, "%struct.box": 32, "%struct.pair": 8, "i32": 4, "i64": 8, "ptr": 8, "i8": 1,
    "[2 x [3 x i32]]": 24, "<{ i8, ptr }>": 9,
}  # fmt: skip


def kept(*lines: str) -> list[str]:
    keeper = Keeper("".join(f"  {line}\n" for line in lines), LOCALS, Fields(HEAD))
    assert keeper.types <= SIZES.keys()
    return keeper.names(SIZES)


@pytest.mark.parametrize(
    "lines",
    [
        ("%1 = getelementptr inbounds [2 x i32], ptr %a, i64 0, i64 1", "store i32 5, ptr %1"),
        ("%1 = getelementptr inbounds nuw %struct.box, ptr %b, i32 0, i32 1",
         "%2 = getelementptr inbounds nuw %struct.pair, ptr %1, i32 0, i32 1, !dbg !5",
         "%3 = load i32, ptr %2, align 4"),
        ("%1 = getelementptr inbounds [2 x [3 x i32]], ptr %m, i64 0, i64 1",
         "%2 = getelementptr inbounds [3 x i32], ptr %1, i64 0, i64 2", "%3 = load i32, ptr %2"),
        ("%1 = load i64, ptr %a, align 4",),
        ("store i32 %0, ptr %x, align 4", "%1 = load volatile i32, ptr %x"),
        ("call void @llvm.memset.p0.i64(ptr align 4 %a, i8 0, i64 8, i1 false)",),
        ("%1 = getelementptr inbounds [2 x i32], ptr %a, i64 0, i64 0",
         "call void @llvm.memcpy.p0.p0.i64(ptr align 4 @g, ptr align 4 %1, i64 8, i1 false)"),
        ("store ptr %0, ptr %p, align 8", "%1 = load ptr, ptr %p"),
    ],
)  # fmt: skip
def test_accesses_inside_keep_nothing(lines: tuple[str, ...]) -> None:
    assert kept(*lines) == []


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("%a", ("%1 = getelementptr inbounds [2 x i32], ptr %a, i64 0, i64 2",)),
        ("%a", ("%1 = getelementptr inbounds [2 x i32], ptr %a, i64 0, i64 -1",)),
        ("%a", ("%1 = getelementptr inbounds [2 x i32], ptr %a, i64 0, i64 0",
                "%2 = getelementptr inbounds i32, ptr %1, i64 2")),
        ("%a", ("%1 = getelementptr inbounds [2 x i32], ptr %a, i64 0, i64 1",
                "%2 = load i64, ptr %1, align 4")),
        ("%a", ("store ptr %a, ptr %p, align 8",)),
        ("%a", ("%1 = phi ptr [ %0, %3 ], [ %a, %4 ]",)),
        ("%a", ("%1 = select i1 %0, ptr %a, ptr null",)),
        ("%a", ("call void @llvm.memset.p0.i64(ptr align 4 %a, i8 0, i64 12, i1 false)",)),
        ("%a", ("call void @llvm.memmove.p0.p0.i64(ptr @g, ptr align 4 %a, i64 12, i1 false)",)),
        ("%b", ("%1 = getelementptr inbounds nuw %struct.box, ptr %b, i32 0, i32 0",
                "%2 = getelementptr inbounds [2 x i32], ptr %1, i64 0, i64 7")),
        ("%b", ("%1 = getelementptr inbounds nuw %struct.pair, ptr %b, i64 1",)),
        ("%x", ("%1 = getelementptr inbounds i32, ptr %x, i64 1",)),
        ("%x", ("%1 = load i64, ptr %x, align 4",)),
        ("%x", ("store ptr %0, ptr %x, align 8",)),
    ],
)  # fmt: skip
def test_what_may_be_outside_is_kept(name: str, lines: tuple[str, ...]) -> None:
    assert kept(*lines) == [name]


def test_a_mark_stands_behind_the_local() -> None:
    body = "  %a = alloca [2 x i32], align 4\n  %b = alloca i32\n  ret void\n"
    lines = with_marks(body, ["%b"]).splitlines()
    assert lines[1:3] == ["  %b = alloca i32", "  store ptr %b, ptr @kleene.unset, align 8"]

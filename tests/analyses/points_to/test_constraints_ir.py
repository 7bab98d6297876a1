"""What LLVM's own instructions and constants say, beyond what C makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import SourceError
from tests.analyses.points_to.oracle import OracleAnswer, load, oracle_answer

HEAD = """
target datalayout = "e-m:e-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"
%pair = type { ptr, ptr }
@a = global i32 0
@b = global i32 0
@p = global ptr null
@q = global ptr null
@pair = global %pair zeroinitializer
@other = global %pair zeroinitializer
@cells = global [4 x ptr] zeroinitializer
"""


def main_of(folder: Path, body: str, *, head: str = "", library_mode: bool = False) -> OracleAnswer:
    """Return the program whose main is `body`."""
    text = f"{HEAD}\n{head}\ndefine i32 @main(i32 %n, ptr %argv) {{\n{body}\n  ret i32 0\n}}\n"
    return oracle_answer(load(folder, text, "unit.ll"), library_mode=library_mode)


def test_elements_of_structs_are_told_apart_and_vectors_are_one_node(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        """
  %one = insertvalue %pair poison, ptr @a, 0
  %two = insertvalue %pair %one, ptr @b, 1
  store %pair %two, ptr @pair, align 8
  %left = extractvalue %pair %two, 0
  store ptr %left, ptr @p, align 8
  %v = insertelement <2 x ptr> <ptr @a, ptr null>, ptr @b, i32 1
  %s = shufflevector <2 x ptr> %v, <2 x ptr> poison, <2 x i32> <i32 1, i32 0>
  store <2 x ptr> %s, ptr @other, align 16
  %e = extractelement <2 x ptr> %s, i32 %n
  store ptr %e, ptr @q, align 8
""",
    )
    for name, byte in (("q", 0), ("other", 0), ("other", 8)):
        assert found.holds(name, byte) == {"a", "b"}
    assert found.holds("p") == found.holds("pair") == {"a"}
    assert found.holds("pair", 8) == {"b"}


def test_elements_of_structs_travel_through_calls_joins_and_memory(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        """
  %x = call %pair @made(ptr @a, ptr @b)
  %f = load ptr, ptr @fp, align 8
  %y = call %pair %f(ptr @a, ptr @b)
  %c = icmp eq i32 %n, 0
  %z = select i1 %c, %pair %x, %pair %x
  store %pair %z, ptr @pair, align 8
  %w = load %pair, ptr @pair, align 8
  %left = extractvalue %pair %w, 0
  store ptr %left, ptr @p, align 8
  %either = extractvalue %pair %y, 1
  store ptr %either, ptr @q, align 8
""",
        head="""
@fp = global ptr @made
define %pair @made(ptr %l, ptr %r) {
  %one = insertvalue %pair poison, ptr %l, 0
  %two = insertvalue %pair %one, ptr %r, 1
  ret %pair %two
}
""",
    )
    assert found.holds("p") == found.holds("pair") == {"a"}
    assert found.holds("pair", 8) == {"b"}
    assert found.holds("q") == {"a", "b"}  # called through a pointer: one node for the whole


def test_wide_integers_are_copied_piece_by_piece(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        """
  store ptr @a, ptr @pair, align 8
  store ptr @b, ptr getelementptr (i8, ptr @pair, i64 8), align 8
  %all = load i128, ptr @pair, align 16
  store i128 %all, ptr @other, align 16
""",
    )
    assert found.holds("other") == {"a", "b"}
    assert found.holds("other", 8) == {"a", "b"}


@pytest.mark.parametrize(
    ("stored", "loaded", "held"),
    [
        ("ptr @pair, align 1", "0", {"a"}),
        ("ptr @pair, align 1", "8", set()),
        ("ptr getelementptr (i8, ptr @pair, i64 4), align 4", "0", {"a"}),
        ("ptr getelementptr (i8, ptr @pair, i64 4), align 4", "8", {"a"}),
        ("ptr getelementptr (i8, ptr @pair, i64 8), align 8", "0", set()),
    ],
)
def test_a_misaligned_store_is_to_the_words_it_has_bytes_in(
    tmp_path: Path, stored: str, loaded: str, held: set[str]
) -> None:
    found = main_of(
        tmp_path,
        f"""
  store ptr @a, {stored}
  %x = load ptr, ptr getelementptr (i8, ptr @pair, i64 {loaded}), align 1
  store ptr %x, ptr @p, align 8
""",
    )
    assert found.holds("p") == held


def test_numbers_that_are_only_compared_have_no_set(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        """
  store ptr @a, ptr @p, align 8
  %x = load i64, ptr @p, align 8
  %y = add i64 %x, 1
  %c = icmp eq i64 %y, 0
  %z = load i64, ptr @p, align 8
  store i64 %z, ptr @q, align 8
""",
    )
    names = ["x", "y", "z"]
    function = found.program.functions["main"]
    values = {i.name: i.id for i in function.instructions if i.name in names}
    pointer_typed = [name for name in names if found.system.may_hold_pointer[values[name]]]
    assert pointer_typed == ["z"]
    assert found.holds("q") == {"a"}


@pytest.mark.parametrize(
    ("arithmetic", "held"),
    [
        ("%r = add i64 %x, 8", {"pair+8"}),
        ("%r = sub i64 %x, -8", {"pair+8"}),
        ("%r = add i64 8, %x", {"pair+8"}),
        ("%r = and i64 %x, 7", set()),
        ("%r = mul i64 %x, 3", {"pair", "pair+8", "pair+16", "pair+?"}),
        ("%y = ptrtoint ptr @a to i64\n  %r = sub i64 %x, %y", set()),
    ],
)
def test_arithmetic_on_addresses(tmp_path: Path, arithmetic: str, held: set[str]) -> None:
    body = f"""
  %x = ptrtoint ptr @pair to i64
  {arithmetic}
  %back = inttoptr i64 %r to ptr
  store ptr %back, ptr @p, align 8
"""
    assert main_of(tmp_path, body).holds("p") == held


@pytest.mark.parametrize(
    "arithmetic",
    [
        "%m = sext i32 %n to i64\n  %r = add i64 %x, %m",
        "%r = xor i64 %x, 12345678",
        "%m = shl i64 %x, 1\n  %r = lshr i64 %m, 1",
        "%r = and i64 %x, -8",
    ],
)
def test_arithmetic_that_may_come_back_keeps_the_object(tmp_path: Path, arithmetic: str) -> None:
    body = f"""
  %x = ptrtoint ptr @pair to i64
  {arithmetic}
  %back = inttoptr i64 %r to ptr
  store ptr %back, ptr @p, align 8
"""
    held = main_of(tmp_path, body).holds("p")
    assert "pair" in held
    assert {name.split("+")[0] for name in held} == {"pair"}


def test_constant_expressions_are_offset_edges(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        """
  store ptr getelementptr inbounds (%pair, ptr @pair, i64 0, i32 1), ptr @p, align 8
  store i64 ptrtoint (ptr @b to i64), ptr @q, align 8
""",
        head="@far = global ptr getelementptr (i8, ptr @pair, i64 8)",
    )
    assert found.holds("p") == {"pair+8"}
    assert found.holds("q") == {"b"}
    assert found.holds("far") == {"pair+8"}


def test_aliases_stand_for_their_targets(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        """
  store ptr @a, ptr @second, align 8
  call void @aliased(ptr @b)
  store ptr @second, ptr @q, align 8
""",
        head="""
@second = alias ptr, getelementptr (i8, ptr @pair, i64 8)
@aliased = alias void (ptr), ptr @keep
define internal void @keep(ptr %x) {
  store ptr %x, ptr @p, align 8
  ret void
}
""",
    )
    assert found.holds("pair", 8) == {"a"}
    assert found.holds("p") == {"b"}
    assert found.holds("q") == {"pair+8"}


def test_an_ifunc_is_what_its_resolver_returns(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        "  call void @chosen(ptr @b)",
        head="""
@chosen = ifunc void (ptr), ptr @resolve
define internal ptr @resolve() {
  ret ptr @keep
}
define internal void @keep(ptr %x) {
  store ptr %x, ptr @p, align 8
  ret void
}
""",
    )
    assert found.targets("main") == {"keep"}
    assert found.holds("p") == {"b"}


def test_atomics_read_and_write(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        """
  store ptr @a, ptr @pair, align 8
  %old = atomicrmw xchg ptr @pair, ptr @b seq_cst
  store ptr %old, ptr @p, align 8
  %got = cmpxchg ptr @pair, ptr @a, ptr @p seq_cst seq_cst
  %was = extractvalue { ptr, i1 } %got, 0
  store ptr %was, ptr @q, align 8
  %sum = atomicrmw add ptr @other, i64 ptrtoint (ptr @a to i64) seq_cst
""",
    )
    assert found.holds("pair") == {"a", "b", "p"}
    assert found.holds("p") == {"a", "b", "p"}
    assert found.holds("q") == {"a", "b", "p"}
    assert "a" in found.holds("other")


def test_va_arg_and_va_copy_read_what_was_passed(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        "  call void (i32, ...) @take(i32 1, ptr @a, ptr byval(%pair) @pair)",
        head="""
declare void @llvm.va_start.p0(ptr)
declare void @llvm.va_copy.p0(ptr, ptr)
define internal void @take(i32 %n, ...) {
  %list = alloca [24 x i8], align 8
  %copy = alloca [24 x i8], align 8
  store ptr @b, ptr @pair, align 8
  call void @llvm.va_start.p0(ptr %list)
  call void @llvm.va_copy.p0(ptr %copy, ptr %list)
  %x = va_arg ptr %copy, ptr
  store ptr %x, ptr @p, align 8
  ret void
}
""",
    )
    assert found.holds("p") == {"a", "b"}


def test_opaque_values_escape(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        '  %r = call ptr asm "", "=r,r"(ptr @p)\n  store ptr %r, ptr @q, align 8\n'
        "  store ptr @a, ptr @p, align 8",
    )
    assert found.holds("q") >= {"?", "p", "a"}


REAL = """
declare void @llvm.va_start.p0(ptr)
define internal void @real(ptr %x, ...) {
  %list = alloca [24 x i8], align 8
  call void @llvm.va_start.p0(ptr %list)
  %y = va_arg ptr %list, ptr
  store ptr %y, ptr @p, align 8
  ret void
}
define internal void @named(ptr %x, ptr %y, ptr %z) {
  store ptr %z, ptr @p, align 8
  ret void
}
declare void @outside(ptr, ...)
"""


@pytest.mark.parametrize("callee", ["@real", "%f", "@named", "%g", "@outside"])
def test_thunks_pass_on_all_arguments(tmp_path: Path, callee: str) -> None:
    thunk = f"""
@real_pointer = internal global ptr @real
@named_pointer = internal global ptr @named
define internal void @thunk(ptr %x, ...) {{
  %f = load ptr, ptr @real_pointer, align 8
  %g = load ptr, ptr @named_pointer, align 8
  musttail call void (ptr, ...) {callee}(ptr %x, ...)
  ret void
}}
"""
    body = "  call void (ptr, ...) @thunk(ptr @b, ptr @q, ptr @a)"
    found = main_of(tmp_path, body, head=REAL + thunk)
    if callee == "@outside":
        assert "?" in found.holds("a")  # the outside knows its address, and may store there
    else:
        assert "a" in found.holds("p")


UNKNOWN = """
declare ptr @stranger(ptr, ...)
define void @callback(ptr %x) {
  store ptr %x, ptr @q, align 8
  ret void
}
"""


def test_unmodelled_functions_know_what_they_are_given(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        """
  store ptr @a, ptr @pair, align 8
  %r = call ptr (ptr, ...) @stranger(ptr @pair, ptr @callback)
  store ptr %r, ptr @p, align 8
  %back = load ptr, ptr @pair, align 8
  store ptr %back, ptr @cells, align 8
""",
        head=UNKNOWN,
    )
    everything = {"?", "a", "pair", "pair+8", "callback"}
    assert found.holds("p") >= everything
    assert found.holds("cells") >= everything
    assert found.holds("q") >= everything
    assert "b" not in found.holds("p")
    names = [e.name for e in found.system.externals if not e.is_modelled]
    assert names == ["stranger"]


def test_a_stranger_called_by_its_address_is_one_too(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        """
  store ptr @stranger, ptr @p, align 8
  %f = load ptr, ptr @p, align 8
  %r = call ptr %f(ptr @pair)
  store ptr %r, ptr @q, align 8
""",
        head=UNKNOWN,
    )
    assert found.holds("q") >= {"?", "pair"}


def test_declared_variables_belong_to_the_outside(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        """
  store ptr @a, ptr @elsewhere, align 8
  %x = load ptr, ptr @elsewhere, align 8
  store ptr %x, ptr @p, align 8
""",
        head="@elsewhere = external global ptr",
    )
    assert {name.split("+")[0] for name in found.holds("p")} == {"?", "a", "elsewhere"}


LIBRARY = """
@inside = internal global ptr null
@hidden = hidden global ptr null
define void @exported(ptr %x, ptr %f) {
  store ptr %x, ptr @inside, align 8
  call void %f(ptr @a)
  ret void
}
define internal void @own(ptr %x) {
  store ptr %x, ptr @hidden, align 8
  ret void
}
"""


def test_a_library_is_entered_at_what_others_see(tmp_path: Path) -> None:
    found = main_of(tmp_path, "", head=LIBRARY, library_mode=True)
    assert "?" in found.holds("inside")
    assert "exported" in found.holds("inside")
    assert found.holds("hidden") == set()
    assert found.solution.calls_outside.any()


def test_a_closed_program_is_entered_at_main(tmp_path: Path) -> None:
    found = main_of(tmp_path, "", head=LIBRARY)
    assert found.holds("inside") == set()


def test_a_program_without_main_is_refused(tmp_path: Path) -> None:
    program = load(tmp_path, HEAD + "define void @f() {\n  ret void\n}\n", "unit.ll")
    with pytest.raises(SourceError) as caught:
        oracle_answer(program)
    assert caught.value.id == "points-to/no-main"
    assert caught.value.notes == ("analyse it as a library: library=True (--library)",)


def test_memcpy_of_any_size_reaches_everything(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        """
  store ptr @a, ptr @pair, align 8
  %m = sext i32 %n to i64
  call void @llvm.memcpy.p0.p0.i64(ptr @other, ptr @pair, i64 %m, i1 false)
""",
        head="declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
    )
    assert found.holds("other") == {"a"}
    assert found.holds("other", 8) == {"a"}


HALVES = """
  %low = trunc i64 %x to i32
  %shifted = lshr i64 %x, 32
  %high = trunc i64 %shifted to i32
"""
WIDER = """
  %l = zext i32 %low to i64
  %h = zext i32 %high to i64
  %up = shl i64 %h, 32
"""
PARTS = {
    "halves in a register": f"{HALVES}{WIDER}  %y = or i64 %up, %l",
    "halves in memory": f"""{HALVES}
  store i32 %low, ptr @pair, align 8
  store i32 %high, ptr getelementptr (i8, ptr @pair, i64 4), align 4
  %y = load i64, ptr @pair, align 8
""",
    "halves at a misaligned address": f"""{HALVES}
  store i32 %low, ptr getelementptr (i8, ptr @pair, i64 4), align 4
  store i32 %high, ptr getelementptr (i8, ptr @pair, i64 8), align 4
  %y = load i64, ptr getelementptr (i8, ptr @pair, i64 4), align 4
""",
    "halves of memory": f"""
  store i64 %x, ptr @pair, align 8
  %low = load i32, ptr @pair, align 8
  %high = load i32, ptr getelementptr (i8, ptr @pair, i64 4), align 4
{WIDER}
  %y = add i64 %up, %l
""",
    "byte order": """
  %z = call i64 @llvm.bswap.i64(i64 %x)
  %y = call i64 @llvm.bswap.i64(i64 %z)
""",
    "halves passed": f"{HALVES}  %y = call i64 @whole(i32 %low, i32 %high)",
    "halves passed and put into memory": f"""{HALVES}
  call void @put(i32 %low, i32 %high)
  %y = load i64, ptr @pair, align 8
""",
    "half returned": f"""{HALVES}
  %same = call i32 @half(i32 %high)
  %l = zext i32 %low to i64
  %h = zext i32 %same to i64
  %up = shl i64 %h, 32
  %y = or i64 %up, %l
""",
    "product and quotient": "  %z = udiv i64 %x, 16\n  %y = mul i64 %z, 16",
    "vector of halves": """
  store i64 %x, ptr @pair, align 8
  %v = load <2 x i32>, ptr @pair, align 8
  %w = shufflevector <2 x i32> %v, <2 x i32> poison, <2 x i32> <i32 0, i32 1>
  %y = bitcast <2 x i32> %w to i64
""",
    "one double word": """
  store i64 %x, ptr getelementptr (i8, ptr @pair, i64 8), align 8
  %old = cmpxchg ptr @pair, i128 0, i128 0 seq_cst seq_cst, align 16
  %both = extractvalue { i128, i1 } %old, 0
  %top = lshr i128 %both, 64
  %y = trunc i128 %top to i64
""",
}
WHOLE = f"""
declare i64 @llvm.bswap.i64(i64)
define i64 @whole(i32 %low, i32 %high) {{
{WIDER}
  %y = or i64 %up, %l
  ret i64 %y
}}
define i32 @half(i32 %x) {{
  ret i32 %x
}}
define void @put(i32 %low, i32 %high) {{
  store i32 %low, ptr @pair, align 8
  store i32 %high, ptr getelementptr (i8, ptr @pair, i64 4), align 4
  ret void
}}
"""


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS.keys())
def test_an_address_is_put_together_from_parts(tmp_path: Path, parts: str) -> None:
    text = f"""
  store ptr @a, ptr @q, align 8
  %x = load i64, ptr @q, align 8
{parts}
  %made = inttoptr i64 %y to ptr
  store ptr %made, ptr @p, align 8
"""
    assert "a" in main_of(tmp_path, text, head=WHOLE).holds("p")


def test_numbers_that_are_changed_and_stored_hold_no_parts(tmp_path: Path) -> None:
    found = main_of(
        tmp_path,
        """
  store ptr @a, ptr @p, align 8
  %x = load i32, ptr @p, align 8
  %y = add i32 %x, 1
  store i32 %y, ptr @q, align 8
""",
    )
    assert found.holds("q") == set()


RELATIVE = """
@table = constant [2 x i32] [
  i32 trunc (i64 sub (i64 ptrtoint (ptr @a to i64), i64 ptrtoint (ptr @table to i64)) to i32),
  i32 trunc (i64 sub (i64 ptrtoint (ptr @b to i64), i64 ptrtoint (ptr @table to i64)) to i32)]
declare ptr @llvm.load.relative.i64(ptr, i64)
"""


@pytest.mark.parametrize(
    "taken",
    [
        "  %x = call ptr @llvm.load.relative.i64(ptr @table, i64 4)\n",
        """
  %d = load i32, ptr @table, align 4
  %wide = sext i32 %d to i64
  %x = getelementptr i8, ptr @table, i64 %wide
""",
    ],
    ids=["intrinsic", "instructions"],
)
def test_constant_distances_lead_to_their_objects(tmp_path: Path, taken: str) -> None:
    found = main_of(tmp_path, f"{taken}  store ptr %x, ptr @p, align 8\n", head=RELATIVE)
    assert {"a", "b"} <= found.holds("p")

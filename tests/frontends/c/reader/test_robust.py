"""Damaged and outsized texts give a program or an error: no crash, no hang, no stray write.

LLVM prints neither; this is about the memory of a reader that Numba compiles without bounds checks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kleene.frontends.c.reader import state
from tests.frontends.c.reader.comparison import parsed
from tests.frontends.c.reader.reading import Child, Guard
from tests.frontends.c.reader.test_against_llvm import MUSEUM

FILE = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
FRAGMENTS = (
    b'%0 %1 @0 !0 #0 $c i32 ptr 0 -1 null { } [ ] < > ( ) , = " : ; ... ! # % @ $ \\ \n define '
    b'declare label switch call invoke getelementptr <{ }> c" !{ !DILocation( distinct vscale x '
    b"99999999999999999999 %99999999999 #99999999999 !99999999999 @99999999999 i99999999 to phi "
    b'blockaddress( splat ( 0x 1e9 1.5.5 0xH metadata target("x") type opaque asm [ "t"(i32 '
    b"[99999999999999999999xi8] 18446744073709551615 landingpad catch cleanup unwind inbounds "
    b"volatile align addrspace(1)"
).split(b" ")
PLACE = st.floats(0, 1, exclude_max=True)
EDIT = st.one_of(
    st.tuples(st.just("bytes"), PLACE, st.integers(0, 8), st.binary(max_size=6)),
    st.tuples(st.just("fragment"), PLACE, st.integers(0, 12), st.sampled_from(FRAGMENTS)),
    st.tuples(st.just("cut"), PLACE, st.just(0), st.just(b"")),
    st.tuples(
        st.sampled_from(["delete", "double", "swap"]), PLACE, st.integers(1, 30), st.just(b"")
    ),
    st.tuples(
        st.sampled_from(["move word", "repeat word"]), PLACE, st.integers(0, 10**6), st.just(b"")
    ),
)
Edit = tuple[str, float, int, bytes]


def mutant(text: bytes, edits: list[Edit]) -> bytes:
    for kind, fraction, number, added in edits:
        place = int(fraction * len(text))
        if kind in ("bytes", "fragment"):
            text = text[:place] + added + text[place + number :]
        elif kind == "cut":
            text = text[:place]
        elif kind.endswith("word"):
            text = _words(text, kind, fraction, number)
        else:
            text = _lines(text, kind, fraction, number)
    return text


def _lines(text: bytes, kind: str, fraction: float, number: int) -> bytes:
    lines = text.split(b"\n")
    place = int(fraction * len(lines))
    if kind == "delete":
        del lines[place]
    elif kind == "double":
        lines[place:place] = [lines[place]] * number
    else:
        other = (place + number) % len(lines)
        lines[place], lines[other] = lines[other], lines[place]
    return b"\n".join(lines)


def _words(text: bytes, kind: str, fraction: float, number: int) -> bytes:
    words = text.split(b" ")
    place, other = int(fraction * len(words)), number % len(words)
    if kind == "move word":
        words[place], words[other] = words[other], words[place]
    else:
        words[place] = b" ".join([words[place]] * (number % 50))
    return b" ".join(words)


@pytest.fixture(scope="module")
def museum() -> bytes:
    return str(parsed(MUSEUM.read_text())).encode()


@pytest.fixture(scope="module")
def child(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Child]:
    """Bounds checks cost a minute of compiling: only where time is given for depth."""
    child = Child(tmp_path_factory.mktemp("checked"), checked=bool(os.environ.get("CI")))
    yield child
    child.close()


def check(child: Child, text: bytes) -> None:
    answer = child.read(text)
    # A damaged data layout is refused by the layout's own reader.
    assert answer.startswith("ok ") or answer in ("c/unread", "ir/data-layout")


@given(edits=st.lists(EDIT, min_size=1, max_size=6))
@FILE
def test_damaged(child: Child, museum: bytes, edits: list[Edit]) -> None:
    check(child, mutant(museum, edits))


@given(text=st.lists(st.sampled_from(FRAGMENTS), max_size=200))
@FILE
def test_fragments(child: Child, text: list[bytes]) -> None:
    check(child, b" ".join(text))


@given(
    head=st.sampled_from(
        [b"@g = global ", b"%t = type ", b"declare ", b"!0 = ", b"define void @f("]
    ),
    text=st.lists(st.sampled_from(FRAGMENTS), max_size=60),
)
@FILE
def test_lines(child: Child, head: bytes, text: list[bytes]) -> None:
    check(child, head + b" ".join(text))


@given(
    text=st.lists(st.sampled_from(FRAGMENTS), max_size=60), name=st.sampled_from([b"", b"%x = "])
)
@FILE
def test_instructions(child: Child, text: list[bytes], name: bytes) -> None:
    body = b"\n  ".join([b"%a = alloca i32", name + b" ".join(text), b"ret void"])
    check(child, b"define void @f(ptr %p, i32) {\n  " + body + b"\n}\n")


DEEP = 100_000
LARGE = {
    "nothing": b"",
    "newline": b"\n",
    "no newline at the end": b"@a = global i32 1",
    "unclosed body": b"define void @f() {",
    "unclosed quote": b'@a = global [1 x i8] c"x',
    "NUL": b"@a = global i32 1\n\0@b = global i32 2\n",
    "nested arrays": b"@a = global " + b"[1 x " * DEEP + b"i8" + b"]" * DEEP + b" zeroinitializer",
    "nested structs": b"%a = type " + b"{ " * DEEP + b"i8" + b" }" * DEEP,
    "nested constants": b"@a = global i8 " + b"[i8 " * DEEP + b"1" + b"]" * DEEP,
    "nested expressions": b"@a = global i8 " + b"add (i8 " * DEEP + b"1" + b", i8 1)" * DEEP,
    "nested functions": b"@a = external global void " + b"(ptr " * DEEP + b")" * DEEP,
    "unclosed arrays": b"@a = global " + b"[1 x " * DEEP,
    "open brackets": b"@a = global " + b"(" * DEEP,
    "arguments": b"define void @f(" + b"i32, " * DEEP + b"i32) {\n  ret void\n}",
    "call": b"declare void @g(...)\ndefine void @f() {\n  call void @g("
    + b"i32 1, " * DEEP
    + b"i32 1)\n  ret void\n}",
    "constants": b"\n".join(b"@a%d = global i32 %d" % (i, i) for i in range(DEEP)),
    "symbols": b"\n".join(b"@x%d = global ptr @x%d" % (i, (i * 7) % DEEP) for i in range(DEEP)),
    "types": b"\n".join(b"@a%d = external global [%d x i8]" % (i, i) for i in range(DEEP)),
    "phis": b"define void @f() {\n  br label %a\na:\n  %x = phi i32 "
    + b"[ 0, %a ], " * DEEP
    + b"[ 0, %a ]\n  ret void\n}",
    "cases": b"define void @f(i32 %x) {\n  switch i32 %x, label %a [\n"
    + b"    i32 1, label %a\n" * DEEP
    + b"  ]\na:\n  ret void\n}",
    "unknown": b"define void @f() {\n" + b"  new %a, %b\n" * DEEP + b"  ret void\n}",
    "distinct unknowns": b"define void @f() {\n"
    + b"".join(b"  new%d %d\n" % (i, i) for i in range(DEEP))
    + b"  ret void\n}",
    "metadata": b"".join(
        b"!%d = !DILocation(line: %d, scope: !%d)\n" % (i, i, i) for i in range(DEEP)
    ),
    "scopes in a circle": b"!0 = !DILexicalBlock(scope: !1)\n!1 = !DILexicalBlock(scope: !2)\n"
    b"!2 = !DILexicalBlock(scope: !0)\ndefine void @f() {\n  ret void, !dbg !3\n}\n"
    b"!3 = !DILocation(line: 1, scope: !0, inlinedAt: !3)\n",
    "type in itself": b"%a = type { %a, [2 x %b] }\n%b = type { %a }\n@x = global %a undef",
    "large numbers": b"!99999999999999999999 = !DILocation(line: 99999999999999999999)\n"
    b"define void @f() #99999999999999999999 {\n  ret void, !dbg !99999999999999999999\n}\n",
    "quote over lines": b'@a = global [9 x i8] c"x\n' + b"!" * 1000 + b'"\n' + b"! " * 1000,
    "dots over lines": b"..\n" + b"!" * 1000,
}


@pytest.mark.parametrize("name", LARGE)
def test_large_and_odd(child: Child, name: str) -> None:
    check(child, LARGE[name])


def test_guard_sees_a_stray_write() -> None:
    heap = state.allocate(state.Sizes(10, 1, 1, 1, 1, 1, 1, 1, 1), 10)
    guard = Guard(heap)
    assert guard.is_whole()
    heap[heap[state.CONSTANTS] - 1] += 1  # the last cell of the table before it
    assert not guard.is_whole()

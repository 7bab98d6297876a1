"""Files of other LLVMs: what is read without ours is what is read after ours has taken them."""

from __future__ import annotations

import re
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from kleene.frontends.c import reader
from kleene.frontends.c.bitcode import producer
from kleene.frontends.c.reader.records import is_known
from kleene.ir.canonical import same
from kleene.ir.codes import Opcode
from kleene.ir.program import Program
from tests.frontends.c.conftest import X86
from tests.frontends.c.pipeline import bitcode, zig
from tests.frontends.c.reader.test_against_llvm import MUSEUM, SOURCES
from tests.frontends.c.test_bitcode import renamed, wrapped

PROGRAMS = ("bc", "curl", "dc", "htop", "libcurl.so", "lua", "nginx", "sqlite3")
LEVELS = (("-O0", "-g0"), ("-O1", "-g"), ("-O2", "-g"))


def compared(raw: bytes) -> Program:
    """Return the program of bitcode after comparing it."""
    program = reader.read_given(raw)
    assert program is not None, "left to LLVM"
    rewritten = llvm.parse_bitcode(raw, llvm.create_context()).as_bitcode()
    assert same(program, reader.read(rewritten)) is None
    return program


def test_museum() -> None:
    program = compared(bitcode(MUSEUM.read_text()))
    assert set(program.instructions.opcode.tolist()) == set(Opcode) - {Opcode.OPAQUE}


@pytest.mark.parametrize("level", LEVELS, ids=" ".join)
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_golden_sources(source: Path, level: tuple[str, ...], tmp_path: Path) -> None:
    raw = zig(source, tmp_path / "x.bc", *X86, "-w", *level, "-emit-llvm").read_bytes()
    assert len(compared(raw).instructions)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(shared_data: Path, name: str) -> None:
    compared((shared_data / "bitcode" / f"{name}.bc").read_bytes())


def test_wrapped(made: Path) -> None:
    raw = (made / "square.bc").read_bytes()
    plain, inside = reader.read_given(raw), reader.read_given(wrapped(raw))
    assert plain is not None
    assert inside is not None
    assert same(plain, inside) is None


VALUES = """
@wide = global [3 x i128] [i128 -1, i128 170141183460469231731687303715884105727, i128 5]
@long = global i65 -18446744073709551616
@odd = global [2 x i24] [i24 -8388608, i24 7]
@lone = global i64 -9223372036854775808
@tiny = global [4 x float] [float 0x36A0000000000000, float -0.0, float 0x7FF0000000000000,
                            float 0x7FF8000020000000]
@half = global [3 x half] [half 0xH0001, half 0xHFC00, half 0xH7E01]
@brain = global [2 x bfloat] [bfloat 0xR0001, bfloat 0xR3F80]
@wider = global { x86_fp80, fp128, ppc_fp128, x86_fp80 } { x86_fp80 0xK3FFF8000000000000000,
  fp128 0xL00000000000000013FFF000000000000, ppc_fp128 0xM400C0000000000300000000010000000,
  x86_fp80 0xK00000000000000000000 }
@zeros = global { i128, half, fp128, ptr, [2 x i8], <2 x i8>, {} } zeroinitializer
@0 = private constant [2 x i8] c"a\\00"
@1 = private constant ptr @0
@text = constant [3 x i8] c"\\FFb\\22"
@later = global ptr @last
@nested = global { ptr, [1 x ptr] } { ptr @later, [1 x ptr] [ptr getelementptr inbounds (i8, ptr @last, i64 1)] }
@last = external thread_local global i32
@range = global ptr getelementptr inbounds inrange(-16, 8) ({ [3 x ptr] }, ptr @table, i32 0, i32 0, i32 2)
@table = global { [3 x ptr] } zeroinitializer
@difference = global i32 trunc (i64 sub (i64 ptrtoint (ptr @last to i64), i64 ptrtoint (ptr @text to i64)) to i32)
"""  # noqa: E501 - as LLVM prints it


def test_values() -> None:
    compared(bitcode(VALUES))


def test_functions_without_a_name() -> None:
    compared(bitcode("@0 = global ptr @1\ndefine void @1() {\n  call void @1()\n  ret void\n}\n"))


PLACES = """
define void @f() !dbg !3 {
  ret void, !dbg !6
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "/d")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "f", file: !1, line: 1, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!6 = !DILocation(line: 2, column: 3, scope: !3)
"""  # noqa: E501 - as LLVM prints it
LEFT = {
    "nothing": 'source_filename = "x"',
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_to_llvm(name: str) -> None:
    assert reader.read_given(bitcode(LEFT[name])) is None


def test_debug_information_of_no_known_version_is_left_to_llvm() -> None:
    with_places = bitcode(PLACES)
    assert len(compared(with_places).spans)
    flag = b"Debug Info Version"
    assert with_places.count(flag) == 1
    assert reader.read_given(with_places.replace(flag, flag[::-1])) is None


@pytest.mark.parametrize("major", [14, 19, 23])
def test_other_writers_are_left_to_llvm(made: Path, major: int) -> None:
    raw = (made / "square.bc").read_bytes()
    name = producer(raw)
    assert name
    assert reader.read_given(renamed(raw, name, name)) is not None
    assert reader.read_given(renamed(raw, name, re.sub(r"\d+", str(major), name, count=1))) is None


LIFETIMES = """
declare void @llvm!lifetime.start.p0(i64, ptr)
declare void @llvm!lifetime.end.p0(i64, ptr)
declare void @use(ptr)
define void @f() {
  %x = alloca i32, align 4
  %y = alloca [2 x i64], align 8
  call void @llvm!lifetime.start.p0(i64 4, ptr %x)
  call void @llvm!lifetime.start.p0(i64 16, ptr %y)
  call void @use(ptr %y)
  call void @llvm!lifetime.end.p0(i64 16, ptr %y)
  call void @llvm!lifetime.end.p0(i64 4, ptr %x)
  ret void
}
define void @g(ptr %p) {
  %x = alloca i32, align 4
  call void @llvm!lifetime.end.p0(i64 4, ptr %x)
  ret void
}
"""


def of_llvm_21(text: str) -> bytes:
    """Return bitcode with intrinsics as LLVM 21 had them: named so when LLVM 22 has written it."""
    return bitcode(text.replace("llvm!", "llvm_")).replace(b"llvm_", b"llvm.")


def test_lifetimes_lose_their_size() -> None:
    program = compared(of_llvm_21(LIFETIMES))
    names = [program.strings[int(symbol)] for symbol in program.globals.name]
    assert names[-2:] == ["llvm.lifetime.start.p0", "llvm.lifetime.end.p0"]
    calls = [call for call in program.functions["f"].blocks[0].instructions if call.operands]
    assert len(calls[2].operands) == 2


def test_lifetimes_that_llvm_sorts_otherwise_are_left_to_it() -> None:
    head, of_f, of_g = re.split(r"(?=define)", LIFETIMES)
    assert reader.read_given(of_llvm_21(head + of_g + of_f)) is None
    of_argument = of_g.replace("i64 4, ptr %x", "i64 4, ptr %p")
    assert reader.read_given(of_llvm_21(head + of_f + of_argument)) is None


@pytest.mark.parametrize(
    ("name", "major", "known"),
    [
        (b"llvm.memcpy.p0.p0.i64", 20, True),
        (b"llvm.vector.reduce.add.v8i32", 21, True),
        (b"llvm.masked.load.v4i32.p0", 21, False),
        (b"llvm.masked.load.v4i32.p0", 22, True),
        (b"llvm.dbg.value", 22, False),
    ],
)
def test_intrinsics(name: bytes, major: int, known: bool) -> None:
    assert is_known(name, major) == known

"""Every value, type and operand that the reader finds is the one that LLVM itself has there."""

from __future__ import annotations

from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

from kleene.frontends.c import reader
from kleene.frontends.c.compiler import Options
from kleene.ir.codes import (
    ArgumentFlag,
    Binding,
    ConstantKind,
    GlobalFlag,
    GlobalKind,
    Linkage,
    Opcode,
    Passing,
)
from kleene.ir.program import Program
from kleene.ir.verifier import verify
from tests.frontends.c.pipeline import bitcode, printed, raw_of
from tests.frontends.c.reader.comparison import Comparison
from tests.frontends.c.reader.llvm_text import LlvmText

MUSEUM = Path(__file__).parent / "museum.ll"
SOURCES = sorted((Path(__file__).parents[3] / "golden" / "ir").glob("*.c*"))
SOURCES = [source for source in SOURCES if source.suffix in (".c", ".cpp")]
N_FUNCTIONS = 150  # of a large program: LLVM's objects cost 40 µs an instruction


def compared(raw: bytes) -> Program:
    """Return the program of our LLVM's bitcode after comparing all of it."""
    program = reader.read(raw)
    module = llvm.parse_assembly(printed(raw), llvm.create_context())
    comparison = Comparison(program, module, words=True)
    comparison.check()
    assert comparison.n_compared == len(program.instructions) > 0
    assert comparison.n_places == np.count_nonzero(program.instructions.span >= 0)
    assert comparison.n_bindings == len(program.bindings)
    verify(program)
    return program


@pytest.fixture(scope="module")
def museum() -> Program:
    return compared(bitcode(MUSEUM.read_text()))


def test_museum_is_understood(museum: Program) -> None:
    assert museum.notices == [(2, "module")]  # module-level assembly is not read
    assert not np.isin(museum.constants.kind, ConstantKind.UNKNOWN).any()


def test_museum_has_every_instruction(museum: Program) -> None:
    assert set(museum.instructions.opcode.tolist()) == set(Opcode) - {Opcode.OPAQUE}


def test_museum_has_every_constant(museum: Program) -> None:
    assert set(museum.constants.kind.tolist()) == set(ConstantKind) - {ConstantKind.UNKNOWN}


def test_museum_has_every_linkage_and_kind_of_global(museum: Program) -> None:
    assert set(museum.globals.linkage.tolist()) == set(Linkage)
    assert set(museum.globals.kind.tolist()) == set(GlobalKind)


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("tls.ie", GlobalFlag.THREAD_LOCAL),
        ("weak.odr", GlobalFlag.HIDDEN),
        ("private", GlobalFlag.CONSTANT | GlobalFlag.UNNAMED_ADDRESS),
        ("outside", GlobalFlag.EXTERNALLY_INITIALIZED),
        ("may.longjmp", GlobalFlag.RETURNS_TWICE | GlobalFlag.DECLARATION),
        ("allocates", GlobalFlag.ALLOCATOR | GlobalFlag.DECLARATION),
        ("wide", GlobalFlag.DSO_LOCAL),
        ("linkonce.function", GlobalFlag.NOUNWIND | GlobalFlag.HIDDEN),
    ],
)
def test_flags_of_globals(museum: Program, name: str, flags: GlobalFlag) -> None:
    names = [museum.strings[int(symbol)] for symbol in museum.globals.name]
    found = GlobalFlag(int(museum.globals.flags[names.index(name)]))
    assert found & ~GlobalFlag.ADDRESS_TAKEN == flags


def test_arguments(museum: Program) -> None:
    table, offsets = museum.arguments, museum.function_table.argument_offsets
    function = museum.functions["everything"].row
    rows = slice(*offsets[function : function + 2])
    promises = ArgumentFlag.NOALIAS | ArgumentFlag.READ_ONLY | ArgumentFlag.NOCAPTURE
    promises |= ArgumentFlag.NOUNDEF
    assert table.flags[rows].tolist() == [promises, 0, 0, ArgumentFlag.SIGN_EXTENDED, 0]
    direct = Passing.DIRECT
    assert table.passing[rows].tolist() == [direct, Passing.SRET, Passing.BYVAL, direct, direct]
    text = LlvmText(museum)
    passed = [text.type(t) if t >= 0 else "" for t in table.passed_type[rows].tolist()]
    assert passed == ["", "i64", "%pair", "", ""]


def test_arguments_of_calls(museum: Program) -> None:
    text, table = LlvmText(museum), museum.passed
    found = [
        (Passing(int(p)), text.type(int(t))) for p, t in zip(table.passing, table.type, strict=True)
    ]
    assert found == [
        (Passing.BYVAL, "%pair"),
        (Passing.SRET, "%nested"),
        (Passing.BYREF, "i32"),
        (Passing.ELEMENT, "[4 x i32]"),
        (Passing.PREALLOCATED, "%pair"),
        (Passing.ELEMENT, "i32"),
        (Passing.ELEMENT, "[2 x i8]"),
    ]


def test_debug_records(museum: Program) -> None:
    table, strings = museum.bindings, museum.strings
    names = [strings[int(museum.variables.name[v])] for v in table.variable]
    kinds = [Binding(int(kind)) for kind in table.kind]
    assert list(zip(names, kinds, table.exact.tolist(), strict=True)) == [
        ("q", Binding.DECLARE, 1),
        ("p", Binding.VALUE, 1),
        ("x", Binding.VALUE, 0),  # a part of it
        ('inner "name"', Binding.VALUE, 1),
        ('inner "name"', Binding.VALUE, 0),  # behind the value
        ("x", Binding.ASSIGN, 1),
        ("x", Binding.ASSIGN, 1),
        ("x", Binding.VALUE, 1),
    ]


def test_places(museum: Program) -> None:
    spans, strings = museum.spans, museum.strings
    load = museum.functions["everything"].blocks[0].instructions[1]
    row = int(museum.instructions.span[load.row])
    outer = int(spans.inlined_at[row])
    places = [
        (strings[int(spans.file[s])], int(spans.line[s]), int(spans.column[s]), scope)
        for s, scope in ((row, strings[int(spans.scope[row])]), (outer, "every(thing)"))
    ]
    assert strings[int(spans.scope[outer])] == "every(thing)"
    assert places == [
        ("/absolute/other.h", 82, 9, "inlined"),
        ("/absolute/other.h", 55, 11, "every(thing)"),
    ]


@pytest.mark.parametrize("flags", [(), ("-O1",), ("-O2", "-fno-discard-value-names")])
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_sources(source: Path, flags: tuple[str, ...]) -> None:
    program = compared(raw_of(source, options=Options(flags=flags)))
    assert program.notices == []
    assert len(program.bindings) or not len(program.variables)


BODY = "\ndefine void @f() {\n  ret void\n}\n"
ODD = {
    "no source name": 'source_filename = ""\n@x = global i32 0' + BODY,
    "wide integers": f"@x = global i20000 -{'7' * 5000}\n@y = global i20000 {'3' * 4500}" + BODY,
    "debug intrinsic": "declare void @llvm.dbg.value(metadata, metadata, metadata)" + BODY,
    "value as metadata": """
declare i64 @llvm.read_register.i64(metadata)
define i64 @f(i64 %a) {
  %x = call i64 @llvm.read_register.i64(metadata i32 1)
  %y = call i64 @llvm.read_register.i64(metadata !0)
  ret i64 %x
}
!0 = !{!"rsp"}
""",
    "nameless structs": """
%0 = type { i32, %1 }
%1 = type { i64 }
%2 = type opaque
@x = global %0 { i32 7, %1 { i64 8 } }
@y = external global %2
define %0 @f(%0 %a) {
  ret %0 %a
}
""",
    "types of targets": """
declare target("spirv.Image", void, 1, 2) @f(target("spirv.Sampler"), target("aarch64.svcount"))
define void @g(target("spirv.Sampler") %x) {
  %y = freeze target("spirv.Sampler") %x
  ret void
}
""",
    "scalable splats": """
@p = global i32 0
define <vscale x 4 x i32> @f() {
  ret <vscale x 4 x i32> splat (i32 7)
}
define <vscale x 2 x double> @g() {
  ret <vscale x 2 x double> splat (double -1.5)
}
define <vscale x 2 x ptr> @h() {
  ret <vscale x 2 x ptr> splat (ptr @p)
}
""",
    "signed pointers": """
@w = global ptr ptrauth (ptr @f, i32 0)
@x = global ptr ptrauth (ptr @f, i32 1, i64 2)
@y = global ptr ptrauth (ptr @f, i32 1, i64 0, ptr @y)"""
    + BODY,
    "alias in an address space": """
@a = alias i32, ptr addrspace(2) @g
@g = addrspace(2) global i32 0
define ptr addrspace(2) @f() {
  ret ptr addrspace(2) @a
}
""",
    "function in an address space": """
target datalayout = "P1"
define void @f() addrspace(1) {
  ret void
}
define ptr addrspace(1) @g() addrspace(1) {
  call addrspace(1) void @f()
  ret ptr addrspace(1) @f
}
""",
    "count from a later block": """
define void @f() {
  br label %b
a:
  %x = alloca i32, i32 %n
  ret void
b:
  %n = add i32 1, 2
  br label %a
}
""",
    "masks of nothing": """
define <2 x i32> @f(<2 x i32> %a) {
  %x = shufflevector <2 x i32> %a, <2 x i32> undef, <2 x i32> <i32 undef, i32 1>
  %y = shufflevector <2 x i32> %x, <2 x i32> poison, <2 x i32> poison
  %z = shufflevector <2 x i32> %y, <2 x i32> %x, <2 x i32> undef
  ret <2 x i32> %z
}
""",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_modules(name: str) -> None:
    assert compared(bitcode(ODD[name])).notices == []


TYPES = """
@table = constant [5 x ptr] zeroinitializer, !type !0, !type !1, !dbg !3
@other = constant ptr null, !type !2
declare i1 @llvm.type.test(ptr, metadata)
define void @f(ptr %p) {
  %x = call i1 @llvm.type.test(ptr %p, metadata !"_ZTS4Base")
  %y = call i1 @llvm.type.test(ptr %p, metadata !4)
  %z = call i1 @llvm.type.test(ptr %p, metadata !5)
  ret void
}
!0 = !{i64 16, !"_ZTS4Base"}
!1 = !{i64 24, !4}
!2 = !{i64 8, !5}
!3 = !{}
!4 = distinct !{}
!5 = distinct !{}
"""


def test_type_metadata_names_the_types_of_tests() -> None:
    program = reader.read(bitcode(TYPES))
    points, names = program.address_points, program.names.globals
    tested = [
        int(
            program.constants.payload[
                program.locate(int(program.instructions.operands_of(row)[2]))[1]
            ]
        )
        for row in range(3)
    ]
    assert program.strings[tested[0]] == '!"_ZTS4Base"'
    assert len(set(tested)) == 3
    found = [
        (names[table], byte, tested.index(type_))
        for table, byte, type_ in zip(*(c.tolist() for _, c in points.columns()), strict=True)
    ]
    assert found == [("table", 16, 0), ("table", 24, 1), ("other", 8, 2)]


def test_metadata_that_is_a_value_is_its_text() -> None:
    program = reader.read(bitcode(ODD["value as metadata"]))
    rows = np.flatnonzero(program.constants.kind == ConstantKind.METADATA)
    texts = {program.strings[int(symbol)] for symbol in program.constants.payload[rows]}
    assert texts == {"i32 1", "!"}


def test_a_number_may_be_a_name_too() -> None:
    text = '@0 = global i32 1\n@"0" = global ptr @0\n@"1" = global ptr @1\n'
    program = reader.read(bitcode(text + "define void @1() {\n  ret void\n}\n"))
    verify(program)
    names = [program.strings[int(symbol)] for symbol in program.globals.name]
    assert names == ["0.", "0", "1", "1."]
    assert program.globals.initializer[1:3].tolist() == [0, 3]


def test_more_elements_than_63_bits_count_are_none() -> None:
    program = reader.read(bitcode("@x = external global [18446744073709551615 x i8]\n"))
    assert LlvmText(program).type(int(program.globals.type[0])) == "[0 x i8]"


@pytest.mark.data
@pytest.mark.parametrize("name", ["dc", "lua"])
def test_programs(shared_data: Path, name: str) -> None:
    raw = raw_of(shared_data / "bitcode" / f"{name}.bc", normalise=True)
    program = reader.read(raw)
    module = llvm.parse_assembly(printed(raw), llvm.create_context())
    comparison = Comparison(program, module, words=False)
    comparison.check(N_FUNCTIONS)
    assert comparison.n_compared > 5000
    assert program.notices == []

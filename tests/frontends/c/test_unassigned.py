"""Text of LLVM in which locals without a value are copies of `@kleene.unset`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import llvmlite.binding as llvm
import pytest

import kleene
from kleene.base.errors import SourceError
from kleene.frontends.c import compiler
from kleene.frontends.c.compiler import Options
from kleene.frontends.c.exchange import Unit
from kleene.frontends.c.inputs import discover
from kleene.frontends.c.linking import link
from kleene.frontends.c.unassigned import with_unset
from kleene.ir.codes import ConstantKind, Opcode

ODD = r"""
source_filename = "odd \22quoted\22 \00 \FF.c"
%"struct.a b" = type { i8, x86_fp80 }
@"__const.f x" = private constant %"struct.a b" zeroinitializer
@kept = global i32 0

define i32 @"f }\0Adefine x"(i32 %0, ptr addrspace(1) %far) #0 {
entry:
  %"a b" = alloca %"struct.a b", align 16
  %wide = alloca <3 x i32>, align 16
  %long = alloca x86_fp80, align 16
  %bit = alloca i1, align 1
  %there = alloca i32, align 4, addrspace(5)
  %n = alloca i32, i32 %0, align 4
  %u = alloca i32, align 4
  store i32 %0, ptr %u, align 4
  br label %"next one"

"next one":                                       ; preds = %"next one", %entry
  call void @llvm.memcpy.p0.p0.i64(ptr %"a b", ptr @"__const.f x", i64 32, i1 false), !annotation !1
  store <3 x i32> splat (i32 -1431655766), ptr %wide, align 16, !annotation !1
  store x86_fp80 0xKFFFFFFFFFFFFFFFFFFFF, ptr %long, align 16, !annotation !1
  store volatile i32 -1431655766, ptr %u, align 4, !annotation !1
  store i32 -1431655766, ptr @kept, align 4, !annotation !10
  %x = load x86_fp80, ptr %long, align 16
  %y = load <3 x i32>, ptr %wide, align 16
  %b = load i1, ptr %bit, align 1
  %l = fptoui x86_fp80 %x to i32
  %z = extractelement <3 x i32> %y, i32 0
  %s = add i32 %l, %z
  %m = load i32, ptr %u, align 4
  %r = add i32 %s, %m
  br i1 %b, label %"next one", label %done

done:                                             ; preds = %"next one"
  ret i32 %r
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

attributes #0 = { noinline optnone "x"="y" }

!1 = !{!"auto-init"}
!10 = !{!"another"}
"""


def _sizes(defined: str, types: Sequence[str]) -> list[int]:
    known = {'%"struct.a b"': 32, "i32": 4, "x86_fp80": 16, "i1": 1}
    assert '%"struct.a b" = type { i8, x86_fp80 }\n' in defined
    return [known[one] for one in types]


def test_all_that_fills_is_replaced() -> None:
    text = with_unset(ODD, _sizes)
    assert "!annotation !1," not in text
    assert "!annotation !1\n" not in text
    assert "!annotation !10" in text, "another annotation stays"
    assert '@"__const.f x"' not in text, "nobody reads the pattern"
    for name, size in (('%"a b"', 32), ("%wide", 12), ("%long", 10)):
        copies = text.count(f"ptr {name}, ptr @kleene.unset, i64 {size}, i1 false")
        assert copies == 2, f"{name} is filled where it begins, and in the loop"
    assert text.count("call void @llvm.lifetime.start.p0(ptr") == 3
    assert "ptr %bit, ptr @kleene.unset, i64 1" in text
    assert "ptr %u, ptr @kleene.unset" not in text, "it is assigned first"
    assert "ptr %n, ptr @kleene.unset" not in text
    assert "ptr %there, ptr @kleene.unset" not in text
    llvm.parse_assembly(text, llvm.create_context()).verify()


def test_odd_names_are_normalised_and_read() -> None:
    from kleene.frontends.c import reader

    raw = link([Unit("odd.ll", "assembly", True, ODD.encode())])
    program = reader.read(raw)
    names = [program.strings[int(symbol)] for symbol in program.globals.name]
    assert not [name for name in names if "kleene" in name]
    table = program.instructions
    found = {
        program.constants.kind[place]
        for row in range(len(table))
        if table.opcode[row] in (Opcode.FPTOUI, Opcode.EXTRACTELEMENT, Opcode.BR)
        for kind, place in [program.locate(int(table.operands_of(row)[0]))]
        if kind.name == "CONSTANT"
    }
    assert found >= {ConstantKind.UNDEF}


def test_text_with_a_nul_byte_is_refused_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "bad.ll"
    file.write_bytes(b"define void @f() {\n  ret void\n}\n\0\n")
    with pytest.raises(SourceError) as caught:
        kleene.load(file, normalise=True)
    assert caught.value.id == "c/bad-assembly"
    assert caught.value.span is not None
    assert caught.value.span.line == 4


@pytest.mark.parametrize(
    ("version", "fills"), [("12.0.1", False), ("13.0.0", True), ("22.1.8", True)]
)
def test_old_compilers_are_not_asked_to_fill(
    version: str, fills: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / f"clang-{version}"
    program.write_text(f"#!/bin/sh\necho 'Debian clang version {version}'\n")
    program.chmod(0o755)
    (tmp_path / "a.c").write_text("int x;\n")
    (source,) = discover([str(tmp_path / "a.c")])
    words = compiler.find(str(program)).words(source, Options())
    assert ("-ftrivial-auto-var-init=pattern" in words) == fills


def test_only_what_has_changed_is_normalised_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kleene.frontends.c import driver

    asked: list[list[bool]] = []
    linking = driver.linking

    def noted(units: Sequence[Unit]) -> object:
        asked.append([unit.normalise for unit in units])
        return linking(units)

    monkeypatch.setattr(driver, "linking", noted)
    monkeypatch.setenv("KLEENE_CACHE_DIR", str(tmp_path / "cache"))
    one, two = tmp_path / "one.c", tmp_path / "two.c"
    one.write_text("int f(int c) { int u; if (c) u = 2; return u; }\n")
    two.write_text("int f(int); int g(int c) { return f(c); }\n")
    first = kleene.load([one, two])
    two.write_text("int f(int); int g(int c) { return f(c) + 1; }\n")
    second = kleene.load([one, two])
    assert asked == [[True, True], [False, True]]
    assert kleene.ir.same(second, kleene.load([one, two], cache=False)) is None
    assert kleene.ir.same(first, second) is not None

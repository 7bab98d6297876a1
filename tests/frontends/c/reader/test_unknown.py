"""What the reader does not know: kept as an opaque thing with its operands, and counted."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.base.errors import SourceError
from kleene.frontends.c import reader
from kleene.ir.codes import ConstantKind, Opcode, ValueKind
from kleene.ir.program import Program
from kleene.ir.verifier import verify

BODY = """\
%pair = type {{ i32, ptr }}
@table = global i32 0

declare i32 @callee(ptr)

define i32 @f(i32 %x, ptr %p) {{
entry:
  %a = add i32 %x, 1
  {0}
  {1}

left:                                             ; preds = %entry
  ret i32 %a

right:                                            ; preds = %entry
  %b = mul i32 %x, 2
  ret i32 %b
}}

define i32 @g() {{
  ret i32 0
}}
"""
BRANCH = "br i1 true, label %left, label %right"


def program_of(line: str, end: str = BRANCH) -> Program:
    program = reader.read(BODY.format(line, end).encode())
    verify(program)
    return program


def opcodes(program: Program) -> list[str]:
    return [Opcode(int(code)).name for code in program.instructions.opcode]


def opaque_operands(program: Program) -> list[str]:
    """Return the text of the one opaque instruction, then what its operands are called."""
    (row,) = np.flatnonzero(program.instructions.opcode == Opcode.OPAQUE).tolist()
    text, *rest = program.instructions.operands_of(row).tolist()
    base = program.bases[ValueKind.CONSTANT]
    line = program.strings[int(program.constants.payload[text - base])]
    return [line, *(str(program.value_view(value)).partition(":")[0] for value in rest)]


def successors(program: Program, block: int) -> list[int]:
    offsets, targets = program.successors
    return targets[offsets[block] : offsets[block + 1]].tolist()


@pytest.mark.parametrize(
    ("line", "notice", "named"),
    [
        ("%c = teleport i32 %a, ptr @table", "teleport", ["%a", "@table"]),
        ("teleport volatile { i32, ptr } %x, !dbg !7", "teleport", ["%x"]),
        ("%c = add twice i32 %a, %x", "add", ["%a", "%x"]),
        ("%c = load newtype 5, ptr %p", "load", ["%p"]),
        ("store ptr newexpr (ptr @table), ptr %p", "store", ["@table", "%p"]),
        ("store i32 frobnicate (i32 1), ptr %p, align 4", "store", ["%p"]),
        ("%c = call i32 @callee(ptr strange (i32 1 to ptr))", "call", ["@callee"]),
        ("%c = icmp nearly i32 %a, %x", "icmp", ["%a", "%x"]),
        ("%c = atomicrmw halve ptr %p, i32 1 seq_cst", "atomicrmw", ["%p"]),
        ("%c = fence 12", "fence", []),
    ],
)
def test_instruction(line: str, notice: str, named: list[str]) -> None:
    program = program_of(line)
    assert opcodes(program) == ["ADD", "OPAQUE", "BR", "RET", "MUL", "RET", "RET"]
    text, *operands = opaque_operands(program)
    assert line.endswith(text)
    assert operands == named
    assert program.notices == [(1, notice)]
    assert successors(program, 0) == [1, 2]


def test_result_is_used() -> None:
    line = "%c = teleport i32 %a\n  %d = add i32 %c, 1\n  store i32 %c, ptr %p, align 4"
    program = program_of(line, "ret i32 %c")
    assert opcodes(program)[:5] == ["ADD", "OPAQUE", "ADD", "STORE", "RET"]
    table, base = program.instructions, program.bases[ValueKind.INSTRUCTION]
    assert [table.operands_of(row)[0] - base for row in (2, 3, 4)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("end", "named", "targets"),
    [
        ("jump label %left, label %right", ["left", "right"], [1, 2]),
        ("br newly i1 true, label %right, label %left", ["right", "left"], [2, 1]),
        ("halt", [], []),
        (
            "invoke void @callee(ptr strange (i32 1 to ptr))\n"
            "          to label %left unwind label %right",
            ["@callee", "left", "right"],
            [1, 2],
        ),
        (
            "switch i32 strange (i32 1), label %left [\n    i32 0, label %right\n  ]",
            ["left", "right"],
            [1, 2],
        ),
    ],
)
def test_end_of_block(end: str, named: list[str], targets: list[int]) -> None:
    program = program_of("%c = sub i32 %a, 1", end)
    assert opcodes(program) == ["ADD", "SUB", "OPAQUE", "RET", "MUL", "RET", "RET"]
    text, *operands = opaque_operands(program)
    assert text == end
    assert [name.strip("%^") for name in operands] == named
    assert successors(program, 0) == targets


def test_names_of_types_are_no_operands() -> None:
    _, *operands = opaque_operands(program_of("%c = teleport %pair %x"))
    assert operands[1] == "%x"
    assert "none" in operands[0]


def test_equal_ones_are_counted_together() -> None:
    program = program_of("teleport i32 1\n  teleport i32 2\n  levitate")
    assert sorted(program.notices) == [(1, "levitate"), (2, "teleport")]


def test_unknown_attributes_change_nothing() -> None:
    plain = program_of("%c = call i32 @callee(ptr %p)")
    line = '%c = call glowing(3) "new"="x" i32 @callee(ptr shiny(i32 4) brand_new %p) sparkling(1)'
    program = program_of(line)
    assert program.notices == []
    assert opcodes(program) == opcodes(plain)
    assert program.instructions.operands.tolist() == plain.instructions.operands.tolist()


def test_initializer() -> None:
    text = "@a = global i32 1\n@b = global ptr shiny (ptr @a, i32 2), align 8\n@c = global ptr @b\n"
    program = reader.read(text.encode())
    assert program.notices == [(1, "global")]
    row = int(program.globals.initializer[1]) - program.bases[ValueKind.CONSTANT]
    assert program.constants.kind[row] == ConstantKind.UNKNOWN
    assert program.strings[int(program.constants.payload[row])].startswith("shiny (ptr @a, i32 2)")
    assert program.constants.operands_of(row).tolist() == [0]
    assert int(program.globals.initializer[2]) == 1
    verify(program)


def test_module_level_words() -> None:
    program = reader.read(b'module asm "nop"\nfuture "thing"\n@a = global i32 1\n')
    assert sorted(program.notices) == [(1, "future"), (1, "module")]
    assert len(program.globals) == 1


def test_what_cannot_be_kept_is_an_error() -> None:
    with pytest.raises(SourceError) as error:
        reader.read(b"@a = global i32 1\ndefine strange @f(i32 5) {\n  ret void\n}\n")
    assert error.value.id == "c/unread"
    assert "line 2 " in error.value.message

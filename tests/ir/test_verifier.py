"""The verifier finds each fault, by id and place; what is well formed passes (see test_text)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kleene.base.errors import SourceError, SourceErrors
from kleene.ir import Builder, Program, parse, problems, verify
from kleene.ir.codes import ConstantKind, GlobalFlag, Opcode
from tests.ir.museum import museum

# Bodies of `define @f(%x: i32, %p: ptr, %c: i1, %d: double) -> i32 { ^a: … }`, each with one fault,
# the id it must be found under, and a part of the place or message.
BODIES = [
    ("ret", "return-type", "instruction 1 (ret)"),
    ("ret %p", "return-type", "@f, ^a"),
    ("%y: i32 = add %x, 1", "terminator", "instruction 1 (%y = add)"),
    ("unreachable\n  ret %x", "terminator", "instruction 1 (unreachable)"),
    ("br ^b\n^b:\n^c:\n  ret %x", "terminator", "^b: the block is empty"),
    ("%y: i32 = add %x\n  ret %y", "operand-count", "1 operands"),
    ("br %c, ^a", "operand-count", "2 operands"),
    ("%y: i32 = add %x, ^a\n  ret %y", "operand-sort", "%y = add"),
    ("br %x", "operand-sort", "(br)"),
    ("br %c, ^b, %x\n^b:\n  ret %x", "operand-sort", "(br)"),
    ("switch %x, ^b [i32 1: %x]\n^b:\n  ret %x", "operand-sort", "(switch)"),
    ("callbr %p(%x) as void (i32) to ^b, %x\n^b:\n  ret %x", "operand-sort", "(callbr)"),
    ("br ^a", "entry", "@f, ^a"),
    ("%y: i32 = add %x, 1\n  %z: i32 = phi\n  ret %z", "phi-place", "instruction 2"),
    ("br ^b\n^b:\n  %y: i32 = phi\n  ret %y", "phi-edges", "^b, instruction 1"),
    ("br %c, ^b, ^b\n^b:\n  %y: i32 = phi [1, ^a]\n  ret %y", "phi-edges", "%y = phi"),
    ("br ^b\n^b:\n  %y: i32 = phi [1, ^a], [2, ^b]\n  ret %y", "phi-edges", "%y = phi"),
    ("br ^b\n^b:\n  %y: i32 = phi [%p, ^a]\n  ret %y", "operand-type", "%y = phi"),
    ("%y: i32 = add %x, i64 1\n  ret %y", "operand-type", "%y = add"),
    ("%y: i64 = add %x, %x\n  ret %x", "operand-type", "%y = add"),
    ("%y: double = add %d, %d\n  ret %x", "operand-type", "integer operands"),
    ("%y: i32 = fadd %x, %x\n  ret %x", "operand-type", "floating-point"),
    ("%y: i32 = fneg %d\n  ret %y", "operand-type", "%y = fneg"),
    ("%y: i32 = load %x\n  ret %y", "operand-type", "no pointer"),
    ("store %p, %x\n  ret %x", "operand-type", "no pointer"),
    ("%y: i32 = atomicrmw seq_cst add %x, 1\n  ret %y", "operand-type", "no pointer"),
    (
        "%y: {i32, i1} = cmpxchg seq_cst failing monotonic %p, %x, i64 1\n  ret %x",
        "operand-type",
        "",
    ),
    ("%y: ptr = alloca i32, %p\n  ret %x", "operand-type", "count"),
    ("%y: i32 = alloca i32\n  ret %x", "result-type", "alloca"),
    ("%y: ptr = getelementptr ?, %p\n  ret %x", "about", "getelementptr"),
    ("%y: ptr = getelementptr i8, %x\n  ret %x", "operand-type", "base"),
    ("%y: ptr = getelementptr i8, %p, %p\n  ret %x", "operand-type", "index"),
    ("%y: i1 = icmp eq %x, %p\n  ret %x", "operand-type", "icmp"),
    ("%y: i1 = icmp eq %d, %d\n  ret %x", "operand-type", "icmp"),
    ("%y: i32 = icmp eq %x, %x\n  ret %x", "result-type", "i1"),
    ("%y: i1 = icmp oeq %x, %x\n  ret %x", "sub", "predicate"),
    ("%y: i1 = fcmp slt %d, %d\n  ret %x", "sub", "predicate"),
    ("%y: i32 = select %x, %x, %x\n  ret %y", "operand-type", "condition"),
    ("%y: i32 = select %c, %x, %d\n  ret %y", "operand-type", "%y = select"),
    ("br %x, ^b, ^b\n^b:\n  ret %x", "operand-type", "condition"),
    ("switch %x, ^b [i64 1: ^b]\n^b:\n  ret %x", "operand-type", "cases"),
    ("switch %p, ^b []\n^b:\n  ret %x", "operand-type", "cases"),
    ("%y: i32 = store %x, %p\n  ret %y", "result-type", "store"),
    ("load %p\n  ret %x", "result-type", "load"),
    ("%y: i8 = zext %x\n  ret %x", "cast", "%y = zext"),
    ("%y: i64 = trunc %x\n  ret %x", "cast", "%y = trunc"),
    ("%y: ptr = bitcast %x\n  ret %x", "cast", "bitcast"),
    ("%y: double = sitofp %p\n  ret %x", "cast", "sitofp"),
    ("%y: <2 x i64> = zext %x\n  ret %x", "cast", "zext"),
    ("call %p() as i32\n  ret %x", "about", "function type"),
    ("call %p() as i32 ()\n  ret %x", "result-type", "(call)"),
    ("%y: i32 = call %x() as i32 ()\n  ret %x", "operand-type", "callee"),
    ("%y: i32 = call %p(%x) as i32 ()\n  ret %x", "call-arguments", "more or fewer"),
    ("%y: i32 = call %p() as i32 (i32, ...)\n  ret %x", "call-arguments", "more or fewer"),
    ("%y: i32 = call %p(%d) as i32 (i32)\n  ret %x", "call-arguments", "another type"),
    ("%y: i32 = call %p(%d, %x) as i32 (i32, ...)\n  ret %x", "call-arguments", "another type"),
    ("%y: i8 = extractvalue {i32, i8} zero, i32 0\n  ret %x", "operand-type", "extractvalue"),
    ("%y: i8 = extractvalue {i32, i8} zero, i32 2\n  ret %x", "operand-type", "extractvalue"),
    ("%y: i8 = extractvalue [1 x i8] zero, %x\n  ret %x", "operand-type", "extractvalue"),
    ("%y: {i32} = insertvalue zero, %p, i32 0\n  ret %x", "operand-type", "insertvalue"),
    ("%y: {i8} = insertvalue {i32} zero, %x, i32 0\n  ret %x", "result-type", "insertvalue"),
    ("%y: i32 = extractelement %x, %x\n  ret %x", "operand-type", "extractelement"),
    ("%y: <2 x i32> = insertelement zero, %d, %x\n  ret %x", "operand-type", "insertelement"),
    (
        "%y: <2 x i32> = shufflevector zero, zero, <3 x i32> zero\n  ret %x",
        "operand-type",
        "shufflevector",
    ),
    ("%y: i32 = add %z, 1\n  %z: i32 = add %x, 1\n  ret %y", "dominance", "instruction 1"),
    ("%y: i32 = add %y, 1\n  ret %y", "dominance", "%y = add"),
    ("br %c, ^b, ^c\n^b:\n  %y: i32 = add %x, 1\n  br ^c\n^c:\n  ret %y", "dominance", "^c"),
    (
        "br %c, ^b, ^c\n^b:\n  %y: i32 = add %x, 1\n  br ^c\n^c:\n"
        "  %z: i32 = phi [%y, ^a], [1, ^b]\n  ret %z",
        "dominance",
        "%z = phi",
    ),
    (
        "%y: i32 = invoke %p() as i32 () to ^b unwind ^c\n^b:\n  ret %y\n^c:\n"
        "  %l: {ptr, i32} = landingpad cleanup\n  ret %y",
        "dominance",
        "^c, instruction 2",
    ),
]
FINE = [
    # dead code may use what it likes
    "br ^b\n^b:\n  ret %x\n^c:\n  %y: i32 = add %z, 1\n  %z: i32 = add %y, 1\n  ret %y",
    "br ^b\n^b:\n  %y: i32 = phi [%x, ^a], [%z, ^b]\n  %z: i32 = add %y, 1\n  br %c, ^b, ^d\n^d:\n"
    "  ret %z",
    "%y: i32 = opaque ^a, %x as i8\n  ret %y",
    "%y: i32 = invoke %p() as i32 () to ^b unwind ^c\n^b:\n  %z: i32 = phi [%y, ^a], [%z, ^b]\n"
    "  br %c, ^b, ^d\n^d:\n  ret %z\n^c:\n  %l: {ptr, i32} = landingpad cleanup\n  unreachable",
]


def program_of(body: str) -> Program:
    head = "define @f(%x: i32, %p: ptr, %c: i1, %d: double) -> i32 {\n^a:\n  "
    return parse(head + body + "\n}\n")


@pytest.mark.parametrize(("body", "id", "words"), BODIES)
def test_faults_in_bodies(body: str, id: str, words: str) -> None:
    found = problems(program_of(body))
    assert {error.id for error in found} == {f"ir/{id}"}
    assert words in found[0].message
    assert found[0].message.startswith("@f, ^")


@pytest.mark.parametrize("body", FINE)
def test_what_is_fine(body: str) -> None:
    assert problems(program_of(body)) == []


def test_the_source_place_is_reported() -> None:
    text = "declare @g() -> void ! a.c:1:1\ndefine @f() -> i32 ! a.c:2:5 {\n^a:\n  ret ! 3:7\n}\n"
    with pytest.raises(SourceError) as caught:
        verify(parse(text))
    assert str(caught.value.span) == "a.c:3:7"


def test_of_many_alike_the_first_are_reported() -> None:
    body = "%y: i32 = add %x, i64 1\n  " * 25 + "ret %x"
    lines = [line.replace("%y", f"%y{n}") for n, line in enumerate(body.split("\n"))]
    with pytest.raises(SourceErrors) as caught:
        verify(program_of("\n".join(lines)))
    errors = list(caught.value)
    assert len(errors) == 10
    assert errors[-1].notes == ("and 15 more of this kind",)


TOPS = [
    ("@g = global i32 @g", "initializer", "global 0: the initialiser has another type"),
    ("@g = global {i32, i8} {1}", "constant", "constant 0: has not as many elements"),
    ("@g = global [2 x i8] {1, 2, 3}", "constant", "constant 0: has not as many elements"),
    ('@g = global [2 x i8] "abc"', "constant", "constant 0: the text is not as long"),
    ("@g = global i32 null", "constant", "constant 0: is of a kind that its type does not have"),
    ("@g = global ptr 5", "constant", "constant 0: is of a kind that its type does not have"),
    ("@a = alias i32", "initializer", "global 0: an alias needs a target"),
    ("type $s = {i32, [2 x $s]}\n@g = global $s", "recursive-type", "type 0: contains itself"),
    ("type $s = {$t}\ntype $t = {$s}\n@g = global $s", "recursive-type", "type 0: contains itself"),
]


def test_operands_of_other_functions() -> None:
    builder = Builder()
    i32 = builder.types.integer(32)
    f, g = (builder.function(name, [("x", i32)], i32) for name in "fg")
    f.block().add(Opcode.RET, g.arguments[0])
    g.block().add(Opcode.RET, g.arguments[0])
    (error,) = problems(builder.finish())
    assert error.id == "ir/foreign"
    assert error.message.startswith("@f, ^0, instruction 1")


def test_block_addresses_are_of_their_function() -> None:
    builder = Builder()
    i32 = builder.types.integer(32)
    f, g = (builder.function(name, [], i32) for name in "fg")
    block = f.block()
    block.add(Opcode.UNREACHABLE)
    g.block().add(Opcode.UNREACHABLE)
    pointer = builder.types.pointer()
    wrong = builder.constant(ConstantKind.BLOCK_ADDRESS, pointer, g, block)
    builder.variable("address", pointer, wrong)
    (error,) = problems(builder.finish())
    assert error.id == "ir/constant"
    assert error.message == "constant 0: is no address of a function's block"


# -- tables broken by hand: table, column, row, new content, id, how the message begins
BROKEN = [
    ("types", "kind", 0, 99, "code", "types.kind 0: 99 is no TypeKind"),
    ("globals", "kind", 0, 9, "code", "globals.kind 0: 9 is no GlobalKind"),
    ("globals", "linkage", 0, 99, "code", "globals.linkage 0: 99 is no Linkage"),
    ("arguments", "passing", 0, 99, "code", "arguments.passing 0: 99 is no Passing"),
    ("instructions", "opcode", 5, 200, "code", "instructions.opcode 5: 200 is no Opcode"),
    ("instructions", "flags", 5, 7 << 24, "code", "instructions.flags 5: 7 is no Ordering"),
    ("constants", "kind", 0, 77, "code", "constants.kind 0: 77 is no ConstantKind"),
    ("bindings", "kind", 0, 9, "code", "bindings.kind 0: 9 is no Binding"),
    ("passed", "passing", 0, 9, "code", "passed.passing 0: 9 is no Passing"),
    ("types", "name", 0, 10_000, "range", "types.name 0: there is no symbol 10000"),
    ("types", "elements", 0, -1, "range", "types.elements 0: there is no type -1"),
    ("globals", "name", 0, -1, "range", "globals.name 0: there is no symbol -1"),
    ("globals", "type", 0, 10_000, "range", "globals.type 0: there is no type 10000"),
    ("globals", "initializer", 4, 100_000, "range", "globals.initializer 4: there is no value"),
    ("globals", "span", 0, 10_000, "range", "globals.span 0: there is no span 10000"),
    ("globals", "function", 0, 10_000, "range", "globals.function 0: there is no function 10000"),
    ("function_table", "value", 0, -1, "range", "function_table.value 0: there is no global -1"),
    (
        "function_table",
        "personality",
        0,
        100_000,
        "range",
        "function_table.personality 0: there is no value",
    ),
    ("arguments", "type", 0, -1, "range", "arguments.type 0: there is no type -1"),
    ("arguments", "passed_type", 0, -2, "range", "arguments.passed_type 0: there is no type -2"),
    ("blocks", "name", 0, -1, "range", "blocks.name 0: there is no symbol -1"),
    ("blocks", "function", 0, 10_000, "range", "blocks.function 0: there is no function 10000"),
    ("instructions", "type", 0, -1, "range", "instructions.type 0: there is no type -1"),
    ("instructions", "about", 0, 10_000, "range", "instructions.about 0: there is no type 10000"),
    ("instructions", "span", 0, -2, "range", "instructions.span 0: there is no span -2"),
    ("instructions", "block", 0, -1, "range", "instructions.block 0: there is no block -1"),
    ("instructions", "operands", 0, -1, "range", "instructions.operands 0: there is no value -1"),
    ("constants", "type", 0, -1, "range", "constants.type 0: there is no type -1"),
    ("constants", "operands", 0, 100_000, "range", "constants.operands 0: there is no value"),
    ("spans", "inlined_at", 0, 10_000, "range", "spans.inlined_at 0: there is no span 10000"),
    ("spans", "file", 0, -1, "range", "spans.file 0: there is no symbol -1"),
    ("variables", "function", 0, -1, "range", "variables.function 0: there is no function -1"),
    ("bindings", "variable", 0, -1, "range", "bindings.variable 0: there is no variable -1"),
    ("bindings", "value", 0, -2, "range", "bindings.value 0: there is no value -2"),
    ("bindings", "before", 0, -1, "range", "bindings.before 0: there is no instruction -1"),
    ("bundles", "operands", 0, -1, "range", "bundles.operands 0: there is no value -1"),
    ("bundles", "instruction", 0, -1, "range", "bundles.instruction 0: there is no instruction -1"),
    ("passed", "operand", 0, -1, "range", "passed.operand 0: there is no operand -1"),
    ("passed", "type", 0, -1, "range", "passed.type 0: there is no type -1"),
    ("notice_table", "text", 0, -1, "range", "notice_table.text 0: there is no symbol -1"),
    ("instructions", "offsets", 1, -1, "offsets", "instructions.offsets must rise from 0 to 352"),
    (
        "blocks",
        "instruction_offsets",
        -1,
        3,
        "offsets",
        "blocks.instruction_offsets must rise from 0 to 186",
    ),
    (
        "function_table",
        "block_offsets",
        0,
        1,
        "offsets",
        "function_table.block_offsets must rise from 0",
    ),
    ("strings", "offsets", 1, 1 << 40, "offsets", "strings.offsets must rise from 0 to 1739"),
    ("blocks", "function", 0, 1, "order", "block 0: is not among its function's blocks"),
    ("instructions", "block", 0, 1, "order", "instruction 0: is not among its block's"),
    ("globals", "function", 0, 1, "order", "global 0: functions must be numbered in the order of"),
    ("function_table", "value", 0, 1, "order", "function 0: its global says that it is another"),
    ("variables", "function", 0, 0, "foreign", "binding 0: ties a variable to a value of another"),
    ("bindings", "before", 0, 0, "foreign", "binding 0: ties a variable to a value of another"),
    ("types", "size", 0, 12_345, "layout", "type 0: size, alignment or field offsets are not"),
    ("types", "align", 0, 77, "layout", "type 0: size, alignment or field offsets are not those"),
    ("types", "field_offset", 1, 77, "layout", "type 0: size, alignment or field offsets are not"),
    ("globals", "flags", 0, 0, "declaration", "global 0: the flag DECLARATION does not tell the"),
    ("arguments", "type", 0, 0, "signature", "function 0: an argument has another type than its"),
    ("instructions", "sub", 0, 1, "sub", "@arithmetic, ^entry, instruction 1 (%0 = add): has a"),
]


@pytest.fixture(scope="module")
def specimens() -> Program:
    return museum()


@pytest.mark.parametrize(("table", "column", "row", "content", "id", "words"), BROKEN)
def test_broken_tables(
    specimens: Program, table: str, column: str, row: int, content: int, id: str, words: str
) -> None:
    part = getattr(specimens, table)
    new = getattr(part, column).copy()
    new[row] = content
    broken = replace(specimens, **{table: replace(part, **{column: new})})
    found = problems(broken)
    assert {error.id for error in found} == {f"ir/{id}"}
    assert found[0].message.startswith(words)


@pytest.mark.parametrize("table", ["types", "globals", "instructions", "constants", "spans"])
def test_columns_of_unlike_length(specimens: Program, table: str) -> None:
    part = getattr(specimens, table)
    name = "line" if table == "spans" else "type" if table != "types" else "bits"
    broken = replace(
        specimens, **{table: replace(part, **{name: np.append(getattr(part, name), 0)})}
    )
    (error,) = problems(broken)
    assert error.id == "ir/columns"
    assert f"{table}.{name}" in error.message


def test_a_constant_inside_itself(specimens: Program) -> None:
    table = specimens.constants
    row = int(np.flatnonzero(table.kind == ConstantKind.AGGREGATE)[0])
    operands = table.operands.copy()
    operands[table.offsets[row]] = specimens.bases[1] + row
    broken = replace(specimens, constants=replace(table, operands=operands))
    found = {error.id: error.message for error in problems(broken)}
    assert found["ir/recursive-constant"] == f"constant {row}: contains itself"


def test_flags_tell_declarations(specimens: Program) -> None:
    assert specimens.globals.flags[0] & GlobalFlag.DECLARATION


@pytest.mark.parametrize(("text", "id", "words"), TOPS)
def test_faults_outside_functions(text: str, id: str, words: str) -> None:
    found = problems(parse(text))
    assert {error.id for error in found} == {f"ir/{id}"}
    assert found[0].message.startswith(words)

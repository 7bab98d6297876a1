"""Views say what the columns hold."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.base.errors import Span
from kleene.ir import Block, Call, Constant, Global, Program, parse
from kleene.ir.codes import ConstantKind, GlobalKind, Linkage, Opcode, TypeKind, ValueKind
from tests.ir.museum import museum

TEXT = """
program "views"
layout "e-p:64:64-i64:64"
type $pair = {i8, i64}

@table = internal constant [2 x ptr] {@twice, null} source "operations" ! v.c:1:4
@text = private constant [3 x i8] "hi\\00"
@pair = global $pair {1, -2}
@real = global double 2.5
@wide = global i128 170141183460469231731687303715884105727
@extern = global i32

define @twice(%x: i32 noalias) -> i32 internal address_taken ! v.c:3:5 {
  var #x parameter 1 ! 3:15
  var #y ! 4:7
^entry:
  %slot: ptr = alloca i32
  #y at %slot
  #x = %x
  %0.y: i32 = add nsw %x, %x                       ! 5:12
  #y = %0.y
  store %0.y, %slot
  ret %0.y
}

define @main(%argc: i32, %f: ptr) -> i32 {
^entry:
  %c: i1 = icmp sgt %argc, i32 1
  br %c, ^then, ^0
^then:
  %a: i32 = call @twice(%argc)
  br ^0
^0:
  %b: i32 = phi [0, ^entry], [%a, ^then]
  %d: i32 = call %f(%b, i32 7) as i32 (i32, i32)
  ret %d
}

declare @puts(%0: ptr) -> i32
"""


@pytest.fixture(scope="module")
def program() -> Program:
    return parse(TEXT)


def test_functions_by_place_and_name(program: Program) -> None:
    functions = program.functions
    assert [function.name for function in functions] == ["twice", "main", "puts"]
    assert functions["main"] == functions[1] == functions[-2]
    assert functions[1:][0] == functions["main"]
    assert "main" in functions
    assert "absent" not in functions
    assert functions["twice"] in functions
    assert functions.get("absent") is None
    with pytest.raises(KeyError, match="absent"):
        functions["absent"]
    assert functions["puts"].is_declaration
    assert not functions["main"].is_declaration
    assert str(functions["main"].type) == "i32 (i32, ptr)"


def test_views_are_equal_by_what_they_show(program: Program) -> None:
    main = program.functions["main"]
    assert main.blocks[0] == main.blocks[0]
    assert len({main.blocks[0], main.blocks[0], main.blocks[1]}) == 2
    assert main.blocks[0] != main.blocks[0].instructions[0]
    assert main != parse(TEXT).functions["main"]
    assert repr(main.blocks[0]) == "<Block ^entry>"


def test_blocks(program: Program) -> None:
    entry, then, join = program.functions["main"].blocks
    assert [entry.name, then.name, join.name] == ["entry", "then", "0"]
    assert entry.successors == [then, join]
    assert join.predecessors == [entry, then]
    assert entry.predecessors == []
    assert entry.terminator is not None
    assert entry.terminator.opcode == Opcode.BR
    assert join.index == 2
    assert join.function == program.functions["main"]
    assert isinstance(entry.terminator.operands[1], Block)


def test_instructions(program: Program) -> None:
    _, add, store, ret = program.functions["twice"].instructions
    (argument,) = program.functions["twice"].arguments
    assert add.opcode == Opcode.ADD
    assert add.operands == [argument, argument]
    assert argument.users == [add, add]
    assert add.users == [store, ret]
    assert add.span == Span("v.c", 5, 12)
    assert store.span is None
    assert str(add) == "%0.y: i32 = add nsw %x, %x"
    assert str(add.type) == "i32"
    assert add.block.function == add.function == program.functions["twice"]
    assert (add.variable, argument.variable, ret.variable) == ("y", "x", None)
    assert program.functions["twice"].blocks[0].instructions[0].variable == "y"
    assert argument.name == "x"
    assert argument.index == 0
    assert argument.function == program.functions["twice"]


def test_calls(program: Program) -> None:
    calls = [i for i in program.functions["main"].instructions if isinstance(i, Call)]
    direct, indirect = calls
    assert isinstance(direct.callee, Global)
    assert direct.callee.function == program.functions["twice"]
    joined, seven = indirect.arguments
    assert joined == program.functions["main"].blocks[2].instructions[0]
    assert str(seven) == "i32 7"
    assert str(indirect.callee) == "%f"
    assert str(indirect.about) == "i32 (i32, i32)"


def test_globals_and_constants(program: Program) -> None:
    views = {v.name: v for v in (Global(program, n) for n in range(len(program.globals)))}
    table = views["table"]
    assert table.linkage == Linkage.INTERNAL
    assert table.global_kind == GlobalKind.VARIABLE
    assert (table.source_name, table.span) == ("operations", Span("v.c", 1, 4))
    assert not table.is_declaration
    assert views["extern"].is_declaration
    assert views["extern"].initializer is None
    assert views["twice"].address_taken
    assert not table.address_taken
    assert isinstance(table.initializer, Constant)
    twice, null = table.initializer.operands
    assert twice == views["twice"]
    assert isinstance(null, Constant)
    assert null.constant_kind == ConstantKind.NULL
    first = {name: view.initializer for name, view in views.items() if view.initializer}
    assert first["text"].string == b"hi\0"
    assert [v.integer for v in first["pair"].operands] == [1, -2]
    assert first["real"].real == 2.5
    assert first["wide"].integer == (1 << 127) - 1
    assert first["wide"].real is first["wide"].string is None


def test_types(program: Program) -> None:
    pair = Global(program, 2).content
    assert (str(pair), pair.name, pair.kind) == ("$pair", "pair", TypeKind.STRUCT)
    assert (pair.size_bytes, pair.offsets_bytes) == (16, [0, 8])
    assert [str(element) for element in pair.elements] == ["i8", "i64"]


def test_every_value_has_a_view() -> None:
    program = museum()
    for value in range(program.n_values):
        view = program.value_view(value)
        assert view.id == value
        assert program.locate(value) == (view.kind, view.row)
        assert str(view)
        assert view.type.row == program.value_types[value]
    assert {program.locate(v)[0] for v in range(program.n_values)} == set(ValueKind)


def test_users_are_the_operands_turned_round() -> None:
    program = museum()
    offsets, users = program.users
    table = program.instructions
    for value in range(program.n_values):
        found = users[offsets[value] : offsets[value + 1]].tolist()
        expected = [row for row in range(len(table)) for v in table.operands_of(row) if v == value]
        assert found == expected


def test_an_empty_program() -> None:
    program = parse("")
    assert list(program.functions) == []
    assert program.users[1].tolist() == []
    assert program.successors[1].tolist() == []
    assert program.stats()["instructions"] == 0
    assert np.array_equal(program.value_types, [])


def test_accesses_are_of_the_bytes_that_are_stored() -> None:
    """A type may have more bytes in an array, up to its alignment, than a load or a store of it."""
    program = parse(
        """
program "stored"
layout "e-m:e-p270:32:32-i64:64-i128:128-f80:128-n8:16:32:64-S128"
@a = global i24
@b = global i48
@c = global x86_fp80
@d = global [3 x i24]
@e = global <3 x i32>
@f = global <{i8, i32}>
@g = global i1
@h = global ptr
@i = global <9 x i1>
@j = global {i8, i32}
@k = global double
"""
    )
    types = program.globals.type
    assert program.store_size[types].tolist() == [3, 6, 10, 12, 12, 5, 1, 8, 2, 8, 8]
    assert program.types.size[types].tolist() == [4, 8, 16, 12, 16, 5, 1, 8, 2, 8, 8]

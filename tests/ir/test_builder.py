"""The builder: parts once each, in any order; what follows from them is derived."""

from __future__ import annotations

import pytest

from kleene.ir import Builder, Program, dump, problems
from kleene.ir.codes import GlobalFlag, Linkage, Opcode, Predicate


def taken(program: Program) -> set[str]:
    flags = program.globals.flags & GlobalFlag.ADDRESS_TAKEN
    names = program.globals.name.tolist()
    return {program.strings[name] for name, flag in zip(names, flags, strict=True) if flag}


def test_equal_parts_are_one() -> None:
    b = Builder()
    i32 = b.types.integer(32)
    assert b.types.integer(32) == i32
    assert b.types.struct([i32]) == b.types.struct([i32])
    assert b.types.struct([i32]) != b.types.struct([i32], packed=True)
    assert b.types.named("s") == b.types.named(b"s")
    assert b.types.elements(b.types.named("s")) == ()
    b.types.fill(b.types.named("s"), [i32])
    assert b.types.elements(b.types.named("s")) == (i32,)
    assert b.integer(i32, 3) is b.integer(i32, 3)
    assert b.integer(i32, 3) is not b.integer(b.types.integer(64), 3)
    assert b.real(b.types.real(), 0.0) is not b.real(b.types.real(), -0.0)
    assert b.span("a.c", 1, 2) == b.span("a.c", 1, 2) != b.span("a.c", 1, 3)


def test_result_types_follow_from_operands() -> None:
    b = Builder()
    i32, vector = b.types.integer(32), b.types.vector(4, b.types.integer(32))
    f = b.function("f", [("x", i32), ("v", vector), ("p", b.types.pointer())], b.types.real())
    x, v, p = f.arguments
    block = f.block()
    one = b.integer(i32, 1)
    assert block.add(Opcode.ADD, x, one).type == i32
    assert block.add(Opcode.ICMP, x, one, sub=Predicate.EQ).type == b.types.bit
    lanes = block.add(Opcode.ICMP, v, v, sub=Predicate.EQ)
    assert lanes.type == b.types.vector(4, b.types.bit)
    assert block.add(Opcode.SELECT, lanes, v, v).type == vector
    assert block.add(Opcode.STORE, x, p).type == b.types.void
    assert block.add(Opcode.ALLOCA, one, about=i32).type == b.types.pointer()
    call = block.add(Opcode.CALL, f, x, v, p)
    assert (call.type, call.about) == (b.types.real(), f.content)
    block.add(Opcode.RET, call)
    assert problems(b.finish()) == []
    with pytest.raises(AssertionError, match="LOAD must be stated"):
        block.add(Opcode.LOAD, p)


def test_parts_in_any_order() -> None:
    """Blocks and functions are filled alternately; rows come out consecutive."""
    b = Builder()
    i32 = b.types.integer(32)
    f, g = (b.function(name, [("x", i32)], i32) for name in "fg")
    first, second, other = f.block("first"), f.block("second"), g.block("only")
    second.add(Opcode.RET, f.arguments[0])
    other.add(Opcode.RET, g.arguments[0])
    first.add(Opcode.BR, second)
    program = b.finish()
    assert problems(program) == []
    assert [i.opcode.name for i in program.functions["f"].instructions] == ["BR", "RET"]
    assert program.blocks.function.tolist() == [0, 0, 1]


def test_addresses_taken_are_found() -> None:
    b = Builder()
    i32, pointer = b.types.integer(32), b.types.pointer()
    names = ("loaded", "stored_to", "swapped", "stored", "passed", "offset", "initial", "aliased")
    cells = {name: b.variable(name, i32, b.integer(i32, 0)) for name in names}
    sink = b.function("sink", [("p", pointer)], b.types.void)
    helper = b.function("helper", [("p", pointer)], b.types.void)
    b.variable("table", pointer, cells["initial"], linkage=Linkage.INTERNAL)
    b.alias("alias", i32, cells["aliased"])
    f = b.function("f", [("p", pointer)], b.types.void)
    block = f.block()
    value = block.add(Opcode.LOAD, cells["loaded"], type=i32)
    block.add(Opcode.STORE, value, cells["stored_to"])
    block.add(Opcode.ATOMICRMW, cells["swapped"], value)
    block.add(Opcode.STORE, cells["stored"], f.arguments[0])
    block.add(Opcode.CALL, sink, cells["passed"])
    block.add(Opcode.CALL, sink, helper)
    block.add(Opcode.GETELEMENTPTR, cells["offset"], b.integer(i32, 1), about=i32)
    block.add(Opcode.RET)
    program = b.finish()
    assert taken(program) == {"stored", "passed", "offset", "initial", "aliased", "helper"}


def test_the_example_in_the_docstring() -> None:
    builder = Builder("example")
    i32 = builder.types.integer(32)
    square = builder.function("square", [("x", i32)], i32)
    entry = square.block("entry")
    product = entry.add(Opcode.MUL, square.arguments[0], square.arguments[0])
    entry.add(Opcode.RET, product)
    assert "%0: i32 = mul %x, %x" in dump(builder.finish())

"""The text form: everything round-trips, mistakes are found where they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.base.errors import SourceError
from kleene.ir import Builder, dump, parse, problems, same
from kleene.ir.codes import (
    ORDERING_MASK,
    ORDERING_SHIFT,
    ArgumentFlag,
    ConstantKind,
    Flag,
    GlobalFlag,
    GlobalKind,
    Linkage,
    Opcode,
    Ordering,
    Passing,
    TypeFlag,
    TypeKind,
)
from kleene.ir.text import chunks
from tests.ir.museum import museum
from tests.ir.random_programs import programs

ALPHABET = '%@^$#"\\{}[]<>(),:=!?~.;\n x0i8-'
HEAD = 'program "p"\ntriple ""\nlayout ""\n'


@pytest.fixture(scope="module")
def specimens():
    return museum()


def test_the_museum_has_everything(specimens) -> None:
    """Otherwise the round trip below would prove less than it says."""
    p = specimens
    assert set(p.instructions.opcode.tolist()) == set(Opcode)
    assert set(p.constants.kind.tolist()) == set(ConstantKind)
    assert set(p.types.kind.tolist()) == set(TypeKind)
    assert set(p.globals.kind.tolist()) == set(GlobalKind)
    assert set(p.globals.linkage.tolist()) == set(Linkage)
    assert set(p.arguments.passing.tolist()) == set(Passing)
    assert {*p.passed.passing.tolist(), Passing.DIRECT} == set(Passing)
    assert _bits(p.types.flags) == sum(TypeFlag)
    assert _bits(p.globals.flags) == sum(GlobalFlag)
    assert _bits(p.arguments.flags) == sum(ArgumentFlag)
    either = _bits(p.instructions.flags) | _bits(p.constants.flags)
    assert either & ~ORDERING_MASK == sum(Flag)
    orderings = (p.instructions.flags & ORDERING_MASK) >> ORDERING_SHIFT
    assert set(orderings.tolist()) == set(Ordering)
    assert all(len(table) for table in p.tables().values())


def test_everything_round_trips(specimens) -> None:
    assert problems(specimens) == []
    text = dump(specimens)
    again = parse(text)
    assert same(specimens, again) is None
    assert dump(again) == text


@given(program=programs())
def test_random_programs_round_trip(program) -> None:
    assert problems(program) == []
    text = dump(program)
    assert same(program, parse(text)) is None


def test_a_function_alone(specimens) -> None:
    whole, alone = dump(specimens), dump(specimens, ["control"])
    assert alone.startswith("define @control(")
    assert alone in whole
    two = list(chunks(specimens, ["control", "names"]))
    assert "".join(two) == alone + "\n" + dump(specimens, ["names"])


def test_instructions_print_as_in_the_text(specimens) -> None:
    lines = [line.split("  !")[0].strip() for line in dump(specimens).splitlines()]
    for instruction in specimens.functions["_Z6sourcei"].instructions:
        assert str(instruction) in lines


def test_deep_constants_print() -> None:
    builder = Builder()
    value = builder.integer(builder.types.integer(8), 1)
    for _ in range(3000):
        value = builder.aggregate(builder.types.struct([value.type]), value)
    builder.variable("deep", value.type, value)
    text = dump(builder.finish())
    assert text.count("{1}") == 1
    with pytest.raises(SourceError, match="nesting") as caught:
        parse(text)
    assert caught.value.id == "ir/syntax"


def test_a_literal_takes_the_type_of_the_result() -> None:
    body = "define @f(%x: i8) -> i8 {\n^0:\n  %y: i8 = add %x, 3\n  ret %y\n}\n"
    program = parse(HEAD + body)
    (_, three) = program.functions["f"].blocks[0].instructions[0].operands
    assert str(three) == "i8 3"


MISTAKES = [
    ("hello", 1, 1, "begins no part"),
    ("type $s = {i32", 1, 15, "','"),
    ("type $s = {}\ntype $s = {}", 2, 9, "twice"),
    ("@x = global", 1, 12, "a type"),
    ("@x = 3", 1, 6, "global, constant, alias, ifunc"),
    ("@x = global i32 3 3", 1, 19, "should end"),
    ("@x = global i32 3.5", 1, 17, "no integer"),
    ("@x = global [2 x i8] {1, @y}", 1, 26, "no global '@y'"),
    ("@x = global {i8} {1, 2}", 1, 22, "no element 1"),
    ("@x = global ptr %y", 1, 17, "no global"),
    ("@x = global i32 1\n@x = global i32 1", 2, 1, "defined twice"),
    ("@x = global ptr blockaddress(@x, ^y)", 1, 34, "has blocks"),
    ("@x = global i32 what", 1, 17, "no constant"),
    ('@x = global [1 x i8] "a', 1, 22, "begins nothing"),
    ("declare @f( -> i32", 1, 13, "an argument"),
    ("declare @f() i32", 1, 14, "'->'"),
    ("define @f() -> void {\n^a:\n  ret", 3, 1, "'}' is missing"),
    ("define @f() -> void {\n  ret\n}", 2, 3, "must come first"),
    ("define @f() -> void {\n^a:\n  fly\n}", 3, 3, "no instruction"),
    ("define @f() -> void {\n^a:\n^a:\n}", 3, 1, "twice"),
    ("define @f() -> void {\n^a:\n  br ^b\n}", 3, 6, "nowhere"),
    ("define @f() -> void {\n^a:\n  ret %x\n}", 3, 7, "nowhere"),
    ("define @f() -> void {\n^a:\n  #x = i32 1\n}", 3, 3, "not declared"),
    ("define @f() -> void {\n  var #x\n  var #x\n}", 3, 7, "twice"),
    ("define @f() -> void {\n  var #x\n^a:\n  #x + i32 1\n}", 4, 6, "begins nothing"),
    ("define @f() -> void {\n  var #x\n^a:\n  #x in i32 1\n}", 4, 6, "one of at, =, :="),
    ("define @f(%x: i32) -> void {\n^a:\n  %x: i32 = add 1, 1\n}", 3, 3, "twice"),
    ("define @f(%x: i32) -> void {\n^a:\n  %y: i1 = icmp up %x, %x\n}", 3, 17, "icmp"),
    ("define @f(%x: ptr) -> void {\n^a:\n  call %x()\n}", 3, 12, "'as'"),
    ("@x = global i32 1\ndefine @f() -> void {\n^a:\n  call @x()\n}", 4, 12, "'as'"),
    ("define @f() -> void {\n^a:\n  ret 3\n}", 3, 7, "a value"),
    ("define @f() -> void {\n^a:\n  ret ! a 3\n}", 3, 11, "':'"),
    ("@x = global " + "[1 x " * 300, 1, None, "nesting"),
]


@pytest.mark.parametrize(("text", "line", "column", "words"), MISTAKES)
def test_mistakes_have_a_place(text: str, line: int, column: int | None, words: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse(text, "file.ir")
    error = caught.value
    assert error.id == "ir/syntax"
    assert error.span is not None
    assert (error.span.file, error.span.line) == ("file.ir", line)
    assert column is None or error.span.column == column
    assert words in error.message


def _bits(column: np.ndarray) -> int:
    return int(np.bitwise_or.reduce(column))


@given(
    place=st.integers(0, 1 << 20), removed=st.integers(0, 8), added=st.text(ALPHABET, max_size=4)
)
def test_any_text_is_read_or_refused(specimens, place: int, removed: int, added: str) -> None:
    text = dump(specimens)
    place %= len(text)
    outcome: SourceError | list[SourceError]
    try:
        outcome = problems(parse(text[:place] + added + text[place + removed :]))
    except SourceError as error:
        outcome = error
    assert all(error.id.startswith("ir/") for error in outcome)

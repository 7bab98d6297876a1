"""What the reader does not know: opaque, with its operands, and counted; or an error."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.base.errors import SourceError
from kleene.frontends.c import reader
from kleene.frontends.c.reader import bitcodes
from kleene.ir.codes import ConstantKind, Opcode, ValueKind
from kleene.ir.program import Program
from kleene.ir.verifier import verify
from tests.frontends.c.pipeline import bitcode
from tests.frontends.c.reader.writing import Record, edited

TEXT = """\
@table = global i32 0
@offset = global i64 sub (i64 ptrtoint (ptr @table to i64), i64 1)
@view = global i64 ptrtoint (ptr @table to i64)

define i32 @f(i32 %x, ptr %p) {
entry:
  %sum = add i32 %x, 1
  %wide = zext i32 %x to i64
  %less = icmp slt i32 %sum, %x
  %old = atomicrmw add ptr %p, i32 %sum seq_cst, align 4
  %negative = fneg double 1.0
  br i1 %less, label %left, label %right

left:
  ret i32 %sum

right:
  ret i32 %old
}
"""
OPERATION = {  # which operand says what is done
    bitcodes.INST_BINOP: 2,
    bitcodes.INST_CAST: 2,
    bitcodes.INST_CMP: 2,
    bitcodes.INST_ATOMICRMW: 2,
    bitcodes.INST_UNOP: 1,
}


def with_record(block: int, code: int, place: int | None, number: int) -> Program:
    """Return the program after an operand of the first such record is another, or is added."""

    def change(records: list[tuple[int, Record]]) -> None:
        record = next(r for b, r in records if b == block and r.code == code)
        if place is None:
            record.operands.append(number)
        else:
            record.operands[place] = number

    program = reader.read(edited(bitcode(TEXT), change))
    verify(program)
    return program


def opaque(program: Program) -> tuple[int, list[str]]:
    """Return the row of the one opaque instruction, and what its operands are called."""
    (row,) = np.flatnonzero(program.instructions.opcode == Opcode.OPAQUE).tolist()
    text, *rest = program.instructions.operands_of(row).tolist()
    payload = program.constants.payload[text - program.bases[ValueKind.CONSTANT]]
    named = [str(program.value_view(value)).partition(":")[0] for value in rest]
    return row, [program.strings[int(payload)], *named]


@pytest.mark.parametrize(
    ("code", "number", "operands"),
    [
        (bitcodes.INST_BINOP, 99, ["%x"]),
        (bitcodes.INST_CAST, 99, ["%x"]),
        (bitcodes.INST_CMP, 99, ["%sum", "%x"]),
        (bitcodes.INST_ATOMICRMW, 99, ["%p", "%sum"]),
        (bitcodes.INST_UNOP, 99, []),
    ],
)
def test_an_unknown_operation_is_opaque(code: int, number: int, operands: list[str]) -> None:
    known = reader.read(bitcode(TEXT))
    program = with_record(bitcodes.FUNCTION, code, OPERATION[code], number)
    row, (text, *named) = opaque(program)
    assert text == f"instruction of record {code}"
    assert named[: len(operands)] == operands
    assert program.notices == [(1, text)]
    assert int(program.instructions.type[row]) == int(known.instructions.type[row])
    others = np.arange(len(known.instructions)) != row
    assert (program.instructions.opcode == known.instructions.opcode)[others].all()


def test_more_operands_than_known() -> None:
    """A terminator still ends its block, with its successors."""
    program = with_record(bitcodes.FUNCTION, bitcodes.INST_BR, None, 0)
    assert opaque(program)[0] == 5
    assert program.successors[1].tolist() == [1, 2]


def test_an_unknown_operation_on_constants() -> None:
    program = with_record(bitcodes.CONSTANTS, bitcodes.CST_BINOP, 0, 15)
    rows = np.flatnonzero(program.constants.kind == ConstantKind.UNKNOWN).tolist()
    assert len(rows) == 1
    assert len(program.constants.operands_of(rows[0])) == 2
    assert program.notices == [(1, f"constant of record {bitcodes.CST_BINOP}")]


@pytest.mark.parametrize(
    ("block", "code", "words"),
    [
        (bitcodes.FUNCTION, bitcodes.INST_BINOP, "of code 120 in a block 12"),
        (bitcodes.CONSTANTS, bitcodes.CST_INTEGER, "in a block 11, is not understood"),
        (bitcodes.TYPE_NEW, bitcodes.TYPE_INTEGER, "of code 120 in a block 17"),
        (bitcodes.MODULE, bitcodes.MODULE_GLOBALVAR, "its parts do not fit together"),
    ],
)
def test_an_unknown_record_is_an_error(block: int, code: int, words: str) -> None:
    """Its operands may name values, and whether it takes a number is not known: nothing is kept."""

    def change(records: list[tuple[int, Record]]) -> None:
        next(r for b, r in records if b == block and r.code == code).code = 120

    raw = edited(bitcode(TEXT), change)
    with pytest.raises(SourceError, match=words) as error:
        reader.read(raw)
    assert error.value.id == "c/unread"
    assert reader.read_given(raw) is None


def test_what_is_opaque_is_left_to_llvm_in_files_of_others() -> None:
    def change(records: list[tuple[int, Record]]) -> None:
        next(r for b, r in records if b == bitcodes.FUNCTION and r.code == 2).operands[2] = 99

    assert reader.read_given(edited(bitcode(TEXT), change)) is None

"""Splitting the values of programs in the IR."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.ir import Program, parse
from kleene.ir.codes import ValueKind
from kleene.transforms.splitting import STRATEGIES, NameKind
from kleene.transforms.splitting.flow import Role
from kleene.transforms.splitting.program import SplitProgram, split_program, values_tested

LOOP = """
define @sum(%n: i32) -> i32 {
^entry:
  br ^head
^head:
  %i: i32 = phi [0, ^entry], [%next, ^body]
  %s: i32 = phi [0, ^entry], [%t, ^body]
  %c: i1 = icmp slt %i, %n
  br %c, ^body, ^end
^body:
  %next: i32 = add %i, 1
  %t: i32 = add %s, %next
  br ^head
^end:
  %r: i32 = add %s, %i
  ret %r
}
"""


def name_of(program: Program, value: int) -> str:
    return program.value_view(value).name


def named(program: Program, name: str) -> int:
    first = program.bases[ValueKind.ARGUMENT]
    values = [v for v in range(first, program.n_values) if name_of(program, v) == name]
    assert len(values) == 1
    return values[0]


def versions(split: SplitProgram, name: str) -> list[str]:
    rows = np.flatnonzero(split.value == named(split.program, name))
    return [NameKind(split.kind[row]).name for row in rows.tolist()]


def test_a_loop_condition_splits_the_counter_and_the_bound() -> None:
    split = split_program(parse(LOOP), "essa")
    assert versions(split, "i") == ["SIGMA", "SIGMA"]
    assert versions(split, "s") == []
    assert versions(split, "n") == ["PHI", "SIGMA"]


def test_what_a_switch_decides_is_an_equality() -> None:
    program = parse("""
        define @f(%x: i32) -> i32 {
        ^entry:
          switch %x, ^other [i32 1: ^one, i32 2: ^one, i32 3: ^three]
        ^one:
          %p: i32 = phi [%x, ^entry], [%x, ^entry]
          ret %p
        ^three:
          ret %x
        ^other:
          ret %x
        }
    """)
    split = split_program(program, "ccp")
    assert versions(split, "x") == ["SIGMA"] * 4
    phi = program.instructions.operands_of(1)
    names = split.operand[program.instructions.offsets[1] : program.instructions.offsets[2]]
    assert phi[0] == phi[2]
    assert names[0] != names[2]


def test_conditions_are_looked_through() -> None:
    program = parse("""
        define @f(%x: i32, %y: i8, %b: i1) -> i32 {
        ^entry:
          %low: i32 = and %x, 3
          %even: i1 = icmp eq %low, i32 0
          %wide: i64 = zext %y
          %small: i1 = icmp ult %wide, i64 9
          %both: i1 = and %even, %small
          %frozen: i1 = freeze %both
          %z: i1 = select %b, %frozen, i1 false
          br %z, ^yes, ^no
        ^yes:
          ret %x
        ^no:
          ret i32 0
        }
    """)
    values, blocks, roles = values_tested(program)
    names = [name_of(program, value) for value in values.tolist()]
    found = dict(zip(names, roles.tolist(), strict=True))
    expected = ["b", "both", "even", "frozen", "low", "small", "wide", "x", "y", "z"]
    assert sorted(found) == expected
    assert set(blocks.tolist()) == {0}
    assert found["low"] == Role.EQUALITY_TEST
    assert found["x"] == Role.DERIVED_TEST
    assert found["y"] == Role.TEST
    tested = {name_of(program, value) for value in split_program(program, "essa").value.tolist()}
    assert "x" not in tested
    tested = {name_of(program, value) for value in split_program(program, "bits").value.tolist()}
    assert "x" in tested


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
@pytest.mark.parametrize("name", ["lua", "htop"])
def test_operands_are_versions_of_what_they_were(
    name: str, strategy: str, shared_data: Path
) -> None:
    program = kleene.load(shared_data / "bitcode" / f"{name}.bc")
    split = split_program(program, strategy)
    assert (split.value_of(split.operand) == program.instructions.operands).all()
    known = split.operands >= 0
    owner = np.repeat(split.value, np.diff(split.offsets))
    assert (split.value_of(split.operands[known]) == owner[known]).all()
    assert (np.diff(split.offsets)[split.kind != NameKind.PHI] == 1).all()


def test_nothing_is_split_for_plain_ssa() -> None:
    program = parse(LOOP)
    split = split_program(program, "ssa")
    assert split.n_new == 0
    assert (split.operand == program.instructions.operands).all()

"""The worked examples of "Parameterized construction of program representations": their solutions.

Where names go is in `tests/transforms/splitting/test_split.py`; here are the facts.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.analyses.dataflow.clients.bit_widths import demanded
from kleene.analyses.dataflow.clients.dead_stores import useful
from kleene.analyses.dataflow.context import Context
from kleene.ir import parse
from kleene.ir.codes import ValueKind
from kleene.solvers.dataflow import BitConstraints, solve_bits
from kleene.transforms.splitting import Role, split
from tests.transforms.splitting.functions import parsed
from tests.transforms.splitting.test_split import CLASSES


def test_1_class_inference() -> None:
    """Backwards: a name has the methods that are called on it, and on what is made of it."""
    function, variables, _ = parsed(CLASSES)
    accesses = function.accesses()
    names = split(function.flow, accesses, "ssu")
    methods = {3: 1, 5: 2, 6: 4}  # m1, m2, m3 by the instruction that calls them
    gen = np.zeros(names.n_names, np.uint64)
    for row in np.flatnonzero(accesses.role == Role.USE).tolist():
        if accesses.variable[row] == variables["v"]:
            gen[names.name[row]] |= np.uint64(methods[int(accesses.point[row])])
    users: list[list[int]] = [[] for _ in range(names.n_names)]
    for name in range(names.n_names):
        for operand in names.operands_of(name):
            users[operand].append(name)
    offsets = np.cumsum([0, *map(len, users)])
    flat = np.array([user for some in users for user in some], np.int32)
    found = solve_bits(BitConstraints(gen, np.zeros_like(gen), offsets, flat))
    mine = [int(f) for f, v in zip(found, names.variable, strict=True) if v == variables["v"]]
    by_point = sorted(
        (int(names.point[n]), int(found[n]))
        for n in range(names.n_names)
        if names.variable[n] == variables["v"]
    )
    # v1 = {m1, m3}, v2 = {m1, m3}, v4 = {m3}, v3 = {m2, m3}, v5 = {m3}, v6 = {m3}
    assert sorted(mine) == [4, 4, 4, 5, 5, 6]
    assert dict(by_point)[0] == 5  # v1, at l1
    assert dict(by_point)[4] == 6  # v3, at l5


CONSTANTS = """
define @f() -> i32 {
^entry:
  br ^head
^head:
  %b: i32 = phi [i32 9, ^entry], [%less, ^body]
  %more: i1 = icmp sgt %b, i32 0
  br %more, ^body, ^exit
^body:
  %c: i32 = mul nsw i32 4, i32 1
  %less: i32 = sub nsw %b, %c
  br ^head
^exit:
  ret %b
}
"""


def facts_of(text: str) -> tuple[Context, dict[str, int]]:
    program = parse(text)
    context = Context(program, library=True, device="cpu")
    first = program.bases[ValueKind.INSTRUCTION]
    values = {
        program.instruction_view(row).name: first + row for row in range(len(program.instructions))
    }
    return context, values


def test_2_a_loop_is_not_constant() -> None:
    """9 joined with 5: the printed renaming would make it 9."""
    context, values = facts_of(CONSTANTS)
    assert context.fact(values["c"]).constant == 4
    assert context.fact(values["b"]).constant is None
    assert context.fact(values["b"]).holds(9)
    assert context.fact(values["b"]).holds(5)
    assert context.fact(values["less"]).constant is None


def reported(text: str, client: str, folder: Path, **options: object) -> set[int]:
    source = folder / "program.c"
    source.write_text(text)
    found = kleene.load(source).dataflow(client, device="cpu", **options).findings()
    return {one.span.line for one in found if one.span}


def test_3_taint_alarms_are_before_the_check_and_where_it_fails(tmp_path: Path) -> None:
    text = """char *input(void), *cleaned(char *); void echo(const char *); int is_clean(char *);
int main(int k, char **a) {
  char *v;
  if (k) { v = input(); echo(v); }
  else { v = "Hi!"; echo(v); }
  if (is_clean(v)) { v = cleaned(v); echo(v); }
  else
    echo(v);
  return 0;
}
"""
    roles = ("input: taints result", "echo: trusts 0 as text", "cleaned: cleans result")
    assert reported(text, "taint", tmp_path, roles=roles) == {4, 8}


def test_4_null_checks_are_needed_at_the_first_use_and_behind_the_join(tmp_path: Path) -> None:
    text = """int *foo(void);
int main(int k, char **a) {
  int *v = foo(), n = 0;
  if (k) {
    n += *v;
    n += *v;
  }
  return n + *v;
}
"""
    roles = "foo: may return null"
    assert reported(text, "null", tmp_path, roles=roles) == {5, 8}


RANGES = """
define @f() -> i32 {
^entry:
  br ^head
^head:
  %i: i32 = phi [i32 0, ^entry], [%next, ^body]
  %s: i32 = phi [i32 0, ^entry], [%sum, ^body]
  %more: i1 = icmp slt %i, i32 100
  br %more, ^body, ^exit
^body:
  %next: i32 = add nsw %i, 1
  %sum: i32 = add nsw %s, %next
  br ^head
^exit:
  %both: i32 = add nsw %s, %i
  ret %both
}
"""


def test_5_ranges() -> None:
    context, values = facts_of(RANGES)
    bounds = {name: context.fact(values[name]) for name in ("i", "next", "s", "sum")}
    assert (bounds["i"].low, bounds["i"].high) == (0, 100)
    assert (bounds["next"].low, bounds["next"].high) == (1, 100)
    assert bounds["s"].low == 0
    assert bounds["sum"].low == 1
    table = context.program.instructions
    rows = {context.program.instruction_view(row).name: row for row in range(len(table))}
    inside = context.fact(int(context.split.operand[table.offsets[rows["next"]]]))
    behind = context.fact(int(context.split.operand[table.offsets[rows["both"]] + 1]))
    assert (inside.low, inside.high) == (0, 99)
    assert behind.constant == 100


def test_7_dead_code_on_plain_ssa() -> None:
    """`a = 1; b = 2; c = a + 1; print c`, with values for a and b."""
    context, values = facts_of(
        """
declare @print(%0: i32) -> void
define @f(%x: i32) -> void {
^entry:
  %a: i32 = add %x, 1
  %b: i32 = add %x, 2
  %c: i32 = add %a, 1
  call @print(%c)
  ret
}
"""
    )
    found = useful(context)
    assert [bool(found[values[name]]) for name in "abc"] == [True, False, True]


def test_8_both_directions() -> None:
    context, values = facts_of(RANGES)
    assert context.fact(values["i"]).n_bits == 7
    assert int(demanded(context)[values["i"]]).bit_length() == 32  # it is compared as a whole
    assert min(7, 32) == 7


@pytest.mark.parametrize("k", [2, 50])
def test_6_links_are_linear(k: int) -> None:
    """k definitions and k uses that meet: evaluations grow with 2k, not with k²."""
    arms = "\n".join(f"^d{n}:\n  br ^meet" for n in range(k))
    uses = "\n".join(f"^u{n}:\n  %x{n}: i32 = add %a, {n}\n  ret %x{n}" for n in range(k))
    cases = ", ".join(f"i32 {n}: ^d{n}" for n in range(1, k))
    others = ", ".join(f"i32 {n}: ^u{n}" for n in range(1, k))
    phi = ", ".join(f"[i32 {n}, ^d{n}]" for n in range(k))
    context, values = facts_of(
        f"""
define @f(%x: i32, %y: i32) -> i32 {{
^entry:
  switch %x, ^d0 [{cases}]
{arms}
^meet:
  %a: i32 = phi {phi}
  switch %y, ^u0 [{others}]
{uses}
}}
"""
    )
    assert (context.fact(values["a"]).low, context.fact(values["a"]).high) == (0, k - 1)
    assert sum(context.facts.n_evaluations) < 40 * k + 60

"""Facts of small functions whose names live-range splitting made: the literature's examples."""

from __future__ import annotations

import numpy as np

from kleene.solvers.dataflow import (
    BitConstraints,
    ConstraintBuilder,
    Flag,
    Operator,
    Predicate,
    solve,
    solve_bits,
)
from kleene.transforms.splitting import NameKind, Role, Splitting, split
from tests.transforms.splitting.functions import parsed
from tests.transforms.splitting.test_split import CLASSES, SUM


def names_of(text: str, strategy: str, variable: str) -> tuple[Splitting, list[int], dict]:
    """Return the names of a function, those of one variable by their kind and block, and uses."""
    function, variables, labels = parsed(text)
    accesses = function.accesses()
    names = split(function.flow, accesses, strategy)
    mine = np.flatnonzero(names.variable == variables[variable]).tolist()
    used = accesses.rows(Role.USE)
    of_block = {place: label for label, place in labels.items()}
    uses = {
        of_block[int(function.flow.node_of(accesses.point[row : row + 1])[0])]: int(names.name[row])
        for row in used
        if accesses.variable[row] == variables[variable]
    }
    return names, mine, uses


def forward(names: Splitting, gen: dict[int, int], kill: dict[int, int]) -> list[int]:
    """Return sets of bits that flow with control."""
    lengths, known = np.diff(names.offsets), names.operands >= 0
    owner = np.repeat(np.arange(names.n_names), lengths)[known]
    offsets = np.append(0, np.cumsum(np.bincount(owner, minlength=names.n_names)))
    return _solved(names.n_names, offsets, names.operands[known], gen, kill)


def backward(names: Splitting, gen: dict[int, int]) -> list[int]:
    """Return sets of bits that flow against control: operands are who reads a name."""
    known = names.operands >= 0
    reader = np.repeat(np.arange(names.n_names), np.diff(names.offsets))[known]
    order = np.argsort(names.operands[known], kind="stable")
    counts = np.bincount(names.operands[known], minlength=names.n_names)
    return _solved(names.n_names, np.append(0, np.cumsum(counts)), reader[order], gen, {})


def _solved(n_names, offsets, operands, gen, kill):
    columns = [np.zeros(n_names, np.uint64) for _ in range(2)]
    for column, bits in zip(columns, (gen, kill), strict=True):
        column[list(bits)] = list(bits.values())
    return solve_bits(BitConstraints(*columns, offsets, operands)).tolist()


def kinds(names: Splitting, mine: list[int], kind: NameKind) -> list[int]:
    return [name for name in mine if names.kind[name] == kind]


def test_class_inference_by_what_is_called_later():
    names, mine, uses = names_of(CLASSES, "ssu", "v")
    m1, m2, m3 = 1, 2, 4
    facts = backward(names, {uses["4"]: m1, uses["6"]: m2, uses["7"]: m3})
    first, other = kinds(names, mine, NameKind.PROGRAM)
    (sigma,) = kinds(names, mine, NameKind.SIGMA)
    assert (facts[first], facts[sigma], facts[other]) == (m1 | m3, m1 | m3, m2 | m3)
    assert [facts[n] for n in kinds(names, mine, NameKind.COPY)] == [m3, m3]
    assert facts[uses["7"]] == m3


def test_constants_around_a_loop():
    """`a = 1; b = 9; while (b > 0) { c = 4 * a; b = b - c; }`: only b is no constant."""
    build = ConstraintBuilder()
    a, four, b1, b2, b3, c = build.names(6)
    for name, number in ((a, 1), (four, 4), (b1, 9)):
        build.define([name], Operator.CONSTANT, width=32, attribute=number)
    build.define([b2], Operator.JOIN, [b1, b3], width=32)
    build.define([c], Operator.MULTIPLY, [four, a], width=32)
    build.define([b3], Operator.SUBTRACT, [b2, c], width=32)
    facts = solve(build.constraints())
    assert [facts[n].constant for n in (a, b1, c, b2, b3)] == [1, 9, 4, None, None]
    assert facts[b2].holds(5)


def test_taint_stops_at_a_check():
    text = """
        0: -> 1 2
        1: v = -> 3
        2: v = -> 4
        3: v -> 5
        4: v -> 5
        5: v -> 6 7 ? v
        6: v
        7: v
    """
    names, mine, uses = names_of(text, "essa", "v")
    facts = forward(names, {uses["3"]: 1}, {uses["6"]: 1})
    alarms = {label for label, name in uses.items() if facts[name]}
    assert alarms == {"3", "5", "7"}
    assert len(mine) == 5


def test_what_was_dereferenced_is_not_null():
    names, mine, uses = names_of("1: v = -> 2 4\n2: v -> 3\n3: v -> 4\n4: v", "null", "v")
    copies = dict.fromkeys(kinds(names, mine, NameKind.COPY), 1)
    facts = forward(names, {kinds(names, mine, NameKind.PROGRAM)[0]: 1}, copies)
    assert {label: facts[name] for label, name in uses.items()} == {"2": 1, "3": 0, "4": 1}


def test_ranges_of_a_sum():
    """`i = 0; s = 0; while (i < 100) { i++; s += i; }` with seven names, and seven bits for i."""
    _, mine, _ = names_of(SUM, "essa", "i")
    assert len(mine) + 3 == 7
    build = ConstraintBuilder()
    zero, one, end, i2, i3, i4, s2, s3, i5 = build.names(9)
    for name, number in ((zero, 0), (one, 1), (end, 100)):
        build.define([name], Operator.CONSTANT, width=32, attribute=number)
    build.define([i2], Operator.JOIN, [zero, i4], width=32)
    build.define([i3], Operator.REFINE, [i2, end], width=32, attribute=Predicate.SLT)
    build.define([i5], Operator.REFINE, [i2, end], width=32, attribute=Predicate.SGE)
    build.define([i4], Operator.ADD, [i3, one], width=32, attribute=Flag.NSW)
    build.define([s2], Operator.JOIN, [zero, s3], width=32)
    build.define([s3], Operator.ADD, [s2, i4], width=32, attribute=Flag.NSW)
    facts = solve(build.constraints())
    texts = [str(facts[n]) for n in (i2, i3, i4, i5, s2, s3)]
    assert texts == ["0..100", "0..99", "1..100", "100", "0..2147483647", "1..2147483647"]
    assert facts[i2].n_bits == 7


def test_many_definitions_and_uses_are_linked_by_one_phi():
    """With 50 arms each, 100 links instead of 2,500."""
    arms = range(50)
    lines = ["start: -> " + " ".join(f"d{k}" for k in arms)]
    lines += [f"d{k}: a = -> middle" for k in arms]
    lines += ["middle: -> " + " ".join(f"u{k}" for k in arms)] + [f"u{k}: a" for k in arms]
    names, mine, uses = names_of("\n".join(lines), "ssa", "a")
    n_links = int((names.operands >= 0).sum()) + len(uses)
    assert n_links == 100
    first = kinds(names, mine, NameKind.PROGRAM)
    facts = forward(names, {name: 1 << k for k, name in enumerate(first)}, {})
    assert {facts[name] for name in uses.values()} == {(1 << 50) - 1}


def test_dead_code_is_what_no_one_needs():
    """`a = 1; b = 2; c = a + 1; print c`: constraints go from users to what they use."""
    a, b, c, shown = range(4)
    operands = {a: [c], b: [], c: [shown], shown: []}
    offsets = np.append(0, np.cumsum([len(operands[name]) for name in range(4)]))
    flat = [user for name in range(4) for user in operands[name]]
    assert _solved(4, offsets, np.array(flat), {shown: 1}, {}) == [1, 0, 1, 1]


def test_a_critical_edge_has_a_fact_of_its_own():
    """`if (v > 9) f(); use v`: behind the edge past `f` v is at most 9, in `f` it is above."""
    names, mine, _ = names_of("A: v = -> B C ? v\nB: v -> C\nC: v", "essa", "v")
    sigmas = kinds(names, mine, NameKind.SIGMA)
    (phi,) = kinds(names, mine, NameKind.PHI)
    assert len(sigmas) == 2
    build = ConstraintBuilder()
    build.names(names.n_names)
    nine = build.names(1)
    build.define(nine, Operator.CONSTANT, width=8, attribute=9)
    build.define(kinds(names, mine, NameKind.PROGRAM), Operator.ANY, width=8)
    for sigma, predicate in zip(sigmas, (Predicate.SGT, Predicate.SLE), strict=True):
        operands = [names.operands_of(sigma)[0], int(nine[0])]
        build.define([sigma], Operator.REFINE, operands, width=8, attribute=predicate)
    build.define([phi], Operator.JOIN, names.operands_of(phi), width=8)
    facts = solve(build.constraints())
    assert [str(facts[sigma]) for sigma in sigmas] == ["10..127", "at most 9"]
    assert facts[phi].is_any


def test_ssi_has_one_name_where_both_values_meet():
    names, mine, uses = names_of(CLASSES, "ssi", "v")
    one, other = kinds(names, mine, NameKind.PROGRAM)
    facts = forward(names, {one: 1, other: 2}, {})
    assert facts[uses["7"]] == 3

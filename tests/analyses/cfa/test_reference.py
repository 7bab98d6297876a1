"""The answer is exact where a plain reference can tell, whoever solves it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene import scheme
from kleene.analyses.cfa import CFA
from kleene.solvers.inclusion import difference, reference, solve
from tests.analyses.cfa.generator import layered, programs
from tests.analyses.cfa.observing import not_foreseen, observed, program_of
from tests.analyses.cfa.reference import Reference, lambdas

# The paper's running example.
EXAMPLE = """((lambda (v1 w1) (v1 v1 w1))
 (lambda (v2 w2) (w2 v2 w2))
 (lambda (v3 w3) (v3 v3 v3)))"""


def check_equal(core, reachable_only, m=0):
    result = CFA(reachable_only=reachable_only, m=m).run(core, device="cpu")
    expected = Reference(core, reachable_only, m)
    calls = {site: set(rows) for site, rows in result.reach.targets.items()}
    assert calls == {site: rows for site, rows in expected.targets.items() if rows}
    assert result.reach.reached == expected.reached()
    for variable in range(core.n_variables):
        found = {("pair" if v.kind == "pair" else "lambda", v.row) for v in result.held([variable])}
        assert found == expected.held(variable), core.names[variable]


@given(programs() | layered())
def test_equals_the_reference(text):
    core = scheme.parse(text, "t.scm")
    check_equal(core, reachable_only=False)
    for m in (0, 1, 2):
        check_equal(core, reachable_only=True, m=m)


def test_the_running_example_is_exact():
    core = scheme.parse(EXAMPLE, "t.scm")
    check_equal(core, reachable_only=False)
    result = core.cfa(reachable_only=False)
    one, two, three = sorted(lambdas(core), key=lambda row: core.at[row])
    held = {name: {v.row for v in result.flows(name)} for name in core.names}
    assert held == {
        "v1": {two}, "w1": {three}, "v2": {two}, "w2": {two, three}, "v3": {two},
        "w3": {two, three},
    }  # fmt: skip
    calls = {place: {v.row for v in result.calls(place)} for place in ("1:1", "1:18", "2:18")}
    assert calls == {"1:1": {one}, "1:18": {two}, "2:18": {two, three}}
    assert {v.row for v in result.calls("3:18")} == {two}


@given(programs(rich=True))
def test_every_solver_agrees(text):
    problem = CFA().constraints(scheme.parse(text, "t.scm")).problem
    expected = reference.solve(problem)
    for threads in (1, 2):
        assert difference(solve(problem, device="cpu", threads=threads), expected) is None


@given(programs(rich=True) | layered())
def test_runs_are_foreseen(text):
    core, notes = observed(program_of(text), max_steps=3000)
    every = {"reachable_only": False}
    for options in ({}, every, {"m": 1}, {"m": 2}, {"polyvariant_let": True}, {"m": 1, **every}):
        assert not_foreseen(core, notes, **options) == []


@given(programs(rich=True) | layered())
def test_longer_contexts_only_sharpen(text):
    core = scheme.parse(text, "t.scm")
    every = [core.cfa(reachable_only=False, m=m) for m in (0, 1)]
    results = [core.cfa(), core.cfa(polyvariant_let=True), core.cfa(m=1), core.cfa(m=2)]
    for coarse, fine in [*pairwise([every[0], *results]), tuple(every), (every[1], results[2])]:
        for site, rows in fine.reach.targets.items():
            assert set(rows) <= set(coarse.reach.targets[site])
        for variable in range(core.n_variables):
            assert set(fine.held([variable])) <= set(coarse.held([variable]))


@given(programs(rich=True) | layered(), st.integers(0, 400))
def test_a_budget_loses_nothing_and_only_sharpens(text, budget):
    core, notes = observed(program_of(text), max_steps=1000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kleene.analyses.cfa.analysis._FREE_ROWS", budget)
        patch.setattr("kleene.analyses.cfa.analysis._TIMES", 0)
        for options in ({"m": 1}, {"m": 2}, {"m": 2, "reachable_only": False}):
            assert not_foreseen(core, notes, **options) == []
        coarse, fine = core.cfa(m=1), core.cfa(m=2)
    for site, rows in fine.reach.targets.items():
        assert set(rows) <= set(coarse.reach.targets[site])
    for variable in range(core.n_variables):
        assert set(fine.held([variable])) <= set(coarse.held([variable]))


def test_procedures_with_too_many_contexts_have_one_and_are_named():
    pairs = [
        f"(define (f{i} k x) (let ((y (k x))) (if x"
        f" (f{i * 7 % 30} (lambda (z) (k (f{(i * i + 1) % 30} z y))) y)"
        f" (f{i * 11 % 30} k (lambda (w) (x w))))))"
        for i in range(30)
    ]
    uses = [f"(f{i} (lambda (v) v) f{i * 13 % 30})" for i in range(30)]
    core = scheme.parse("\n".join(pairs + uses), "t.scm")
    result = core.cfa(m=2)
    assert result.merged
    assert result.as_json()["merged"]
    assert len(result.system.problem.function_object) < 50 * core.n_rows
    assert scheme.parse("(define (f x) x) (f f)").cfa(m=2).merged == []


def test_a_context_tells_two_uses_apart():
    text = "(define (id x) x)\n((id (lambda () 1)))\n((id (lambda () 2)))"
    core = scheme.parse(text, "t.scm")
    assert [len(core.cfa(m=m).calls("2:1")) for m in (0, 1)] == [2, 1]


def test_contexts_do_not_ask_who_names_a_procedure():
    text = """(define (id x) x)
(define ids (list id))
(((car ids) (lambda () 1)))
(((car ids) (lambda () 2)))"""
    core = scheme.parse(text, "t.scm")
    assert [len(core.cfa(m=m).calls("3:1")) for m in (0, 1)] == [2, 1]


def test_a_longer_context_sees_through_a_wrapper():
    text = """(define (id x) x)
(define (wrap x) (id x))
((wrap (lambda () 1)))
((wrap (lambda () 2)))"""
    core = scheme.parse(text, "t.scm")
    assert [len(core.cfa(m=m).calls("3:1")) for m in (0, 1, 2)] == [2, 2, 1]


def test_a_closure_keeps_what_it_captured_apart():
    text = """(define (keep x) (lambda () x))
(define one (keep (lambda () 1)))
(define two (keep (lambda () 2)))
((one))
((two))
(define (cell x) (lambda (new) (set! x new) x))
(((cell 1) (lambda () 3)))
(((cell 2) (lambda () 4)))"""
    core = scheme.parse(text, "t.scm")
    for place in ("4:1", "7:1"):
        assert [len(core.cfa(m=m).calls(place)) for m in (0, 1)] == [2, 1]


def test_polyvariant_let_tells_local_uses_apart():
    text = "(let ((id (lambda (x) x)))\n((id (lambda () 1)))\n((id (lambda () 2))))"
    core = scheme.parse(text, "t.scm")
    found = [len(core.cfa(polyvariant_let=let).calls("2:1")) for let in (False, True)]
    assert found == [2, 1]

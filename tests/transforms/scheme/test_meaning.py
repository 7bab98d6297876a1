"""What a program prints, and whether it fails, is the same in CPS and in binary CPS."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from kleene import scheme
from kleene.ir.scheme import core as columns
from kleene.transforms.scheme import Derived, is_cps, to_binary, to_cps
from kleene.transforms.scheme.language import objections
from tests.frontends.scheme.helpers import PROGRAMS as ALL_PROGRAMS
from tests.transforms.scheme.generator import programs
from tests.transforms.scheme.running import PROGRAMS, outcome

# Programs with data that CPS can carry, though the abstract encodings cannot.
WITH_DATA = ("cps", "coroutines", "lambda_calculus", "libraries", "prolog_like")


def steps_of(core):
    converted = to_cps(Derived.of(core))
    return converted, to_binary(converted)


def check_same(core, expected, max_steps=3_000_000):
    for step in steps_of(core):
        assert is_cps(step.core)
        assert outcome(step.core, max_steps) == expected


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_print_the_same(path):
    core = scheme.load(path)
    expected = outcome(core)
    assert expected[1], "a program that prints nothing shows nothing"
    check_same(core, expected)


@pytest.mark.parametrize("name", WITH_DATA)
def test_cps_carries_data(name):
    core = scheme.load(ALL_PROGRAMS / f"{name}.scm")
    assert objections(core, with_data=True) == []
    check_same(core, outcome(core))


@given(programs(arities=(1,), with_escapes=True))
def test_random_programs_of_one_arity(text):
    core = scheme.parse(text, "t.scm")
    expected = outcome(core, 500)
    if expected != "scheme/step-limit":
        check_same(core, expected, 20_000)


@given(programs())
def test_wrong_numbers_of_arguments_fail_as_before(text):
    core = scheme.parse(text, "t.scm")
    expected = outcome(core, 500)
    if expected != "scheme/step-limit":
        check_same(core, expected, 20_000)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("(define x 1) (display (- x (begin (set! x 10) x)))", "-9"),
        ("(define (f x) (display (+ x (begin (set! x 10) x)))) (f 1)", "11"),
        ("(define (one) (display 1) 1) (define (two) (display 2) 2) (- (one) (two))", "12"),
        ("(if (if #f 1 #f) (display 'yes) (display 'no))", "no"),
        ("(define (f) (define a 1) (define b (+ a 1)) (display b)) (f)", "2"),
    ],
)
def test_order_is_kept(text, printed):
    core = scheme.parse(text)
    assert outcome(core)[1] == printed
    check_same(core, outcome(core))


@given(programs(with_escapes=True))
def test_binary_is_binary(text):
    _, step = steps_of(scheme.parse(text, "t.scm"))
    core = step.core
    assert (core.n_bound[core.kind == columns.LAMBDA] == 2).all()
    calls = np.flatnonzero(core.kind == columns.CALL)
    operators = core.operands[core.operand_offsets[calls]]
    calls = calls[core.kind[operators] != columns.PRIMITIVE]
    assert (np.diff(core.operand_offsets)[calls] == 3).all()


def test_binary_cps_stays_as_it_is():
    core = scheme.parse("((lambda (f g) (f g g)) (lambda (a b) (b a a)) (lambda (c d) (c 1 2)))")
    assert is_cps(core)
    step = to_binary(Derived.of(core))
    assert sorted(step.core.kind.tolist()) == sorted(core.kind.tolist())
    assert set(core.names) == set(step.core.names)


@pytest.mark.parametrize(
    "text",
    [
        "((lambda (f) (f (f 1))) 1)",
        "((lambda (f) (f (+ 1 (+ 2 3)))) 1)",
        "((lambda (f) (f +)) 1)",
        "((lambda (f) (call/cc f)) 1)",
        "((lambda (f) (f (if 1 2 3))) 1)",
        "((lambda (f) (set! f 1)) 1)",
        "1 2",
    ],
)
def test_what_is_no_cps(text):
    assert not is_cps(scheme.parse(text))


def test_deep_nesting_is_no_problem():
    text = "(define (f x) x)\n" + "(f " * 20_000 + "1" + ")" * 20_000
    core = scheme.parse(text)
    assert to_binary(to_cps(Derived.of(core))).core.n_rows > core.n_rows

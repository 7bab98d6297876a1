"""What the EigenCFA pipeline does not carry is refused, with its place."""

from __future__ import annotations

import pytest

from kleene import scheme
from kleene.base.errors import SourceError
from kleene.transforms.scheme import Derived, terms_of, to_cps


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("(define (f . r) r)", (1, 1), "rest argument"),
        ("(define f (lambda (x . r) r))", (1, 11), "rest argument"),
        ("(display (map car 1))", (1, 11), "map calls procedures"),
        ("(define (g f) (f 1))\n(g call/cc)", (2, 4), "call/cc calls procedures"),
        ("(call/cc car cdr)", (1, 2), "call/cc calls procedures"),
        ("(define (g f) (f 1))\n(g +)", (2, 4), "+ as a value"),
        ("(set! car 1)", (1, 1), "the primitive car is assigned"),
    ],
)
def test_cps_refuses(text, place, words):
    with pytest.raises(SourceError, match=words.replace("+", r"\+")) as caught:
        to_cps(Derived.of(scheme.parse(text, "t.scm")))
    error = caught.value
    assert error.id == "cps/no-form"
    assert (error.span.line, error.span.column) == place


@pytest.mark.parametrize(
    "text", ["(cons 1 2)", "(memv 1 (f))", "(vector-set! v 0 1)", "(car '(1))"]
)
def test_the_abstract_encodings_refuse_data(text):
    core = scheme.parse(text, "t.scm")
    to_cps(Derived.of(core))
    with pytest.raises(SourceError, match="works on data") as caught:
        terms_of(core)
    assert caught.value.id == "cps/no-form"


def test_all_objections_come_at_once_in_the_order_of_the_text():
    with pytest.raises(SourceError) as caught:
        terms_of(scheme.parse("(cons 1 2)\n(define (f . r) (car r))", "t.scm"))
    assert [error.span.line for error in caught.value] == [1, 2, 2]


def test_case_is_carried():
    assert terms_of(scheme.parse("(define (f x) (case x ((1 2) 3) (else 4)))")).n_lambdas

"""Every form of R7RS-small, run."""

from __future__ import annotations

import pytest

from tests.frontends.scheme.helpers import examples, output, value

FORMS = examples("forms.scm")


@pytest.mark.parametrize(("text", "expected"), FORMS)
def test_forms(text, expected):
    assert value(text) == expected


def test_included_files_run_where_they_stand(tmp_path):
    (tmp_path / "part.scm").write_text("(define x 1) (display x)")
    text = f'(display 0) (include "{tmp_path}/part.scm") (display (+ x 1))'
    assert output(text) == "012"


def test_a_promise_that_forces_itself():
    body = "(begin (set! x (+ x 1)) (if (> x 10) x (force p)))"
    assert value(f"(define x 5) (define p (delay {body})) (force p)") == "11"


def test_letrec_names_have_no_value_yet():
    text = "(guard (e (#t (error-object-message e))) (letrec ((a b) (b 1)) a))"
    assert value(text) == '"a variable is used before it has a value"'


def test_datum_labels_in_quotations():
    assert value("(let ((x '#0=(a b . #0#))) (list (car x) (eq? x (cddr x))))") == "(a #t)"
    assert value("'#0=(a #(#0#))") == "#0=(a #(#0#))"
    assert value("(let ((x '(#1=(1) #1#))) (eq? (car x) (cadr x)))") == "#t"

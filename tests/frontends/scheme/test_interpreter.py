"""The machine: tail calls, continuations, conditions, observers, limits, printing."""

from __future__ import annotations

import pytest

from kleene.base.errors import SourceError
from kleene.frontends.scheme.expansion import Expansion
from kleene.frontends.scheme.interpreter import run, run_text
from kleene.frontends.scheme.interpreter.objects import Closure
from kleene.ir.scheme import core as columns
from tests.frontends.scheme.helpers import output, value


@pytest.mark.parametrize(
    "text",
    [
        "(define (f n) (if (= n 0) 'done (f (- n 1)))) (f 100000)",
        "(define (f n) (cond ((= n 0) 'done) (else (f (- n 1))))) (f 100000)",
        "(define (f n) (and #t (or #f (when #t (case 1 ((1) (if (= n 0) 'done (f (- n 1)))))))))"
        " (f 30000)",
        "(define (f n) (apply (lambda (m) (if (= m 0) 'done (f (- m 1)))) (list n))) (f 50000)",
        "(define (e? n) (if (= n 0) 'done (o? (- n 1)))) (define (o? n) (e? (- n 1))) (e? 100000)",
        "(define (f n) (call/cc (lambda (k) (if (= n 0) 'done (f (- n 1)))))) (f 50000)",
        "(define (f n) (call-with-values (lambda () (values n 1))"
        " (lambda (a b) (if (= a 0) 'done (f (- a b)))))) (f 30000)",
        "(do ((i 0 (+ i 1))) ((= i 100000) 'done))",
    ],
)
def test_tail_calls_need_no_space(text):
    assert value(text) == "done"


def test_deep_recursion_needs_no_stack_of_pythons():
    assert value("(define (f n) (if (= n 0) 0 (+ 1 (f (- n 1))))) (f 50000)") == "50000"
    assert value("(" + "+ 1 (" * 5000 + "+ 0" + ")" * 5001) == "5000"
    assert value("(apply + (map (lambda (x) 1) (iota 20000)))") == "20000"


def test_continuations_can_be_entered_again():
    text = """
      (define k #f) (define n 0)
      (define (test)
        (let ((x (call/cc (lambda (c) (set! k c) 0))))
          (set! n (+ n 1))
          (if (< n 4) (k n) (list x n))))
      (write (test))"""
    assert output(text) == "(3 4)"


def test_arguments_already_evaluated_are_as_they_were():
    text = """
      (define k #f) (define n 0)
      (define (count) (set! n (+ n 1)) n)
      (define result (list (count) (call/cc (lambda (c) (set! k c) 'first)) (count)))
      (write result)
      (if (< n 5) (k 'again))"""
    assert output(text) == "(1 first 2)(1 again 3)(1 again 4)(1 again 5)"


def test_map_survives_a_second_return():
    text = """
      (let ((k* #f) (y* 1))
        (set! y* (* y* 2))
        (let ((r (map (lambda (x) (call/cc (lambda (k) (if (= x 2) (set! k* k)) x))) '(1 2 3))))
          (if k* (let ((k k*)) (set! k* #f) (write r) (k 'two)) (write r))))"""
    assert output(text) == "(1 2 3)(1 two 3)"


def test_exit_ends_the_program_after_leaving_winders():
    thunks = "(lambda () (display 1)) (lambda () (exit 3)) (lambda () (display 2))"
    text = f"(dynamic-wind {thunks}) (display 4)"
    assert output(text) == "12"


UNCAUGHT = [
    ("(define (f x)\n  (car x))\n(f 5)", "t.scm:2:3", "car: not a pair 5"),
    ("(+ 1\n (nothing 2))", "t.scm:2:2", "unbound variable nothing"),
    ("(raise 'boom)", "t.scm:1:1", "nothing handles the condition boom"),
    ('(error "bad" 1 "two")', "t.scm:1:1", 'bad 1 "two"'),
    ("((lambda (x) x))", "t.scm:1:1", "a procedure is called with 0 arguments"),
    ("(car)", "t.scm:1:1", "car is called with 0 arguments"),
    ("(5 6)", "t.scm:1:1", "what is called is no procedure 5"),
    ("(vector-ref #(1) 1)", "t.scm:1:1", "vector-ref: list index out of range #(1) 1"),
    ("(set! nothing 1)", None, "an unbound variable is assigned nothing"),
    ("(with-exception-handler (lambda (e) 0) (lambda () (raise 'x)))", None,
     "a handler returned from a condition that cannot be continued"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "message"), UNCAUGHT)
def test_uncaught_conditions(text, place, message):
    with pytest.raises(SourceError) as caught:
        run_text(text, "t.scm")
    assert caught.value.id == "scheme/uncaught"
    assert caught.value.message == message
    assert place is None or str(caught.value.span) == place


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("(let loop () (loop))", 14),
        ("(define (f) (guard (e (#t (f))) (car 1))) (f)", 13),
        ("(with-exception-handler (lambda (e) 1)"
         " (lambda () (let loop () (raise-continuable 2) (loop))))", 1),
    ],
)  # fmt: skip
def test_steps_are_limited(text, column):
    with pytest.raises(SourceError) as caught:
        run_text(text, max_steps=20_000)
    assert caught.value.id == "scheme/step-limit"
    assert caught.value.message == "more than 20000 steps"
    assert str(caught.value.span) == f"<text>:1:{column}"


class Witness:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.calls: set[tuple[int, int]] = set()
        self.bindings: list[tuple[int, object]] = []
        self.met_at: list[tuple[int, object, int]] = []

    def called(self, site, row):
        self.calls.add((site, row))

    def met(self, site, procedure, n_arguments):
        self.met_at.append((site, procedure, n_arguments))

    def bound(self, variable, value):
        self.bindings.append((variable, value))


def observed(text):
    """Return the calls seen as (site, lambda) places, and the bindings by the variable's name."""
    program = Expansion()
    program.add(program.sources.add("t.scm", text.encode()))
    witness = Witness()
    run(program, observer=witness)
    core = program.core()
    for site, row in witness.calls:
        assert core.kind[site] == columns.CALL
        assert core.kind[row] == columns.LAMBDA
    calls = {(str(core.span(site)), str(core.span(row))) for site, row in witness.calls}
    return calls, [(core.names[variable], value) for variable, value in witness.bindings]


def test_observers_see_calls_and_bindings():
    calls, bindings = observed("(define (f g)\n  (g 1))\n(f (lambda (x) x))")
    assert calls == {("t.scm:2:3", "t.scm:3:4"), ("t.scm:3:1", "t.scm:1:1")}
    names = [name for name, _ in bindings]
    assert names == ["f", "g", "x"]
    assert isinstance(dict(bindings)["g"], Closure)
    assert dict(bindings)["x"] == 1


def test_calls_by_a_primitive_belong_to_the_site_that_called_it():
    calls, _ = observed("(define (twice x) (* 2 x))\n(map twice\n  '(1 2))")
    assert calls == {("t.scm:2:1", "t.scm:1:1")}
    calls, _ = observed("(sort '(2 1)\n  (lambda (a b) (< a b)))")
    assert calls == {("t.scm:1:1", "t.scm:2:3")}
    calls, _ = observed("(define m map)\n(m (lambda (x) x) '(1))")
    assert ("t.scm:2:1", "t.scm:2:4") in calls
    calls, _ = observed("(map (lambda (x)\n  (map (lambda (y) y) x)) '((1)))")
    assert calls == {("t.scm:1:1", "t.scm:1:6"), ("t.scm:2:3", "t.scm:2:8")}


def test_calls_through_control_are_seen():
    calls, _ = observed(
        "(call/cc (lambda (k)\n (dynamic-wind (lambda () 1) (lambda () (k 2)) (lambda () 3))))"
    )
    assert {site for site, _ in calls} == {"t.scm:1:1", "t.scm:2:2"}
    assert len(calls) == 4


def test_letrec_and_set_bindings_are_seen():
    _, bindings = observed("(define (f) (define a 1) (set! a 2) a) (f)")
    assert [pair for pair in bindings if pair[0] == "a"] == [("a", 1), ("a", 2)]


WRITTEN = [
    ("'(1 . (2 . (3 . ())))", "(1 2 3)"),
    ("'(quote x)", "'x"),
    ("'(quote x y)", "(quote x y)"),
    ("'(quote . x)", "(quote . x)"),
    ("'|a b|", "|a b|"),
    ("(string->symbol \"\")", "||"),
    ("(string->symbol \"12\")", "|12|"),
    ("'(#\\a #\\space #\\x7f #\\nul)", "(#\\a #\\space #\\delete #\\null)"),
    ("\"a\\\"b\\\\\\n\"", '"a\\"b\\\\\\n"'),
    ("car", "#<procedure>"),
    ("(lambda () 1)", "#<procedure>"),
    ("(list 1.5 1e21 1e-7 100.0 -0.0 1/2)", "(1.5 1e21 1e-7 100.0 -0.0 1/2)"),
    ("(let ((x (list 1))) (list x x))", "((1) (1))"),
    ("(let ((x (list 1))) (set-cdr! x x) x)", "#0=(1 . #0#)"),
    ("(let ((v (vector 1 2))) (vector-set! v 0 v) v)", "#0=#(#0# 2)"),
    ("(make-parameter 1)", "#<parameter>"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), WRITTEN)
def test_written(text, expected):
    assert value(text) == expected


def test_display_write_shared_and_simple():
    assert output('(display (list "a" #\\b \'c))') == "(a b c)"
    assert output("(let ((x (list 1))) (write-shared (list x x)))") == "(#0=(1) #0#)"
    assert output("(let ((x (list 1))) (write-simple (list x x)))") == "((1) (1))"


def test_deep_values_are_written_and_compared():
    nested = "(define (nest n x) (if (= n 0) x (nest (- n 1) (list x))))"
    assert output(f"{nested} (write (nest 20000 1))") == "(" * 20000 + "1" + ")" * 20000
    assert value(f"{nested} (equal? (nest 20000 1) (nest 20000 1))") == "#t"


def test_standard_input():
    assert (
        output("(display (read-line)) (display (read))", typed="one two\n(3 4)") == "one two(3 4)"
    )


def test_load_adds_to_the_program(tmp_path):
    (tmp_path / "part.scm").write_text("(define (added x) (* x 10))")
    assert output(f'(load "{tmp_path}/part.scm") (display (eval \'(added 5)))') == "50"


def test_files(tmp_path):
    name = tmp_path / "out.txt"
    text = f"""
      (call-with-output-file "{name}" (lambda (p) (write '(1 2) p)))
      (write (file-exists? "{name}"))
      (write (call-with-input-file "{name}" read))
      (with-input-from-file "{name}" (lambda () (write (read-char))))
      (delete-file "{name}")
      (write (file-exists? "{name}"))"""
    assert output(text) == "#t(1 2)#\\(#f"

"""Types of values: what primitives take and return, and what tests tell about variables."""

from __future__ import annotations

import os

import pytest

from kleene.analyses.cfa.type_sets import ANY, BITS, ONE, counts, several, signatures
from kleene.analyses.cfa.types import Types
from kleene.frontends import scheme
from kleene.frontends.scheme.interpreter import run_text
from kleene.ir.scheme.primitives import table
from kleene.ir.scheme.values import items_of
from tests.analyses.cfa.observing import observed_type

# Expressions for values of each type
SAMPLES = {
    "false": "#f",
    "true": "#t",
    "number": "1",
    "symbol": "'a",
    "string": '"ab"',
    "character": "#\\a",
    "null": "'()",
    "pair": "(list (list 1 2) (list 3 4))",
    "vector": "(vector 1 2)",
    "bytevector": "(bytevector 1 2)",
    "procedure": "(lambda x (if (pair? x) (car x) '()))",
    "box": "(box 1)",
    "table": "(make-hash-table)",
    "promise": "(delay 1)",
    "record": "(make-point 1)",
    "port": '(open-input-string "ab")',
    "eof": "(eof-object)",
}
HEAD = "(define-record-type point (make-point x) point? (x point-x))\n"
# They end the run, read or write files, or have no value that can be looked at.
OUTSIDE = {"exit", "emergency-exit", "delete-file", "get-environment-variable"}
OUTSIDE |= {name for name in table() if "file" in name or name.startswith("%")}
PLAIN = sorted(set(signatures()) - OUTSIDE - {"unfold"})  # it may go on for ever
# Where R7RS and the SRFIs say what an argument must be, and our interpreter does without: what is
# no pair ends a list, procedures that come to no call may be anything, Python takes Booleans.
LAX = {
    "alist->hash-table", "angle", "any", "append-map", "assoc", "atan", "bytevector",
    "bytevector-u8-set!", "count", "every", "filter-map", "find", "find-tail",
    "flush-output-port", "fold", "fold-left", "fold-right", "for-each", "hash",
    "hash-by-identity", "hash-table-fold", "hash-table-merge!", "hash-table-ref",
    "hash-table-walk", "list-index", "make-bytevector", "make-polar", "make-rectangular", "map",
    "member", "string-ci-hash", "string-hash", "with-exception-handler",
}  # fmt: skip
QUICK = ("false", "number", "string")
DEEP = "KLEENE_DEEP" in os.environ


def fitting(types):
    """Return the sample of the first type among these that a call is most likely to take."""
    liked = ("number", "pair", "procedure", "string", "vector")
    names = [name for name in (*liked, *SAMPLES) if types & BITS[name]]
    return SAMPLES[names[0]] if names else SAMPLES["number"]


def calls(name):
    """Yield (call, whether the types are wrong): all arguments right, then each in turn another."""
    row, signature = table()[name], signatures()[name]
    most = row.n_least + 2 if row.n_most is None else row.n_most
    for n in {row.n_least, most}:
        takes = [signature.argument(i, n) for i in range(n)]
        right = [fitting(types) for types in takes]
        yield f"({name} {' '.join(right)})", False
        for i, types in enumerate(takes):
            for kind in SAMPLES if DEEP else QUICK:
                given = [*right[:i], SAMPLES[kind], *right[i + 1 :]]
                yield f"({name} {' '.join(given)})", not types & BITS[kind]


def test_the_table_is_about_primitives_and_their_arguments():
    for name, signature in signatures().items():
        row = table()[name]
        assert row.n_most is None or len(signature.fixed) <= row.n_most, name


@pytest.mark.parametrize("name", PLAIN)
def test_primitives_refuse_what_the_table_says_and_return_what_it_says(name):
    tried = list(calls(name))
    each = " ".join(f"(guard (e (#t '%refused)) {call})" for call, _ in tried)
    values = list(items_of(run_text(f"{HEAD}(list {each})").value))
    assert len(values) == len(tried)
    for (call, is_wrong), value in zip(tried, values, strict=True):
        if value == "%refused":
            continue
        assert not is_wrong or name in LAX, call
        assert is_wrong or observed_type(value) & signatures()[name].result, call


def types_of(text, variable):
    core = scheme.parse(text, "t.scm")
    return Types(core.cfa(device="cpu").reach).variable(core.names.index(variable))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(define v 1)", ["number"]),
        ("(define v (if (read) 1 \"a\"))", ["number", "string"]),
        ("(define v #f) (set! v 'a)", ["false", "symbol"]),
        ("(define (f v) 1) (f 1) (f #\\a)", ["number", "character"]),
        ("(define (f v) 1) (if #f (f 1))", ["number"]),
        ("(define (f . v) 1) (f 1)", ["null", "pair"]),
        ("(define (f x) x) (define v (f (f '())))", ["null"]),
        ("(define v car)", ["procedure"]),
        ("(define c char-upcase) (define v (c #\\a))", ["character"]),
        ("(define v (let loop ((i 0)) (if (< i 9) (loop (+ i 1)) \"done\")))", ["string"]),
        ("(define v (assq 'a '()))", ["false", "pair"]),
        ("(define (f x) (if (pair? x) (g x) 0)) (define (g v) 1) (f (read))", ["pair"]),
        ("(define (f x) (if (null? x) 0 (g x))) (define (g v) 1) (f '()) (f '(1))", ["pair"]),
        ("(define (f x) (and (not (null? x)) (g x))) (define (g v) 1) (f '()) (f 1)", ["number"]),
        ("(define (f x) (or (symbol? x) (g x))) (define (g v) 1) (f 'a) (f 1)", ["number"]),
        (
            "(define (f x) (let ((p (pair? x))) (if p (g x)))) (define (g v) 1) (f '(1)) (f 1)",
            ["pair"],
        ),
        ("(define (f x) (if x (g x))) (define (g v) 1) (f #f) (f 1)", ["number"]),
        ("(define v (error \"no\"))", []),
        ("(define (f x) (if (pair? x) (begin (set! x 1) (g x)))) (define (g v) 1) (f '(1))",
         ["number", "pair"]),
    ],
)  # fmt: skip
def test_types_of_variables(text, expected):
    assert types_of(text, "v") == sum(BITS[name] for name in expected)


@pytest.mark.parametrize(
    "text",
    [
        "(define v (car '(1)))",
        "(define v (read))",
        "(define v (nothing 1))",
        "(define (f v) 1) (map f '(1))",
        "(define (f v) 1) (apply f '(1))",
        "(define (f v) 1) (nothing f)",
        '(define v 1) (eval \'(set! v "a") (interaction-environment))',
        "(define v (call/cc (lambda (k) (k 1))))",
        "(define v (dynamic-wind car car car))",
        "(define p (make-parameter 1)) (define v (p))",
        "(define v (values 1 2)) (define v (read))",
    ],
)
def test_what_is_not_known_is_anything(text):
    assert types_of(text, "v") == ANY


def test_how_many_values():
    assert counts(BITS["number"] | several(2)) == [1, 2]
    assert counts(several(0)) == [0]
    assert counts(ANY) is None
    assert counts(several(9)) is None
    assert counts(0) == []
    assert counts(ONE) == [1]


def test_deep_nests_of_tests_and_lets_are_no_problem():
    deep = "(if (pair? x) " * 3000 + "(car x)" + " 0)" * 3000
    assert types_of(f"(define (f x) {deep}) (define v (f 1))", "v") == ANY
    lets = "(let ((x (if x x 1))) " * 3000 + "x" + ")" * 3000
    assert types_of(f"(define (f x) {lets}) (define v (f #f))", "v") == BITS["number"]

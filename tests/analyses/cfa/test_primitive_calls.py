"""Any primitive with any arguments: what it calls, keeps and returns is foreseen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kleene.ir.scheme.primitives import INTERNAL, table
from tests.analyses.cfa.observing import not_foreseen, observed, program_of

OUTSIDE = {"exit", "emergency-exit", "load", "delete-file", "command-line"}  # of no use here
NAMES = sorted(
    name
    for name, row in table().items()
    if row.library != INTERNAL and name not in OUTSIDE and "file" not in name
)
HIGHER = sorted(name for name in NAMES if table()[name].effect not in ("pure", "port"))
ARGUMENTS = [
    "(lambda () 1)", "(lambda (a) a)", "(lambda (a b) b)", "(lambda r r)", "(lambda (a) (a))",
    "(lambda (a b) (cons a b))", "(list f)", "(list f (lambda (c) c))", "(cons 1 f)", "(vector f)",
    "(list (cons f f) (cons 1 f))", "(list (list f) (list f))", "(box f)", "(delay f)",
    "(delay-force (delay f))", "(make-parameter f)", "t", "1", "0", "'()", "\"text\"", "#\\a", "f",
    "'(1 2)", "car", "list", "values", "for-each", "apply", "call/cc", "(lambda (a) (a f))",
]  # fmt: skip
FORMS = [
    "({name} {a})",
    "((vector-ref (vector {name}) 0) {a})",
    "(apply {name} (list {a}))",
    "(call-with-values (lambda () (values {a})) {name})",
    "(map {name} (list {a}))",
]
PROBE = """(define (f . r) (if (pair? r) (car r) f))
(define t (make-hash-table))
(hash-table-set! t 1 f)
(define (probe x)
  (cond ((procedure? x) (x)) ((pair? x) (probe (car x)) (probe (cdr x)))
        ((vector? x) (vector-for-each probe x)) ((promise? x) (force x))
        ((box? x) (unbox x)) ((hash-table? x) (hash-table-walk x (lambda (k v) (v))))))
"""


@st.composite
def uses(draw):
    """Return a program that calls a primitive, as such or as a value, and probes its result."""
    name = draw(st.sampled_from(HIGHER) | st.sampled_from(NAMES))
    least, most = table()[name].n_least, table()[name].n_most
    n = draw(st.integers(least, least + 3 if most is None else most))
    arguments = " ".join(draw(st.sampled_from(ARGUMENTS)) for _ in range(n))
    form = draw(st.sampled_from(FORMS))
    use = form.format(name=name, a=arguments)
    return f"{PROBE}(call-with-values (lambda () {use}) (lambda r (for-each probe r)))"


@given(st.lists(uses(), min_size=8, max_size=8))
def test_what_primitives_do_is_foreseen(texts):
    for text in texts:
        core, notes = observed(program_of(text), max_steps=5_000)
        for options in ({}, {"reachable_only": False}):
            assert not_foreseen(core, notes, **options) == [], text


def test_no_number_of_arguments_is_too_odd():
    calls = [f"({name}{' f' * n})" for name in NAMES for n in range(5)]
    core = program_of("(define (f . r) r)\n" + "\n".join(calls)).core()
    result = core.cfa(m=1)
    known = {finding.rule.id for finding in result.findings()}
    assert "cfa/call-arity" in known

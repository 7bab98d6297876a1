"""The expander: the core it makes, hygiene, libraries, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.base.errors import SourceError
from kleene.frontends.scheme import load, parse
from kleene.frontends.scheme.text import core_text
from kleene.ir.scheme import core as columns
from tests.frontends.scheme.helpers import PROGRAMS, fault, value

CORE = [
    ("(lambda (x . y) x)", "(lambda (x.0 . y.1) x.0)"),
    ("(lambda x x)", "(lambda x.0 x.0)"),
    ("(define (f x) (f x))", "(define f.0 (lambda (x.1) (f.0 x.1)))"),
    ("(define ((f a) b) a)", "(define f.0 (lambda (a.1) (lambda (b.2) a.1)))"),
    ("(car '(a))", "(car '(a))"),
    ("(let ((x 1) (y 2)) (+ x y))", "((lambda (x.0 y.1) (+ x.0 y.1)) 1 2)"),
    ("(let* ((x 1) (x x)) x)", "((lambda (x.0) ((lambda (x.1) x.1) x.0)) 1)"),
    ("(letrec ((f (lambda () f))) f)", "(letrec ((f.0 (lambda () f.0))) f.0)"),
    ("(let loop ((i 0)) (loop i))", "((letrec ((loop.0 (lambda (i.1) (loop.0 i.1)))) loop.0) 0)"),
    ("(if 1 2)", "(if 1 2 unspecified)"),
    ("(when 1 2 3)", "(if 1 (begin 2 3) unspecified)"),
    ("(unless 1 2)", "(if 1 unspecified 2)"),
    ("(and 1 2 3)", "(if 1 (if 2 3 #f) #f)"),
    ("(and)", "#t"),
    ("(or)", "#f"),
    ("(or 1 2)", "((lambda (value.0) (if value.0 value.0 2)) 1)"),
    ("(cond (1 2) (else 3))", "(if 1 2 3)"),
    ("(cond (1 => car))", "((lambda (value.0) (if value.0 (car value.0) unspecified)) 1)"),
    ("(case 1 ((2) 3) ((4 5) 6) (else 7))",
     "((lambda (key.0) (if (eqv? key.0 2) 3 (if (memv key.0 '(4 5)) 6 7))) 1)"),
    ("(do ((i 0 (+ i 1))) ((= i 3) i))",
     "((letrec ((do.0 (lambda (i.1) (if (= i.1 3) i.1 (do.0 (+ i.1 1)))))) do.0) 0)"),
    ("(define (f) (define a 1) (define (g) a) (g))",
     "(define f.0 (lambda () (letrec ((a.1 1) (g.2 (lambda () a.1))) (g.2))))"),
    ("(delay 1)", "(%delay (lambda () 1))"),
    ("(case-lambda ((a) 1) (b 2))", "(%case-lambda (lambda (a.0) 1) (lambda b.1 2))"),
    ("(parameterize ((p 1)) 2)", "(%parameterize (lambda () 2) p.0 1)"),
    ("(guard (e (e 1)) 2)",
     "(%guard (lambda () 2) (lambda (e.0 reraise.1) (if e.0 1 (reraise.1))))"),
    ("(let-values (((a . b) 1)) a)",
     "(call-with-values (lambda () 1) (lambda (a.0 . b.1) a.0))"),
    ("`(1 ,car . ,cdr)", "(cons 1 (cons car cdr))"),
    ("`(,@x 2 3)", "(append x.0 '(2 3))"),
    ("`#(1 ,x)", "(list->vector (cons 1 (cons x.0 '())))"),
    ("`(1 (2 3) #(4))", "'(1 (2 3) #(4))"),
    ("(define car 1) car", "(define car.0 1)\ncar.0"),
    ("(define (f) (cdr 1)) (define (cdr x) x)",
     "(define f.0 (lambda () (cdr.1 1)))\n(define cdr.1 (lambda (x.2) x.2))"),
    ("(define if list) (if 1 2 3)", "(define if.0 list)\n(if.0 1 2 3)"),
    ("(begin (define x 1) (set! x 2))", "(define x.0 1)\n(set! x.0 2)"),
    ("(let () (define-syntax m (syntax-rules () ((_ x) (quote x)))) (m a))", "((lambda () 'a))"),
    ("#(1 a)", "'#(1 a)"),
    ("(cond-expand ((and r7rs (not nothing)) 1) (else 2))", "1"),
    ("(cond-expand ((library (scheme base)) 1) (else 2))", "1"),
    ("(cond-expand ((library (no such)) 1) ((or kleene x) 2))", "2"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CORE)
def test_core(text, expected):
    assert core_text(parse(text)) == expected


HYGIENE = [
    # an inserted binding captures no name of the user's
    ("""(define-syntax swap! (syntax-rules () ((_ a b) (let ((tmp a)) (set! a b) (set! b tmp)))))
        (let ((tmp 1) (other 2)) (swap! tmp other) (list tmp other))""", "(2 1)"),
    # an inserted reference means what it meant where the macro was defined
    ("""(define x 'top) (define-syntax get (syntax-rules () ((_) x)))
        (let ((x 'inner)) (get))""", "top"),
    ("""(let ((x 'outer))
          (let-syntax ((get (syntax-rules () ((_) x)))) (let ((x 'inner)) (get))))""", "outer"),
    # keywords can be shadowed, and macros are not fooled
    ("(let ((if list)) (if 1 2 3))", "(1 2 3)"),
    ("""(define-syntax my-if (syntax-rules () ((_ a b c) (cond (a b) (else c)))))
        (let ((if list) (cond list) (else #f)) (my-if #f 1 2))""", "2"),
    ("(let ((else #f)) (cond (else 1) (#t 2)))", "2"),
    ("(let ((=> #f)) (cond (#t => 'ok)))", "ok"),
    # letrec-syntax sees itself, let-syntax does not
    ("""(letrec-syntax ((ev? (syntax-rules () ((_) #t) ((_ x . r) (od? . r))))
                        (od? (syntax-rules () ((_) #f) ((_ x . r) (ev? . r)))))
          (list (ev? 1 2) (ev? 1 2 3)))""", "(#t #f)"),
    ("""(define-syntax m (syntax-rules () ((_) 'outer)))
        (let-syntax ((m (syntax-rules () ((_) 'inner) ((_ x) (m))))) (m 1))""", "outer"),
    # each expansion has names of its own
    ("""(define-syntax my-or2 (syntax-rules () ((_ a b) (let ((t a)) (if t t b)))))
        (let ((t 5)) (my-or2 #f (my-or2 #f t)))""", "5"),
    # a macro that defines: the inserted name stays private, the given one does not
    ("""(define-syntax def (syntax-rules () ((_ n v)
          (begin (define hidden v) (define n (+ hidden 1))))))
        (define hidden 100) (def a 1) (def b 10) (list a b hidden)""", "(2 11 100)"),
    ("""(define-syntax def (syntax-rules () ((_ n v) (begin (define hidden v) (define n hidden)))))
        (let () (def a 1) (def b 2) (list a b))""", "(1 2)"),
    # macros that make macros
    ("""(define-syntax make (syntax-rules () ((_ name x)
          (define-syntax name (syntax-rules () ((_ y) (list x y)))))))
        (define z 1) (make pair-with z) (let ((z 2)) (pair-with z))""", "(1 2)"),
    ("""(define-syntax make (syntax-rules () ((_ name)
          (define-syntax name (syntax-rules () ((_ a (... ...)) (list a (... ...))))))))
        (make l) (l 1 2 3)""", "(1 2 3)"),
    # quoted symbols lose their renaming
    ("(define-syntax q (syntax-rules () ((_ a) '(a inserted #(inserted)))))  (q x)",
     "(x inserted #(inserted))"),
    # a loop whose body may leave by a name that the user gives
    ("""(define-syntax loop-until (syntax-rules () ((_ exit body ...)
          (call/cc (lambda (exit) (let again () body ... (again)))))))
        (let ((n 0)) (loop-until stop (set! n (+ n 1)) (if (= n 3) (stop n))))""", "3"),
]  # fmt: skip

PATTERNS = [
    ("((_ a ...) '(a ...))", "(m 1 2 3)", "(1 2 3)"),
    ("((_ a ...) '(a ...))", "(m)", "()"),
    ("((_ (a b) ...) '((b a) ...))", "(m (1 2) (3 4))", "((2 1) (4 3))"),
    ("((_ (a b ...) ...) '((b ... a) ...))", "(m (1 2 3) (4))", "((2 3 1) (4))"),
    ("((_ (a ...) ...) '(a ... ...))", "(m (1 2) () (3))", "(1 2 3)"),
    ("((_ ((a b ...) ...) ...) '(((a (b ...)) ...) ...))", "(m ((1 2)) ())", "(((1 (2))) ())"),
    ("((_ a ... b c) '(c b a ...))", "(m 1 2 3 4)", "(4 3 1 2)"),
    ("((_ a ... . r) '((a ...) r))", "(m 1 2 . 3)", "((1 2) 3)"),
    ("((_ a b ... c . d) '(a (b ...) c d))", "(m 1 2 3 . 4)", "(1 (2) 3 4)"),
    ("((_ a . r) '(r a))", "(m 1 2 3)", "((2 3) 1)"),
    ("((_ . r) 'r)", "(m 1 2)", "(1 2)"),
    ("((_ #(a b ...)) '(a (b ...)))", "(m #(1 2 3))", "(1 (2 3))"),
    ("((_ #(a ... z)) '#(z a ...))", "(m #(1 2 3))", "#(3 1 2)"),
    ('((_ 1) \'one) ((_ "s") \'string) ((_ #\\a) \'char) ((_ #t) \'true) ((_ x) \'other)',
     '(list (m 1) (m "s") (m #\\a) (m #t) (m 2) (m 1.0))', "(one string char true other other)"),
    ("((_ _ _ c) 'c)", "(m 1 2 3)", "3"),
    ("((_ (a ...) (b ...)) '((a b ...) ...))", "(m (1 2) (x y))", "((1 x y) (2 x y))"),
    ("((_ a) '(... (a ...)))", "(m 1)", "(1 ...)"),
    ("((_ a b) '(a . b))", "(m 1 (2 3))", "(1 2 3)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), HYGIENE)
def test_hygiene(text, expected):
    assert value(text) == expected


@pytest.mark.parametrize(("rules", "use", "expected"), PATTERNS)
def test_patterns(rules, use, expected):
    assert value(f"(define-syntax m (syntax-rules () {rules})) {use}") == expected


def test_literals_match_by_meaning():
    macro = "(define-syntax m (syntax-rules (in) ((_ a in b) 'literal) ((_ a b c) 'other)))"
    assert value(f"{macro} (m 1 in 2)") == "literal"
    assert value(f"{macro} (let ((in 0)) (m 1 in 2))") == "other"
    assert value(f"{macro} (m 1 on 2)") == "other"


def test_own_ellipsis():
    macro = "(define-syntax m (syntax-rules ::: () ((_ a :::) '((a ...) :::))))"
    assert value(f"{macro} (m 1 2)") == "((1 ...) (2 ...))"


FAULTS = [
    ("()", "scheme/bad-syntax", 1, 1),
    ("(a . b)", "scheme/bad-syntax", 1, 1),
    ("(f\n (if))", "scheme/bad-syntax", 2, 2),
    ("(if 1 2 3 4)", "scheme/bad-syntax", 1, 1),
    ("(lambda (x))", "scheme/bad-syntax", 1, 1),
    ("(lambda (1) 2)", "scheme/bad-formals", 1, 10),
    ("(lambda 1 2)", "scheme/bad-formals", 1, 9),
    ("(lambda (x y x) 1)", "scheme/bound-twice", 1, 14),
    ("(let ((x 1) (x 2)) x)", "scheme/bound-twice", 1, 14),
    ("(let ((x)) x)", "scheme/bad-syntax", 1, 7),
    ("(let x)", "scheme/bad-syntax", 1, 1),
    ("(let ((1 2)) 3)", "scheme/bad-syntax", 1, 7),
    ("(let* (x) 1)", "scheme/bad-syntax", 1, 8),
    ("(letrec)", "scheme/bad-syntax", 1, 1),
    ("(let-values (((a) 1) ((a) 2)) a)", "scheme/bound-twice", 1, 22),
    ("(set! 1 2)", "scheme/bad-syntax", 1, 7),
    ("(set! if 2)", "scheme/keyword", 1, 7),
    ("(list if)", "scheme/keyword", 1, 7),
    ("(define)", "scheme/bad-syntax", 1, 1),
    ("(define 1 2)", "scheme/bad-syntax", 1, 9),
    ("(define x 1 2)", "scheme/bad-syntax", 1, 1),
    ("(define (f))", "scheme/bad-syntax", 1, 1),
    ("(list (define x 1))", "scheme/misplaced", 1, 7),
    ("(lambda () (define x 1))", "scheme/empty-body", 1, 1),
    ("(lambda () (define x 1) (define x 2) x)", "scheme/bound-twice", 1, 33),
    ("(cond (else))", "scheme/bad-syntax", 1, 7),
    ("(cond (else 1) (2 3))", "scheme/bad-syntax", 1, 7),
    ("(cond ())", "scheme/bad-syntax", 1, 7),
    ("(cond (1 => 2 3))", "scheme/bad-syntax", 1, 7),
    ("(case 1 (2 3))", "scheme/bad-syntax", 1, 10),
    ("(case 1 ((2)))", "scheme/bad-syntax", 1, 9),
    ("(do (x) (1))", "scheme/bad-syntax", 1, 6),
    ("(do () ())", "scheme/bad-syntax", 1, 8),
    ("(else 1)", "scheme/misplaced", 1, 1),
    ("`,@x", "scheme/bad-quasiquote", 1, 2),
    ("(define-record-type p (make z) p? (x px))", "scheme/bad-record", 1, 29),
    ("(define-record-type p (make x) p? (x px) (x py))", "scheme/bad-record", 1, 1),
    ("(define-record-type p #f p? (x 1))", "scheme/bad-record", 1, 29),
    ("(define-syntax)", "scheme/bad-syntax", 1, 1),
    ("(define-syntax m 1)", "scheme/bad-syntax", 1, 18),
    ("(define-syntax m (lambda (x) x))", "scheme/procedural-macro", 1, 18),
    ("(define-syntax m (syntax-rules (1) ((_) 1)))", "scheme/bad-rules", 1, 33),
    ("(define-syntax m (syntax-rules () (_ 1)))", "scheme/bad-rules", 1, 35),
    ("(define-syntax m (syntax-rules () ((_ a a) 1)))", "scheme/bad-rules", 1, 41),
    ("(define-syntax m (syntax-rules () ((_ a ... b ...) 1)))", "scheme/bad-rules", 1, 47),
    ("(define-syntax m (syntax-rules () ((_ ... a) 1)))", "scheme/bad-rules", 1, 39),
    ("(define-syntax m (syntax-rules () ((_ a ...) a)))", "scheme/bad-rules", 1, 46),
    ("(define-syntax m (syntax-rules () ((_ a) (a ...))))", "scheme/bad-rules", 1, 43),
    ("(define-syntax m (syntax-rules () ((_ a) 1)))\n (m)", "scheme/no-rule", 2, 2),
    ("(define-syntax m (syntax-rules () ((_ (a ...) (b ...)) '((a b) ...))))\n(m (1) (2 3))",
     "scheme/bad-ellipsis", 2, 1),
    ("(define-syntax m (syntax-rules () ((_ (a b ...) ...) '((a b) ... ...))))\n(m (1 2 3) (4 5))",
     "scheme/bad-ellipsis", 2, 1),
    ("(define-syntax m (syntax-rules () ((_) (m))))\n(m)", "scheme/endless-macro", 2, 1),
    ("(define-syntax m (syntax-rules () ((_ x ...) (m x ... x ... 1))))\n(m)",
     "scheme/endless-macro", 2, 1),
    ('(define-syntax m (syntax-rules () ((_) (syntax-error "no" 1))))\n(m)',
     "scheme/syntax-error", 2, 1),
    ("(import (no such))", "scheme/no-library", 1, 9),
    ("(import (only (scheme base) nothing))", "scheme/bad-import", 1, 29),
    ("(import (rename (scheme base) (car)))", "scheme/bad-import", 1, 31),
    ("(import (scheme 1.5))", "scheme/bad-import", 1, 17),
    ("(let () (import (scheme base)) 1)", "scheme/misplaced", 1, 9),
    ("(define-library (a) (nonsense))", "scheme/bad-library", 1, 21),
    ("(define-library (a) (export (f g)))", "scheme/bad-library", 1, 29),
    ('(include "no-such-file.scm")', "scheme/no-include", 1, 10),
    ("(include 1)", "scheme/bad-syntax", 1, 10),
    ("(cond-expand (1 2))", "scheme/bad-syntax", 1, 15),
    ("(" * 200 + "x" + ")" * 200 + "(if)", "scheme/bad-syntax", 1, 402),
]  # fmt: skip


@pytest.mark.parametrize(("text", "id", "line", "column"), FAULTS)
def test_faults(text, id, line, column):
    assert fault(text) == (id, line, column)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000 + "f" + ")" * 100_000,
        "(+ 1 " * 100_000 + "1" + ")" * 100_000,
        "(lambda (x) " * 20_000 + "x" + ")" * 20_000,
        "(let* ((x 1)) " * 20_000 + "x" + ")" * 20_000,
        "(if 1 2 " * 50_000 + "x" + ")" * 50_000,
        "'" + "(" * 100_000 + ")" * 100_000,
        "`" + "(1 " * 50_000 + ",x" + ")" * 50_000,
        "(begin " * 50_000 + "x" + ")" * 50_000,
        "(define-syntax m (syntax-rules () ((_ x) (list x))))"
        + "(m " * 10_000
        + "1"
        + ")" * 10_000,
    ],
)
def test_depth_costs_no_stack(text):
    assert parse(text).n_rows > 0


def test_deep_patterns_are_refused():
    deep = "(" * 5000 + "x" + ")" * 5000
    assert fault(f"(define-syntax m (syntax-rules () ((_ {deep}) 1)))")[0] == "scheme/bad-rules"
    assert fault(f"(define-syntax m (syntax-rules () ((_ x) {deep})))")[0] == "scheme/bad-rules"
    assert fault("(cond-expand (" + "(not " * 5000 + "r7rs" + ")" * 5000 + "1))")[0] == (
        "scheme/bad-syntax"
    )


def test_unbound_variables_are_findings():
    core = parse("(define (f) (g 1))\n(set! h f)\n(f car)", "t.scm")
    found = {(core.names[core.reference[row]], str(core.span(row))) for row in core.unbound()}
    assert found == {("g", "t.scm:1:14"), ("h", "t.scm:2:1")}


def test_assigned_primitives_are_variables():
    core = parse("(set! car cdr) (car 1)")
    (car,) = [v for v, name in enumerate(core.names) if name == "car"]
    assert core.is_assigned[car]
    assert not core.is_defined[car]
    assert core.primitives[core.starts_as[car]] == "car"
    assert core_text(core) == f"(set! car.{car} cdr)\n(car.{car} 1)"


def test_imports_limit_what_is_visible():
    core = parse("(import (only (scheme base) car)) (car cdr)")
    assert [core.names[core.reference[row]] for row in core.unbound()] == ["cdr"]
    assert len(parse("(import (rnrs base (6)) (rnrs)) (car cdr)").unbound()) == 0
    core = parse("(import (prefix (scheme base) s:)) (s:let ((x 1)) (s:car x))")
    assert core_text(core) == "((lambda (x.0) (car x.0)) 1)"


def test_libraries_beside_the_program(tmp_path):
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "lib.sld").write_text(
        '(define-library (my lib) (export f) (import (scheme base)) (include "body.scm"))'
    )
    (tmp_path / "my" / "body.scm").write_text("(define (f x) (list x x))")
    program = tmp_path / "main.scm"
    program.write_text("(import (scheme base) (my lib)) (f 1)")
    core = load(program)
    assert core_text(core) == "(define f.0 (lambda (x.1) (list x.1 x.1)))\n(f.0 1)"
    assert core.variable_span(0).file == str(tmp_path / "my" / "body.scm")


def test_libraries_that_import_each_other(tmp_path):
    for one, other in (("a", "b"), ("b", "a")):
        text = f"(define-library ({one}) (export) (import ({other})))"
        (tmp_path / f"{one}.sld").write_text(text)
    program = tmp_path / "main.scm"
    program.write_text("(import (a))")
    with pytest.raises(SourceError) as caught:
        load(program)
    assert caught.value.id == "scheme/library-cycle"
    assert str(caught.value.span) == f"{tmp_path / 'b.sld'}:1:38"  # the import that closes it


def test_a_file_that_includes_itself(tmp_path):
    program = tmp_path / "main.scm"
    program.write_text('(include "main.scm")')
    with pytest.raises(SourceError) as caught:
        load(program)
    assert caught.value.id == "scheme/endless-include"
    assert str(caught.value.span) == f"{program}:1:1"
    assert caught.value.message == "more than 1000 includes"


def test_include_ci_folds_case(tmp_path):
    (tmp_path / "part.scm").write_text("(DEFINE (F X) X)")
    program = tmp_path / "main.scm"
    program.write_text('(include-ci "part.scm") (f 1)')
    assert core_text(load(program)) == "(define f.0 (lambda (x.1) x.1))\n(f.0 1)"


def test_a_missing_file():
    with pytest.raises(SourceError) as caught:
        load("no/such/file.scm")
    assert caught.value.id == "scheme/unreadable"
    assert str(caught.value.span) == "no/such/file.scm"
    assert caught.value.message == "No such file or directory"


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.scm")), ids=lambda path: path.stem)
def test_the_tables_hold_together(path):
    """Every operand is one row's, every variable belongs to the row that binds it."""
    core = load(path)
    n = core.n_rows
    assert len(core.at) == len(core.end) == len(core.reference) == len(core.n_bound) == n
    assert core.operand_offsets[0] == 0
    assert core.operand_offsets[-1] == len(core.operands)
    assert (np.diff(core.operand_offsets) >= 0).all()
    uses = np.bincount(core.operands, minlength=n)
    assert uses[core.root] == 0
    assert (np.delete(uses, core.root) == 1).all()
    for row in range(n):
        node = core.node(row)
        if node.kind in (columns.LAMBDA, columns.LETREC):
            assert all(core.owner[variable] == row for variable in node.bound)
        if node.kind == columns.LETREC:
            assert len(node.operands) == len(node.bound) + 1
        if node.kind in (columns.VARIABLE, columns.SET):
            owner = core.owner[node.reference]
            assert owner == columns.NONE or owner in enclosing(core, row)
    owned = core.owner[core.owner != columns.NONE]
    assert core.n_bound.sum() == len(owned)


def enclosing(core, row):
    """Return the rows around a row."""
    if not hasattr(enclosing, "cache") or enclosing.cache[0] is not core:
        parents = np.full(core.n_rows, -1)
        owners = np.repeat(np.arange(core.n_rows), np.diff(core.operand_offsets))
        parents[core.operands] = owners
        enclosing.cache = (core, parents.tolist())
    parents = enclosing.cache[1]
    around = set()
    while row >= 0:
        around.add(row)
        row = parents[row]
    return around


FORWARD = """(define-syntax two
  (syntax-rules () ((_ n) (begin (define (n) (list (hid) car)) (define (hid) 'hidden)
                                 (define car 'mine)))))
"""


def test_names_of_one_template_may_be_used_before_their_definitions():
    assert value(FORWARD + "(two a) (two b) (list (a) (b) (car '(1)))") == (
        "((hidden mine) (hidden mine) 1)"
    )
    wrapped = "(define-syntax wrap (syntax-rules () ((_ n) (begin (two n) (two other)))))"
    assert value(FORWARD + wrapped + "(wrap a) (a)") == "(hidden mine)"
    nested = FORWARD.replace("(define (hid) 'hidden)", "(make hid 'hidden)")
    make = "(define-syntax make (syntax-rules () ((_ name v) (define (name) v))))"
    assert value(make + nested + "(begin (two a) (define x (a))) x") == "(hidden mine)"
    assert not len(parse(FORWARD + "(two a)").unbound())


def test_names_of_one_template_in_a_library():
    body = FORWARD + "(two a)"
    library = f"(define-library (l) (export a two) (import (scheme base)) (begin {body}))"
    use = "(import (scheme base) (l)) (two b) (list (a) (b))"
    assert value(library + use) == "((hidden mine) (hidden mine))"


def test_forms_after_a_use_of_a_macro_see_what_it_bound():
    syntax = "(define-syntax quiet (syntax-rules () ((_ n) (begin (define (n) (m)) (keep m)))))"
    keep = (
        "(define-syntax keep (syntax-rules () ((_ m) (define-syntax m (syntax-rules () ((_) 7))))))"
    )
    assert value(f"{keep} {syntax} (quiet a) (define b (a)) (list b (a))") == "(7 7)"

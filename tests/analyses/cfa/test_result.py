"""The questions a result takes, and its answers in the program's own words."""

from __future__ import annotations

import json

import pytest

from kleene import scheme
from kleene.analyses.cfa import CFA
from kleene.base.errors import SourceError
from kleene.results import CallKind
from kleene.solvers.inclusion.why import Derivations
from tests.frontends.scheme.helpers import PROGRAMS

TEXT = """(define (twice f) (lambda (x) (f (f x))))
(define (inc n) (+ n 1))
(define (unused g) (g inc))
(define table (list (cons 'a inc) (cons 'b (lambda (z) z))))
(map (twice inc) '(1 2))
((cdr (assq 'b table)) 4)
(define each for-each)
(each (lambda (q) q) '(1))
"""


@pytest.fixture(scope="module")
def result():
    return scheme.parse(TEXT, "t.scm").cfa(device="cpu")


def shown(values):
    return [str(value) for value in values]


def test_flows(result):
    assert shown(result.flows("f")) == ["inc at t.scm:2:1"]
    assert shown(result.flows("table")) == ["pair at t.scm:4:15"]
    assert shown(result.flows("each")) == ["for-each"]
    assert result.flows("3:g") == [], "nothing calls the procedure that binds it"


def test_calls(result):
    assert shown(result.calls("t.scm:1:31")) == ["inc at t.scm:2:1"]
    assert shown(result.calls("6:1")) == ["inc at t.scm:2:1", "lambda at t.scm:4:44"]


def test_calls_of_primitives_belong_to_whoever_calls_them(result):
    assert shown(result.calls("5:1")) == ["lambda at t.scm:1:19", "map"]
    assert shown(result.calls("8:1")) == ["lambda at t.scm:8:7", "for-each"]
    assert {site.location for site in result.known_calls} >= {"t.scm:5:1"}


def test_primitives_continuations_and_parameters_are_targets():
    text = """(define (f x) x)
(define ops (list f car))
((list-ref ops 1) '(1))
(define (g k) (k 1))
(call/cc g)
(g f)
(define p (make-parameter f))
((if 1 p f))
(define (h) (missing f))
(h)
(car '())
(let ((raise f)) (raise 1))
"""
    result = scheme.parse(text, "t.scm").cfa()
    f = "f at t.scm:1:1"
    assert shown(result.calls("3:1")) == [f, "car"]
    assert shown(result.calls("4:15")) == [f, "continuation at t.scm:5:1"]
    assert shown(result.calls("8:1")) == ["parameter at t.scm:7:11"]
    assert shown(result.calls("9:13")) == [f, "missing"]
    assert shown(result.calls("11:1")) == ["car"]
    known = {site.location for site in result.known_calls}
    assert known.isdisjoint({"t.scm:3:1", "t.scm:4:15", "t.scm:9:13"})
    assert "t.scm:12:18" in known
    assert [(n, v.name) for n, v in result.callers("car")] == [(1, "top")]
    assert result.why("3:1", "car").steps[0].location == "t.scm:2:21"
    assert result.why("4:15", "continuation at t.scm:5:1").steps


def test_a_procedure_of_evaluated_text_is_a_target():
    text = "(define (f x) x)\n((if 1 (eval 'x (environment '(scheme base))) f) 1)"
    result = scheme.parse(text, "t.scm").cfa()
    assert shown(result.calls("2:1")) == ["f at t.scm:1:1", "evaluated"]
    assert result.known_calls == []


def test_a_primitive_that_does_not_take_so_many_is_no_target():
    result = scheme.parse("(define (g p) (p 1 2))\n(g car)\n(g cons)", "t.scm").cfa()
    assert shown(result.calls("1:15")) == ["cons"]


def test_a_procedure_given_to_a_name_that_nothing_defines_is_not_dead():
    text = """(define (f) 1)
(define (g h) (h f))
(define r (missing (list (cons 1 g))))
(define (never) 2)
((car r) 1)
"""
    for options in ({}, {"m": 1}, {"reachable_only": False}):
        result = scheme.parse(text, "t.scm").cfa(**options)
        assert shown(result.dead) == ["never at t.scm:4:1"]
        assert {"f at t.scm:1:1", "g at t.scm:2:1"} <= set(shown(result.calls("5:1")))
    assert shown(result.calls("2:15")) != []


def test_callers_by_distance(result):
    assert [(n, str(v)) for n, v in result.callers("inc", depth=2)] == [
        (1, "lambda at t.scm:1:19"),
        (1, "top"),
    ]
    assert result.callers("twice") == [(1, result.naming.procedure(-1))]


def test_callers_through_three_calls():
    text = "(define (a) 1)\n(define (b) (a))\n(define (c) (b) (a))\n(define (d) (c))\n(d)"
    result = scheme.parse(text, "t.scm").cfa()
    found = [[(n, v.name) for n, v in result.callers("a", depth)] for depth in (1, 2, 3, 4)]
    assert found[2] == [(1, "b"), (1, "c"), (2, "d"), (3, "top")]
    assert found[1] == found[2][:3]
    assert found[0] == found[2][:2]
    assert found[3] == found[2]


def test_dead_known_and_escaping(result):
    assert shown(result.dead) == ["unused at t.scm:3:1"]
    known = {site.location for site in result.known_calls}
    assert "t.scm:5:6" in known
    assert "t.scm:6:1" not in known
    assert shown(result.escaping) == ["inc at t.scm:2:1", "lambda at t.scm:4:44"]


def test_every_call_counts_code_that_nothing_reaches():
    result = scheme.parse(TEXT, "t.scm").cfa(reachable_only=False)
    text = "(define (unused) (used (lambda () 1)))\n(define (used f) (f))\n(used car)"
    assert shown(result.flows("g")) == []
    core = scheme.parse(text, "t.scm")
    assert len(core.cfa().calls("2:18")) == 0
    assert len(core.cfa(reachable_only=False).calls("2:18")) == 1


def test_why_is_a_chain_that_holds(result):
    found = result.why("6:1", "inc")
    assert [(step.location, step.text) for step in found.steps] == [
        ("t.scm:2:1", "is made"),
        (None, "flows on: inc at t.scm:2:10"),
        ("t.scm:4:21", "is kept in data"),
        ("t.scm:6:2", "is taken out of data"),
    ]
    derivations = Derivations(result.system.problem, result.solution)
    s = result.system
    for call, function in result.solution.call_edges.tolist():
        nodes = [int(s.call_operator[call])]
        objects = [int(s.problem.function_object[function])]
        chain = derivations.shortest(nodes, objects)
        assert chain is not None
        assert derivations.holds(chain, nodes, objects)
        assert not derivations.holds(chain[1:], nodes, objects)


def test_every_target_has_a_reason():
    for name in ("r5rs_style", "object_system", "closures_in_data"):
        core = scheme.load(PROGRAMS / f"{name}.scm")
        for options in ({}, {"m": 1}):
            result = core.cfa(device="cpu", **options)
            for site in result.call_graph().sites[::5]:
                for target in site.targets:
                    first = site.why(target).steps[0]
                    if site.kind == CallKind.DIRECT:
                        assert first.text == "is called right where it is written"
                    else:
                        assert (first.text, first.rule) == ("is made", "address"), (site, target)


def test_findings():
    text = """(define (one x) x)
(one)
(car)
(missing 1)
(define (two x y) x)
((if 1 one two) 3)"""
    expected = [
        ("t.scm:2:1", "cfa/call-arity"),
        ("t.scm:3:1", "cfa/call-arity"),
        ("t.scm:4:2", "cfa/unbound"),
        ("t.scm:5:1", "cfa/unreachable-procedure"),
        ("t.scm:6:1", "cfa/may-call-arity"),
    ]
    result = scheme.parse(text, "t.scm").cfa()
    assert found(result, may=True) == expected
    assert found(result) == expected[:-1]


def found(result, **options):
    return [(str(finding.span), finding.rule.id) for finding in result.findings(**options)]


def test_arity_of_callbacks_and_of_primitives_in_variables():
    text = """(define (two x y) x)
(map two '(1))
(define p (if 1 car vector-length))
(p 1 2)
(define (right . r) r)
(hash-table-set! (make-hash-table (lambda (a b) #t) (lambda (key) 1)) 1 2)
((make-parameter 1) 2)
"""
    result = scheme.parse(text, "t.scm").cfa()
    assert [(str(f.span), f.message) for f in result.findings() if "arity" in f.rule.id] == [
        ("t.scm:2:1", "two does not take 1 argument, with which map calls it: it takes (x y)"),
        ("t.scm:4:1", "car, vector-length do not take 2 arguments"),
        ("t.scm:7:1", "parameter does not take 1 argument"),
    ]


def messages(text, *ids, **options):
    result = scheme.parse(text, "t.scm").cfa(**options)
    every = result.findings(may=any("may" in id for id in ids))
    return [
        (f"{f.span.line}:{f.span.column}", f.message)
        for f in every
        if f.rule.id.removeprefix("cfa/") in ids
    ]


def test_wrong_types_of_arguments():
    text = """(car 5)
(define lst (list 1 2))
(vector-ref lst 0)
(+ 1 "a")
(define c car)
(c 5)
(define-record-type point (make-point x) point? (x point-x set-x!))
(point-x 5)
(set-x! 'a 1)
(point-x (make-point 1))
(map 5 lst)
(append 1 2)
(append lst 2)
(apply + 1)
(for-each display "abc" lst)
(define (f x) (if (string? x) (car x) 0))
(f (read))
"""
    assert messages(text, "argument-type") == [
        ("1:1", "argument 1 of car is never a pair: it is a number"),
        ("3:1", "argument 1 of vector-ref is never a vector: it is a list"),
        ("4:1", "argument 2 of + is never a number: it is a string"),
        ("6:1", "argument 1 of car is never a pair: it is a number"),
        ("8:1", "argument 1 of point-x is never a record: it is a number"),
        ("9:1", "argument 1 of set-x! is never a record: it is a symbol"),
        ("11:1", "argument 1 of map is never a procedure: it is a number"),
        ("12:1", "argument 1 of append is never a list: it is a number"),
        ("14:1", "argument 2 of apply is never a list: it is a number"),
        ("15:1", "argument 2 of for-each is never a list: it is a string"),
        ("16:31", "argument 1 of car is never a pair: it is a string"),
    ]


def test_what_is_never_evaluated_has_no_wrong_types():
    text = """(define (first l) (if (pair? l) (car l) 'none))
(first '())
(define (call f) (if f (f 1) 'none))
(call #f)
(define (size s) (if (not (string? s)) (error "no string" s)) (string-length s))
(guard (e (#t 'refused)) (size 5))
(define (safe x)
  (cond ((number? x) (+ x 1)) ((string? x) (string-length x)) (else (vector-length x))))
(safe "a")
(let ((x #f)) (and x (vector-ref x 0)))
"""
    ids = ("argument-type", "not-a-procedure", "call-arity")
    assert messages(text, *ids) == []


def test_types_that_may_be_wrong_are_reported_if_asked_for():
    text = "(define (f x) (car x))\n(f '(1))\n(f '())\n"
    assert messages(text, "argument-type") == []
    message = "argument 1 of car may be (), and not a pair"
    assert messages(text, "may-argument-type") == [("1:15", message)]


def test_what_is_called_though_it_is_no_procedure_is_named():
    text = '(5 6)\n(define s "a")\n(s)\n((list 1) 2)\n((if (read) \'a 1))\n'
    never = "what is called here is never a procedure: it"
    assert messages(text, "not-a-procedure") == [
        ("1:1", f"{never} is a number"),
        ("3:1", f"{never} is a string"),
        ("4:1", f"{never} may be pair at t.scm:4:2"),
        ("5:1", f"{never} is a number or a symbol"),
    ]


def test_apply_and_call_with_values_with_known_counts():
    text = """(define (two x y) x)
(apply two '(1))
(apply two 1 (list 2))
(apply two 1 (cons 2 (list 3)))
(define three (list 1 2 3))
(apply two three)
(apply two (read))
(call-with-values (lambda () (values 1 2)) two)
(call-with-values (lambda () 1) two)
(call-with-values (lambda () (if (read) (values 1 2) 3)) two)
(define (pair) (values 1 2))
(call-with-values pair (lambda (a b c) a))
(let-values (((a b) (values 1 2 3))) a)
(call-with-values read two)
(call-with-values (lambda () (values)) (case-lambda (() 0) ((x) x)))
(let ((l (list 1 2))) (apply two l))
"""
    by = "with which apply calls it: it takes (x y)"
    calls = "with which call-with-values calls it: it takes"
    assert messages(text, "call-arity") == [
        ("2:1", f"two does not take 1 argument, {by}"),
        ("4:1", f"two does not take 3 arguments, {by}"),
        ("6:1", f"two does not take 3 arguments, {by}"),
        ("9:1", f"two does not take 1 argument, {calls} (x y)"),
        ("12:1", f"lambda does not take 2 arguments, {calls} (a b c)"),
        ("13:1", f"lambda does not take 3 arguments, {calls} (a b)"),
    ]
    for more in ("(set-cdr! three '())", "(changes three)"):
        found = dict(messages(f"{text}{more}\n", "call-arity"))
        assert "6:1" not in found, "who knows how long it is"
        assert "2:1" in found
    assert "6:1" not in dict(messages(text, "call-arity", library=True))
    twice = "(define l (list 1))\n(define l (list 1 2))\n(apply (lambda (x y) x) l)\n"
    assert messages(twice, "call-arity") == []


def test_apply_with_a_known_list_passes_each_item_in_its_place():
    text = "(define (f g h) (g) h)\n(define (a) 1)\n(define (b) 2)\n(apply f a (list b))\n"
    result = scheme.parse(text, "t.scm").cfa()
    assert shown(result.calls("1:17")) == ["a at t.scm:2:1"]
    assert shown(result.flows("h")) == ["b at t.scm:3:1"]


def test_unused_definitions(tmp_path):
    text = """(define used 1)
(define unused used)
(define _meant 1)
(define (f x) (define inner 1) (define (g) 2) (let ((y 1)) (g)))
(f 1)
(define-record-type point (make-point x) point? (x point-x))
(make-point 1)
(define-syntax twice (syntax-rules () ((_ n) (begin (define hidden 1) (define n 2)))))
(twice made)
"""
    expected = [("2:9", "nothing uses unused"), ("4:23", "nothing uses inner")]
    assert messages(text, "unused-definition") == expected
    assert messages(text, "unused-definition", library=True) == expected[1:]
    evaluates = text + "(eval '1 (interaction-environment))\n"
    assert messages(evaluates, "unused-definition") == expected[1:], "the text may use the others"
    (tmp_path / "my.sld").write_text(
        "(define-library (my) (export shown) (import (scheme base))\n"
        "(begin (define shown 1) (define kept 2)))"
    )
    (tmp_path / "t.scm").write_text("(import (scheme base) (my))\n(display 1)\n")
    found = scheme.load(tmp_path / "t.scm").cfa().findings()
    assert "nothing uses kept" in [finding.message for finding in found]
    assert "nothing uses shown" not in [finding.message for finding in found]


def test_findings_come_in_the_order_of_the_program():
    text = "(car 5)\n(define (dead) 1)\n(define c 1)\n(undefined)\n(cdr)\n(5)\n"
    spans = [finding.span for finding in scheme.parse(text, "t.scm").cfa().findings()]
    assert [span.line for span in spans] == [1, 2, 3, 4, 5, 6]


def test_a_library_is_called_from_outside():
    text = "(define (f g) (g 1))\n(define (h) (k))\n(define (k) (lambda (x) x))\n"
    core = scheme.parse(text, "t.scm")
    assert len(core.cfa().dead) == 4
    for options in ({}, {"m": 1}):
        result = core.cfa(library=True, **options)
        assert result.dead == []
        assert "outside" in shown(result.calls("1:15"))
        assert "t.scm:1:15" not in {site.location for site in result.known_calls}
        assert result.inlining_candidates == []


def test_inlining_candidates():
    text = """(define (once x) (+ x 1))
(define (twice x) x)
(define (maker n) (lambda (y) (+ n y)))
(define add (maker 1))
(once 1)
(twice 1)
(twice 2)
(add 2)
(let ((f (lambda (z) z))) (f 1))
((if 1 once car) 2 3)
"""
    result = scheme.parse(text, "t.scm").cfa()
    found = [(site.location, str(value)) for site, value in result.inlining_candidates]
    assert found == [
        ("t.scm:4:13", "maker at t.scm:3:1"),
        ("t.scm:5:1", "once at t.scm:1:1"),
        ("t.scm:9:27", "f at t.scm:9:10"),
    ], "what add calls uses n, which is out of sight there"


def test_case_lambda_is_no_mismatch():
    text = "(define f (case-lambda (() 1) ((x) x)))\n(f)\n(f 2)"
    result = scheme.parse(text, "t.scm").cfa()
    assert found(result) == []
    assert [len(result.calls(place)) for place in ("2:1", "3:1")] == [1, 1]


def test_evaluated_text_may_call_what_globals_hold():
    text = "(define (f g) (g))\n(define (h) 1)\n(eval (list 'f 'h) (interaction-environment))"
    result = scheme.parse(text, "t.scm").cfa()
    assert shown(result.calls("3:1")) == ["f at t.scm:1:1", "h at t.scm:2:1", "eval"]
    assert "h at t.scm:2:1" in shown(result.flows("g"))
    assert ("t.scm:3:1", "cfa/evaluates") in found(result)


def test_text_in_an_environment_of_libraries_sees_only_what_it_is_given():
    text = """(define (f) 1)
(define (g) 2)
(eval (list f) (environment '(scheme base) '(prefix (scheme cxr) c-)))
"""
    result = scheme.parse(text, "t.scm").cfa()
    assert shown(result.calls("3:1")) == ["f at t.scm:1:1", "eval"]
    assert shown(result.dead) == ["g at t.scm:2:1"]
    expected = ("t.scm:3:1", "text is evaluated: it may call and change all that it is given")
    assert expected in {(str(one.span), one.message) for one in result.findings()}
    for place in ("(interaction-environment)", "(environment '(scheme eval))", "(environment x)"):
        wide = text.replace("(environment '(scheme base) '(prefix (scheme cxr) c-))", place)
        assert scheme.parse(wide, "t.scm").cfa().dead == []


def test_a_mismatch_is_certain_only_if_nothing_else_can_be_called():
    text = "(define (f) 1)\n(define (h p) (p 1))\n(h f)\n(h {})"
    may = "cfa/may-call-arity"
    for other, id in (("f", "cfa/call-arity"), ("car", may), ("(call/cc h)", may)):
        assert found(scheme.parse(text.format(other), "t.scm").cfa(), may=True) == [
            ("t.scm:1:1", "cfa/unreachable-procedure"),
            ("t.scm:2:15", id),
        ]


def test_eval_as_a_value_is_a_finding_where_it_is_called():
    result = scheme.parse("(define (f) 1)\n(define e eval)\n(e '(f))", "t.scm").cfa()
    assert ("t.scm:3:1", "cfa/evaluates") in found(result)
    targets = shown(result.calls("3:1"))
    assert targets == ["f at t.scm:1:1", "eval", "evaluated"], "the text may assign e"


def test_json_is_the_same_on_every_run():
    texts = {
        scheme.parse(TEXT, "t.scm").cfa(device="cpu", threads=threads).to_json()
        for threads in (1, 1, 2)
    }
    assert len(texts) == 1
    value = json.loads(texts.pop())
    names = {"call_graph", "values", "sets", "variables", "dead", "escaping", "findings", "merged"}
    assert set(value) == names
    held = value["sets"][value["variables"]["f at t.scm:1:16"]]
    assert [value["values"][number]["name"] for number in held] == ["inc"]


def test_json_names_each_value_and_each_set_once():
    n = 200
    defines = [f"(define (f{i}) f{(i + 1) % n})" for i in range(n)]
    uses = [f"(define v{i} (list-ref all {i}))" for i in range(n)]
    all_of_them = " ".join(f"f{i}" for i in range(n))
    text = "\n".join([*defines, f"(define all (list {all_of_them}))", *uses])
    value = scheme.parse(text, "t.scm").cfa().as_json()
    flows = {name: value[name] for name in ("values", "sets", "variables")}
    assert len(json.dumps(flows)) < 8 * len(text), "not a list of all values for each variable"
    names = [one["name"] for one in value["values"]]
    assert sorted(
        names[i] for i in value["sets"][value["variables"]["v0 at t.scm:202:9"]]
    ) == sorted(f"f{i}" for i in range(n))


def test_graph_as_csv_and_dot(result):
    graph = result.call_graph()
    lines = graph.to_csv().splitlines()
    assert lines[0] == "caller,location,kind,target"
    assert "top,t.scm:5:6,indirect,twice at t.scm:1:1" in lines
    assert len(lines) == 1 + sum(len(site.targets) for site in graph.sites)
    pairs = {(edge.caller, edge.callee, edge.kind) for edge in graph.edges}
    assert graph.to_dot().count("->") == len(pairs)


def test_difference_of_two_graphs(result):
    new = scheme.parse("\n" + TEXT + "(unused list)\n", "t.scm").cfa().call_graph()
    added = ["top -> unused", "unused -> list"]
    assert result.call_graph().difference(new) == {"added": added, "removed": []}


@pytest.mark.parametrize(
    ("question", "id", "note"),
    [
        (lambda r: r.flows("tabel"), "cfa/no-such-name", "did you mean table?"),
        (lambda r: r.calls("1:2"), "cfa/no-such-call", "there are calls at t.scm:1:31, t.scm:1:34"),
        (lambda r: r.callers("twicer"), "cfa/no-such-procedure", "did you mean twice?"),
        (lambda r: r.why("1:31", "twice"), "cfa/no-such-fact", "it may reach inc at t.scm:2:1"),
    ],
)
def test_questions_without_an_answer(result, question, id, note):
    with pytest.raises(SourceError) as caught:
        question(result)
    assert caught.value.id == id
    assert caught.value.notes == (note,)


def test_bad_options_and_programs():
    with pytest.raises(SourceError, match="it may be 0, 1 or 2") as caught:
        CFA(m=3).run(scheme.parse("1"))
    assert caught.value.id == "cfa/bad-context"
    with pytest.raises(SourceError, match="no Scheme program") as caught:
        CFA().run(object())
    assert caught.value.id == "cfa/not-scheme"


def test_deep_nesting_is_no_problem():
    n = 50_000  # of calls, and of lambdas in them
    text = "(define (f x) x)\n" + "(f " * n + "(lambda () " * n + "f" + ")" * 2 * n
    core = scheme.parse(text, "t.scm")
    assert shown(core.cfa().flows("x")) == [f"lambda at t.scm:2:{3 * n + 1}"]


def test_a_procedure_with_many_contexts():
    n = 3_000
    core = scheme.parse("(define (f x) x)\n" + "(f " * n + "f" + ")" * n, "t.scm")
    result = core.cfa(m=1)
    (f,) = result.procedures
    assert len(result.system.contexts.of[f.row]) == n
    assert shown(result.flows("x")) == ["f at t.scm:1:1"]

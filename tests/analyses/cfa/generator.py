"""Random Scheme programs whose variables are all bound: many closures, some data, assignments."""

from __future__ import annotations

from hypothesis import strategies as st


@st.composite
def programs(draw, rich=False):
    """Return the text of a program; `rich` ones use rests, `apply`, continuations and the like."""
    maker = _Maker(draw, rich)
    names = [f"g{i}" for i in range(draw(st.integers(1, 4)))]
    forms = [f"(define {name} {maker.procedure(names, 3)})" for name in names]
    forms += [maker.expression(names, 4) for _ in range(draw(st.integers(1, 4)))]
    return "\n".join(forms)


@st.composite
def layered(draw):
    """Return a program whose procedures pass others on and keep them: contexts matter here."""
    n = draw(st.integers(2, 5))
    forms = []
    for i in range(n):
        body = draw(st.sampled_from(BODIES))
        others = [f"g{draw(st.integers(0, max(0, i - 1)))}" for _ in range(2)]
        forms.append(f"(define (g{i} x) {body.format(a=others[0], b=others[1])})")
    for _ in range(draw(st.integers(2, 5))):
        value = "(lambda (y) y)"
        for _ in range(draw(st.integers(1, 3))):
            name = f"g{draw(st.integers(0, n - 1))}"
            form = draw(st.sampled_from(["({g} {v})", "(({g} {v}) {g})", "({g} (lambda (y) {v}))"]))
            value = form.format(g=name, v=value)
        forms.append(value)
    return "\n".join(forms)


# Of a procedure of x; {a} and {b} are procedures before it, or the first one itself.
BODIES = [
    "x",
    "({a} x)",
    "({a} ({b} x))",
    "(lambda (y) x)",
    "(lambda (y) ({a} x))",
    "(lambda (y) (y x))",
    "(let ((k x)) (lambda (y) (set! k y) k))",
    "(let ((k x)) (let ((s (lambda (y) (set! k y)))) (s {a}) k))",
    "(let ((h (lambda (y) (lambda (z) (cons x y))))) (car ((h {a}) {b})))",
    "(letrec ((h (lambda (y) (if 1 y (h x))))) (h {a}))",
    "(car (cons x {a}))",
    "((lambda (y) (lambda (z) (set! y z) (set! x y) (lambda (w) (x w)))) {a})",
]


class _Maker:
    def __init__(self, draw, rich):
        self.draw = draw
        self.rich = rich
        self.n_names = 0

    def name(self):
        self.n_names += 1
        return f"v{self.n_names}"

    def one_of(self, choices):
        return self.draw(st.sampled_from(choices))

    def procedure(self, names, depth):
        formals = [self.name() for _ in range(self.draw(st.integers(0, 2)))]
        body = self.expression(names + formals, depth - 1)
        if self.rich and self.one_of([False, False, True]):
            rest = self.name()
            inside = self.expression([*names, *formals, rest], depth - 1)
            shown = f"({' '.join(formals)} . {rest})" if formals else rest
            return f"(lambda {shown} {inside})"
        return f"(lambda ({' '.join(formals)}) {body})"

    def expression(self, names, depth):
        if depth <= 0:
            return self.one_of([*names, "1"])
        forms = ["name", "lambda", "call", "call", "let", "letrec", "if", "set", "pair", "begin"]
        form = self.one_of(forms + ["rich"] * 4 * self.rich)
        return getattr(self, f"_{form}")(names, depth)

    def _name(self, names, depth):
        return self.one_of(names)

    def _lambda(self, names, depth):
        return self.procedure(names, depth)

    def _call(self, names, depth):
        parts = [self.expression(names, depth - 1) for _ in range(self.draw(st.integers(1, 3)))]
        return f"({' '.join(parts)})" if parts[0] != "1" else f"({names[0]} {' '.join(parts)})"

    def _let(self, names, depth):
        name = self.name()
        value = self.expression(names, depth - 1)
        return f"(let (({name} {value})) {self.expression([*names, name], depth - 1)})"

    def _letrec(self, names, depth):
        name = self.name()
        inside = [*names, name]
        value = self.procedure(inside, depth - 1)
        return f"(letrec (({name} {value})) {self.expression(inside, depth - 1)})"

    def _if(self, names, depth):
        test = self.one_of(["(null? 1)", "(pair? 1)", "1"])
        parts = [self.expression(names, depth - 1) for _ in range(2)]
        return f"(if {test} {' '.join(parts)})"

    def _set(self, names, depth):
        return f"(set! {self.one_of(names)} {self.expression(names, depth - 1)})"

    def _begin(self, names, depth):
        return f"(begin {self._set(names, depth)} {self.expression(names, depth - 1)})"

    def _pair(self, names, depth):
        first, second = (self.expression(names, depth - 1) for _ in range(2))
        form = self.one_of(
            ["(car (cons {a} {b}))", "(cdr (cons {a} {b}))", "(cons {a} {b})", "(car {a})",
             "(cdr {a})", "(set-car! {a} {b})", "(set-cdr! {a} {b})"]
        )  # fmt: skip
        return form.format(a=first, b=second)

    def _rich(self, names, depth):
        first, second = (self.expression(names, depth - 1) for _ in range(2))
        form = self.one_of(
            ["(apply {a} (list {b}))", "(apply {a} {b} '(1))", "(call/cc (lambda (k) {a} (k {b})))",
             "(call/cc {a})", "(map {a} (list {b} {b}))", "(for-each {a} (list {b}))",
             "(vector-ref (vector {a} {b}) 0)", "(let ((w (vector {a}))) (vector-set! w 0 {b}) w)",
             "(vector-map {a} (vector {b}))",
             "(call-with-values (lambda () (values {a} {b})) cons)",
             "(call-with-values (lambda () {a}) {b})", "(force (delay {a}))", "(delay {a})",
             "(force {a})", "(dynamic-wind (lambda () {a}) (lambda () {b}) (lambda () 1))",
             "(guard (e (#t e)) (raise {a}) {b})", "(guard (e (#f e)) {a})", "(raise {a})",
             "(with-exception-handler {a} (lambda () (raise-continuable {b})))",
             "((if (null? 1) map apply) {a} (list {b}))", "(fold {a} {b} (list {b}))",
             "(let ((p (make-parameter {a}))) (parameterize ((p {b})) (p)))",
             "(unbox (box {a}))", "(let ((t (make-hash-table))) (hash-table-set! t 1 {a})"
             " (hash-table-update! t 1 {b}) (hash-table-ref t 1))",
             "((case-lambda (() {a}) ((x) x) ((x . r) (cons r {b}))) {a})",
             "(sort (list {a} {b}) (lambda (x y) (x y)))", "(assoc {a} (list (cons {b} {a})) {b})",
             "(append (list {a}) {b})", "(member {a} (list {b}) {a})", "(list-ref (list {a}) 0)",
             "(let-values (((x y) (values {a} {b}))) (x y))", "(reverse (list {a} {b}))",
             "(eval '(g0) (interaction-environment))", "(begin (eval 'g0) {a})",
             "(eval (list {a} {b}) (environment '(scheme base)))",
             "((eval '(lambda (x) (x)) (environment '(only (scheme base) lambda))) {a})"]
        )  # fmt: skip
        return form.format(a=first, b=second)

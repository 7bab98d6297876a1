"""Random Scheme programs in the paper's language: lambdas, calls, bindings, `if`, basic values."""

from __future__ import annotations

from hypothesis import strategies as st

PRIMITIVES = ("(+ 1 {a})", "(display 1)", "(not {a})", "(procedure? {a})", "(eq? {a} {b})")


@st.composite
def programs(draw, arities=(0, 1, 2, 3), with_escapes=False):
    """Return the text of a program whose lambdas and calls have these numbers of arguments."""
    maker = _Maker(draw, arities, with_escapes)
    names = [f"g{i}" for i in range(draw(st.integers(1, 3)))]
    forms = [f"(define {name} {maker.procedure(names, 3)})" for name in names]
    forms += [maker.expression(names, 4) for _ in range(draw(st.integers(1, 4)))]
    return "\n".join(forms)


class _Maker:
    def __init__(self, draw, arities, with_escapes):
        self.draw = draw
        self.arities = arities
        self.forms = ["name", "lambda", "call", "call", "call", "let", "letrec", "if", "set"]
        self.forms += ["begin", "primitive", "value", *["escape"] * with_escapes]
        self.n_names = 0

    def name(self):
        self.n_names += 1
        return f"v{self.n_names}"

    def one_of(self, choices):
        return self.draw(st.sampled_from(choices))

    def procedure(self, names, depth):
        formals = [self.name() for _ in range(self.one_of(self.arities))]
        body = self.expression(names + formals, depth - 1)
        return f"(lambda ({' '.join(formals)}) {body})"

    def expression(self, names, depth):
        if depth <= 0:
            return self.one_of([*names, "1", "'(a b)"])
        return getattr(self, f"_{self.one_of(self.forms)}")(names, depth - 1)

    def _name(self, names, depth):
        return self.one_of(names)

    def _lambda(self, names, depth):
        return self.procedure(names, depth)

    def _call(self, names, depth):
        n_parts = 1 + self.one_of(self.arities)
        operator = self.one_of([self.one_of(names), self.expression(names, depth)])
        parts = [self.expression(names, depth) for _ in range(n_parts - 1)]
        return f"({' '.join([operator if operator != '1' else names[0], *parts])})"

    def _let(self, names, depth):
        bound = [self.name() for _ in range(self.one_of(self.arities))]
        values = [self.expression(names, depth) for _ in bound]
        pairs = " ".join(f"({name} {value})" for name, value in zip(bound, values, strict=True))
        return f"(let ({pairs}) {self.expression([*names, *bound], depth)})"

    def _letrec(self, names, depth):
        bound = [self.name() for _ in range(self.one_of([1, 2]))]
        inside = [*names, *bound]
        values = [self.one_of([self.procedure(inside, depth), "1"]) for _ in bound]
        values[0] = self.one_of([values[0], self.expression(names, depth)])
        pairs = " ".join(f"({name} {value})" for name, value in zip(bound, values, strict=True))
        return f"(letrec* ({pairs}) {self.expression(inside, depth)})"

    def _if(self, names, depth):
        return f"(if {' '.join(self.expression(names, depth) for _ in range(3))})"

    def _set(self, names, depth):
        return f"(set! {self.one_of(names)} {self.expression(names, depth)})"

    def _begin(self, names, depth):
        return f"(begin {self._set(names, depth)} {self.expression(names, depth)})"

    def _primitive(self, names, depth):
        a, b = (self.expression(names, depth) for _ in range(2))
        return self.one_of(PRIMITIVES).format(a=a, b=b)

    def _value(self, names, depth):
        return self.one_of(["not", "procedure?", "eq?"])

    def _escape(self, names, depth):
        inside = self.expression([*names, k := self.name()], depth)
        return self.one_of(
            [f"(call/cc (lambda ({k}) {inside}))", f"(call/cc {self.one_of(names)})"]
        )

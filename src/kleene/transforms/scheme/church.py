"""Abstract Church encodings: all that is left besides lambdas and calls, as 0CFA sees it.

0CFA has one set for each variable, and a call binds by adding to the sets of formals. So a binding
and an assignment do the same, and with `v` bound once more (section 4 of the paper):

    basic values         the variable `basic`, which is bound to one lambda, `halt`
    (primitive …)        `basic`
    the end, with a      (halt a basic)
    (set! v a) tail      ((λ (v _) tail) a basic)
    (letrec ((v a)) t)   ((λ (v _) t) a basic)
    (if a t u)           ((λ (next _)
                            ((λ (next _) (next basic basic)) (λ (_ _) u) basic))
                          (λ (_ _) t) basic)
    halt                 (λ (a b) ((λ (f g) (f f f)) (λ (f g) (f f f)) (λ (f g) (f f f))))

Lambdas that are dropped with a test or with the arguments of a primitive are bound to a variable of
their own instead, because every call of the program counts. What comes out no longer runs as the
program did, but its sets are those of the program.

What comes out is *terms*: lambdas with two formals, and calls with two arguments.

    call = (f e e)      f, e = v | lambda      lambda = (λ (v v) call)

The paper's selectors are index vectors here: `fun`, `arg1` and `arg2` give the parts of a call,
`var1` and `var2` the formals of a lambda. Expressions are numbered variables first, then lambdas.
The body of lambda n is call n; the program is the last call. A variable may be a formal of several
lambdas, which is what the encodings rest on: so the formals are a look-up table, and do not follow
from a lambda's number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kleene.base.arrays import I32
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import NONE, Node
from kleene.transforms.scheme.derived import Derived


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """A program of binary CPS; origins are rows and variables of the core it was made from."""

    n_variables: int
    fun: I32
    arg1: I32
    arg2: I32
    var1: I32
    var2: I32
    lambda_origin: I32  # NONE for lambdas that the program does not have; the next two likewise
    call_origin: I32
    variable_origin: I32

    @property
    def n_lambdas(self) -> int:
        """How many lambdas there are."""
        return len(self.var1)

    @property
    def n_terms(self) -> int:
        """How many lambdas, formals, calls and references to variables there are."""
        parts = np.concatenate([self.fun, self.arg1, self.arg2])
        n_references = int((parts < self.n_variables).sum())
        return 3 * self.n_lambdas + len(self.fun) + n_references


def to_terms(program: Derived) -> Terms:
    """Return a program in binary CPS with nothing but lambdas and calls."""
    return _Encoder(program).run()


_PROGRAM = -1  # stands for the lambda that the program would be the body of


class _Encoder:
    """Lambdas are ~n while it is not known how many variables come before them."""

    def __init__(self, program: Derived) -> None:
        self.program = program
        self.core = program.core
        self.variable_origin: list[int] = program.variable_origin.tolist()
        self.formals: list[tuple[int, int]] = []
        self.lambda_origin: list[int] = []
        self.calls: dict[int, tuple[int, int, int]] = {}  # by the lambda whose body it is
        self.call_origin: dict[int, int] = {}
        self.tasks: list[tuple[int, int]] = []  # a lambda, and the row of its body
        self.basic = NONE

    def run(self) -> Terms:
        """Return the encoded program, with `basic` bound around it if it is used."""
        self.tasks.append((_PROGRAM, self.core.node(self.core.root).operands[0].row))
        while self.tasks:
            self._tail(*self.tasks.pop())
        if self.basic != NONE:
            whole = self._lambda(self.basic, self._variable())
            self._call(whole, *self.calls[_PROGRAM], self.call_origin[_PROGRAM])
            self._call(_PROGRAM, ~whole, halt := self._halt(), halt)
        return self._terms()

    def _terms(self) -> Terms:
        numbers = [*range(len(self.formals)), _PROGRAM]
        parts = np.array([self.calls[number] for number in numbers], np.int32)
        n_variables = len(self.variable_origin)
        fun, arg1, arg2 = np.where(parts < 0, n_variables + ~parts, parts).T.copy()
        var1, var2 = np.array(self.formals, np.int32).reshape(-1, 2).T.copy()
        return Terms(
            n_variables,
            fun,
            arg1,
            arg2,
            var1,
            var2,
            lambda_origin=np.array(self.lambda_origin, np.int32),
            call_origin=np.array([self.call_origin[number] for number in numbers], np.int32),
            variable_origin=np.array(self.variable_origin, np.int32),
        )

    def _variable(self) -> int:
        self.variable_origin.append(NONE)
        return len(self.variable_origin) - 1

    def _lambda(self, first: int, second: int, origin: int = NONE) -> int:
        self.formals.append((first, second))
        self.lambda_origin.append(origin)
        return len(self.formals) - 1

    def _call(self, number: int, fun: int, arg1: int, arg2: int, origin: int = NONE) -> None:
        """Let a call be the body of a lambda."""
        self.calls[number], self.call_origin[number] = (fun, arg1, arg2), origin

    def _value(self) -> int:
        """Return the variable that holds all basic values."""
        if self.basic == NONE:
            self.basic = self._variable()
        return self.basic

    def _bound(self, number: int, variable: int, value: int) -> int:
        """Bind a variable, for the first time or once more; return the lambda of what follows."""
        inside = self._lambda(variable, self._variable())
        self._call(number, ~inside, value, self._value())
        return inside

    def _thunk(self, row: int) -> int:
        made = self._lambda(self._variable(), self._variable())
        self.tasks.append((made, row))
        return ~made

    def _expression(self, node: Node) -> int:
        if node.kind == columns.VARIABLE:
            return node.reference
        if node.kind != columns.LAMBDA:
            return self._value()
        first, second = node.bound
        made = self._lambda(first, second, int(self.program.row_origin[node.row]))
        self.tasks.append((made, node.operands[0].row))
        return ~made

    def _tail(self, number: int, row: int) -> None:
        """Encode a tail as the body of a lambda."""
        node = self.core.node(row)
        below = node.operands
        if node.kind == columns.IF:
            self._if(number, *below)
        elif node.kind == columns.LETREC:
            self._assigned(number, zip(node.bound, below, strict=False), below[-1])
        elif node.kind == columns.SEQUENCE:
            values = ((each.reference, each.operands[0]) for each in below[:-1])
            self._assigned(number, values, below[-1])
        elif node.kind == columns.CALL and below[0].kind != columns.PRIMITIVE:
            for part in below:
                number = self._kept(number, part)
            fun, arg1, arg2 = map(self._expression, below)
            self._call(number, fun, arg1, arg2, int(self.program.row_origin[row]))
        else:
            number = self._kept(number, node)
            self._call(number, self._value(), self._expression(node), self._value())

    def _assigned(self, number: int, values: Iterable[tuple[int, Node]], tail: Node) -> None:
        for variable, value in values:
            number = self._kept(number, value)
            number = self._bound(number, variable, self._expression(value))
        self.tasks.append((number, tail.row))

    def _if(self, number: int, test: Node, yes: Node, no: Node) -> None:
        if test.kind == columns.LAMBDA:
            number = self._bound(number, self._variable(), self._expression(test))
        next = self._variable()
        number = self._bound(number, next, self._thunk(yes.row))
        number = self._bound(number, next, self._thunk(no.row))
        self._call(number, next, self._value(), self._value())

    def _kept(self, number: int, simple: Node) -> int:
        """Bind lambdas that only a primitive is given: the calls in them count, too."""
        if simple.kind == columns.CALL:
            for operand in simple.operands:
                if operand.kind == columns.LAMBDA:
                    number = self._bound(number, self._variable(), self._expression(operand))
        return number

    def _halt(self) -> int:
        """Return a lambda whose body is Omega."""
        halt = self._lambda(self._variable(), self._variable())
        copies = []
        for _ in range(3):
            f, g = self._variable(), self._variable()
            copies.append(~self._lambda(f, g))
            self._call(~copies[-1], f, f, f)
        self._call(halt, *copies)
        return ~halt

"""Binary CPS: every lambda has two formals and every call two arguments.

**Few arguments.** A place that stays free is given a value that nobody uses.

**Many arguments** go one by one. `(f a b c)` and `(lambda (x y z) tail)` become

    (f a (λ (g _) (g b c)))        (λ (x q) (q (λ (y z) tail) _))

where nothing returns, unlike in plain currying.

**Arity.** Only a call that passes as many arguments as a lambda takes may get through, though all
lambdas take two now. Before anything is passed, a lambda offers its entry in one of several places,
and the call looks into the place for the number it passes. The places are numbered by how often
each number occurs; with three numbers they are

    first   (λ (v _) (v ENTRY 0))
    second  (λ (v _) (v 0 (λ (w _) (w ENTRY 0))))
    third   (λ (v _) (v 0 (λ (w _) (w 0 ENTRY))))

and a call that passes the second number is `(f (λ (here on) (on (λ (here on) (here a b)) _)) _)`.
Each lambda in it belongs to one call or one procedure, so 0CFA mixes up nothing that it did not mix
up before. Nothing is offered where all numbers are equal, where a lambda is called right where it
is written, and by continuations, which are never called with another number than one.

The program is a tail (`language`), and stays one. What does not get through ends in the call of a
value that is no procedure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np

from kleene.ir.scheme import core as columns
from kleene.ir.scheme.values import UNSPECIFIED
from kleene.transforms.scheme.derived import Derived, DerivedBuilder, Formal

Put = Callable[[int], None]  # puts an atom into a slot


def to_binary(program: Derived) -> Derived:
    """Return a program in CPS with two formals for every lambda, two arguments for every call."""
    return _Binary(program).run()


class _Binary:
    def __init__(self, program: Derived) -> None:
        self.core = program.core
        self.builder = DerivedBuilder(program)
        self.kind: list[int] = self.core.kind.tolist()
        self.tasks: list[Callable[[], None]] = []
        self.is_plain: list[bool] = program.is_return.tolist()
        self.ways = self._ways()

    def run(self) -> Derived:
        """Return the converted program."""
        self._later(self.builder.top, self.core.below(self.core.root)[0])
        while self.tasks:
            self.tasks.pop()()
        return self.builder.finish()

    def _ways(self) -> dict[int, list[bool]]:
        """Return for each number of arguments the way to its place: whether to go on, each time."""
        sizes: dict[int, int] = {}
        for row in np.flatnonzero(self.core.kind == columns.LAMBDA).tolist():
            sizes[row] = int(self.core.n_bound[row])
        for row in np.flatnonzero(self.core.kind == columns.CALL).tolist():
            operator, *arguments = self.core.below(row)
            if self.kind[operator] != columns.PRIMITIVE:
                sizes[row] = len(arguments)
            if sizes.get(operator) == len(arguments):  # called right where it is written
                self.is_plain[row] = self.is_plain[operator] = True
        counts = Counter(n for row, n in sizes.items() if not self.is_plain[row])
        order = sorted(counts, key=lambda number: (-counts[number], number))
        last = len(order) - 1
        return {n: [True] * rank + [False] * (rank < last) for rank, n in enumerate(order)}

    def _way(self, row: int, n_arguments: int) -> list[bool]:
        return [] if self.is_plain[row] else self.ways[n_arguments]

    def _later(self, slot: int, row: int) -> None:
        self.tasks.append(partial(self._tail, slot, row))

    def _tail(self, slot: int, row: int) -> None:
        kind, below = self.kind[row], self.core.below(row)
        if kind == columns.CALL and self.kind[below[0]] != columns.PRIMITIVE:
            self._call(slot, row)
        elif kind == columns.LETREC:
            bound = list(self.core.node(row).bound)
            first, _ = self.builder.binder(kind, slot, row, bound, len(below))
            self._parts(first, below)
        elif kind in (columns.IF, columns.SEQUENCE):
            self._parts(self.builder.row(kind, slot, row, n_operands=len(below)), below)
        elif kind in (columns.SET, columns.DEFINE):
            variable = self.builder.current[self.core.node(row).reference]
            self._simple(self.builder.assignment(kind, slot, row, variable), below[0])
        else:
            self._simple(slot, row)

    def _parts(self, first: int, rows: list[int]) -> None:
        for slot, row in enumerate(rows, first):
            self._later(slot, row)

    def _simple(self, slot: int, row: int) -> None:
        kind = self.kind[row]
        if kind == columns.LAMBDA:
            self._procedure(slot, row)
        elif kind == columns.VARIABLE:
            self.builder.variable(slot, row, self.builder.current[self.core.node(row).reference])
        else:
            below, reference = self.core.below(row), self.core.node(row).reference
            first = self.builder.row(kind, slot, row, reference, len(below))
            for place, operand in enumerate(below, first):
                self._simple(place, operand)

    def _procedure(self, slot: int, row: int) -> None:
        formals = list(self.core.node(row).bound)
        outermost = self.builder.n_rows
        for goes_on in self._way(row, len(formals)):
            body, (visitor, _) = self.builder.binder(columns.LAMBDA, slot, row, ["v", "_"])
            first = self.builder.row(columns.CALL, body, row, n_operands=3)
            self.builder.variable(first, row, visitor)
            self._nothing(first + 1 + (not goes_on), row)
            slot = first + 1 + goes_on
        self._entry(slot, row, formals)
        self.builder.stands_for(row, outermost)

    def _entry(self, slot: int, row: int, formals: list[int]) -> None:
        while len(formals) > 2:
            body, (_, passer) = self.builder.binder(columns.LAMBDA, slot, row, [formals[0], "q"])
            first = self.builder.row(columns.CALL, body, row, n_operands=3)
            self.builder.variable(first, row, passer)
            self._nothing(first + 2, row)
            slot, formals = first + 1, formals[1:]
        two: list[Formal] = [*formals, *["_"] * (2 - len(formals))]
        body, _ = self.builder.binder(columns.LAMBDA, slot, row, two)
        self._later(body, self.core.below(row)[0])

    def _nothing(self, slot: int, row: int) -> None:
        self.builder.constant(slot, row, UNSPECIFIED)

    def _call(self, slot: int, row: int) -> None:
        operator, *arguments = self.core.below(row)
        put: Put = partial(self._simple, row=operator)
        outermost = self.builder.n_rows
        for goes_on in self._way(row, len(arguments)):
            slot, places = self._asked(slot, row, put, ["here", "on"])
            put = partial(self.builder.variable, about=row, variable=places[goes_on])
        self._passed(slot, row, put, arguments)
        self.builder.stands_for(row, outermost)

    def _asked(self, slot: int, row: int, put: Put, formals: list[str]) -> tuple[int, list[int]]:
        """Call something with a lambda of this call; return the slot of its body, its formals."""
        first = self.builder.row(columns.CALL, slot, row, n_operands=3)
        put(first)
        self._nothing(first + 2, row)
        return self.builder.binder(columns.LAMBDA, first + 1, row, formals)

    def _passed(self, slot: int, row: int, put: Put, arguments: list[int]) -> None:
        """Call an entry."""
        while len(arguments) > 2:
            first = self.builder.row(columns.CALL, slot, row, n_operands=3)
            put(first)
            self._simple(first + 1, arguments[0])
            slot, (entry, _) = self.builder.binder(columns.LAMBDA, first + 2, row, ["e", "_"])
            put = partial(self.builder.variable, about=row, variable=entry)
            arguments = arguments[1:]
        first = self.builder.row(columns.CALL, slot, row, n_operands=3)
        put(first)
        for place in range(2):
            if place < len(arguments):
                self._simple(first + 1 + place, arguments[place])
            else:
                self._nothing(first + 1 + place, row)

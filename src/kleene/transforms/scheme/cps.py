"""CPS conversion: every procedure takes one formal more, to which it hands its result.

Bodies of lambdas, and the program, become tails (`language`). What is to be done with the value of
a part is a function of Python, run while converting, if the value has a name or is a constant: only
values of calls and of primitives are bound by a lambda (Danvy and Filinski's one-pass conversion).
Reads of variables that may change are bound too, if a call comes between them and their use. Tasks
wait on a list, so that no depth of nesting is too deep.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from kleene.base.errors import raise_all
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import NONE
from kleene.ir.scheme.primitives import table
from kleene.ir.scheme.values import UNSPECIFIED
from kleene.transforms.scheme.derived import Derived, DerivedBuilder
from kleene.transforms.scheme.language import ATOMS, calls_cc, objections


@dataclass(frozen=True, slots=True)
class Held:
    """What a new variable holds."""

    variable: int


@dataclass(frozen=True, slots=True)
class Known:
    """A value that is known."""

    value: Any


@dataclass(frozen=True, slots=True)
class Return:
    """Hand the value to the continuation that this variable holds; NONE: end the program."""

    variable: int


Atom = int | Held | Known  # an integer is the row of an atom
Next = Return | Callable[[int, Atom], None]  # the latter is given a slot for what is left to do
HALT = Return(NONE)


def to_cps(program: Derived) -> Derived:
    """Return the program in continuation-passing style.

    Raises:
        SourceError: a form cannot be carried (`cps/no-form`).
    """
    raise_all(objections(program.core, with_data=True))
    return _Converter(program).run()


class _Converter:
    def __init__(self, program: Derived) -> None:
        core = self.core = program.core
        self.builder = DerivedBuilder(program)
        self.kind: list[int] = core.kind.tolist()
        self.reference: list[int] = core.reference.tolist()
        self.changes: list[bool] = ((core.owner == NONE) | core.is_assigned).tolist()
        self.tasks: list[Callable[[], None]] = []
        self.steps: dict[int, Callable[[int, int, Next], None]] = {
            columns.CALL: self._call,
            columns.IF: self._if,
            columns.SET: self._assignment,
            columns.DEFINE: self._assignment,
            columns.LETREC: self._letrec,
            columns.SEQUENCE: self._sequence,
        }

    def run(self) -> Derived:
        """Return the converted program."""
        self._later(self.builder.top, self.core.root, HALT)
        while self.tasks:
            self.tasks.pop()()
        return self.builder.finish()

    def _later(self, slot: int, row: int, next: Next) -> None:
        """Convert a row, and what is next with its value, into `slot`; not before this returns."""
        self.tasks.append(partial(self._convert, slot, row, next))

    def _convert(self, slot: int, row: int, next: Next) -> None:
        if self.kind[row] in ATOMS:
            self._give(slot, row, row, next)
        else:
            self.steps[self.kind[row]](slot, row, next)

    def _give(self, slot: int, about: int, value: Atom, next: Next) -> None:
        """Go on with a value that needs no name."""
        if isinstance(next, Return):
            self._atom(self._handed(slot, about, next), about, value)
        else:
            self.tasks.append(partial(next, slot, value))

    def _handed(self, slot: int, about: int, next: Next) -> int:
        """Return the slot for a value that is passed on."""
        if next == HALT:
            return slot
        first = self.builder.row(columns.CALL, slot, about, n_operands=2)
        self.builder.returning()
        self._continuation(first, about, next)
        return first + 1

    def _continuation(self, slot: int, about: int, next: Next) -> None:
        """Put what is next into `slot`, as a variable or as a lambda."""
        if isinstance(next, Return) and next != HALT:
            self.builder.variable(slot, about, next.variable)
            return
        body, (value,) = self.builder.binder(columns.LAMBDA, slot, about, ["r"])
        self.builder.returning()
        self._give(body, about, Held(value), next)

    def _shared(self, slot: int, about: int, next: Next) -> tuple[int, Return]:
        """Return a slot in which what is next has a name, and that name."""
        if isinstance(next, Return):
            return slot, next
        first = self.builder.row(columns.CALL, slot, about, n_operands=2)
        body, (joined,) = self.builder.binder(columns.LAMBDA, first, about, ["j"])
        self._continuation(first + 1, about, next)
        return body, Return(joined)

    def _atom(self, slot: int, about: int, atom: Atom) -> None:
        if isinstance(atom, Held):
            self.builder.variable(slot, about, atom.variable)
        elif isinstance(atom, Known):
            self.builder.constant(slot, about, atom.value)
        elif self.kind[atom] == columns.LAMBDA:
            self._lambda(slot, atom)
        elif self.kind[atom] == columns.PRIMITIVE:
            self._primitive(slot, atom)
        elif self.kind[atom] == columns.VARIABLE:
            self.builder.variable(slot, atom, self.builder.current[self.reference[atom]])
        else:
            self.builder.row(columns.CONSTANT, slot, atom, self.reference[atom])

    def _lambda(self, slot: int, row: int) -> None:
        formals = [*self.core.node(row).bound, "k"]
        body, bound = self.builder.binder(columns.LAMBDA, slot, row, formals)
        self.builder.stands_for(row)
        self._later(body, self.core.below(row)[0], Return(bound[-1]))

    def _primitive(self, slot: int, row: int) -> None:
        """Put a lambda into `slot` that applies the primitive and hands on what it returns."""
        n_formals = table()[self.core.primitives[self.reference[row]]].n_least
        formals = [*("abcdefgh"[:n_formals]), "k"]
        body, bound = self.builder.binder(columns.LAMBDA, slot, row, formals)
        self.builder.stands_for(row)
        self._applied(self._handed(body, row, Return(bound[-1])), row, row, map(Held, bound[:-1]))

    def _applied(self, slot: int, about: int, primitive: int, arguments: Any) -> None:
        atoms = list(arguments)
        first = self.builder.row(columns.CALL, slot, about, n_operands=1 + len(atoms))
        self.builder.stands_for(about)
        self.builder.row(columns.PRIMITIVE, first, primitive, self.reference[primitive])
        for place, atom in enumerate(atoms, first + 1):
            self._atom(place, about, atom)

    def _call(self, slot: int, row: int, next: Next) -> None:
        self._operands(row, next, [], slot)

    def _operands(self, row: int, next: Next, atoms: list[Atom], slot: int) -> None:
        """Convert the operands behind those that are atoms by now, then make the call."""
        below = self.core.below(row)
        last_deep = max(
            (i for i, each in enumerate(below) if self.kind[each] not in ATOMS), default=-1
        )
        for place in range(len(atoms), len(below)):
            operand = below[place]
            if self.kind[operand] not in ATOMS:
                self._later(slot, operand, partial(self._operand, row, next, atoms))
                return
            if place < last_deep and self._may_change(operand):
                then = partial(self._operand, row, next, atoms)
                self._atom(self._handed(slot, row, then), row, operand)
                return
            atoms.append(operand)
        self._finish_call(slot, row, atoms, next)

    def _operand(self, row: int, next: Next, atoms: list[Atom], slot: int, value: Atom) -> None:
        atoms.append(value)
        self._operands(row, next, atoms, slot)

    def _may_change(self, row: int) -> bool:
        return self.kind[row] == columns.VARIABLE and self.changes[self.reference[row]]

    def _finish_call(self, slot: int, row: int, atoms: list[Atom], next: Next) -> None:
        operator = atoms[0]
        if not isinstance(operator, int) or self.kind[operator] != columns.PRIMITIVE:
            self._pass(slot, row, atoms, next)
        elif calls_cc(self.core.node(operator)):
            self._call_cc(slot, row, atoms[1], next)
        else:
            self._applied(self._handed(slot, row, next), row, operator, atoms[1:])

    def _pass(self, slot: int, row: int, atoms: list[Atom], next: Next) -> None:
        """Make a call, with what is next as its last argument."""
        first = self.builder.row(columns.CALL, slot, row, n_operands=len(atoms) + 1)
        self.builder.stands_for(row)
        for place, atom in enumerate(atoms, first):
            self._atom(place, row, atom)
        self._continuation(first + len(atoms), row, next)

    def _call_cc(self, slot: int, row: int, receiver: Atom, next: Next) -> None:
        """Pass on what is next as a procedure, too: one that drops its own continuation.

        It takes one value: to return none or several through it fails in CPS.
        """
        slot, back = self._shared(slot, row, next)
        first = self.builder.row(columns.CALL, slot, row, n_operands=3)
        self.builder.stands_for(row)
        self._atom(first, row, receiver)
        body, bound = self.builder.binder(columns.LAMBDA, first + 1, row, ["v", "k"])
        self.builder.stands_for(row)
        self._give(body, row, Held(bound[0]), back)
        self._continuation(first + 2, row, back)

    def _if(self, slot: int, row: int, next: Next) -> None:
        self._later(slot, self.core.below(row)[0], partial(self._branch, row, next))

    def _branch(self, row: int, next: Next, slot: int, test: Atom) -> None:
        slot, back = self._shared(slot, row, next)
        first = self.builder.row(columns.IF, slot, row, n_operands=3)
        self._atom(first, row, test)
        for place, branch in enumerate(self.core.below(row)[1:], first + 1):
            self._later(place, branch, back)

    def _assignment(self, slot: int, row: int, next: Next) -> None:
        self._later(slot, self.core.below(row)[0], partial(self._assigned, row, next))

    def _assigned(self, row: int, next: Next, slot: int, value: Atom) -> None:
        kind, variable = self.kind[row], self.reference[row]
        name = self.core.names[variable] if kind == columns.DEFINE else UNSPECIFIED
        slot = self._store(kind, slot, row, variable, value)
        self._give(slot, row, Known(name), next)

    def _store(self, kind: int, slot: int, about: int, variable: int, value: Atom) -> int:
        """Assign a variable; return the slot of what follows."""
        first = self.builder.row(columns.SEQUENCE, slot, about, n_operands=2)
        now = self.builder.current[variable]
        self._atom(self.builder.assignment(kind, first, about, now), about, value)
        return first + 1

    def _sequence(self, slot: int, row: int, next: Next) -> None:
        if self.core.below(row):
            self._after(row, 0, next, slot, Known(UNSPECIFIED))
        else:
            self._give(slot, row, Known(UNSPECIFIED), next)

    def _after(self, row: int, place: int, next: Next, slot: int, value: Atom) -> None:
        """Convert the expressions of a sequence from a place on.

        The value before is dropped, but not if it is a lambda: its body is part of the program.
        """
        if isinstance(value, int) and self.kind[value] == columns.LAMBDA:
            self._atom(self._handed(slot, row, partial(self._after, row, place, next)), row, value)
            return
        below = self.core.below(row)
        is_last = place == len(below) - 1
        then = next if is_last else partial(self._after, row, place + 1, next)
        self._later(slot, below[place], then)

    def _letrec(self, slot: int, row: int, next: Next) -> None:
        """Bind lambdas at once; other values are assigned, in order, before the body."""
        values, variables = self.core.below(row)[:-1], list(self.core.node(row).bound)
        first, _ = self.builder.binder(columns.LETREC, slot, row, variables, len(values) + 1)
        for place, value in enumerate(values, first):
            is_lambda = self.kind[value] == columns.LAMBDA
            self._atom(place, row, value if is_lambda else Known(UNSPECIFIED))
        self._fill(row, 0, next, first + len(values))

    def _fill(self, row: int, place: int, next: Next, slot: int) -> None:
        *values, body = self.core.below(row)
        while place < len(values) and self.kind[values[place]] == columns.LAMBDA:
            place += 1
        if place == len(values):
            self._later(slot, body, next)
        else:
            self._later(slot, values[place], partial(self._filled, row, place, next))

    def _filled(self, row: int, place: int, next: Next, slot: int, value: Atom) -> None:
        variable = self.reference[row] + place
        slot = self._store(columns.SET, slot, row, variable, value)
        self._fill(row, place + 1, next, slot)

"""The machine: runs code with an explicit continuation, so calls in tail position use no space.

A continuation is a chain of small objects with `resume(value, machine)`, never changed once made:
`call/cc` only keeps one, and returning to it twice does no harm. The dynamic state (winders,
handlers, parameters) is a value too, kept with each continuation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, Protocol

from kleene.frontends.scheme.interpreter.code import RETURN, State
from kleene.frontends.scheme.interpreter.objects import (
    CaseLambda,
    Closure,
    Condition,
    Continuation,
    Native,
    Parameter,
    Values,
    failure,
)
from kleene.ir.scheme.values import list_of


class Observer(Protocol):
    """Sees what a program does, as far as an analysis of it must foresee."""

    def called(self, site: int, row: int) -> None:
        """The call at row `site`, or a primitive that was called there, calls the lambda at `row`.

        Thunks of `dynamic-wind` and handlers are called for the site that they were given at.
        """

    def met(self, site: int, procedure: Any, n_arguments: int) -> None:
        """The call at row `site` calls this, if it can be called; the site names no primitive.

        What primitives call is not reported here, since some are written in Scheme themselves.
        """

    def bound(self, variable: int, value: Any) -> None:
        """A variable of the program is given a value."""


@dataclass(frozen=True, slots=True)
class Winder:
    """A `dynamic-wind` that control is inside of, where it was called, and the next one out."""

    before: Any
    after: Any
    site: int
    parent: Winder | None
    depth: int


@dataclass(frozen=True, slots=True)
class Dynamic:
    """The dynamic state: the innermost winder, the handlers, what parameters are bound to."""

    winder: Winder | None
    handlers: tuple[tuple[Any, int], ...]  # each with the site that installed it, innermost first
    parameters: dict[Parameter, Any]


class StepLimit(Exception):  # noqa: N818 - it gets its place where the run was started
    """The program took more steps than it may."""


class Halt(Exception):  # noqa: N818 - the end of the program, good or bad
    """The program is over, with this value."""


class Uncaught(Exception):  # noqa: N818 - it gets its place where the run was started
    """A condition that no handler took: what was raised."""


EXIT = object()  # the value of a program that was left by `exit`


class End:
    """The continuation of a top-level form."""

    __slots__ = ()

    def resume(self, value: Any, machine: Machine) -> State:
        """End the run."""
        raise Halt(value)


class Then:
    """A continuation written in Python: `step(value, machine, next)` says what to do next."""

    __slots__ = ("next", "step")

    def __init__(self, step: Callable[[Any, Machine, Any], State], next: Any) -> None:
        self.step = step
        self.next = next

    def resume(self, value: Any, machine: Machine) -> State:
        """Go on with a value."""
        return self.step(value, machine, self.next)


class Machine:
    """The registers that code shares: the dynamic state and the place of the last call."""

    def __init__(self, observer: Observer | None = None, max_steps: int | None = None) -> None:
        self.dynamic = Dynamic(None, (), {})
        self.observer = observer
        # One iterator for the whole run: what is left of it counts on after a condition.
        self.steps = repeat(None) if max_steps is None else repeat(None, max_steps)
        self.site = -1

    def run(self, code: Any, frame: Any) -> Any:
        """Return the value of code; raise where it ends otherwise."""
        k: Any = End()
        raised: list[Any] = []
        while True:
            try:
                if raised:
                    code, frame, k = self.raise_(raised.pop(), k, is_continuable=False)
                for _ in self.steps:
                    code, frame, k = code.enter(frame, k, self)
                raise StepLimit
            except Halt as halt:
                return halt.args[0]
            except Condition as condition:
                raised.append(condition.args[0])

    def apply(self, procedure: Any, arguments: list[Any], k: Any, site: int) -> State:
        """Return the first step of a call; `site` is the row of the program it happens for."""
        self.site = site
        kind = type(procedure)
        if kind is Closure:
            return self._enter(procedure, arguments, k, site)
        if kind is Native:
            row = procedure.row
            if not row.accepts(len(arguments)):
                raise failure(f"{row.name} is called with {len(arguments)} arguments")
            if procedure.kind == "plain":
                return RETURN, procedure.function(*arguments), k
            if procedure.kind == "machine":
                return RETURN, procedure.function(self, *arguments), k
            return procedure.function(self, arguments, k, site)  # type: ignore[no-any-return]
        if kind is Continuation:
            return self._jump(procedure, arguments)
        if kind is Parameter and not arguments:
            return RETURN, self.dynamic.parameters.get(procedure, procedure.value), k
        if kind is CaseLambda:
            for clause in procedure.clauses:
                if clause.code.accepts(len(arguments)):
                    return self._enter(clause, arguments, k, site)
            raise failure(f"no clause takes {len(arguments)} arguments")
        raise failure("what is called is no procedure", procedure)

    def _enter(self, closure: Closure, arguments: list[Any], k: Any, site: int) -> State:
        code = closure.code
        n_fixed = code.n_fixed
        if len(arguments) != code.n_least and not code.accepts(len(arguments)):
            raise failure(f"a procedure is called with {len(arguments)} arguments")
        if code.has_rest:
            arguments = [*arguments[:n_fixed], list_of(arguments[n_fixed:])]
        observer = self.observer
        if observer is not None and code.row >= 0:
            observer.called(site, code.row)
            for i, value in enumerate(arguments):
                observer.bound(code.first + i, value)
        return code.body, [closure.frame, site, *arguments], k

    def _jump(self, continuation: Continuation, arguments: list[Any]) -> State:
        """Go on with a continuation, after leaving and entering the winders in between."""
        value = arguments[0] if len(arguments) == 1 else Values(arguments)

        def arrive(_: Any, machine: Machine, k: Any) -> State:
            machine.dynamic = continuation.state
            return RETURN, value, continuation.k

        return self.travel(continuation.state.winder, Then(arrive, None))

    def travel(self, goal: Winder | None, k: Any) -> State:
        """Run the after and before thunks on the way from the current winder to `goal`."""
        here = self.dynamic.winder
        if here is goal:
            return RETURN, None, k
        above, inner = goal, None
        while above is not None and above.depth > (here.depth if here else 0):
            above, inner = above.parent, above
        if above is here and inner is not None:
            entered = inner

            def enter(_: Any, machine: Machine, k: Any) -> State:
                machine.dynamic = replace(machine.dynamic, winder=entered)
                return machine.travel(goal, k)

            return self.apply(entered.before, [], Then(enter, k), entered.site)
        assert here is not None
        self.dynamic = replace(self.dynamic, winder=here.parent)

        def leave(_: Any, machine: Machine, k: Any) -> State:
            return machine.travel(goal, k)

        return self.apply(here.after, [], Then(leave, k), here.site)

    def raise_(self, payload: Any, k: Any, *, is_continuable: bool) -> State:
        """Return the call of the innermost handler, outside of which it runs."""
        state = self.dynamic
        if not state.handlers:
            raise Uncaught(payload)
        self.dynamic = replace(state, handlers=state.handlers[1:])

        def back(value: Any, machine: Machine, k: Any) -> State:
            if not is_continuable:
                raise failure("a handler returned from a condition that cannot be continued")
            machine.dynamic = state
            return RETURN, value, k

        handler, site = state.handlers[0]
        return self.apply(handler, [payload], Then(back, k), site)

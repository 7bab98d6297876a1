"""Code: what the rows of a core become, to be run by the machine.

`enter(frame, k, machine)` evaluates in a frame with the continuation k, and returns what to do
next: code, a frame, and a continuation. Code whose value needs no continuation also has it as a
plain function of the frame, `value`; code made of such parts takes no step for them.

A frame is a list: the frame around it, the call site of the program that it runs for, variables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from kleene.frontends.scheme.interpreter.objects import Closure, failure

if TYPE_CHECKING:
    from kleene.frontends.scheme.interpreter.machine import Machine

Frame: TypeAlias = "list[Any]"
Value: TypeAlias = "Callable[[Frame], Any] | None"
State: TypeAlias = "tuple[Any, Any, Any]"
N_HEAD = 2  # entries of a frame before its variables

UNASSIGNED: Any = type("Unassigned", (), {"__slots__": ()})()


class Code:
    """Code; `value` is None where evaluating takes a continuation."""

    __slots__ = ("value",)

    value: Value

    def enter(self, frame: Frame, k: Any, machine: Machine) -> State:
        """Evaluate, then go on with k."""
        assert self.value is not None
        return RETURN, self.value(frame), k


class Simple(Code):
    """Code that is only its value."""

    __slots__ = ()

    def __init__(self, value: Callable[[Frame], Any]) -> None:
        self.value = value


class _Return(Code):
    """Gives a value, which stands in the frame's place, to the continuation."""

    __slots__ = ()

    def enter(self, frame: Frame, k: Any, machine: Machine) -> State:
        return k.resume(frame, machine)  # type: ignore[no-any-return]


RETURN = _Return()


class After:
    """A continuation that goes on with `step(state, value, frame, next, machine)`."""

    __slots__ = ("frame", "next", "state", "step")

    def __init__(self, step: Callable[..., State], state: Any, frame: Frame, next: Any) -> None:
        self.step = step
        self.state = state
        self.frame = frame
        self.next = next

    def resume(self, value: Any, machine: Machine) -> State:
        """Go on with a value."""
        return self.step(self.state, value, self.frame, self.next, machine)


class Lambda(Code):
    """A lambda: its value is a closure. `row` is -1 in the prelude."""

    __slots__ = ("body", "first", "has_rest", "n_fixed", "n_least", "n_most", "row")

    def __init__(self, row: int, first: int, n_fixed: int, has_rest: bool, body: Code) -> None:
        self.row = row
        self.first = first
        self.n_fixed = n_fixed
        self.has_rest = has_rest
        self.n_least = n_fixed  # of the arguments; a rest may need some
        self.n_most: int | None = None  # arguments that a rest may grow to, if limited
        self.body = body
        self.value = lambda frame: Closure(self, frame)

    def accepts(self, n_arguments: int) -> bool:
        """Return whether so many arguments fit the formals."""
        if not self.has_rest or n_arguments < self.n_least:
            return n_arguments == self.n_least
        return self.n_most is None or n_arguments <= self.n_most


class If(Code):
    """A conditional."""

    __slots__ = ("other", "test", "then")

    def __init__(self, test: Code, then: Code, other: Code) -> None:
        self.test = test
        self.then = then
        self.other = other
        self.value = None
        if test.value and then.value and other.value:
            t, a, b = test.value, then.value, other.value
            self.value = lambda frame: a(frame) if t(frame) is not False else b(frame)

    def enter(self, frame: Frame, k: Any, machine: Machine) -> State:
        """Evaluate, then go on with k."""
        if self.test.value is None:
            return self.test, frame, After(self._chosen, None, frame, k)
        return self._chosen(None, self.test.value(frame), frame, k, machine)

    def _chosen(self, _: None, test: Any, frame: Frame, k: Any, machine: Machine) -> State:
        return (self.then if test is not False else self.other), frame, k


class Sequence(Code):
    """Expressions in order; the last is in tail position."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[Code]) -> None:
        self.parts = parts
        self.value = None

    def enter(self, frame: Frame, k: Any, machine: Machine) -> State:
        """Evaluate, then go on with k."""
        return self._go(0, None, frame, k, machine)

    def _go(self, i: int, _: Any, frame: Frame, k: Any, machine: Machine) -> State:
        """Evaluate from part i on."""
        last = len(self.parts) - 1
        while i < last:
            part = self.parts[i]
            if part.value is None:
                return part, frame, After(self._go, i + 1, frame, k)
            part.value(frame)
            i += 1
        return self.parts[last], frame, k


class Call(Code):
    """A call; its parts are evaluated from left to right.

    `row` is -1 in the prelude; `names_primitive` tells whether the operator is one, by its name.
    """

    __slots__ = ("names_primitive", "parts", "row", "simple")

    def __init__(self, row: int, parts: list[Code], names_primitive: bool) -> None:
        self.row = row
        self.names_primitive = names_primitive
        self.parts = parts
        self.value = None
        values = [part.value for part in parts]
        self.simple = values if all(values) else None

    def enter(self, frame: Frame, k: Any, machine: Machine) -> State:
        """Evaluate, then go on with k."""
        if self.row >= 0:
            machine.site = self.row  # where a complaint about an operand belongs
        if self.simple is None:
            return self._go([], frame, k, machine)
        return self._apply([value(frame) for value in self.simple], frame, k, machine)  # type: ignore[misc]

    def _argument(
        self, values: list[Any], value: Any, frame: Frame, k: Any, machine: Machine
    ) -> State:
        return self._go([*values, value], frame, k, machine)

    def _go(self, values: list[Any], frame: Frame, k: Any, machine: Machine) -> State:
        """Evaluate the parts after those whose values are known, then call."""
        values = values.copy()  # a continuation may come back here: it must find them as they were
        for part in self.parts[len(values) :]:
            if part.value is None:
                return part, frame, After(self._argument, values, frame, k)
            values.append(part.value(frame))
        return self._apply(values, frame, k, machine)

    def _apply(self, values: list[Any], frame: Frame, k: Any, machine: Machine) -> State:
        site = self.row if self.row >= 0 else frame[1]
        if machine.observer is not None and self.row >= 0 and not self.names_primitive:
            machine.observer.met(site, values[0], len(values) - 1)
        return machine.apply(values[0], values[1:], k, site)


class Assign(Code):
    """Evaluates, then hands the value to `store(frame, value)`; its own value is `result`."""

    __slots__ = ("inside", "result", "store")

    def __init__(self, inside: Code, store: Callable[[Frame, Any], None], result: Any) -> None:
        self.inside = inside
        self.store = store
        self.result = result
        self.value = None

    def enter(self, frame: Frame, k: Any, machine: Machine) -> State:
        """Evaluate, then go on with k."""
        if self.inside.value is None:
            return self.inside, frame, After(self._assign, None, frame, k)
        return self._assign(None, self.inside.value(frame), frame, k, machine)

    def _assign(self, _: None, value: Any, frame: Frame, k: Any, machine: Machine) -> State:
        self.store(frame, value)
        return RETURN, self.result, k


class Letrec(Code):
    """Variables of a new frame, given their values in order, then a body."""

    __slots__ = ("body", "n_bound")

    def __init__(self, n_bound: int, body: Code) -> None:
        self.n_bound = n_bound
        self.body = body  # a sequence: an assignment of each variable, then the body proper
        self.value = None

    def enter(self, frame: Frame, k: Any, machine: Machine) -> State:
        """Evaluate, then go on with k."""
        return self.body, [frame, frame[1], *[UNASSIGNED] * self.n_bound], k


def local(depth: int, index: int, name: str, may_be_unassigned: bool) -> Callable[[Frame], Any]:
    """Return how to read a variable `depth` frames out."""
    if may_be_unassigned:

        def checked(frame: Frame) -> Any:
            for _ in range(depth):
                frame = frame[0]
            value = frame[index]
            if value is UNASSIGNED:
                raise failure("a variable is used before it has a value", name)
            return value

        return checked
    if depth == 0:
        return lambda frame: frame[index]
    if depth == 1:
        return lambda frame: frame[0][index]
    if depth == 2:
        return lambda frame: frame[0][0][index]

    def outer(frame: Frame) -> Any:
        for _ in range(depth):
            frame = frame[0]
        return frame[index]

    return outer

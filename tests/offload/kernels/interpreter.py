"""Loop trees, run step by step: the oracle of verdicts.

Memory has no end: what was never written is a small number that hangs on its address, so that any
subscript may be used. A pointer is an object and a path, as in the loop tables, but of numbers.

Floating-point numbers are integers modulo a prime: sums and products in another order are equal,
and different formulas give different numbers but for an accident of one in 10^18.

One loop may be watched: its iterations are recorded, or run in another order, with the private
copies, snapshots and closed forms of induction variables that its verdict allows.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kleene.ir.loops import tree
from kleene.offload.kernels.verdicts import LoopVerdict, Reduction

Address = tuple["Object", tuple[Any, ...]]


class UndefinedError(Exception):
    """The program overflows, divides by zero, or does something that is not modelled."""


class TooLongError(Exception):
    """The run takes too many steps."""


class FalseParallelError(AssertionError):
    """A private copy is read before it is written."""


@dataclass(eq=False)
class Object:
    """Storage: a variable, or what a pointer that was given points to."""

    name: str
    serial: int
    type: tree.Type | None = None
    other_names: tuple[str, ...] = ()  # of pointers that point into it too

    @property
    def is_variable(self) -> bool:
        """Whether this is a scalar variable, such as a pointer itself."""
        return not self.name.endswith("[]") and (
            self.type is not None and self.type.kind not in ("array", "record")
        )

    def is_among(self, names: set[tuple[str, bool]]) -> bool:
        """Return whether a verdict names this storage: by its name, and whether it is an array."""
        called = (self.name.removesuffix("[]"), *self.other_names)
        return any((name, not self.is_variable) in names for name in called)


@dataclass(frozen=True)
class Pointer:
    """An address."""

    object: Object
    path: tuple[Any, ...]

    def moved(self, by: int) -> Pointer:
        if not self.path or not isinstance(self.path[-1], int):
            if by == 0:
                return self
            raise UndefinedError("pointer to a single object")
        return Pointer(self.object, (*self.path[:-1], self.path[-1] + by))


class _Poison:
    """The content of a private copy that nobody has written."""


POISON = _Poison()


@dataclass
class Event:
    """One access in an iteration of the watched loop."""

    address: Address
    is_write: bool
    place: tuple[int, int]


@dataclass
class Iteration:
    """An iteration: what the variables held when it began, and its accesses in order."""

    starts: dict[str, Any]
    events: list[Event] = field(default_factory=list)


class _Break(Exception):  # noqa: N818
    pass


class _Continue(Exception):  # noqa: N818
    pass


class _Return(Exception):  # noqa: N818
    def __init__(self, value: Any) -> None:
        self.value = value


_PURE: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "fmax": max,
    "fmin": min,
}
_PRIME = (1 << 61) - 1
_FUNCTIONS = ("sqrt", "fabs", "pow", "exp")


def _any_function(name: str, values: list[Any]) -> int:
    """Return a number that hangs on the name and the arguments alone."""
    return random.Random(f"{name} {values}").randrange(_PRIME)


class Interpreter:
    """One run of a function."""

    def __init__(
        self, functions: Mapping[str, tree.Function], *, seed: int = 0, max_steps: int = 60_000
    ) -> None:
        self._functions = functions
        self._seed = seed
        self._max_steps = max_steps
        self.memory: dict[Address, Any] = {}
        self.first_reads: dict[Address, Any] = {}  # what was read before it was written
        self._objects: dict[tree.Symbol, Object] = {}
        self._serial = 0
        self._n_steps = 0
        self.watched: tuple[int, int] | None = None
        self.instances: list[list[Iteration]] = []  # of the watched loop
        self._recording: Iteration | None = None
        self._born_before = 0  # serial numbers of objects older than the iteration
        self.reorder: LoopVerdict | None = None
        self.order = random.Random(seed)
        self.redirect: list[tuple[set[tuple[str, bool]], dict[Address, Any]]] = []

    # Running

    def call(self, name: str, arguments: list[Any]) -> Any:
        function = self._functions[name]
        for symbol, value in zip(function.parameters, arguments, strict=True):
            self._declare(symbol)
            self._store((self._objects[symbol], ()), value, record=False)
        try:
            self._block(function.body)
        except _Return as returned:
            return returned.value
        return None

    def given(self, name: str, kind: tree.Type | None) -> Pointer:
        """Return a pointer to storage of its own."""
        return Pointer(self._new(f"{name}[]", kind), (0,))

    def _new(self, name: str, kind: tree.Type | None) -> Object:
        self._serial += 1
        return Object(name, self._serial, kind)

    def _declare(self, symbol: tree.Symbol) -> Object:
        self._objects[symbol] = self._new(symbol.name, symbol.type)
        return self._objects[symbol]

    def _object(self, symbol: tree.Symbol) -> Object:
        found = self._objects.get(symbol)
        if found is None:
            found = self._declare(symbol)
            if symbol.storage in ("global", "static"):
                found.serial = 0
        return found

    # Memory

    def _load(self, address: Address, kind: tree.Type, place: Any) -> Any:
        self._note(address, False, place)
        for names, store in reversed(self.redirect):
            if address[0].is_among(names) and address in store:
                return self._checked(store[address])
        if address not in self.memory:
            self.memory[address] = self._initial(address, kind)
            self.first_reads[address] = self.memory[address]
        return self._checked(self.memory[address])

    def _checked(self, value: Any) -> Any:
        if value is POISON:
            raise FalseParallelError("a private copy is read before it is written")
        return value

    def _initial(self, address: Address, kind: tree.Type) -> Any:
        root, path = address
        number = random.Random(f"{self._seed} {root.name} {path}").randrange(8)
        if kind.kind == "pointer":
            return Pointer(self._new(f"{root.name}{path}[]", kind.target), (0,))
        return number

    def _store(self, address: Address, value: Any, place: Any = None, record: bool = True) -> None:
        if record:
            self._note(address, True, place)
        for names, store in reversed(self.redirect):
            if address[0].is_among(names):
                store[address] = value
                return
        self.memory[address] = value

    def _note(self, address: Address, is_write: bool, place: Any) -> None:
        self._n_steps += 1
        if self._n_steps > self._max_steps:
            raise TooLongError
        if self._recording is not None and address[0].serial <= self._born_before:
            where = (place.line, place.column) if place is not None else (0, 0)
            self._recording.events.append(Event(address, is_write, where))

    # Expressions

    def _place(self, location: tree.Location) -> Address:
        match location:
            case tree.Variable(symbol=symbol):
                return self._object(symbol), ()
            case tree.Element(pointer=pointer, index=index):
                base, by = self._value(pointer), self._value(index)
                if not isinstance(base, Pointer):
                    raise UndefinedError("not a pointer")
                moved = base.moved(by)
                return moved.object, moved.path
            case tree.Member(record=record, name=name, in_union=in_union):
                root, path = self._place(record)
                return root, path if in_union else (*path, name)  # members share their bytes
        raise UndefinedError(type(location).__name__)

    def _value(self, node: tree.Expression) -> Any:
        match node:
            case tree.Literal(value=value):
                return _number(value) if node.type.kind == "float" else value
            case tree.Read(location=location):
                if location.type.kind == "record":
                    raise UndefinedError("a record as a whole")
                return self._load(self._place(location), location.type, location.place)
            case tree.Decay(location=location):
                root, path = self._place(location)
                return Pointer(root, (*path, 0))
            case tree.AddressOf(location=location):
                return Pointer(*self._place(location))
            case tree.Convert(operand=operand):
                return self._convert(self._value(operand), node.type)
            case tree.Unary(operator=operator, operand=operand):
                value = self._value(operand)
                found = {"-": lambda: -value, "~": lambda: ~value, "!": lambda: int(not value)}
                return self._fit(found[operator](), node.type)
            case tree.Binary():
                return self._binary(node)
            case tree.Choose(condition=condition, then=then, otherwise=otherwise):
                return self._value(then if self._value(condition) else otherwise)
            case tree.Call(function=name, arguments=arguments):
                values = [self._value(one) for one in arguments]
                if name in _PURE:
                    return _PURE[name](*values)
                if name in _FUNCTIONS:
                    return _any_function(name, values)
                if name in self._functions:
                    return self.call(name, values)
        raise UndefinedError(type(node).__name__)

    def _convert(self, value: Any, kind: tree.Type) -> Any:
        if isinstance(value, Pointer):
            return value
        if kind.kind == "float":
            return value % _PRIME
        if kind.kind != "int":
            raise UndefinedError(kind.name)
        if kind.bits == 1:
            return int(bool(value))
        low, high = kind.range
        return (value - low) % (high - low + 1) + low

    def _fit(self, value: Any, kind: tree.Type) -> Any:
        """Return the result of an operation: unsigned ones wrap, signed ones must not."""
        if kind.kind == "float":
            return value % _PRIME
        if kind.kind != "int" or not isinstance(value, int):
            return value
        low, high = kind.range
        if not kind.signed:
            return value % (high + 1)
        if not low <= value <= high:
            raise UndefinedError("overflow")
        return value

    def _binary(self, node: tree.Binary) -> Any:
        operator = node.operator
        left = self._value(node.left)
        if operator == "&&":
            return int(bool(left) and bool(self._value(node.right)))
        if operator == "||":
            return int(bool(left) or bool(self._value(node.right)))
        right = self._value(node.right)
        if isinstance(left, Pointer) or isinstance(right, Pointer):
            return self._of_pointers(operator, left, right)
        if operator in ("/", "%"):
            if node.type.kind == "float":
                return left * pow(right, _PRIME - 2, _PRIME) % _PRIME
            return self._fit(_divided(operator, left, right), node.type)
        if operator in ("<<", ">>") and not 0 <= right < 64:
            raise UndefinedError("shift")
        found: dict[str, Callable[[], Any]] = {
            "+": lambda: left + right,
            "-": lambda: left - right,
            "*": lambda: left * right,
            "&": lambda: left & right,
            "|": lambda: left | right,
            "^": lambda: left ^ right,
            "<<": lambda: left << right,
            ">>": lambda: left >> right,
            "<": lambda: int(left < right),
            "<=": lambda: int(left <= right),
            ">": lambda: int(left > right),
            ">=": lambda: int(left >= right),
            "==": lambda: int(left == right),
            "!=": lambda: int(left != right),
        }
        return self._fit(found[operator](), node.type)

    def _of_pointers(self, operator: str, left: Any, right: Any) -> Any:
        if isinstance(left, Pointer) and isinstance(right, Pointer):
            if left.object is not right.object or left.path[:-1] != right.path[:-1]:
                raise UndefinedError("pointers into different storage")
            apart = left.path[-1] - right.path[-1]
            if operator == "-":
                return apart
            order = {"<": apart < 0, "<=": apart <= 0, ">": apart > 0, ">=": apart >= 0}
            return int(order.get(operator, (apart == 0) == (operator == "==")))
        pointer, by = (left, right) if isinstance(left, Pointer) else (right, left)
        return pointer.moved(by if operator == "+" else -by)

    # Statements

    def _block(self, block: tree.Block) -> None:
        for one in block:
            self._statement(one)

    def _statement(self, node: tree.Statement) -> None:
        self._n_steps += 1
        if self._n_steps > self._max_steps:
            raise TooLongError
        match node:
            case tree.Declare(symbol=symbol):
                if symbol.storage == "local":
                    self._declare(symbol)
            case tree.Assign(target=target, value=value):
                held = self._value(value)
                self._store(self._place(target), held, target.place)
            case tree.Evaluate(value=value):
                self._value(value)
            case tree.If(condition=condition, then=then, otherwise=otherwise):
                self._block(then if self._value(condition) else otherwise)
            case tree.Loop():
                self._loop(node)
            case tree.Jump(kind=kind):
                raise _Break if kind == "break" else _Continue
            case tree.Return(value=value):
                raise _Return(None if value is None else self._value(value))
            case _:
                raise UndefinedError(type(node).__name__)

    def _loop(self, node: tree.Loop) -> None:
        is_watched = (node.place.line, node.place.column) == self.watched
        self._block(node.init)
        if is_watched and self.reorder is not None:
            self._reordered(node)
        elif is_watched and self._recording is None:
            self.instances.append(self._traced(node))
        else:
            self._iterate(node, lambda: None)

    def _iterate(self, node: tree.Loop, begin: Callable[[], None]) -> None:
        is_first = node.kind == "do"
        while True:
            if not is_first and not self._test(node):
                return
            begin()
            try:
                self._body(node)
            except _Break:
                return
            if node.kind == "do" and not self._test(node):
                return
            is_first = node.kind == "do"

    def _test(self, node: tree.Loop) -> bool:
        self._block(node.before)
        held = True if node.test is None else bool(self._value(node.test))
        self._block(node.after)
        return held

    def _body(self, node: tree.Loop) -> None:
        with contextlib.suppress(_Continue):
            self._block(node.body)
        self._block(node.step)

    def _traced(self, node: tree.Loop) -> list[Iteration]:
        """Run the loop, and return its iterations."""
        found: list[Iteration] = []
        self._born_before = self._serial

        def begin() -> None:
            self._recording = Iteration(self._locals())
            found.append(self._recording)

        try:
            self._iterate(node, begin)
        finally:
            self._recording = None
        return found

    def _locals(self) -> dict[str, Any]:
        latest = sorted(self._objects.values(), key=lambda one: one.serial)
        return {one.name: self.memory[one, ()] for one in latest if (one, ()) in self.memory}

    def _variables(self, names: set[str]) -> dict[Address, Any]:
        chosen = {(name, False) for name in names}
        return {a: v for a, v in self.memory.items() if a[0].is_among(chosen)}

    def _reordered(self, node: tree.Loop) -> None:
        """Run the iterations in a random order, with what the verdict says makes that right."""
        verdict = self.reorder
        assert verdict is not None
        inductions = {verdict.variable, *(one.split(" ")[0] for one in verdict.inductions)}
        memory, serial, objects = dict(self.memory), self._serial, dict(self._objects)
        self.reorder = None
        watched, self.watched = self.watched, None
        states: list[dict[Address, Any]] = []

        def keep() -> None:
            states.append(self._variables(inductions))

        self._iterate(node, keep)
        after = self._variables(inductions)
        self.memory, self._serial, self._objects = memory, serial, objects
        whole = {(name, True) for name in verdict.copies}
        copied = whole | {(one.name, one.is_array) for one in verdict.privates}
        is_first = whole | {(one.name, one.is_array) for one in verdict.privates if one.is_first}
        made: list[tuple[int, dict[Address, Any]]] = []
        chosen = [one for one in verdict.reductions if one.kept]
        # Of an extremum with what is kept with it every iteration begins with the old values.
        kept = {(name, False) for one in chosen for name in (one.name, *one.kept)}
        copied, is_first = copied | kept, is_first | kept
        numbers = list(range(len(states)))
        self.order.shuffle(numbers)
        for number in numbers:
            self.memory.update(states[number])
            own = _Copies(self.memory, is_first)
            self.redirect.append((copied, own))
            try:
                self._body(node)
            finally:
                self.redirect.pop()
            made.append((number, own))
        extrema = [_decided(one, dict(made), self.memory) for one in chosen]
        for _, own in sorted(made, key=lambda one: one[0]):
            self.memory.update((a, v) for a, v in own.items() if not a[0].is_among(kept))
        for found in extrema:
            self.memory.update(found)
        self.memory.update(after)
        self.reorder, self.watched = verdict, watched


def _decided(
    reduction: Reduction, made: dict[int, dict[Address, Any]], memory: dict[Address, Any]
) -> dict[Address, Any]:
    """Return the extremum, and what is kept with it, from copies of each iteration."""
    by_value: dict[Any, list[int]] = {}
    for number, own in made.items():
        for address, value in own.items():
            if address[0].is_among({(reduction.name, False)}):
                by_value.setdefault(value, []).append(number)
    if not by_value:
        return {}  # nothing was better than what was there before
    best = by_value[max(by_value) if reduction.operator == "argmax" else min(by_value)]
    own = made[min(best) if reduction.ties == "first iteration" else max(best)]
    names = {(name, False) for name in (reduction.name, *reduction.kept)}
    return {a: v for a, v in own.items() if a[0].is_among(names)}


class _Copies(dict[Address, Any]):
    """The private copies of one iteration: as before the loop, or poisoned."""

    def __init__(self, memory: dict[Address, Any], is_first: set[tuple[str, bool]]) -> None:
        super().__init__()
        self._memory = memory
        self._is_first = is_first

    def __contains__(self, address: object) -> bool:
        if super().__contains__(address):
            return True
        return not address[0].is_among(self._is_first)  # type: ignore[index]

    def __missing__(self, address: Address) -> Any:
        return POISON


def _number(value: float) -> int:
    """Return a decimal fraction of the program as a number modulo the prime."""
    top, below = value.as_integer_ratio()
    return top * pow(below, _PRIME - 2, _PRIME) % _PRIME


def _divided(operator: str, left: Any, right: Any) -> Any:
    if right == 0:
        raise UndefinedError("division by zero")
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if operator == "/" else left - quotient * right

"""How much work does code do for given sizes: operations, and the addresses of its accesses?

The code is walked once with values of its variables; a value may be an array, one element for each
of several threads that are looked at. A loop is entered with its variable in the middle of its
range, so that loops whose bounds hang on variables around them count with their mean trips, and a
condition holds for the threads for which it does. What is loaded from memory is not known: it
counts as 0, and a condition on it as true.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.codegen.plan import Atomic, CannotError
from kleene.codegen.text import flattened
from kleene.codegen.trees import counted
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Element, Expression, Symbol, Variable

Values = Any  # a number, or an array with one for each thread
_SLOW = {"/", "%"}


@dataclass(frozen=True, slots=True)
class Inside:
    """A loop around a statement."""

    variable: Symbol
    trips: Values
    step: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement, how often it is executed, and what it does each time.

    Attributes:
        times: executions, by thread.
        env: values of variables there.
        loops: around it, outermost first.
        flops: floating-point additions and multiplications.
        n_whole: operations on whole numbers, those of subscripts apart.
        n_slow: divisions, and calls of functions of <math.h>.
        n_sums: additions among the flops.
        is_sum: whether it adds to what the execution before has left.
        is_atomic: whether its write is an atomic operation.
    """

    times: Values
    env: Mapping[Symbol, Values]
    loops: tuple[Inside, ...]
    flops: int
    n_whole: int
    n_slow: int
    n_sums: int
    reads: tuple[Element, ...]
    writes: tuple[Element, ...]
    is_sum: bool
    is_atomic: bool

    @property
    def trips(self) -> float:
        """The mean iterations of the innermost loop."""
        return float(np.mean(self.loops[-1].trips)) if self.loops else 1.0

    def step_bytes(self, one: Element) -> float:
        """Return by how many bytes an access moves from an iteration to the next."""
        if not self.loops:
            return 0.0
        last = self.loops[-1]
        after = dict(self.env) | {last.variable: self.env[last.variable] + last.step}
        moved = np.abs(address(one, after) - address(one, self.env))
        return float(np.mean(moved))


def pieces_of(block: Sequence[Any], env: Mapping[Symbol, Values]) -> list[Piece]:
    """Return the statements of a block with their work; the order is always the same."""
    found: list[Piece] = []
    _walk(block, dict(env), 1.0, (), found)
    return found


def pieces_in(
    block: Sequence[Any], env: Mapping[Symbol, Values], loops: tuple[Inside, ...]
) -> list[Piece]:
    """Return the statements of a block that loops are around."""
    found: list[Piece] = []
    _walk(block, dict(env), math.prod(one.trips for one in loops), loops, found)
    return found


def _walk(
    block: Sequence[Any],
    env: dict[Symbol, Values],
    times: Values,
    loops: tuple[Inside, ...],
    found: list[Piece],
) -> None:
    for node in block:
        match node:
            case tree.Loop():
                form = counted(node)
                if form is None:
                    continue
                low, high = value_of(form.low, env), value_of(form.high, env)
                trips = np.maximum(0.0, np.ceil((high - low) / form.step))
                middle = np.floor((low + high) / 2)
                around = (*loops, Inside(form.variable, trips, form.step))
                _walk(node.body, env | {form.variable: middle}, times * trips, around, found)
            case tree.If(condition=condition, then=then, otherwise=otherwise):
                _note(found, (condition,), env, times, loops)
                holds = _holds(condition, env)
                _walk(then, dict(env), times * holds, loops, found)
                _walk(otherwise, dict(env), times * (1.0 - holds), loops, found)
            case _:
                _note(found, (node,), env, times, loops)
                if isinstance(node, tree.Assign) and isinstance(node.target, Variable):
                    env[node.target.symbol] = value_of(node.value, env)


def _holds(condition: Expression, env: Mapping[Symbol, Values]) -> Values:
    """Return 1 where a condition holds, 0 where not; a half if what is loaded decides."""
    if any(isinstance(one, Element) for one in tree.walk(condition)):
        return 0.5
    return np.asarray(value_of(condition, env) != 0, float)


def _note(
    found: list[Piece],
    nodes: tuple[Any, ...],
    env: Mapping[Symbol, Values],
    times: Values,
    loops: tuple[Inside, ...],
) -> None:
    flops = whole = slow = sums = 0
    reads: dict[Element, None] = {}
    writes: dict[Element, None] = {}
    subscripts: set[int] = set()
    for one in tree.walk(nodes):
        if isinstance(one, Element):
            subscripts.update(id(part) for part in tree.walk((one.index, one.pointer)))
    for one in tree.walk(nodes):
        match one:
            case tree.Binary(operator=operator) if id(one) not in subscripts:
                is_float = one.type.kind == "float"
                slow += is_float and operator in _SLOW
                flops += is_float and operator not in _SLOW
                sums += is_float and operator in "+-"
                whole += not is_float
            case tree.Call():
                slow += 1
            case tree.Read(location=Element() as location):
                reads[location] = None
            case tree.Assign(target=Element() as location):
                writes[location] = None
            case Atomic(target=Element() as location):
                writes[location] = None
    for location in writes:  # what a write's subscripts read is read, the element itself is not
        reads.update((one, None) for one in _loads(location))
    is_sum = any(_adds(one, loops) for one in nodes)
    is_atomic = any(isinstance(one, Atomic) for one in nodes)
    found.append(
        Piece(
            times, dict(env), loops, flops, whole, slow, sums, tuple(reads), tuple(writes), is_sum,
            is_atomic,
        )
    )  # fmt: skip


def _loads(location: Element) -> Iterable[Element]:
    for one in tree.walk((location.index, location.pointer)):
        if isinstance(one, tree.Read) and isinstance(one.location, Element):
            yield one.location


def _adds(node: Any, loops: tuple[Inside, ...]) -> bool:
    if not isinstance(node, tree.Assign) or not isinstance(node.value, tree.Binary) or not loops:
        return False
    left = node.value.left
    if not isinstance(left, tree.Read) or left.location != node.target:
        return False
    names = {one.symbol for one in tree.walk(node.target) if isinstance(one, Variable)}
    return loops[-1].variable not in names


def address(one: Element, env: Mapping[Symbol, Values]) -> Values:
    """Return the bytes of an element from the beginning of its array, by thread."""
    at: Values = 0.0
    try:
        for index, extents in flattened(one)[1]:
            size: Values = 1.0
            for extent in extents:
                size = size * (extent if isinstance(extent, int) else value_of(extent, env))
            at = at + value_of(index, env) * size
    except CannotError:
        return 0.0
    return at * (one.type.bits // 8)


def base_of(one: Element) -> Symbol | None:
    """Return the array of an element."""
    try:
        return flattened(one)[0]
    except CannotError:
        return None


def footprint(pieces: Iterable[Piece], around: Mapping[Symbol, float]) -> tuple[float, float]:
    """Return the bytes of distinct elements that are read, and that are written.

    Of each array it is the largest set that one access has. `around` are counts of variables
    besides those of loops.
    """
    sets: dict[tuple[Symbol | None, bool], float] = {}
    for piece in pieces:
        ranges = dict(around)
        ranges |= {one.variable: float(np.mean(one.trips)) for one in piece.loops}
        if not np.any(piece.times):
            continue
        for is_write, listed in ((False, piece.reads), (True, piece.writes)):
            for one in listed:
                size = _elements(one, ranges) * (one.type.bits // 8)
                key = (base_of(one), is_write)
                sets[key] = max(sets.get(key, 0.0), size)
    read = sum(size for (_, is_write), size in sets.items() if not is_write)
    return read, sum(size for (_, is_write), size in sets.items() if is_write)


def _elements(one: Element, ranges: Mapping[Symbol, float]) -> float:
    """Return how many elements an access touches: the product of what its subscripts have.

    `y + v` has about as many values as both variables together; with a product in it, such as
    `i * n + j`, as many as pairs of them.
    """
    found = 1.0
    try:
        terms = flattened(one)[1]
    except CannotError:
        return found
    for index, _ in terms:
        parts = list(tree.walk(index))
        names = {p.symbol for p in parts if isinstance(p, Variable)} & ranges.keys()
        counts = [max(ranges[name], 0.0) for name in names]
        is_product = any(isinstance(p, tree.Binary) and p.operator == "*" for p in parts)
        if is_product or not all(counts):
            found *= math.prod(counts)
        else:
            found *= 1 + sum(count - 1 for count in counts)
    return found


def value_of(value: Expression, env: Mapping[Symbol, Values]) -> Values:
    """Return a number for an expression, by thread; what is not known counts as 0."""
    match value:
        case tree.Literal(value=number):
            return float(number)
        case tree.Read(location=Variable(symbol=symbol)):
            return env.get(symbol, 0.0)
        case tree.Convert(operand=operand):
            return value_of(operand, env)
        case tree.Unary(operator="-", operand=operand):
            return -value_of(operand, env)
        case tree.Unary(operator="!", operand=operand):
            return np.asarray(value_of(operand, env) == 0, float)
        case tree.Binary(operator=operator, left=left, right=right) if operator in _OPERATIONS:
            return _OPERATIONS[operator](value_of(left, env), value_of(right, env))
        case tree.Choose(condition=condition, then=then, otherwise=otherwise):
            holds = value_of(condition, env) != 0
            return np.where(holds, value_of(then, env), value_of(otherwise, env))
    return 0.0


def _divided(a: Values, b: Values) -> Values:
    return np.where(b == 0, 0.0, np.floor(a / np.where(b == 0, 1.0, b)))


_OPERATIONS: dict[str, Callable[[Values, Values], Values]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divided,
    "%": lambda a, b: a - b * _divided(a, b),
    "<": lambda a, b: np.asarray(a < b, float),
    ">": lambda a, b: np.asarray(a > b, float),
    "<=": lambda a, b: np.asarray(a <= b, float),
    ">=": lambda a, b: np.asarray(a >= b, float),
    "==": lambda a, b: np.asarray(a == b, float),
    "!=": lambda a, b: np.asarray(a != b, float),
    "&&": lambda a, b: np.asarray((a != 0) & (b != 0), float),
    "||": lambda a, b: np.asarray((a != 0) | (b != 0), float),
}

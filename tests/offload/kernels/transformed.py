"""Loops run as a transformation of their nest has it: what is said to be parallel, in any order.

The transformed loop is first run as it is written, to see its iterations; then everything is put
back, and their bodies run in the new order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kleene.ir.loops import tree
from kleene.offload.kernels.transformations import Transformation
from kleene.offload.kernels.verdicts import LoopVerdict
from tests.offload.kernels.interpreter import (
    Address,
    Interpreter,
    Object,
    Pointer,
    TooLongError,
    UndefinedError,
    _Copies,
)
from tests.offload.kernels.oracle import _check_memory, _close, arguments

Runs = Iterable[tuple[Mapping[str, int], int | None]]


@dataclass
class _Begun:
    """How an iteration begins: its numbers, and the variables that count."""

    outer: int
    inner: int
    memory: dict[Address, Any]
    objects: dict[tree.Symbol, Object]


class Transformed(Interpreter):
    """A run in which one loop is transformed."""

    def __init__(
        self,
        functions: Mapping[str, tree.Function],
        loop: LoopVerdict,
        change: Transformation,
        inner: LoopVerdict | None,
        seed: int,
    ) -> None:
        super().__init__(functions, seed=seed, max_steps=400_000)
        self._changed = loop
        self._change = change
        self._inner = inner
        self._is_inside = False

    def _loop(self, node: tree.Loop) -> None:
        here = (node.place.line, node.place.column)
        place = self._changed.place
        if self._is_inside or here != (place.line, place.column):
            super()._loop(node)
            return
        self._block(node.init)
        self._is_inside = True
        if self._change.inner is not None:
            self._nest(node)
        else:
            self._iterations(node)
        self._is_inside = False

    def _names(self) -> set[str]:
        found = set()
        for one in (self._changed, self._inner):
            if one is not None:
                found |= {one.variable, *(text.split(" ")[0] for text in one.inductions)}
        return found

    def _begun(self, node: tree.Loop) -> tuple[list[_Begun], dict[Address, Any]]:
        """Return the iterations of a loop, and what its variables hold after it."""
        inner = self._change.inner
        where = None if inner is None else (inner.line, inner.column)
        found: list[_Begun] = []
        numbers = [-1, -1]

        def keep() -> None:
            kept = self._variables(self._names())
            found.append(_Begun(numbers[0], numbers[1], kept, dict(self._objects)))

        def begin_outer() -> None:
            numbers[:] = [numbers[0] + 1, -1]
            if inner is None:
                keep()

        def begin_inner() -> None:
            numbers[1] += 1
            keep()

        memory, serial, objects = dict(self.memory), self._serial, dict(self._objects)
        plain = super()._loop

        def other(loop: tree.Loop) -> None:
            if (loop.place.line, loop.place.column) == where:
                self._block(loop.init)
                self._iterate(loop, begin_inner)
            else:
                plain(loop)

        self._loop = other  # type: ignore[method-assign]
        self._iterate(node, begin_outer)
        del self._loop
        after = self._variables(self._names())
        self.memory, self._serial, self._objects = memory, serial, objects
        return found, after

    def _nest(self, node: tree.Loop) -> None:
        assert self._change.inner is not None
        place = self._change.inner
        inner = next(
            one
            for one in tree.walk(node.body)
            if isinstance(one, tree.Loop)
            and (one.place.line, one.place.column) == (place.line, place.column)
        )
        begun, after = self._begun(node)
        if self._change.kind == "interchange":
            columns: dict[int, list[_Begun]] = {}
            for one in begun:
                columns.setdefault(one.inner, []).append(one)
            numbers = list(columns)
            self.order.shuffle(numbers)
            for number in numbers:
                for one in columns[number]:
                    self._run(one, lambda: self._body(inner), self._temporaries())
        else:
            fronts: dict[int, list[_Begun]] = {}
            for one in begun:
                front = self._change.factor * one.outer + one.inner
                fronts.setdefault(front, []).append(one)
            for number in sorted(fronts):
                self.order.shuffle(fronts[number])
                for one in fronts[number]:
                    is_sunk = bool(self._change.sunk) and one.inner == 0
                    body = self._with_sunk(node, inner) if is_sunk else lambda: self._body(inner)
                    self._run(one, body, self._temporaries())
        self.memory.update(after)

    def _with_sunk(self, node: tree.Loop, inner: tree.Loop) -> Callable[[], None]:
        """Return an iteration of the loop inside after the statements before that loop."""

        def run() -> None:
            objects = dict(self._objects)
            for one in node.body[: node.body.index(inner)]:
                self._statement(one)
            self._objects = objects
            self._body(inner)

        return run

    def _temporaries(self) -> set[tuple[str, bool]]:
        """Return what iterations of both loops have copies of, without a value before or after."""
        assert self._inner is not None
        kept = [
            {(p.name, p.is_array) for p in one.privates if not (p.is_first or p.last)}
            for one in (self._changed, self._inner)
        ]
        return kept[0] & kept[1]

    def _enter(self, begun: _Begun) -> None:
        """Put back the variables of an iteration; global ones are those of all."""
        shared = {s: o for s, o in self._objects.items() if s.storage in ("global", "static")}
        self.memory.update(begun.memory)
        self._objects = {**begun.objects, **shared}

    def _run(
        self, begun: _Begun, body: Callable[[], None], names: set[tuple[str, bool]]
    ) -> dict[Address, Any]:
        self._enter(begun)
        own = _Copies(self.memory, set())
        self.redirect.append((names, own))
        try:
            body()
        finally:
            self.redirect.pop()
        return own

    def _iterations(self, node: tree.Loop) -> None:
        begun, after = self._begun(node)
        changed = self._changed
        whole = {(name, True) for name in changed.copies}
        copied = whole | {(one.name, one.is_array) for one in changed.privates}
        is_first = whole | {(one.name, one.is_array) for one in changed.privates if one.is_first}
        own = [_Copies(self.memory, is_first) for _ in begun]
        values = {name: value for name, value in self._locals().items() if isinstance(value, int)}
        for numbers, statements, is_parallel in self._loops(len(begun), len(node.body), values):
            if is_parallel:
                self.order.shuffle(numbers)
            for number in numbers:
                self._enter(begun[number])
                self.redirect.append((copied, own[number]))
                try:
                    if statements is None:
                        self._body(node)
                    for one in statements or ():
                        self._statement(node.body[one])
                finally:
                    self.redirect.pop()
                begun[number].objects = dict(self._objects)
            for number in sorted(numbers):
                self.memory.update(own[number])
        self.memory.update(after)

    def _loops(
        self, n: int, n_statements: int, values: dict[str, int]
    ) -> Iterator[tuple[list[int], Iterable[int] | None, bool]]:
        """Yield the loops: iterations, statements, and whether they may run in any order."""
        everything = list(range(n))
        if self._change.kind == "fission":
            left_out = set(range(n_statements)).difference(
                *(part.statements for part in self._change.parts)
            )
            yield everything[:], sorted(left_out), False  # declarations
            for part in self._change.parts:
                yield everything[:], sorted(part.statements), part.is_parallel
            return
        first = 0
        for point in self._change.points:
            after = min(max(first, int(point.evaluate(values))), n)
            yield everything[first:after], None, True
            first = after
        yield everything[first:], None, True


def check_change(
    functions: Mapping[str, tree.Function],
    loop: LoopVerdict,
    change: Transformation,
    loops: Iterable[LoopVerdict],
    runs: Runs,
) -> int:
    """Assert that a transformed loop computes what it did before; return in how many runs."""
    function = functions[loop.function]
    inner = next((one for one in loops if one.place == change.inner), None)
    where = (loop.place.line, loop.place.column, change.kind)
    n_runs = 0
    for number, (numbers, shared) in enumerate(runs):
        if shared is not None and loop.no_overlap:
            continue
        plain = Interpreter(functions, seed=number)
        try:
            result = plain.call(function.name, arguments(function, plain, numbers, shared))
        except (UndefinedError, TooLongError, OverflowError):
            continue
        other = Transformed(functions, loop, change, inner, number)
        if any("[" in one.name for point in change.points for one in point.symbols()):
            continue  # a load, which is not evaluated here
        again = other.call(function.name, arguments(function, other, numbers, shared))
        assert _close(result, again) or isinstance(result, Pointer), where
        _check_memory(plain, other, where)
        n_runs += 1
    return n_runs

"""Are verdicts true? Loops are run, watched, and run again in another order.

A verdict of parallel is false if, in some run, two iterations conflict on storage that the verdict
neither makes private nor copies nor reduces; or a value flows into a private copy or snapshot; or
another order of iterations gives another result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kleene.ir.loops import tree
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict
from tests.offload.kernels.interpreter import (
    FalseParallelError,
    Interpreter,
    Iteration,
    Pointer,
    TooLongError,
    UndefinedError,
)

PARALLEL = {Verdict.PAR, Verdict.PRIV, Verdict.COPY, Verdict.RED}


@dataclass
class Tally:
    """How much was really tried."""

    n_runs: int = 0
    n_iterations: int = 0
    n_reordered: int = 0
    n_undefined: int = 0


def arguments(
    function: tree.Function, run: Interpreter, numbers: Mapping[str, int], shared: int | None
) -> list[Any]:
    """Return a value for each parameter: numbers by name, pointers to storage of their own.

    With `shared`, pointers of the same type point into one array, so many elements apart.
    """
    values: list[Any] = []
    common: dict[str, Pointer] = {}
    for symbol in function.parameters:
        kind = symbol.type
        if kind.kind == "pointer":
            name = kind.target.name if kind.target is not None else ""
            if shared is None or kind.restrict:
                values.append(run.given(symbol.name, kind.target))
            elif name in common:
                common[name] = common[name].moved(shared)
                common[name].object.other_names += (symbol.name,)
                values.append(common[name])
            else:
                common[name] = run.given(symbol.name, kind.target)
                values.append(common[name])
        elif kind.kind == "float":
            values.append(2)
        else:
            values.append(numbers.get(symbol.name, 3))
    return values


def check(
    functions: Mapping[str, tree.Function],
    verdict: LoopVerdict,
    runs: Iterable[tuple[Mapping[str, int], int | None]],
    tally: Tally,
) -> None:
    """Assert that a verdict of parallel holds in all runs."""
    function = functions[verdict.function]
    where = (verdict.place.line, verdict.place.column)
    for number, (numbers, shared) in enumerate(runs):
        if shared is not None and (verdict.no_overlap or not _has_pointers(function)):
            continue
        plain = Interpreter(functions, seed=number)
        plain.watched = where
        given = arguments(function, plain, numbers, shared)
        try:
            result = plain.call(function.name, given)
        except (UndefinedError, TooLongError, OverflowError):
            tally.n_undefined += 1
            continue
        tally.n_runs += 1
        for iterations in plain.instances:
            tally.n_iterations += len(iterations)
            _check_trace(iterations, verdict)
        other = Interpreter(functions, seed=number, max_steps=300_000)
        other.watched, other.reorder = where, verdict
        again = other.call(function.name, arguments(function, other, numbers, shared))
        tally.n_reordered += 1
        assert _close(result, again), f"{where}: {result} in order, {again} in another"
        _check_memory(plain, other, where)


def _has_pointers(function: tree.Function) -> bool:
    return sum(one.type.kind == "pointer" for one in function.parameters) > 1


def _check_trace(iterations: list[Iteration], verdict: LoopVerdict) -> None:
    names = {verdict.variable, *(one.split(" ")[0] for one in verdict.inductions)}
    moved = {(name, False) for name in names}
    reduced = {(one.name, one.is_array) for one in verdict.reductions}
    reduced |= {(name, False) for one in verdict.reductions for name in one.kept}
    copied = {(name, True) for name in verdict.copies}
    copied |= {(one.name, one.is_array) for one in verdict.privates}
    first_of: dict[Any, set[int]] = {}
    writes: dict[Any, list[int]] = {}
    for number, iteration in enumerate(iterations):
        for event in iteration.events:
            first_of.setdefault(event.address, set()).add(number)
            if event.is_write:
                writes.setdefault(event.address, []).append(number)
    for address, numbers in first_of.items():
        name = address[0].name
        is_free = not address[0].is_among(moved | reduced | copied)
        if len(numbers) > 1 and address in writes and is_free:
            raise FalseParallelError(f"{name}{list(address[1])} in iterations {sorted(numbers)}")
    for number, iteration in enumerate(iterations):
        own: set[Any] = set()
        for event in iteration.events:
            if event.is_write:
                own.add(event.address)
            elif event.address not in own and event.address[0].is_among(copied):
                earlier = [n for n in writes.get(event.address, ()) if n < number]
                if earlier:
                    name = event.address[0].name
                    raise FalseParallelError(f"{name}: a value flows {earlier[-1]} -> {number}")
    for one in verdict.privates:
        if one.last == "last iteration" and iterations:
            written = {e.address for e in iterations[-1].events if e.is_write}
            for address in writes:
                is_other = not address[0].is_among({(one.name, one.is_array)})
                assert is_other or address in written, one.name


def _check_memory(plain: Interpreter, other: Interpreter, where: Any) -> None:
    """Compare all storage that the function was given, or that is global."""

    def contents(run: Interpreter) -> dict[Any, Any]:
        return {
            (root.name, path): value
            for (root, path), value in run.memory.items()
            if (root.serial == 0 or root.name.endswith("[]")) and not isinstance(value, Pointer)
        }

    left, right = contents(plain), contents(other)
    for key in left.keys() & right.keys():
        assert _close(left[key], right[key]), f"{where}: {key} is {left[key]}, then {right[key]}"


def _close(left: Any, right: Any) -> bool:
    return bool(left == right) or isinstance(left, Pointer)


def confirm(functions: Mapping[str, tree.Function], verdict: LoopVerdict) -> bool | None:
    """Return whether a run shows the witness of a sequential loop; None if it cannot be set up.

    The iteration of the read, at its place, must read the element that the iteration of the write
    wrote, and no write of its own before.
    """
    witness = verdict.witness
    assert witness is not None
    function = functions[verdict.function]
    known = {one.name for one in function.parameters if one.type.kind == "int"}
    if any(name not in known for name, _ in witness.parameters):
        return None
    run = Interpreter(functions, max_steps=400_000)
    run.watched = (verdict.place.line, verdict.place.column)
    try:
        run.call(function.name, arguments(function, run, dict(witness.parameters), None))
    except (UndefinedError, TooLongError):
        return None
    return any(_shows(iterations, verdict) for iterations in run.instances)


class _Given(Interpreter):
    """A run with values for some elements in memory."""

    def __init__(
        self, functions: Mapping[str, tree.Function], memory: Mapping[str, int], seed: int = 0
    ) -> None:
        super().__init__(functions, seed=seed, max_steps=400_000)
        self._given = memory

    def _initial(self, address: Any, kind: tree.Type) -> Any:
        found = self._given.get(_element(address))
        return super()._initial(address, kind) if found is None else found


def confirm_input(functions: Mapping[str, tree.Function], verdict: LoopVerdict) -> bool | None:
    """Return whether iterations conflict in a run with a given input; None if it is undefined."""
    wanted = verdict.conflicting_input
    assert wanted is not None
    function = functions[verdict.function]
    run = _Given(functions, dict(wanted.memory))
    run.watched = (verdict.place.line, verdict.place.column)
    try:
        run.call(function.name, arguments(function, run, dict(wanted.parameters), None))
    except (UndefinedError, TooLongError):
        return None
    name = verdict.variable
    first, second = (dict(one.variables).get(name) for one in (wanted.first, wanted.second))
    for iterations in run.instances:
        uses: dict[Any, list[bool]] = {first: [], second: []}
        for iteration in iterations:
            at = iteration.starts.get(name)
            for event in iteration.events if at in uses else ():
                if _element(event.address) == wanted.first.element:
                    uses[at].append(event.is_write)
        if first != second and all(uses.values()) and any(map(any, uses.values())):
            return True
    return False


def _shows(iterations: list[Iteration], verdict: LoopVerdict) -> bool:
    witness = verdict.witness
    assert witness is not None
    written: set[str] = set()
    wanted = {
        "write": dict(witness.write.variables).get(verdict.variable),
        "read": dict(witness.read.variables).get(verdict.variable),
    }
    for iteration in iterations:
        own: set[str] = set()
        at = iteration.starts.get(verdict.variable)
        at = at.path[-1] if isinstance(at, Pointer) else at
        for event in iteration.events:
            element = _element(event.address)
            place = witness.read.place
            # The value of a counter inside is read by its loop, at several places, and `x` of
            # `x = x + 1` is named where it is written.
            is_place = not event.address[1] or event.place[0] == place.line
            is_there = is_place and at == wanted["read"]
            is_wanted = element == witness.read.element and is_there
            if not event.is_write and is_wanted and element in written - own:
                return True
            if event.is_write:
                own.add(element)
        if at == wanted["write"]:
            written |= own
    return False


def _element(address: Any) -> str:
    root, path = address
    name = root.name.removesuffix("[]")
    return name + "".join(f".{one}" if isinstance(one, str) else f"[{one}]" for one in path)

"""Inputs for which two iterations conflict, of loops whose verdict is MAY.

What a loop table does not know, such as the content of an index array, is chosen: isl gives numbers
for parameters, counters and loads with which two accesses meet. They are put into the table: every
condition must hold, nothing may wrap, both addresses must be equal, and each element of an array
has one value. Where symbols are multiplied, small numbers for them are tried in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from kleene.base.expression import Atom, Expression, Symbol
from kleene.ir.loops.symbols import LoopSymbol, symbols_of
from kleene.ir.loops.tables import (
    Access,
    Both,
    Compare,
    Condition,
    Either,
    Maybe,
    Obligations,
    Root,
)
from kleene.offload.kernels.dependences import Conflict, Facts, LoopDependences
from kleene.offload.kernels.formulas import Scope, Side, overlap
from kleene.offload.kernels.witness import Instance, holds, instance_of, small_point

_TRIED = (2, 3, 1, 0)  # for each symbol that is multiplied with others
_MAX_MULTIPLIED = 3
_MAX_CONFLICTS = 6


@dataclass(frozen=True, slots=True)
class ConflictingInput:
    """Values of parameters and of elements in memory with which two iterations conflict."""

    parameters: tuple[tuple[str, int], ...]
    memory: tuple[tuple[str, int], ...]
    first: Instance
    second: Instance


def conflicting_input(
    facts: Facts, loop: LoopDependences, conflicts: list[Conflict]
) -> ConflictingInput | None:
    """Return an input for one of the conflicts, if the search finds one."""
    flows = [one for one in conflicts if one.first.is_write and not one.second.is_write]
    others = [one for one in conflicts if one not in flows]
    for conflict in [*flows, *others][:_MAX_CONFLICTS]:
        if any(map(_is_open, (*conflict.first.context, *conflict.second.context))):
            continue  # a condition on data that is not followed: no input is known to meet it
        for values in _instantiations(conflict):
            found = _Search(facts, loop, conflict.first, conflict.second, values).found()
            if found is not None:
                return found
    return None


def _is_open(condition: Condition) -> bool:
    match condition:
        case Maybe():
            return True
        case Both(parts) | Either(parts):
            return any(_is_open(one) for one in parts)
        case Compare():
            return False


def _instantiations(conflict: Conflict) -> Iterator[dict[Atom, int]]:
    """Yield numbers for the symbols that stand in products."""
    multiplied: dict[LoopSymbol, None] = {}
    for access in (conflict.first, conflict.second):
        values = [one for one in access.path or () if not isinstance(one, str)]
        values += [leaf.value for one in access.context for leaf in _comparisons(one)]
        for value in values:
            for monomial in value.terms:
                if sum(power for _, power in monomial) > 1:
                    for atom, _ in monomial:
                        if isinstance(atom, LoopSymbol) and not atom.loops:
                            multiplied[atom] = None
    if len(multiplied) <= _MAX_MULTIPLIED:
        for numbers in product(_TRIED, repeat=len(multiplied)):
            yield dict(zip(multiplied, numbers, strict=True))


def _comparisons(condition: Condition) -> list[Compare]:
    if isinstance(condition, Both | Either):
        return [one for part in condition.parts for one in _comparisons(part)]
    return [condition] if isinstance(condition, Compare) else []


class _Search:
    """The search for an input with which two accesses meet, in an earlier and a later iteration."""

    def __init__(
        self,
        facts: Facts,
        loop: LoopDependences,
        first: Access,
        second: Access,
        values: dict[Atom, int],
    ) -> None:
        self._facts = facts
        self._loop = loop
        self._accesses = {"x": first, "y": second}
        self._values = values
        self._memory: dict[tuple[Root, tuple[int | str, ...]], int] = {}

    def found(self) -> ConflictingInput | None:
        point = self._point()
        if point is None:
            return None
        sides: dict[str, dict[Symbol, int]] = {}
        for name, access in self._accesses.items():
            values = self._side(name, access, point)
            if values is None or not self._is_real(access, values):
                return None
            sides[name] = values
        instances = []
        for name, access in self._accesses.items():
            assert access.path is not None
            instances.append(instance_of(self._facts, access, access.path, sides[name]))
        first, second = instances
        if first.element != second.element:
            return None
        parameters = {
            name: sides["x"].get(symbol, sides["y"].get(symbol))
            for name, symbol in self._facts.table.parameters.items()
        }
        return ConflictingInput(
            tuple((name, value) for name, value in parameters.items() if value is not None),
            tuple((_element(root, path), value) for (root, path), value in self._memory.items()),
            first,
            second,
        )

    def _point(self) -> dict[str, int] | None:
        """Return numbers for counters and symbols, by their names in formulas."""
        import islpy as isl

        facts, loop = self._facts, self._loop
        scope = Scope(loop.inside, values=self._values)
        left, right = Side(scope, "x"), Side(scope, "y")
        first, second = self._accesses["x"], self._accesses["y"]
        same = overlap(first.path, left, second.path, right)
        if same is None or first.path is None or second.path is None:
            return None
        x, y = left.counter(loop.row.number), right.counter(loop.row.number)
        held = [f"{x} < {y}", same]
        dims: list[str] = []
        for side, access in ((left, first), (right, second)):
            held += side.context((*facts.assumed, *access.context), frozenset())
            dims += [side.counter(one) for one in access.loops if one in loop.inside]
        held += [*left.defined.values(), *right.defined.values()]
        dims += sorted(left.changing | right.changing)
        self._symbols = dict(scope.parameters)
        pairs = facts.pairs.make_set(dims, {*left.defined, *right.defined}, held)
        if pairs.is_empty():
            return None
        point = small_point(pairs)
        return {
            pairs.get_dim_name(kind, position): point.get_coordinate_val(kind, position).to_python()
            for kind in (isl.dim_type.param, isl.dim_type.set)
            for position in range(pairs.dim(kind))
        }

    def _side(self, name: str, access: Access, point: dict[str, int]) -> dict[Symbol, int] | None:
        """Return the value of every symbol of an access; None if one is no input."""
        table = self._facts.table
        values: dict[Symbol, int] = {}
        for row in table.loops:
            if row.number in access.loops:
                is_inside = row.number in self._loop.inside
                counter = f"c{row.number}{name}" if is_inside else f"o{row.number}"
                values[row.counter] = point.get(counter, 0)
        wanted = [one for one in access.path or () if not isinstance(one, str)]
        wanted += [leaf.value for one in access.context for leaf in _comparisons(one)]
        wanted += [one.value for one in _obligations(access)]
        wanted += [
            one
            for number in access.loops
            for one in (self._facts.rows[number].start, self._facts.rows[number].step)
            if one is not None
        ]
        given = {*table.parameters.values()}
        for symbol in self._all_symbols(wanted) - values.keys():
            default = self._values.get(symbol, max(0, symbol.low or 0))
            number = point.get(f"p{symbol.number}", point.get(f"v{symbol.number}{name}", default))
            values[symbol] = number
            if symbol not in given and symbol not in table.loads:
                return None
        for symbol in [one for one in values if isinstance(one, LoopSymbol)]:
            if symbol in table.loads and not self._remember(symbol, values):
                return None
        return values

    def _all_symbols(self, values: list[Expression]) -> set[LoopSymbol]:
        """Return the symbols of some values, and of the addresses that they are loaded from."""
        found: set[LoopSymbol] = set()
        waiting = [one for value in values for one in symbols_of(value)]
        while waiting:
            symbol = waiting.pop()
            if symbol not in found:
                found.add(symbol)
                _, path = self._facts.table.loads.get(symbol, (None, ()))
                waiting += [o for one in path if not isinstance(one, str) for o in symbols_of(one)]
        return found

    def _remember(self, symbol: LoopSymbol, values: dict[Symbol, int]) -> bool:
        """Note what an element must hold; False if it is none of the input, or holds another."""
        root, path = self._facts.table.loads[symbol]
        if any(one.is_write and one.root is root for one in self._facts.table.accesses):
            return False
        if root.symbol is None or root.symbol.storage not in ("global", "parameter"):
            return False
        steps: list[int | str] = []
        for step in path:
            if isinstance(step, str):
                steps.append(step)
            elif step.symbols() <= values.keys():
                steps.append(int(step.evaluate(values)))
            else:
                return False
        return self._memory.setdefault((root, tuple(steps)), values[symbol]) == values[symbol]

    def _is_real(self, access: Access, values: dict[Symbol, int]) -> bool:
        """Return whether the access happens, without wrapping, for these values."""
        for one, number in values.items():
            if not isinstance(one, LoopSymbol) or one.low is None or one.high is None:
                continue
            if not one.low <= number <= one.high:
                return False
        wraps = any(not o.low <= o.value.evaluate(values) <= o.high for o in _obligations(access))
        conditions = (*self._facts.assumed, *access.context)
        return not wraps and all(holds(one, values) for one in conditions)


def _obligations(access: Access) -> Obligations:
    """Return all that must not wrap for an access to be where its subscripts say."""
    conditions = [leaf for one in access.context for leaf in _comparisons(one)]
    return (*access.obligations, *(one for leaf in conditions for one in leaf.obligations))


def _element(root: Root, path: tuple[int | str, ...]) -> str:
    return root.name + "".join(f".{one}" if isinstance(one, str) else f"[{one}]" for one in path)

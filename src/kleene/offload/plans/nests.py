"""Which loops of a nest become the axes of a kernel, and what does each thread have of its own?

`axes.py` tells two accesses apart; here are the loops that one axis stands for, its bounds, and the
variables of which every thread has a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product
from typing import Any

from kleene.codegen.plan import (
    Axis,
    CannotError,
)
from kleene.codegen.text import (
    arrays_in,
    assigned_in,
    symbols_in,
)
from kleene.codegen.trees import (
    Counted,
    binary,
    choose,
    counted,
    is_linear,
    is_live,
    mapped,
    number,
    places_in,
    reads,
    substituted,
    with_counters_inside,
)
from kleene.ir.loops import tree
from kleene.ir.loops.tables import Access, LoopRow, Root
from kleene.ir.loops.tree import Block, Element, Expression, Symbol, Variable
from kleene.offload.kernels.dependences import Facts
from kleene.offload.kernels.result import Analysed
from kleene.offload.plans.axes import Questions, Ranges

Following = tuple[tuple[Block, bool], ...]
_MAX_AXES = 3
_MAX_COVERS = 16
_SHORT = 16  # iterations: fewer would leave most threads of a warp idle
_MAX_PRIVATE_BYTES = 1024  # of an array of which every thread has a copy


class Nests:
    """A function, and what is known of its loops."""

    def __init__(
        self, function: tree.Function, analysed: Analysed, facts: Facts, n_axes: int = _MAX_AXES
    ) -> None:
        self._n_axes = n_axes
        self._function = replace(function, body=with_counters_inside(function.body))
        self._facts = facts
        self._table = analysed.table
        self._questions = Questions(facts)
        own = [row for row in self._table.loops if not row.is_inlined]
        self._rows = {row.place: row for row in own}
        loops = [one for one in tree.walk(self._function.body) if isinstance(one, tree.Loop)]
        self._all_places = {one.place: places_in(one) for one in loops}
        if len(self._rows) < len(own):
            raise CannotError("two loops begin at one place")
        self._verdicts = {one.place: one for one in analysed.verdicts}
        self._device = self._computed_by_kernels()
        self._names: dict[str, int] = {}
        self._snapshots: dict[str, str] = {}
        self._assumptions: dict[str, None] = {}
        self._on_device: set[Symbol] = set()
        self._touched: dict[str, tuple[tuple[Access, ...], LoopRow, Ranges]] = {}  # by kernels
        self._host_variables: list[Symbol] = []

    def _computed_by_kernels(self) -> set[Symbol]:
        """Return the scalars into which values of arrays or of parallel loops get."""
        body = self._function.body
        names = {name for v in self._verdicts.values() for name in v.reduced}
        names |= {n for v in self._verdicts.values() for one in v.reductions for n in one.kept}
        names |= {one.name for v in self._verdicts.values() for one in v.privates if one.last}
        counters = {
            found.variable
            for one in tree.walk(body)
            if isinstance(one, tree.Loop) and (found := counted(one)) is not None
        }
        scalars = assigned_in(body) - counters
        device = {one for one in scalars if one.name in names}
        while True:
            more = (scalars & self._given_data(body, device, False)) - device
            if not more:
                return device
            device |= more

    def _given_data(
        self, block: Iterable[Any], device: set[Symbol], is_tested: bool
    ) -> set[Symbol]:
        """Return the scalars that are assigned data, or under a condition on data."""

        def has_data(value: object) -> bool:
            return any(isinstance(one, Element) for one in tree.walk(value)) or bool(
                symbols_in(value) & device
            )

        found: set[Symbol] = set()
        for one in block:
            match one:
                case tree.Assign(target=Variable(symbol=target), value=value):
                    if is_tested or has_data(value):
                        found.add(target)
                case tree.If(condition=condition, then=then, otherwise=otherwise):
                    has_loops = any(isinstance(each, tree.Loop) for each in tree.walk(one))
                    # The host tests it around loops, else one thread executes all of it.
                    inner = is_tested or has_data(condition if has_loops else one)
                    found |= self._given_data((*then, *otherwise), device, inner)
                case tree.Loop():
                    inner = is_tested or has_data(_head(one))
                    parts = (*one.init, *one.body, *one.step)
                    found |= self._given_data(parts, device, inner)
        return found

    def _is_host(self, value: object) -> bool:
        """Return whether the host can evaluate an expression: it hangs on its scalars alone."""
        if any(isinstance(one, Element | tree.Member | tree.Unknown) for one in tree.walk(value)):
            return False
        return not symbols_in(value) & self._device

    def _is_of_host(self, statement: tree.Statement) -> bool:
        targets = [one.target for one in tree.walk(statement) if isinstance(one, tree.Assign)]
        if not all(isinstance(one, Variable) for one in targets):
            return False
        return self._is_host(statement)

    def _axes(
        self, loop: tree.Loop, row: LoopRow, following: Following
    ) -> list[tuple[tree.Loop, ...]]:
        """Return the axes of a nest, outermost first: for each the loops that it stands for.

        Loops of a few iterations are axes only where there are no others.
        """
        longer = self._axes_of(loop, row, following, is_short_allowed=False)
        return longer or self._axes_of(loop, row, following, is_short_allowed=True)

    def _axes_of(
        self, loop: tree.Loop, row: LoopRow, following: Following, *, is_short_allowed: bool
    ) -> list[tuple[tree.Loop, ...]]:
        found: list[tuple[tree.Loop, ...]] = []
        level: list[tuple[tree.Loop, ...]] = [(loop,)]
        while level and len(found) < self._n_axes:
            options = [list(_inner_options(one)) for (one,) in level]
            for cover in islice(product(*options), _MAX_COVERS):
                if not is_short_allowed and any(map(is_short, cover)):
                    continue
                if self._is_axis(cover, found, loop, row, following):
                    found.append(cover)
                    break
            else:
                return found
            level = [(inner,) for one in found[-1] for inner in loops_directly_in(one.body)]
        return found

    def _is_axis(
        self,
        cover: tuple[tree.Loop, ...],
        found: list[tuple[tree.Loop, ...]],
        loop: tree.Loop,
        row: LoopRow,
        following: Following,
    ) -> bool:
        rows = [self._rows.get(one.place) for one in cover]
        known = [one for one in rows if one is not None]
        if len(known) < len(rows) or any(one.refusals or not one.is_counted for one in known):
            return False
        if any(one.number in self._facts.unusable for one in known):
            return False
        if self._axis(cover, found, loop) is None:
            return False
        inside = self._table.descendants(row.number)
        private = self._private(loop, [*found, cover], following)
        if assigned_in(loop) - private:
            return False  # counters are used later, or a variable changes by the same in each
        by_loop = {one.number: one for one in known}
        covered: list[tuple[Access, LoopRow]] = []
        uncovered: list[Access] = []
        for access in self._accesses(row, loop):
            if access.root.symbol in private and access.root.kind == "variable":
                continue
            around = [by_loop[n] for n in access.loops if n in by_loop]
            if around:
                covered.append((access, around[0]))
            else:
                uncovered.append(access)
        written = {one.root for one, _ in covered if one.is_write}
        if any(one.is_write or one.root in written for one in uncovered):
            return False
        if any(one.kind == "unknown" or one.loops & inside for one in _roots(covered)):
            return False
        return self._all_kept(covered, written, inside)

    def _accesses(self, row: LoopRow, part: object) -> list[Access]:
        """Return the accesses of a loop that are in a part of it, or not told where they are."""
        places, all_ = places_in(part), self._all_places[row.place]
        inside = self._table.inside(row.number)
        return [one for one in inside if one.place in places or one.place not in all_]

    def _all_kept(
        self,
        covered: Sequence[tuple[Access, LoopRow]],
        written: set[Root],
        inside: frozenset[int],
    ) -> bool:
        by_root: dict[Root, dict[object, tuple[Access, LoopRow]]] = {}
        for access, around in covered:
            if access.root in written:
                key = (self._facts.path(access), access.context, access.loops, access.is_write)
                by_root.setdefault(access.root, {}).setdefault(key, (access, around))
        for ones in by_root.values():
            listed = list(ones.values())
            for position, (first, first_row) in enumerate(listed):
                for second, second_row in listed[position:]:
                    if not first.is_write and not second.is_write:
                        continue
                    axis = first_row, second_row
                    if not self._questions.is_kept(first, second, axis, inside):
                        return False
        return True

    def _private(
        self, loop: tree.Loop, covers: Sequence[tuple[tree.Loop, ...]], following: Following
    ) -> set[Symbol]:
        """Return the variables of a nest of which every thread has its own.

        Nothing reads them after the nest. No value gets from an iteration of an axis to another
        one: each that writes a variable writes it before it reads it, and nothing outside of the
        axis reads it.
        """
        declared = {one.symbol for one in tree.walk(loop) if isinstance(one, tree.Declare)}
        arrays = {one for one in arrays_in(loop, written=True) if _is_small(one)}
        found = assigned_in(loop) | declared | arrays
        found = {one for one in found if one in declared or not is_live(following, one)}
        for cover in covers:
            # What no loop of an axis writes is computed again by every thread, outside of them.
            written = found & set().union(*map(_written, cover))
            outside = mapped(loop, partial(_emptied, cover=cover)) if written else loop
            found -= {one for one in written if not self._is_temporary(one, cover, outside)}
        return found

    def _is_temporary(
        self, symbol: Symbol, cover: tuple[tree.Loop, ...], outside: tree.Loop
    ) -> bool:
        """Return whether no value of a variable gets out of an iteration of an axis.

        `outside` is the nest whose loops of the axis have empty bodies.
        """
        if reads(outside, symbol):
            return any(
                form is not None and form.variable is symbol for form in map(counted, cover)
            ) and not any(reads(one, symbol) for one in _others(outside, cover))
        return all(self._is_own(symbol, one) for one in cover)

    def _is_own(self, symbol: Symbol, loop: tree.Loop) -> bool:
        """Return whether iterations of a loop have copies of a variable: declared, or proved."""
        if any(isinstance(one, tree.Declare) and one.symbol is symbol for one in tree.walk(loop)):
            return True
        if not reads(loop.body, symbol):
            return True
        counters = [counted(one) for one in tree.walk(loop) if isinstance(one, tree.Loop)]
        if any(form is not None and form.variable is symbol for form in counters):
            return True
        verdict = self._verdicts.get(loop.place)
        private = [] if verdict is None else verdict.privates
        return any(one.name == symbol.name and not one.is_first for one in private)

    def _axis(
        self,
        cover: tuple[tree.Loop, ...],
        found: Sequence[tuple[tree.Loop, ...]],
        loop: tree.Loop,
    ) -> Axis | None:
        """Return the values that an axis takes, all the loops of it together."""
        forms = [counted(one) for one in cover]
        listed = [one for one in forms if one is not None]
        if len(listed) < len(forms):
            return None
        first = listed[0]
        if any(one.variable.type != first.variable.type for one in listed):
            return None
        boxes = [self._box(*each, found, loop) for each in zip(listed, cover, strict=True)]
        known = [one for one in boxes if one is not None]
        if len(known) < len(boxes):
            return None
        low, high = known[0]
        for other_low, other_high in known[1:]:
            low, high = choose("<", low, other_low), choose(">", high, other_high)
        is_same = all(one == known[0] for one in known)
        if any(one.step != 1 for one in listed) and not (is_same and _is_exact(listed, known)):
            return None
        if len({one.step for one in listed}) > 1:
            return None
        aliases = tuple(one.variable for one in listed[1:] if one.variable is not first.variable)
        return Axis(first.variable, low, high, first.step, tuple(dict.fromkeys(aliases)))

    def _box(
        self,
        form: Counted,
        own: tree.Loop,
        found: Sequence[tuple[tree.Loop, ...]],
        loop: tree.Loop,
    ) -> tuple[Expression, Expression] | None:
        """Return the least and the greatest bound of a loop, for all values of those around it.

        These are other axes, and loops of a thread, in which it is executed for some of the values.
        """
        changed = assigned_in(loop)
        low, high = form.low, form.high
        for one in reversed(_around(loop, own)):
            listed = [cover for cover in found if any(each.place == one.place for each in cover)]
            around: Axis | Counted | None = counted(one)
            if listed:
                around = self._axis(listed[0], found[: found.index(listed[0])], loop)
            if around is None:
                continue
            ends = around.low, binary("-", around.high, number(1, around.high.type))
            aliases = around.aliases if isinstance(around, Axis) else ()
            for variable in (around.variable, *aliases):
                values = []
                for bound, operator in ((low, "<"), (high, ">")):
                    if not reads(bound, variable):
                        values.append(bound)
                        continue
                    if not is_linear(bound, variable):
                        return None
                    first, last = (substituted(bound, {variable: end}) for end in ends)
                    values.append(choose(operator, first, last))
                low, high = values
        for bound in (low, high):
            if symbols_in(bound) & changed or not self._is_host(bound):
                return None
        return low, high

    def _mapping(
        self, loop: tree.Loop, row: LoopRow, axes: Sequence[tuple[tree.Loop, ...]]
    ) -> tuple[int, ...]:
        """Return the axes on x, y, z: on x the one along which a warp touches fewest lines."""
        costs = []
        accesses = self._accesses(row, loop)
        for position, cover in enumerate(axes):
            rows = {self._rows[one.place].number: self._rows[one.place] for one in cover}
            grid = {self._rows[one.place].number for other in axes for one in other}
            cost = 0.0
            for access in accesses:
                if access.path == ():
                    continue
                depth = sum(n not in grid for n in access.loops[access.loops.index(row.number) :])
                cost += 64.0**depth * _lines(access, rows)
            costs.append((cost, -position))
        first = -min(costs)[1]
        return (first, *(n for n in reversed(range(len(axes))) if n != first))


def _around(loop: tree.Loop, inner: tree.Loop) -> list[tree.Loop]:
    """Return the loops of a nest that another of its loops is in, outermost first."""
    if loop.place == inner.place:
        return []
    for one in loops_directly_in(loop.body):
        if any(isinstance(e, tree.Loop) and e.place == inner.place for e in tree.walk(one)):
            return [loop, *_around(one, inner)]
    return []


def is_short(loop: tree.Loop) -> bool:
    """Return whether a loop has a few iterations, whatever the sizes are."""
    form = counted(loop)
    if form is None or not isinstance(form.low, tree.Literal):
        return False
    return isinstance(form.high, tree.Literal) and form.high.value - form.low.value < _SHORT


def _is_small(array: Symbol) -> bool:
    """Return whether every thread may have a copy of a local array."""
    size = array.type.n_bytes
    return array.storage == "local" and size is not None and size <= _MAX_PRIVATE_BYTES


def _written(loop: tree.Loop) -> set[Symbol]:
    """Return the variables that a loop's body writes or declares; an array by any element."""
    declared = {one.symbol for one in tree.walk(loop.body) if isinstance(one, tree.Declare)}
    return assigned_in(loop) | declared | arrays_in(loop.body, written=True)


def _emptied(node: Any, cover: Sequence[tree.Loop]) -> Any:
    is_in = isinstance(node, tree.Loop) and any(node.place == one.place for one in cover)
    return replace(node, body=()) if is_in else node


def _others(outside: tree.Loop, cover: Sequence[tree.Loop]) -> list[object]:
    """Return the statements of a nest but the heads of some of its loops."""
    places = {one.place for one in cover}
    return [
        one
        for one in tree.walk(outside)
        if isinstance(one, tree.Assign | tree.If | tree.Loop) and one.place not in places
        if not any(one in (*c.init, *c.step) for c in cover)
        if not isinstance(one, tree.Loop)
    ]


def _head(loop: tree.Loop) -> tuple[object, ...]:
    """Return what decides how often a loop is executed."""
    return (loop.test, *loop.init, *loop.step)


def _roots(covered: Iterable[tuple[Access, LoopRow]]) -> set[Root]:
    return {one.root for one, _ in covered}


def loops_directly_in(block: Block) -> Iterator[tree.Loop]:
    """Yield the loops of a block that are inside of no other, also those under conditions."""
    for one in block:
        if isinstance(one, tree.Loop):
            yield one
        elif isinstance(one, tree.If):
            yield from loops_directly_in((*one.then, *one.otherwise))


def _inner_options(loop: tree.Loop) -> Iterator[tree.Loop]:
    """Yield a loop, and the loops inside of it of which each is the only one at its level."""
    yield loop
    inner = list(loops_directly_in(loop.body))
    if len(inner) == 1:
        yield from _inner_options(inner[0])


def _is_exact(forms: Sequence[Counted], boxes: Sequence[tuple[Expression, Expression]]) -> bool:
    return all((one.low, one.high) == box for one, box in zip(forms, boxes, strict=True))


def _lines(access: Access, rows: dict[int, LoopRow]) -> float:
    """Return about how many lines of memory a warp along an axis touches by one access."""
    own = [rows[n] for n in access.loops if n in rows]
    if not own or access.offset is None:
        return 32.0 if own else 1.0
    factor = access.offset.coefficient(own[0].counter)
    step = None if factor is None else factor.integer
    if step is None:
        return 32.0
    return min(32.0, max(1.0, abs(step) * 32 / 128))

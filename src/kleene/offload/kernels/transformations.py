"""Under which change of its nest does a sequential loop become parallel?

With x < y two iterations of the loop i that conflict, and x', y' those of the loop j inside:

| change | proof |
|---|---|
| interchange: j outside, which is parallel | j carries nothing, and x' = y' in all conflicts of i |
| skewing: wavefronts f*i + j one after the other | f*(y - x) + (y' - x') >= 1 in all conflicts |
| fission: several loops one after the other | no conflict leads from a later one to an earlier |
| splitting at s: i < s, then i >= s | no conflict has x < y < s, or s <= x < y |

Conflicts are those of isl, of which there may be too many and never too few.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from typing import Literal as OneOf

from kleene.base.errors import Span
from kleene.base.expression import ZERO, Atom, Expression, Symbol, of
from kleene.ir.loops.tables import Access, Both, Compare, LoopRow, Maybe, Root
from kleene.offload.kernels.affine import expression_of, meanings_of, variables_of
from kleene.offload.kernels.dependences import Conflict, Facts, LoopDependences
from kleene.transforms.loops.conditions import at_counter

MAX_FACTOR = 4  # of skewing
MAX_POINTS = 3  # at which a loop is split
MAX_ACCESSES = 60  # of a loop that is split by statements


@dataclass(frozen=True, slots=True)
class Part:
    """Some statements of a loop's body, by their numbers, as a loop of their own."""

    statements: tuple[int, ...]
    lines: tuple[int, ...]
    is_parallel: bool


@dataclass(frozen=True, slots=True)
class Transformation:
    """A change of a loop, or of its nest, under which it becomes parallel.

    Attributes:
        kind: what is changed.
        detail: the change in words.
        inner: the loop inside that is moved outwards, or that is skewed.
        factor: that of the outer loop in the number of a wavefront.
        parts: the loops that fission makes, in order.
        expanded: variables that fission makes arrays of, an element for each iteration.
        points: the iterations, counted from 0, at which splitting begins another loop.
        sunk: lines before the loop inside that move into its first iteration.
    """

    kind: OneOf["interchange", "skewing", "fission", "splitting"]
    detail: str
    inner: Span | None = None
    factor: int = 0
    parts: tuple[Part, ...] = ()
    expanded: tuple[str, ...] = ()
    points: tuple[Expression, ...] = ()
    sunk: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Separated:
    """Roots whose conflicts do not count: iterations of a loop have copies of their own.

    `temporary` ones hold no value from before the iteration, nor one for after the loop.
    """

    is_parallel: bool  # the loop
    any: frozenset[Root]
    temporary: frozenset[Root]
    counters: frozenset[Root]


class Transformations:
    """The search for changes of one loop."""

    def __init__(
        self,
        facts: Facts,
        loop: LoopDependences,
        separated: Separated,
        blamed: Iterable[Root],
    ) -> None:
        self._facts = facts
        self._loop = loop
        self._row = loop.row
        self._separated = separated
        self._blamed = list(blamed)

    def found(self, separated: dict[int, Separated]) -> Iterator[Transformation]:
        """Yield the changes; `separated` has what iterations of each loop have copies of."""
        inner = self._only_inner()
        nest = None
        if inner is not None and inner.number in separated:
            of_inner = separated[inner.number]
            outside = self._written_outside(inner)
            if not outside:
                nest = self._interchange(inner, of_inner) or self._skewing(inner, of_inner)
            elif self._can_sink(inner, outside):
                nest = self._skewing(inner, of_inner, outside)
        for one in (nest, self._fission(), self._splitting()):
            if one is not None:
                yield one

    # Nests

    def _only_inner(self) -> LoopRow | None:
        """Return the only loop that is in this one."""
        children = [one for one in self._facts.table.loops if one.parent == self._row.number]
        if len(children) != 1:
            return None
        (inner,) = children
        return None if inner.refusals or not inner.is_counted or inner.is_inlined else inner

    def _written_outside(self, inner: LoopRow) -> list[Access]:
        """Return the writes of the loop that are not in the loop inside."""
        return [
            one
            for one in self._loop.accesses
            if one.is_write
            and inner.number not in one.loops
            and one.root not in self._separated.counters
        ]

    def _can_sink(self, inner: LoopRow, writes: list[Access]) -> bool:
        """Return whether what is before the loop inside can be done in its first iteration.

        Nothing may come after that loop, it must have an iteration whenever this one has, and what
        it uses may be in no variable of which iterations of this loop have copies: it would be one
        for all fronts.
        """
        row = self._row
        conditions = inner.context[len(row.context) :]
        accesses = self._facts.table.inside(row.number)
        outside = [one for one in accesses if inner.number not in one.loops and not one.by_loop]
        if not row.is_straight or any(one.sequence > inner.sequence for one in outside):
            return False
        if not conditions or conditions[0] != Compare(">=", of(inner.counter)):
            return False  # it is inside of a condition
        used = {one.root for one in accesses if inner.number in one.loops}
        own = {one.root for one in outside if one.is_write and self._has_copies(one.root)}
        if own & used or any(isinstance(one, Both | Maybe) for one in conditions):
            return False
        first = [at_counter(one, inner.counter, ZERO) for one in conditions]
        return self._facts.prove(row.context, first)

    def _has_copies(self, root: Root) -> bool:
        return self._row.number in root.declared_in or root in self._separated.any

    def _carried(
        self, ignored: frozenset[Root], inner: LoopRow, *, is_sunk: bool = False
    ) -> list[Conflict] | None:
        """Return the conflicts of the loop; None if one is not inside of `inner`, nor sunk."""
        found = []
        for root in self._loop.written - ignored - self._separated.counters:
            for one in self._loop.conflicts(root):
                accesses = (one.first, one.second)
                if not is_sunk and not all(inner.number in access.loops for access in accesses):
                    return None
                found.append(one)
        return found

    def _distance(self, conflict: Conflict, loop: LoopRow) -> tuple[int | None, int | None]:
        """Return the positions of a loop's counter in both iterations; None if it is not around."""
        first = [one for one in conflict.first.loops if one in self._loop.inside]
        second = [one for one in conflict.second.loops if one in self._loop.inside]
        left = first.index(loop.number) if loop.number in first else None
        right = len(first) + second.index(loop.number) if loop.number in second else None
        return left, right

    def _interchange(self, inner: LoopRow, own: Separated) -> Transformation | None:
        """Return the interchange, if the loop inside begins and steps the same for every one."""
        free = self._separated.temporary & own.temporary
        if not own.is_parallel or own.any - free - own.counters:
            return None
        for one in (inner.start, inner.step):
            if one is None or self._row.counter in one.symbols():
                return None
        carried = self._carried(free, inner)
        if carried is None or not all(self._keeps(one, inner) for one in carried):
            return None
        name = inner.variable or inner.kind
        detail = f"with the loop {name} of line {inner.place.line} outside, which is parallel"
        return Transformation("interchange", detail, inner.place)

    def _keeps(self, conflict: Conflict, inner: LoopRow) -> bool:
        """Return whether both iterations of a conflict are in the same one of `inner`."""
        import islpy as isl

        left, right = self._distance(conflict, inner)
        assert left is not None
        assert right is not None
        space = conflict.pairs.get_space()
        same = isl.Constraint.equality_alloc(isl.LocalSpace.from_space(space))
        same = same.set_coefficient_val(isl.dim_type.set, left, 1)
        same = same.set_coefficient_val(isl.dim_type.set, right, -1)
        return bool(conflict.pairs.is_subset(isl.Set.universe(space).add_constraint(same)))

    def _skewing(
        self, inner: LoopRow, own: Separated, sunk: list[Access] | None = None
    ) -> Transformation | None:
        """Return the wavefronts; what is before the inner loop is `sunk` into its iteration 0.

        Within an iteration of this loop it still comes before the rest: iteration (x, 0) is in an
        earlier front than all (x, x') with x' > 0.
        """
        free = self._separated.temporary & own.temporary
        carried = self._carried(free, inner, is_sunk=bool(sunk))
        if carried is None:
            return None
        for factor in range(1, MAX_FACTOR + 1):
            if all(self._advances(one, inner, factor) for one in carried):
                front = _front(self._row, inner, factor)
                detail = f"iterations with equal {front} are parallel, one such front after another"
                lines = tuple(sorted({one.place.line for one in sunk or ()}))
                if lines:
                    words = f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
                    detail += f", with {words} in the first iteration of {inner.variable}"
                return Transformation("skewing", detail, inner.place, factor, sunk=lines)
        return None

    def _advances(self, conflict: Conflict, inner: LoopRow, factor: int) -> bool:
        """Return whether f*(y - x) + (y' - x') >= 1 in all pairs of a conflict."""
        import islpy as isl

        space = conflict.pairs.get_space()
        one = isl.Constraint.inequality_alloc(isl.LocalSpace.from_space(space))
        for loop, by in ((self._row, factor), (inner, 1)):
            left, right = self._distance(conflict, loop)
            if left is not None:  # what is sunk has 0
                one = one.set_coefficient_val(isl.dim_type.set, left, -by)
            if right is not None:
                one = one.set_coefficient_val(isl.dim_type.set, right, by)
        one = one.set_constant_val(-1)
        return bool(conflict.pairs.is_subset(isl.Set.universe(space).add_constraint(one)))

    # Statements

    def _statement(self, access: Access) -> int | None:
        """Return which statement of the body an access belongs to."""
        number = bisect_left(self._row.statements, access.sequence) - 1
        return number if 0 <= number < len(self._row.statements) - 1 else None

    def _fission(self) -> Transformation | None:
        """Group statements that depend on each other in a circle, in an order that keeps the rest.

        A variable of which iterations have copies is an array afterwards: then only the flow from
        its writes to the reads below, in the same iteration, is left.
        """
        row = self._row
        accesses = self._facts.table.inside(row.number)
        written = {one.root for one in accesses if one.is_write}
        listed = [(one, self._statement(one)) for one in accesses if one.root in written]
        if not row.is_straight or len(listed) > MAX_ACCESSES:
            return None
        edges: set[tuple[int, int]] = set()
        carried: set[tuple[int, int]] = set()
        expanded: set[Root] = set()
        for first, source in listed:
            for second, target in listed:
                if first.root is not second.root or not (first.is_write or second.is_write):
                    continue
                if source is None or target is None:
                    if first.root in self._separated.counters or first.by_loop or second.by_loop:
                        continue
                    return None
                if first.root in self._separated.counters and source == target:
                    continue
                if self._is_own(first.root):
                    if source < target:
                        edges.add((source, target))
                        expanded.add(first.root)
                    continue
                if source < target:
                    edges.add((source, target))  # in one iteration, if they ever meet
                if self._loop.conflict(first, second) is not None:
                    edges.add((source, target))
                    if first.root in self._blamed:
                        carried.add((source, target))
        return self._distributed(edges, carried, expanded)

    def _is_own(self, root: Root) -> bool:
        """Return whether every iteration has its own copy, which it writes before it reads."""
        return self._row.number in root.declared_in or root in self._separated.temporary

    def _distributed(
        self, edges: set[tuple[int, int]], carried: set[tuple[int, int]], expanded: set[Root]
    ) -> Transformation | None:
        numbers: dict[Root, set[int]] = {}
        lines: dict[int, set[int]] = {}
        writes: set[int] = set()  # statements that write more than temporaries
        for one in self._facts.table.inside(self._row.number):
            number = self._statement(one)
            if number is not None:
                numbers.setdefault(one.root, set()).add(number)
                if one.is_write and one.root not in expanded and not self._is_own(one.root):
                    writes.add(number)
                if one.place.file == self._row.place.file:
                    lines.setdefault(number, set()).add(one.place.line)
        parts = []
        for group in _ordered_groups(len(self._row.statements) - 1, edges):
            own = sorted(set().union(*(lines.get(one, set()) for one in group)))
            if own:
                is_parallel = not any((a, b) in carried for a in group for b in group)
                parts.append(Part(tuple(group), tuple(own), is_parallel))
        parts = _merged(parts, carried)
        if len(parts) < 2 or not any(
            one.is_parallel and writes & {*one.statements} for one in parts
        ):
            return None  # to compute a temporary apart is no gain
        needed = sorted(
            root.name
            for root in expanded
            if sum(bool(numbers[root] & {*one.statements}) for one in parts) > 1
        )
        words = "; then ".join(
            f"line{'s' if len(one.lines) > 1 else ''} {', '.join(map(str, one.lines))}"
            f" {'in parallel' if one.is_parallel else 'in order'}"
            for one in parts
        )
        detail = f"loops of their own for {words}"
        if needed:
            detail += f", with an element of {' and '.join(needed)} for each iteration"
        return Transformation("fission", detail, parts=tuple(parts), expanded=tuple(needed))

    # Iterations

    def _splitting(self) -> Transformation | None:
        """Cut before the first iteration that conflicts with an earlier one, again and again."""
        import islpy as isl

        row = self._row
        if row.start is None or row.step is None:
            return None
        pairs: Any = None
        for root in self._blamed:
            for one in self._loop.conflicts(root):
                left, right = self._distance(one, row)
                assert left is not None
                assert right is not None
                n = one.pairs.dim(isl.dim_type.set)
                own = one.pairs.project_out(isl.dim_type.set, right + 1, n - right - 1)
                own = own.project_out(isl.dim_type.set, left + 1, right - left - 1)
                own = own.reset_tuple_id()
                for position in range(2):
                    own = own.set_dim_name(isl.dim_type.set, position, "xy"[position])
                pairs = own if pairs is None else pairs.union(own)
        points: list[Expression] = []
        while pairs is not None and not pairs.is_empty():
            later = pairs.project_out(isl.dim_type.set, 0, 1)
            found = self._point(pairs, later)
            if found is None or len(points) == MAX_POINTS:
                return None
            points.append(found[0])
            pairs = found[1]
        if not points:
            return None
        where = " and at ".join(str(row.start + row.step * one) for one in points)
        name = row.variable or "the loop"
        detail = f"{name} split at {where}: each part is parallel, one after another"
        return Transformation("splitting", detail, points=tuple(points))

    def _point(self, pairs: Any, later: Any) -> tuple[Expression, Any] | None:
        """Return where to split so that no pair is before, and the pairs that are after.

        The least later iteration has several formulas, for several ranges of the parameters; one of
        them may do for all.
        """
        import islpy as isl

        variables = variables_of(self._facts)
        counters = {row.counter for row in self._facts.table.loops}
        for _, one in later.dim_min(0).get_pieces():
            value = expression_of(meanings_of(self._facts), one).substitute(variables)
            if value.symbols() & counters:
                continue  # of a loop around that does not count up by 1
            point = isl.Set.from_pw_aff(isl.PwAff.from_aff(one))
            before = point.apply(isl.Map.lex_gt(point.get_space()))
            if pairs.intersect(before.insert_dims(isl.dim_type.set, 0, 1)).is_empty():
                after = point.apply(isl.Map.lex_le(point.get_space()))
                return value, pairs.intersect(after.insert_dims(isl.dim_type.set, 1, 1))
        return None


def _front(outer: LoopRow, inner: LoopRow, factor: int) -> str:
    """Return f*(counter of the outer loop) + (counter of the inner one), in their variables."""
    counters: dict[Atom, Expression] = {}
    for row in (outer, inner):
        name = row.variable or f"iteration of line {row.place.line}"
        counters[row.counter] = of(name)
        if row.start is not None and row.step is not None and row.step.integer in (1, -1):
            start = row.start.substitute(counters)
            counters[row.counter] = (of(name) - start) * row.step.integer
    total = counters[outer.counter] * factor + counters[inner.counter]
    names = {Symbol(row.variable) for row in (outer, inner)}
    changing = {m: f for m, f in total.terms.items() if any(atom in names for atom, _ in m)}
    return str(Expression(changing) if changing else total)


def _ordered_groups(n: int, edges: set[tuple[int, int]]) -> list[list[int]]:
    """Return the strongly connected components, each after those that lead to it."""
    reached = {one: {one} for one in range(n)}
    for _ in range(n):
        for source, target in edges:
            for known in reached.values():
                if source in known:
                    known.add(target)
    groups = {
        one: sorted(other for other in reached[one] if one in reached[other]) for one in range(n)
    }
    waiting = [group for one, group in groups.items() if group[0] == one]
    placed: set[int] = set()
    ordered = []
    while waiting:
        ready = next(
            group
            for group in waiting
            if all(a in placed or a in group for a, b in edges if b in group)
        )
        waiting.remove(ready)
        placed.update(ready)
        ordered.append(ready)
    return ordered


def _merged(parts: list[Part], carried: set[tuple[int, int]]) -> list[Part]:
    """Return the parts with neighbours merged: two that are in order, or two that stay parallel."""
    found: list[Part] = []
    for part in parts:
        if found and found[-1].is_parallel == part.is_parallel:
            last = found[-1]
            meets = any((a, b) in carried for a in last.statements for b in part.statements)
            if not (part.is_parallel and meets):
                statements = (*last.statements, *part.statements)
                lines = tuple(sorted({*last.lines, *part.lines}))
                found[-1] = Part(statements, lines, part.is_parallel)
                continue
        found.append(part)
    return found

"""A loop as one launch: a kernel, one on a snapshot, a reduction, or one with atomic operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

from kleene.codegen.arguments import OPERATORS
from kleene.codegen.plan import (
    Atomic,
    Axis,
    CannotError,
    Kernel,
    Located,
    ReducedLoop,
    Reduction,
    Snapshot,
    Step,
)
from kleene.codegen.text import (
    arrays_in,
    assigned_in,
    flattened,
    symbols_in,
)
from kleene.codegen.trees import (
    binary,
    counted,
    mapped,
    read,
)
from kleene.ir.loops import tree
from kleene.ir.loops.tables import Access, LoopRow, LoopTable
from kleene.ir.loops.tree import Block, Element, Symbol, Variable
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict
from kleene.offload.kernels.verdicts import Reduction as ReductionVerdict
from kleene.offload.plans.carried import carried
from kleene.offload.plans.jammed import jammed
from kleene.offload.plans.moved import sections_of
from kleene.offload.plans.nests import Following, Nests, is_short
from kleene.transforms.loops.updates import update_of

_ATOMIC = {"+", "&", "|", "^", "min", "max"}
_EXTREMA = {"argmax": "max", "argmin": "min"}
_LONG = tree.Type("int", "long", 64)


class Launches(Nests):
    """The launches of a function."""

    def _name(self, what: str) -> str:
        base = f"{self._function.name}_{what}"
        self._names[base] = self._names.get(base, 0) + 1
        return base if self._names[base] == 1 else f"{base}_{self._names[base]}"

    def _kernel(
        self,
        loop: tree.Loop,
        axes: Sequence[tuple[tree.Loop, ...]],
        following: Following,
        change: Any = None,
    ) -> list[Step]:
        row = self._rows[loop.place]
        made: list[Axis] = []
        for position, cover in enumerate(axes):
            axis = self._axis(cover, axes[:position], loop)
            assert axis is not None
            made.append(axis)
        body = self._thread_body(loop, axes, made)
        if change is not None:
            body = mapped(body, change)
        body = jammed(body, self._is_in_any_order, self._taken())
        body = carried(body, {one.name for one in symbols_in(body)} | self._taken())
        private = self._private(loop, axes, following)
        own = {one for axis in made for one in (axis.variable, *axis.aliases)}
        if own - private:
            raise CannotError(f"{min(one.name for one in own - private)} is used after its loop")
        declared = {one.symbol for one in tree.walk(body) if isinstance(one, tree.Declare)}
        needed = (assigned_in(body) | arrays_in(body, written=True)) - declared - own
        needed &= private
        stray = assigned_in(body) - declared - own - private
        if stray:
            raise CannotError(f"{min(one.name for one in stray)} is written by several threads")
        nest = loop if axes[0] == (loop,) else None
        if nest is not None and change is not None:
            nest = mapped(nest, change)
        name = self._name("_".join(one.variable.name for one in made))
        self._touched[name] = (tuple(self._accesses(row, loop)), row, dict(self._questions.ranges))
        return [
            Kernel(
                name,
                tuple(made),
                self._mapping(loop, row, axes),
                body,
                tuple(sorted(needed, key=lambda one: one.name)),
                row.place.line,
                nest,
            )
        ]

    def _is_in_any_order(self, loop: tree.Loop) -> bool:
        """Return whether iterations of a loop have nothing to do with each other, as written."""
        verdict = self._verdicts.get(loop.place)
        return verdict is not None and verdict.verdict is Verdict.PAR

    def _with_reductions(self, block: Block) -> Block:
        """Return statements with loops marked that are proved to be reductions into an element."""

        def change(node: Any) -> Any:
            return self._reduced_loop(node) if type(node) is tree.Loop else node

        made: Block = mapped(block, change)
        return made

    def _reduced_loop(self, loop: tree.Loop) -> tree.Loop:
        verdict, form = self._verdicts.get(loop.place), counted(loop)
        if verdict is None or verdict.verdict is not Verdict.RED or len(loop.body) != 1:
            return loop
        (one,) = loop.body
        if len(verdict.reductions) != 1 or verdict.copies or verdict.privates or form is None:
            return loop
        if not isinstance(one, tree.Assign) or not isinstance(one.target, Element):
            return loop
        (reduction,), update = verdict.reductions, update_of(one.target, one.value)
        if update is None or len(update[1]) != 1 or update[0] not in ("min", "max"):
            return loop
        if reduction.operator != update[0] or form.variable in symbols_in(one.target):
            return loop
        parts = {each.name: getattr(loop, each.name) for each in fields(loop)}
        return ReducedLoop(**parts, operator=update[0], target=one.target, term=update[1][0])

    def _side_by_side(self, steps: list[Step]) -> list[Step]:
        """Return steps of one iteration with kernels that do not meet beside each other.

        Each kernel comes after all those before it that touch an element that it touches, one of
        the two writing; those without such a one between them need not wait for each other.
        """
        made: list[Step] = []
        kernels: list[Kernel] = []
        for one in steps:
            if isinstance(one, Kernel) and one.name in self._touched:
                kernels.append(one)
                continue
            made += [*self._in_levels(kernels), one]
            kernels = []
        return [*made, *self._in_levels(kernels)]

    def _in_levels(self, kernels: list[Kernel]) -> list[Kernel]:
        levels: list[int] = []
        for n, one in enumerate(kernels):
            before = [levels[m] + 1 for m in range(n) if self._meet(kernels[m], one)]
            levels.append(max(before, default=0))
        order = sorted(range(len(kernels)), key=lambda n: levels[n])
        return [
            replace(kernels[n], waits=position == 0 or levels[order[position - 1]] < levels[n])
            for position, n in enumerate(order)
        ]

    def _meet(self, one: Kernel, other: Kernel) -> bool:
        """Return whether two kernels may touch one element, one of them writing it."""
        (first, row, cut), (second, other_row, other_cut) = (
            self._touched[each.name] for each in (one, other)
        )
        inside = self._table.descendants(row.number) | self._table.descendants(other_row.number)
        for a, b in product(first, second):
            if not (a.is_write or b.is_write):
                continue
            if "unknown" in (a.root.kind, b.root.kind):
                return True
            if a.root is not b.root:
                continue
            if a.path == () or b.path == ():
                if a.root.symbol in self._device:
                    return True
            elif not self._questions.never_touch(a, b, inside, (cut, other_cut)):
                return True
        return False

    def _write_to(self, ones: Sequence[Kernel], others: Sequence[Kernel]) -> bool:
        """Return whether some of the `others` may write an element that `ones` touch."""
        for one, other in product(ones, others):
            (touched, row, cut), (accesses, other_row, other_cut) = (
                self._touched[each.name] for each in (one, other)
            )
            inside = self._table.descendants(row.number)
            inside |= self._table.descendants(other_row.number)
            for a, b in product(touched, accesses):
                if not b.is_write or a.path == ():
                    continue
                if "unknown" in (a.root.kind, b.root.kind):
                    return True
                if a.root is b.root and not self._questions.never_touch(
                    a, b, inside, (cut, other_cut)
                ):
                    return True
        return False

    def _thread_body(
        self, loop: tree.Loop, axes: Sequence[tuple[tree.Loop, ...]], made: Sequence[Axis]
    ) -> Block:
        """Return what a thread executes: the nest without the loops that are axes."""
        by_place = {
            one.place: axis for cover, axis in zip(axes, made, strict=True) for one in cover
        }

        def change(node: Any) -> Any:
            if not isinstance(node, tree.Loop) or node.place not in by_place:
                return node
            axis, form = by_place[node.place], counted(node)
            assert form is not None
            tests = []
            variable = read(form.variable)
            if form.low != axis.low:
                tests.append(binary(">=", variable, form.low))
            if form.high != axis.high:
                tests.append(binary("<", variable, form.high))
            if not tests:
                return node.body
            test = tests[0] if len(tests) == 1 else binary("&&", tests[0], tests[1])
            return tree.If(node.place, test, node.body, ())

        made_body = mapped((loop,), change)
        assert isinstance(made_body, tuple)
        return made_body

    def _copied(
        self,
        loop: tree.Loop,
        row: LoopRow,
        verdict: LoopVerdict,
        following: Following,
        n_least: int = 1,
    ) -> list[Step] | None:
        """Return a kernel that reads arrays as they were before, where other threads write them.

        In iterations that differ no value flows; a read that never meets a write of its own
        iteration has the value from before the loop.
        """
        if verdict.verdict is not Verdict.COPY:
            return None
        accesses = [
            one
            for one in self._table.inside(row.number)
            if one.root.name in verdict.copies and one.path != ()
        ]
        before: set[Access] = set()
        for one in accesses:
            writes = [w for w in accesses if w.is_write and w.root is one.root]
            if not one.is_write and all(self._questions.never_meet(one, w, row) for w in writes):
                before.add(one)
        places = {one.place for one in before}
        if not before or places & {one.place for one in accesses if one not in before}:
            return None
        hidden, self._table = self._table, _without(self._table, before)
        try:
            axes = self._axes(loop, row, following)
        finally:
            self._table = hidden
        if len(axes) < n_least:
            return None
        copies: dict[Symbol, Symbol] = {}
        for one in before:
            symbol = one.root.symbol
            if symbol is None or not self._is_bounded(symbol):
                return None
            copies.setdefault(symbol, replace(symbol, name=self._new_name(f"{symbol.name}_before")))

        def change(node: Any) -> Any:
            is_element = isinstance(node, tree.Read) and isinstance(node.location, Element)
            if is_element and node.location.place in places:
                base, _ = flattened(node.location)
                return _renamed(node, base, copies[base]) if base in copies else node
            return node

        steps: list[Step] = [Snapshot(symbol, copy) for symbol, copy in copies.items()]
        self._snapshots |= {copy.name: symbol.name for symbol, copy in copies.items()}
        return steps + self._kernel(loop, axes, following, change)

    def _is_bounded(self, array: Symbol) -> bool:
        """Return whether it is known how many elements an array has at least."""
        if array.storage == "local":
            return True
        used = sections_of(self._facts, array)["in"]
        return used is not None and all(one.is_exact for one in used)

    def _taken(self) -> set[str]:
        """Return the names of all variables."""
        listed = (*symbols_in(self._function.body), *self._function.parameters)
        return {one.name for one in listed} | set(self._snapshots)

    def _new_name(self, name: str) -> str:
        """Return a name that no variable has."""
        taken = self._taken()
        while name in taken:
            name += "_"
        return name

    def _reduced(
        self, loop: tree.Loop, row: LoopRow, verdict: LoopVerdict, following: Following
    ) -> list[Step] | None:
        """Return a reduction into one variable or element."""
        if verdict.verdict is not Verdict.RED or len(verdict.reductions) != 1:
            return None
        (reduction,) = verdict.reductions
        operator = _EXTREMA.get(reduction.operator, reduction.operator)
        if operator not in OPERATORS or bool(reduction.kept) != (operator != reduction.operator):
            return None
        if verdict.copies or any(one.is_first for one in verdict.privates):
            return None
        covers = self._reduced_covers(loop, [reduction])
        forms = [counted(one) for cover in covers for one in cover]
        if reduction.kept and any(one is None or one.is_descending for one in forms):
            return None  # ties are decided by the order of iterations
        axes = [self._axis(cover, covers[:n], loop) for n, cover in enumerate(covers)]
        made = tuple(one for one in axes if one is not None)
        changed = assigned_in(loop)
        target = _only_target(loop, reduction.name)
        if target is None or len(made) < len(covers):
            return None
        if isinstance(target, Element) and symbols_in(target) & changed:
            return None
        located, change = self._change(loop, reduction, target)
        nest = mapped(loop.body, change.change)
        body = mapped(self._thread_body(loop, covers, made), change.change)
        if located is not None:
            located = replace(
                located, last=self._thread_body(loop, covers, made), last_nest=loop.body
            )
        private = self._private(loop, covers, following)
        declared = {one.symbol for one in tree.walk(body) if isinstance(one, tree.Declare)}
        own = {one for axis in made for one in (axis.variable, *axis.aliases)}
        stray = assigned_in(body) - declared - own - change.symbols
        if own - private or stray - private or arrays_in(body, written=True):
            return None
        if isinstance(target, Variable) and target.symbol not in self._device:
            return None
        if reduction.is_floating:
            text = f"{reduction.name}: floating-point results are combined in another order"
            self._assumptions[text] = None
        natural = tuple(reversed(range(len(made))))
        return [
            Reduction(
                self._name(reduction.name),
                made,
                natural if located is not None else self._mapping(loop, row, covers),
                body,
                nest,
                operator,
                target,
                change.accumulator,
                private=tuple(sorted(stray, key=lambda one: one.name)),
                line=row.place.line,
                located=located,
            )
        ]

    def _reduced_covers(
        self, loop: tree.Loop, reductions: list[ReductionVerdict]
    ) -> list[tuple[tree.Loop, ...]]:
        """Return the loops of a nest whose iterations all are combined, in any order.

        A loop inside is one of them if it has the same reductions, and stands last in the body of
        the one around it. Statements before it are repeated for each of its iterations: they only
        assign variables, and divide nothing.
        """
        found: list[tuple[tree.Loop, ...]] = [(loop,)]
        here = loop
        while len(found) < self._n_axes and here.body:
            *before, inner = here.body
            if not isinstance(inner, tree.Loop) or not all(map(_is_repeated, before)):
                break
            verdict, row = self._verdicts.get(inner.place), self._rows.get(inner.place)
            if verdict is None or row is None or row.refusals or is_short(inner):
                break
            is_same = verdict.verdict is Verdict.RED and verdict.reductions == reductions
            if not is_same or verdict.copies or any(p.is_first for p in verdict.privates):
                break
            if self._axis((inner,), found, loop) is None:
                break
            found.append((inner,))
            here = inner
        return found

    def _change(
        self, loop: tree.Loop, reduction: ReductionVerdict, target: tree.Location
    ) -> tuple[Located | None, _Accumulated]:
        """Return how statements are changed, so that they combine into a thread's accumulator."""
        accumulator = tree.Symbol(self._new_name(f"{reduction.name}_part"), target.type)
        if not reduction.kept:
            return None, _Accumulated(target, accumulator)
        names = [self._new_name(f"{reduction.name}_{what}") for what in ("point", "at")]
        point, at = (tree.Symbol(name, _LONG) for name in names)
        located = Located(point, at, reduction.ties == "first iteration", (), ())
        return located, _Accumulated(target, accumulator, located, frozenset(reduction.kept))

    def _updated(
        self, loop: tree.Loop, row: LoopRow, verdict: LoopVerdict, following: Following
    ) -> list[Step] | None:
        """Return a kernel whose threads update elements that others update, too, atomically."""
        if verdict.verdict is not Verdict.RED or verdict.copies:
            return None
        if any(not one.is_array or one.operator not in _ATOMIC for one in verdict.reductions):
            return None
        operators = {one.name: one.operator for one in verdict.reductions}
        covers = self._reduced_covers(loop, verdict.reductions)
        axis = self._axis((loop,), [], loop)
        if axis is None or any(one.is_first or one.is_array for one in verdict.privates):
            return None
        failed = []

        def change(node: Any) -> Any:
            if isinstance(node, tree.Assign) and _root_name(node.target) in operators:
                operator = operators[_root_name(node.target)]
                made = _atomic(node, operator)
                failed.extend([node] if made is None else [])
                return node if made is None else made
            return node

        try:
            steps = self._kernel(loop, covers, following, change)
        except CannotError:
            return None
        if failed:
            return None
        for reduction in verdict.reductions:
            if reduction.is_floating:
                text = f"{reduction.name}: floating-point results are combined in another order"
                self._assumptions[text] = None
        return steps


@dataclass(frozen=True, slots=True)
class _Accumulated:
    """A target that threads have an accumulator instead of.

    Of an extremum with what goes with it, the variables in `kept` are left out, and the number of
    the point is noted instead.
    """

    target: tree.Location
    accumulator: Symbol
    located: Located | None = None
    kept: frozenset[str] = frozenset()

    @property
    def symbols(self) -> set[Symbol]:
        """The variables that are assigned instead."""
        return {self.accumulator} | ({self.located.at} if self.located is not None else set())

    def change(self, node: Any) -> Any:
        """Return a node as it is with the accumulator."""
        inner = Variable(self.target.type, tree.NOWHERE, self.accumulator)
        if isinstance(node, tree.Read) and node.location == self.target:
            return replace(node, location=inner)
        if isinstance(node, tree.Assign) and node.target == self.target:
            made = replace(node, target=inner)
            return made if self.located is None else (made, self._noted(self.located))
        if isinstance(node, tree.Assign) and _root_name(node.target) in self.kept:
            return ()
        return node

    def _noted(self, located: Located) -> tree.Assign:
        target = Variable(located.at.type, tree.NOWHERE, located.at)
        return tree.Assign(tree.NOWHERE, target, read(located.point))


def _only_target(loop: tree.Loop, name: str) -> tree.Location | None:
    """Return what assignments to a variable or array have as their target, if it is one."""
    assigns = [one for one in tree.walk(loop.body) if isinstance(one, tree.Assign)]
    targets = [one.target for one in assigns if _root_name(one.target) == name]
    return targets[0] if targets and all(one == targets[0] for one in targets) else None


def _is_repeated(statement: tree.Statement) -> bool:
    """Return whether a statement may be executed again: it assigns a variable, and is cheap."""
    if isinstance(statement, tree.Declare):
        return statement.symbol.type.kind != "array"
    if not isinstance(statement, tree.Assign) or not isinstance(statement.target, Variable):
        return False
    return not any(
        isinstance(one, tree.Call) or (isinstance(one, tree.Binary) and one.operator in "/%")
        for one in tree.walk(statement.value)
    )


def _without(table: LoopTable, without: set[Access]) -> LoopTable:
    """Return a table without some accesses."""
    kept = tuple(one for one in table.accesses if one not in without)
    return replace(table, accesses=kept)


def _root_name(location: tree.Location) -> str:
    if isinstance(location, Variable):
        return location.symbol.name
    try:
        return flattened(location)[0].name
    except CannotError:
        return ""


def _renamed(node: tree.Read, old: Symbol, new: Symbol) -> Any:
    def change(one: Any) -> Any:
        if isinstance(one, Variable) and one.symbol is old:
            return replace(one, symbol=new)
        return one

    return mapped(node, change)


def _atomic(node: tree.Assign, operator: str) -> Atomic | None:
    """Return an update as an atomic operation, if hardware has it."""
    target, value = node.target, node.value
    kind = target.type
    is_whole = kind.kind == "int" and kind.bits in (32, 64)
    if not is_whole and not (kind.kind == "float" and operator == "+"):
        return None
    if operator in ("min", "max"):
        found = update_of(target, value)
        return None if found is None else Atomic(node.place, operator, target, found[1][0])
    if not isinstance(value, tree.Binary) or value.type != kind:
        return None
    own = [isinstance(s, tree.Read) and s.location == target for s in (value.left, value.right)]
    if value.operator == operator and own[0] != own[1]:
        return Atomic(node.place, operator, target, value.right if own[0] else value.left)
    if value.operator == "-" and operator == "+" and own == [True, False]:
        negative = tree.Unary(kind, node.place, "-", value.right)
        return Atomic(node.place, operator, target, negative)
    return None

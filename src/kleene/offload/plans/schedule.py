"""From the verdicts on a function's loops to the steps of a generated program.

| a loop | becomes |
|---|---|
| some loops of the nest are axes | a kernel; other loops of the nest are loops of its threads |
| only parts of its body have more axes | several loops, if no value flows back |
| COPY | a snapshot of arrays, then a kernel |
| RED into one variable or element | a reduction |
| RED into elements that it computes | a kernel with atomic operations |
| SEQ, parallel after splitting | its parts, one after the other |
| SEQ, parallel after skewing | a loop of the host over fronts around a kernel |
| SEQ, with loops inside that become kernels | a loop of the host |
| any other | no plan: the function stays on the CPU |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Any

from kleene.base.expression import Expression as Size
from kleene.base.expression import Symbol as Symbol_
from kleene.codegen.plan import (
    Array,
    Atomic,
    Axis,
    CannotError,
    HostBlock,
    HostIf,
    HostLoop,
    Kernel,
    Plan,
    Reduction,
    Snapshot,
    Step,
    launches,
)
from kleene.codegen.text import (
    RESERVED,
    arrays_in,
    assigned_in,
    element_of,
    extents_of,
    flattened,
    symbols_in,
)
from kleene.ir.loops import tree
from kleene.ir.loops.tables import Access, LoopRow, LoopTable, Root
from kleene.ir.loops.tree import Block, Element, Expression, Symbol, Variable
from kleene.offload.kernels.dependences import Facts
from kleene.offload.kernels.result import Analysed
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict
from kleene.offload.plans.axes import Questions, value_of
from kleene.offload.plans.moved import sections_of
from kleene.offload.plans.trees import (
    Counted,
    binary,
    choose,
    counted,
    is_linear,
    is_live,
    mapped,
    number,
    places_in,
    read,
    reads,
    substituted,
    with_counters_inside,
)
from kleene.transforms.loops.updates import update_of

Following = tuple[tuple[Block, bool], ...]
_MAX_AXES = 3
_MAX_COVERS = 16
_MAX_PRIVATE_BYTES = 1024  # of an array of which every thread has a copy
_INT = tree.Type("int", "int", 32)
_LONG = tree.Type("int", "long", 64)
_ATOMIC = {"+", "&", "|", "^", "min", "max"}


class Scheduler:
    """The plan of one function on its way."""

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
        self._host_variables: list[Symbol] = []

    def plan(self) -> Plan:
        """Return the function as steps.

        Raises:
            CannotError: a loop stays sequential, or something in the function cannot be written.
        """
        body, returned = self._checked_body()
        if any(isinstance(one, tree.Jump) for one in tree.walk(body)):
            raise CannotError("break or continue")
        end: Following = (((tree.Evaluate(tree.NOWHERE, returned),), False),) if returned else ()
        steps = self._steps(body, end)
        if not any(isinstance(one, Reduction) or one.axes for one in launches(steps)):
            raise CannotError("no loop becomes a kernel")
        return self._made(body, returned, steps)

    def sequential(self, reason: str) -> Plan:
        """Return the function without steps: it is executed as it is written."""
        body, returned = self._checked_body()
        declared = [one.symbol for one in tree.walk(body) if isinstance(one, tree.Declare)]
        if any(one.type.kind == "array" and one.type.n_bytes is None for one in declared):
            raise CannotError("a local array of a length known at run time")
        return replace(self._made(body, returned, []), reason=reason)

    def _checked_body(self) -> tuple[Block, Expression | None]:
        function = self._function
        body, returned = function.body, None
        if body and isinstance(body[-1], tree.Return):
            returned = body[-1].value
            body = body[:-1]
        for one in tree.walk(body):
            if isinstance(one, tree.Return | tree.Refuse | tree.Label | tree.Irregular):
                raise CannotError(f"{type(one).__name__.lower()} in line {one.place.line}")
        for symbol in symbols_in(body) | set(function.parameters):
            if symbol.name in RESERVED:
                raise CannotError(f"the name {symbol.name}")
            if symbol.storage in ("global", "static"):
                raise CannotError(f"the global variable {symbol.name}")
            if symbol.is_exposed:
                raise CannotError(f"a pointer to {symbol.name}")
        return body, returned

    def _made(self, body: Block, returned: Expression | None, steps: list[Step]) -> Plan:
        function = self._function
        arrays = self._arrays(body)
        written = {name for name, one in arrays.items() if one.is_written}
        parameters = [one.name for one in function.parameters if one.name in arrays]
        overlaps = tuple(
            (first, second)
            for position, first in enumerate(parameters)
            for second in parameters[position + 1 :]
            if first in written or second in written
        )
        return Plan(
            function.name,
            function.place.file,
            function.parameters,
            function.result,
            arrays,
            tuple(sorted(self._device, key=lambda one: (one.name, one.place.line))),
            tuple(steps),
            returned,
            overlaps,
            tuple(self._assumptions),
            self._snapshots,
            body,
        )

    # Storage

    def _computed_by_kernels(self) -> set[Symbol]:
        """Return the scalars into which values of arrays or of parallel loops get."""
        body = self._function.body
        names = {one.name for v in self._verdicts.values() for one in v.reductions}
        names |= {one.name for v in self._verdicts.values() for one in v.privates if one.last}
        counters = {
            found.variable
            for one in tree.walk(body)
            if isinstance(one, tree.Loop) and (found := counted(one)) is not None
        }
        scalars = assigned_in(body) - counters
        device = {one for one in scalars if one.name in names}
        while True:
            more = {one for one in scalars - device if self._gets_data(body, one, device, False)}
            if not more:
                return device
            device |= more

    def _gets_data(
        self, block: Iterable[Any], symbol: Symbol, device: set[Symbol], is_tested: bool
    ) -> bool:
        """Return whether a scalar is assigned data, or under a condition on data."""

        def has_data(value: object) -> bool:
            return any(isinstance(one, Element) for one in tree.walk(value)) or bool(
                symbols_in(value) & device
            )

        for one in block:
            match one:
                case tree.Assign(target=Variable(symbol=target), value=value):
                    if target is symbol and (is_tested or has_data(value)):
                        return True
                case tree.If(condition=condition, then=then, otherwise=otherwise):
                    inner = is_tested or has_data(condition)
                    if self._gets_data((*then, *otherwise), symbol, device, inner):
                        return True
                case tree.Loop():
                    inner = is_tested or has_data(node_head(one))
                    if self._gets_data((*one.init, *one.body, *one.step), symbol, device, inner):
                        return True
        return False

    def _arrays(self, body: Block) -> dict[str, Array]:
        is_read = arrays_in(body, written=False)
        is_written = arrays_in(body, written=True)
        found: dict[str, Array] = {}
        listed = [*self._function.parameters, *(is_read | is_written)]
        for symbol in dict.fromkeys(listed):
            if symbol.type.kind not in ("pointer", "array") or symbol.name in found:
                continue
            if symbol.storage == "local" and symbol not in self._on_device:
                continue  # every thread has its own
            element = element_of(symbol.type)
            extent = None
            if symbol.storage == "local":
                sizes = extents_of(symbol.type)
                extent = _product(sizes)
            moved = {} if extent is not None else sections_of(self._facts, symbol)
            found[symbol.name] = Array(
                symbol,
                element,
                symbol in is_read,
                symbol in is_written,
                moved.get("in"),
                moved.get("out"),
                extent,
            )
        return found

    def _is_host(self, value: object) -> bool:
        """Return whether the host can evaluate an expression: it hangs on its scalars alone."""
        if any(isinstance(one, Element | tree.Member | tree.Unknown) for one in tree.walk(value)):
            return False
        return not symbols_in(value) & self._device

    # Steps

    def _steps(self, block: Block, following: Following) -> list[Step]:
        steps: list[Step] = []
        pending: list[tree.Statement] = []
        for position, one in enumerate(block):
            rest: Following = ((block[position + 1 :], False), *following)
            if any(isinstance(inner, tree.Loop) for inner in tree.walk(one)):
                self._flush(steps, pending)
                if isinstance(one, tree.If):
                    if not self._is_host(one.condition):
                        raise CannotError(f"a condition on data in line {one.place.line}")
                    then = self._steps(one.then, rest)
                    otherwise = self._steps(one.otherwise, rest)
                    steps.append(HostIf(one.condition, tuple(then), tuple(otherwise)))
                    continue
                assert isinstance(one, tree.Loop)
                steps += self._loop(one, rest)
            elif isinstance(one, tree.Declare) and one.symbol.type.kind == "array":
                self._on_device |= {one.symbol}
            else:
                pending.append(one)
        self._flush(steps, pending)
        return _joined(steps)

    def _flush(self, steps: list[Step], pending: list[tree.Statement]) -> None:
        """Make steps of statements outside of kernels: of the host, or of one thread."""
        for one in pending:
            if isinstance(one, tree.Declare):
                continue  # it lives for the whole call
            if self._is_of_host(one):
                last = steps[-1] if steps else None
                if isinstance(last, HostBlock):
                    steps[-1] = HostBlock((*last.statements, one))
                else:
                    steps.append(HostBlock((one,)))
                continue
            last = steps[-1] if steps else None
            if isinstance(last, Kernel) and not last.axes:
                steps[-1] = replace(last, body=(*last.body, one))
            else:
                steps.append(Kernel(self._name("step"), (), (), (one,), line=one.place.line))
        pending.clear()

    def _is_of_host(self, statement: tree.Statement) -> bool:
        targets = [one.target for one in tree.walk(statement) if isinstance(one, tree.Assign)]
        if not all(isinstance(one, Variable) for one in targets):
            return False
        return self._is_host(statement)

    def _name(self, what: str) -> str:
        base = f"{self._function.name}_{what}"
        self._names[base] = self._names.get(base, 0) + 1
        return base if self._names[base] == 1 else f"{base}_{self._names[base]}"

    # Loops

    def _loop(self, loop: tree.Loop, following: Following) -> list[Step]:
        row, verdict = self._rows.get(loop.place), self._verdicts.get(loop.place)
        if row is None or verdict is None:
            raise CannotError(f"no verdict on the loop of line {loop.place.line}")
        if row.refusals:
            reason = row.refusals[0]
            raise CannotError(f"{reason.detail} in line {reason.place.line}")
        axes = self._axes(loop, row, following)
        is_axis = bool(axes) and axes[0] == (loop,)
        parts = self._distributed(loop, row, following, is_axis)
        if parts is not None:
            most = max(len(self._axes(one, row, rest)) for one, rest in parts)
            if most > len(axes):
                return [step for one, rest in parts for step in self._loop(one, rest)]
        if not axes:
            whole = self._fission(loop)
            parts = self._distributed(whole, row, following, False)
            if parts is not None and all(self._axes(one, row, rest) for one, rest in parts):
                return [step for one, rest in parts for step in self._loop(one, rest)]
        if len(axes) == 1 and (steps := self._copied(loop, row, verdict, following, 2)) is not None:
            return steps
        if axes:
            cut = self._split_inside(loop, row, axes, following)
            return cut if cut is not None else self._kernel(loop, axes, following)
        for way in (self._reduced, self._copied, self._updated):
            steps = way(loop, row, verdict, following)
            if steps is not None:
                return steps
        for one in sorted(verdict.transformations, key=lambda one: one.kind != "splitting"):
            if one.kind == "splitting":
                halves = self._split(loop, row, one.points)
                if halves is not None:
                    return self._cut_steps(halves, row, following)
            if one.kind == "skewing":
                steps = self._skewed(loop, row, one.factor, following)
                if steps is not None:
                    return steps
        return self._host_loop(loop, row, following)

    def _host_loop(self, loop: tree.Loop, row: LoopRow, following: Following) -> list[Step]:
        if not any(isinstance(one, tree.Loop) for one in tree.walk(loop.body)):
            raise CannotError(f"the loop of line {row.place.line} is sequential")
        if loop.test is None or loop.before or loop.after or loop.kind == "do":
            raise CannotError(f"the form of the loop in line {row.place.line}")
        head = (*loop.init, *loop.step)
        if not self._is_host(loop.test) or not all(map(self._is_of_host, head)):
            raise CannotError(f"bounds from data in line {row.place.line}")
        again: Following = ((loop.step, True), (loop.body, True), *following)
        form = counted(loop)
        self._host_variables += [] if form is None else [form.variable]
        steps = self._steps(loop.body, again)
        if form is not None:
            self._host_variables.pop()
        return [HostLoop(loop.init, loop.test, loop.step, tuple(steps))]

    # Axes

    def _axes(
        self, loop: tree.Loop, row: LoopRow, following: Following
    ) -> list[tuple[tree.Loop, ...]]:
        """Return the axes of a nest, outermost first: for each the loops that it stands for."""
        found: list[tuple[tree.Loop, ...]] = []
        level: list[tuple[tree.Loop, ...]] = [(loop,)]
        while level and len(found) < self._n_axes:
            options = [list(_inner_options(one)) for (one,) in level]
            for cover in islice(product(*options), _MAX_COVERS):
                if self._is_axis(cover, found, loop, row, following):
                    found.append(cover)
                    break
            else:
                return found
            level = [(inner,) for one in found[-1] for inner in _loops_directly_in(one.body)]
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
        return {
            symbol
            for symbol in assigned_in(loop) | declared | arrays
            if symbol in declared or not is_live(following, symbol)
            if all(self._is_temporary(symbol, cover, loop) for cover in covers)
        }

    def _is_temporary(self, symbol: Symbol, cover: tuple[tree.Loop, ...], loop: tree.Loop) -> bool:
        """Return whether no value of a variable gets out of an iteration of an axis."""
        if not any(symbol in _written(one) for one in cover):
            return True  # every thread computes it again, outside
        outside = mapped(loop, lambda node: _emptied(node, cover))
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
        boxes = [self._box(one, found, loop) for one in listed]
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
        self, form: Counted, found: Sequence[tuple[tree.Loop, ...]], loop: tree.Loop
    ) -> tuple[Expression, Expression] | None:
        """Return the least and the greatest bound of a loop, for all values of other axes."""
        changed = assigned_in(loop)
        low, high = form.low, form.high
        for cover in reversed(found):
            around = self._axis(cover, found[: found.index(cover)], loop)
            if around is None:
                return None
            ends = around.low, binary("-", around.high, number(1, around.high.type))
            for variable in (around.variable, *around.aliases):
                values = []
                for bound, operator in ((low, "<"), (high, ">")):
                    if not reads(bound, variable):
                        values.append(bound)
                        continue
                    if not is_linear(bound, variable):
                        return None
                    one, other = (substituted(bound, {variable: end}) for end in ends)
                    values.append(choose(operator, one, other))
                low, high = values
        for bound in (low, high):
            if symbols_in(bound) & changed or not self._is_host(bound):
                return None
        return low, high

    # Kernels

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

    # Snapshots

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
            one for one in self._table.inside(row.number) if one.root.name in verdict.copies
        ]
        before: set[Access] = set()
        for one in accesses:
            writes = [w for w in accesses if w.is_write and w.root is one.root]
            if not one.is_write and all(self._questions.never_meet(one, w, row) for w in writes):
                before.add(one)
        places = {one.place for one in before}
        if not before or places & {one.place for one in accesses if one not in before}:
            return None
        hidden, self._table = self._table, replace_accesses(self._table, before)
        try:
            axes = self._axes(loop, row, following)
        finally:
            self._table = hidden
        if len(axes) < n_least:
            return None
        copies: dict[Symbol, Symbol] = {}
        for one in before:
            symbol = one.root.symbol
            if symbol is None:
                return None
            copies.setdefault(symbol, replace(symbol, name=self._copy_name(symbol.name)))

        def change(node: Any) -> Any:
            if isinstance(node, tree.Read) and node.location.place in places:
                base, _ = flattened(node.location)
                return _renamed(node, base, copies[base])
            return node

        steps: list[Step] = [Snapshot(symbol, copy) for symbol, copy in copies.items()]
        self._snapshots |= {copy.name: symbol.name for symbol, copy in copies.items()}
        return steps + self._kernel(loop, axes, following, change)

    def _copy_name(self, name: str) -> str:
        taken = {one.name for one in symbols_in(self._function.body)} | set(self._snapshots)
        made = f"{name}_before"
        while made in taken:
            made += "_"
        return made

    # Reductions

    def _reduced(
        self, loop: tree.Loop, row: LoopRow, verdict: LoopVerdict, following: Following
    ) -> list[Step] | None:
        """Return a reduction into one variable or element."""
        if verdict.verdict is not Verdict.RED or len(verdict.reductions) != 1:
            return None
        (reduction,) = verdict.reductions
        axis = self._axis((loop,), [], loop)
        if axis is None or verdict.copies or any(one.is_first for one in verdict.privates):
            return None
        targets = []
        for one in tree.walk(loop.body):
            if isinstance(one, tree.Assign) and _root_name(one.target) == reduction.name:
                targets.append(one.target)
        changed = assigned_in(loop)
        if not targets or any(one != targets[0] for one in targets):
            return None
        target = targets[0]
        if isinstance(target, Element) and symbols_in(target) & changed:
            return None
        accumulator = tree.Symbol(f"{reduction.name}_part", target.type)
        inner = Variable(target.type, tree.NOWHERE, accumulator)

        def change(node: Any) -> Any:
            if isinstance(node, tree.Read) and node.location == target:
                return replace(node, location=inner)
            if isinstance(node, tree.Assign) and node.target == target:
                return replace(node, target=inner)
            return node

        body = mapped(loop.body, change)
        private = self._private(loop, [(loop,)], following)
        declared = {one.symbol for one in tree.walk(body) if isinstance(one, tree.Declare)}
        stray = assigned_in(body) - declared - {accumulator, axis.variable}
        if axis.variable not in private or stray - private or arrays_in(body, written=True):
            return None
        if reduction.is_floating:
            text = f"{reduction.name}: floating-point results are combined in another order"
            self._assumptions[text] = None
        if isinstance(target, Variable) and target.symbol not in self._device:
            return None
        return [
            Reduction(
                self._name(reduction.name),
                axis,
                body,
                reduction.operator,
                target,
                accumulator,
                private=tuple(sorted(stray, key=lambda one: one.name)),
                line=row.place.line,
            )
        ]

    def _updated(
        self, loop: tree.Loop, row: LoopRow, verdict: LoopVerdict, following: Following
    ) -> list[Step] | None:
        """Return a kernel whose threads update elements that others update, too, atomically."""
        if verdict.verdict is not Verdict.RED or verdict.copies:
            return None
        if any(not one.is_array or one.operator not in _ATOMIC for one in verdict.reductions):
            return None
        operators = {one.name: one.operator for one in verdict.reductions}
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
            steps = self._kernel(loop, [(loop,)], following, change)
        except CannotError:
            return None
        if failed:
            return None
        for reduction in verdict.reductions:
            if reduction.is_floating:
                text = f"{reduction.name}: floating-point results are combined in another order"
                self._assumptions[text] = None
        return steps

    # Distribution

    def _distributed(
        self, loop: tree.Loop, row: LoopRow, following: Following, is_axis: bool
    ) -> list[tuple[tree.Loop, Following]] | None:
        """Return a loop as several, one after the other, where that gives one of them more axes.

        All iterations of a part come before those of the next one. That is right if nothing in a
        later part conflicts with an earlier part of a later iteration.
        """
        if len(loop.body) < 2 or not row.is_straight:
            return None
        groups: list[tuple[Block, int]] = []
        for statement in loop.body:
            n_axes = len(self._axes(replace(loop, body=(statement,)), row, following))
            if groups:
                before, most = groups[-1]
                together = (*before, statement)
                n_together = len(self._axes(replace(loop, body=together), row, following))
                if n_together >= max(most, n_axes):
                    groups[-1] = (together, n_together)
                    continue
            groups.append(((statement,), n_axes))
        blocks = [block for block, _ in groups]
        if len(groups) < 2 or not self._can_distribute(blocks, row, is_axis):
            return None
        parts = [replace(loop, body=block) for block in blocks]
        return [
            (one, (*(((rest,), False) for rest in parts[position + 1 :]), *following))
            for position, one in enumerate(parts)
        ]

    def _fission(self, loop: tree.Loop) -> tree.Loop:
        """Return a loop with the loops directly inside split, one for each of their statements."""
        body: list[tree.Statement] = []
        for one in loop.body:
            inner = self._rows.get(one.place) if isinstance(one, tree.Loop) else None
            if inner is None or not isinstance(one, tree.Loop) or len(one.body) < 2:
                body.append(one)
                continue
            blocks: list[Block] = [(statement,) for statement in one.body]
            is_possible = inner.is_straight and self._can_distribute(blocks, inner, False)
            body += [replace(one, body=b) for b in blocks] if is_possible else [one]
        return replace(loop, body=tuple(body))

    def _can_distribute(self, blocks: list[Block], row: LoopRow, is_axis: bool) -> bool:
        for position, block in enumerate(blocks):
            inner = {
                form.variable
                for one in tree.walk(block)
                if isinstance(one, tree.Loop) and (form := counted(one)) is not None
            }
            own = assigned_in(block) - inner
            own |= {one.symbol for one in tree.walk(block) if isinstance(one, tree.Declare)}
            others = [one for n, one in enumerate(blocks) if n != position]
            if any(reads(other, symbol) for other in others for symbol in own):
                return False  # a scalar of one iteration is used in two parts
        if is_axis:
            return True
        by_block = [
            [one for one in self._accesses(row, block) if one.path != ()] for block in blocks
        ]
        return not any(
            first.root is second.root
            and (first.is_write or second.is_write)
            and not self._questions.never_before(first, second, row)
            for position, earlier in enumerate(by_block)
            for later in by_block[position + 1 :]
            for first in later
            for second in earlier
        )

    # Splitting

    def _split(
        self, loop: tree.Loop, row: LoopRow, points: Sequence[Size]
    ) -> list[tuple[tree.Loop, tuple[Size | None, Size | None]]] | None:
        """Return a loop as several over some of its iterations each, with the numbers of these."""
        form = counted(loop)
        if form is None or form.step != 1 or form.is_descending or row.number in self._ranges:
            return None
        values = {Symbol_(one.variable): v for one in self._table.loops if (v := value_of(one))}
        cuts: list[tuple[Expression, Size]] = []
        for point in points:
            if row.start is None:
                return None
            at = self._tree(row.start + point, form.variable.type)
            if at is None:
                return None
            cuts.append((at, point.substitute(values)))
        made = []
        lows = [None, *cuts]
        highs = [*cuts, None]
        for low, high in zip(lows, highs, strict=True):
            first = form.low if low is None else choose(">", form.low, low[0])
            last = form.high if high is None else choose("<", form.high, high[0])
            made.append(
                (
                    _with_bounds(loop, form.variable, first, last),
                    (None if low is None else low[1], None if high is None else high[1]),
                )
            )
        return made

    @property
    def _ranges(self) -> dict[int, tuple[Size | None, Size | None]]:
        return self._questions.ranges

    def _tree(self, value: Size, kind: tree.Type) -> Expression | None:
        """Return a sum of variables of the function as an expression."""
        changed = assigned_in(self._function.body)
        known = [one for one in self._function.parameters if one not in changed]
        by_name = {one.name: one for one in (*known, *self._host_variables)}
        total: Expression | None = None
        for monomial, factor in value.terms.items():
            if not isinstance(factor, int) or len(monomial) > 1:
                return None
            if not monomial:
                term = number(abs(factor), kind)
            else:
                ((atom, power),) = monomial
                symbol = by_name.get(getattr(atom, "name", ""))
                if symbol is None or power != 1 or abs(factor) != 1 or symbol.type != kind:
                    return None
                term = read(symbol)
            operator = "+" if factor > 0 else "-"
            base = number(0, kind) if total is None and factor < 0 else total
            total = term if base is None else binary(operator, base, term)
        return total if total is not None else number(0, kind)

    def _cut_steps(
        self,
        parts: list[tuple[tree.Loop, tuple[Size | None, Size | None]]],
        row: LoopRow,
        following: Following,
    ) -> list[Step]:
        steps: list[Step] = []
        for position, (part, cut) in enumerate(parts):
            rest = tuple(((one,), False) for one, _ in parts[position + 1 :])
            self._ranges[row.number] = cut
            try:
                steps += self._loop(part, (*rest, *following))
            finally:
                del self._ranges[row.number]
        return steps

    def _split_inside(
        self,
        loop: tree.Loop,
        row: LoopRow,
        axes: Sequence[tuple[tree.Loop, ...]],
        following: Following,
    ) -> list[Step] | None:
        """Return kernels for the parts of the loop inside, if that is parallel when split."""
        if len(loop.body) != 1 or len(axes) != 1 or axes[0] != (loop,):
            return None
        (inner,) = loop.body
        if not isinstance(inner, tree.Loop):
            return None
        verdict, inner_row = self._verdicts.get(inner.place), self._rows.get(inner.place)
        if verdict is None or inner_row is None:
            return None
        for one in verdict.transformations:
            if one.kind == "splitting":
                parts = self._split(inner, inner_row, one.points)
                if parts is None:
                    continue
                steps: list[Step] = []
                for part, cut in parts:
                    self._ranges[inner_row.number] = cut
                    try:
                        whole = replace(loop, body=(part,))
                        found = self._axes(whole, row, following)
                        if len(found) < 2:
                            return None
                        steps += self._kernel(whole, found, following)
                    finally:
                        del self._ranges[inner_row.number]
                return steps
        return None

    # Fronts

    def _skewed(
        self, loop: tree.Loop, row: LoopRow, factor: int, following: Following
    ) -> list[Step] | None:
        """Return a loop of the host over fronts f*(iteration) + (inner iteration)."""
        (inner,) = list(_loops_directly_in(loop.body)) or (None,)
        if not isinstance(inner, tree.Loop) or inner not in loop.body:
            return None
        deeper = self._verdicts.get(inner.place)
        if deeper is not None and any(one.kind == "skewing" for one in deeper.transformations):
            return None  # fronts of the loops inside have more threads
        outer_form, inner_form = counted(loop), counted(inner)
        axis = self._axis((loop,), [], loop)
        if axis is None or outer_form is None or inner_form is None or len(loop.body) != 1:
            return None
        box = self._box(inner_form, [(loop,)], loop)
        if box is None or outer_form.step != 1 or inner_form.step != 1:
            return None
        kind = axis.variable.type
        front = tree.Symbol(f"{axis.variable.name}_{inner_form.variable.name}_front", kind)
        variable = read(axis.variable)
        done = binary("-", variable, outer_form.low)
        if outer_form.is_descending:
            done = binary("-", binary("-", outer_form.high, number(1, kind)), variable)
        by = done if factor == 1 else binary("*", number(factor, kind), done)
        ahead = binary("-", read(front), by)
        low, high = inner_form.low, inner_form.high
        value = binary("+", low, ahead)
        if inner_form.is_descending:
            value = binary("-", binary("-", high, number(1, kind)), ahead)
        own = inner_form.variable
        if own.type != kind:
            return None
        place = tree.NOWHERE
        test = binary("&&", binary(">=", read(own), low), binary("<", read(own), high))
        body: Block = (
            tree.Declare(place, own),
            tree.Assign(place, Variable(kind, place, own), value),
            tree.If(inner.place, test, inner.body, ()),
        )
        private = self._private(loop, [(inner,)], following) | {own}
        declared = {one.symbol for one in tree.walk(body) if isinstance(one, tree.Declare)}
        stray = assigned_in(body) - declared - {axis.variable}
        if stray - private or is_live(following, own) or axis.variable not in private:
            return None
        kernel = Kernel(
            self._name(f"{axis.variable.name}_front"),
            (axis,),
            (0,),
            body,
            tuple(sorted(stray, key=lambda one: one.name)),
            row.place.line,
        )
        trips = binary("-", axis.high, axis.low)
        widths = [
            binary("-", *(substituted(one, {axis.variable: end}) for one in (high, low)))
            for end in (axis.low, binary("-", axis.high, number(1, kind)))
        ]
        last = binary("*", number(factor, kind), binary("-", trips, number(1, kind)))
        total = binary("+", last, choose(">", widths[0], widths[1]))
        target = Variable(kind, place, front)
        init = (tree.Declare(place, front), tree.Assign(place, target, number(0, kind)))
        step = tree.Assign(place, target, binary("+", read(front), number(1, kind)))
        return [HostLoop(init, binary("<", read(front), total), (step,), (kernel,))]


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


def node_head(loop: tree.Loop) -> tuple[object, ...]:
    """Return what decides how often a loop is executed."""
    return (loop.test, *loop.init, *loop.step)


def replace_accesses(table: LoopTable, without: set[Access]) -> LoopTable:
    """Return a table without some accesses."""
    kept = tuple(one for one in table.accesses if one not in without)
    return replace(table, accesses=kept)


def _roots(covered: Iterable[tuple[Access, LoopRow]]) -> set[Root]:
    return {one.root for one, _ in covered}


def _loops_directly_in(block: Block) -> Iterator[tree.Loop]:
    for one in block:
        if isinstance(one, tree.Loop):
            yield one
        elif isinstance(one, tree.If):
            yield from _loops_directly_in((*one.then, *one.otherwise))


def _inner_options(loop: tree.Loop) -> Iterator[tree.Loop]:
    """Yield a loop, and the loops inside of it of which each is the only one at its level."""
    yield loop
    inner = list(_loops_directly_in(loop.body))
    if len(inner) == 1:
        yield from _inner_options(inner[0])


def _is_exact(forms: Sequence[Counted], boxes: Sequence[tuple[Expression, Expression]]) -> bool:
    return all((one.low, one.high) == box for one, box in zip(forms, boxes, strict=True))


def _product(sizes: Sequence[Expression | int]) -> Expression | int:
    total: Expression | int = 1
    for one in sizes:
        if isinstance(one, int) and isinstance(total, int):
            total *= one
            continue
        left = number(total, _LONG) if isinstance(total, int) else total
        right = number(one, _LONG) if isinstance(one, int) else one
        is_one = isinstance(total, int) and total == 1
        total = right if is_one else tree.Binary(_LONG, tree.NOWHERE, "*", left, right)
    return total


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


def _with_bounds(loop: tree.Loop, variable: Symbol, low: Expression, high: Expression) -> tree.Loop:
    """Return an ascending loop with other bounds."""
    init = tuple(
        replace(one, value=low) if isinstance(one, tree.Assign) else one for one in loop.init
    )
    return replace(loop, init=init, test=binary("<", read(variable), high))


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


def _joined(steps: list[Step]) -> list[Step]:
    """Return steps with those of one thread done by the reduction before or after them."""
    made: list[Step] = []
    for one in steps:
        last = made[-1] if made else None
        if isinstance(one, Kernel) and not one.axes and isinstance(last, Reduction):
            made[-1] = replace(last, after=(*last.after, *one.body))
            continue
        if isinstance(one, Reduction) and isinstance(last, Kernel) and not last.axes:
            touched = arrays_in(last.body, written=True)
            used = arrays_in(one.body, written=False) | symbols_in(one.body)
            if not (touched | assigned_in(last.body)) & used:
                made[-1] = replace(one, before=last.body)
                continue
        made.append(one)
    return made

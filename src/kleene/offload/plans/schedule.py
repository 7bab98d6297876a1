"""From the verdicts on a function's loops to the steps of a generated program.

| a loop | becomes |
|---|---|
| some loops of the nest are axes | a kernel; other loops of the nest are loops of its threads |
| only parts of its body have more axes | several loops, if no value flows back |
| one statement deep inside and all others have more axes | two nests, one after the other |
| COPY | a snapshot of arrays, then a kernel |
| RED into one variable or element | a reduction |
| RED into elements that it computes | a kernel with atomic operations |
| SEQ, parallel after splitting | its parts, one after the other |
| SEQ, parallel after skewing | a loop of the host over fronts around a kernel |
| SEQ, two deep or more, parallel in another order | a loop of the host over one of its variables |
| SEQ, with loops inside that become kernels | a loop of the host |
| SEQ, a scan | a launch whose blocks have a part each, after one for the totals of parts |
| SEQ, with no loop inside | a loop of the host, on arrays that are copied there and back |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from kleene.codegen.arguments import arguments
from kleene.codegen.plan import (
    Array,
    CannotError,
    HostBlock,
    HostIf,
    HostLoop,
    HostNest,
    Kernel,
    Plan,
    Reduction,
    Scan,
    Step,
    all_steps,
    launches,
)
from kleene.codegen.text import (
    RESERVED,
    arrays_in,
    assigned_in,
    element_of,
    extents_of,
    symbols_in,
)
from kleene.codegen.trees import (
    counted,
    first_use,
    is_live,
    number,
)
from kleene.ir.loops import tree
from kleene.ir.loops.tables import LoopRow
from kleene.ir.loops.tree import Block, Expression, Symbol
from kleene.offload.kernels.verdicts import LoopVerdict
from kleene.offload.plans.axes import Range
from kleene.offload.plans.moved import sections_of
from kleene.offload.plans.nests import Following
from kleene.offload.plans.running import scanned
from kleene.offload.plans.times import Times
from kleene.offload.plans.unchanged import (
    guard_of,
    only_value,
    unchanged_of,
    without_points,
)

_INT = tree.Type("int", "int", 32)
_LONG = tree.Type("int", "long", 64)


def check_written(function: tree.Function) -> None:
    """Check that a function has nothing that no plan and no C has a form for.

    Raises:
        CannotError: it returns before its end, say, or has global variables.
    """
    body = function.body
    if body and isinstance(body[-1], tree.Return):
        body = body[:-1]
    for one in tree.walk(body):
        if isinstance(one, tree.Return | tree.Refuse | tree.Label | tree.Irregular):
            raise CannotError(f"{type(one).__name__.lower()} in line {one.place.line}")
        if any(each.type.kind in ("pointer", "array") for each in _tested(one)):
            raise CannotError("a pointer that is tested")
    named = symbols_in(body) | set(function.parameters)
    for symbol in sorted(named, key=lambda one: (one.name, one.place.line, one.place.column)):
        if symbol.name in RESERVED:
            raise CannotError(f"the name {symbol.name}")
        if symbol.storage in ("global", "static"):
            raise CannotError(f"the global variable {symbol.name}")
        if symbol.is_exposed:
            raise CannotError(f"a pointer to {symbol.name}")
    _check_sizes(body, named)


def _tested(node: object) -> list[Expression]:
    """Return the expressions that a statement or an expression asks whether they are 0."""
    match node:
        case tree.If(condition=condition) | tree.Choose(condition=condition):
            return [condition]
        case tree.Loop(test=test) if test is not None:
            return [test]
        case tree.Unary(operator="!", operand=operand):
            return [operand]
        case tree.Binary(operator="&&" | "||", left=left, right=right):
            return [left, right]
    return []


def _check_sizes(body: Block, named: Iterable[Symbol]) -> None:
    """Check that sizes of arrays stay as they are where an array begins.

    What is generated computes with the sizes that it sees at an access, C with those of the
    declaration, or of the call:

        void f(int m, int n, double a[m][n]) { n = n / 2; ... a[i][j] ... }     rows of n before
    """
    order = list(tree.walk(body))
    begins = {one.symbol: n for n, one in enumerate(order) if isinstance(one, tree.Declare)}
    for symbol in sorted(named, key=lambda one: (one.name, one.place.line)):
        kind, sizes = symbol.type, set[Symbol]()
        while kind.kind in ("array", "pointer") and kind.target is not None:
            if isinstance(kind.extent, Expression):
                sizes |= symbols_in(kind.extent)
            kind = kind.target
        if not sizes:
            continue
        later = (one for one in order[begins.get(symbol, 0) :] if isinstance(one, tree.Assign))
        for one in later:
            if isinstance(one.target, tree.Variable) and one.target.symbol in sizes:
                size = one.target.symbol.name
                raise CannotError(f"{size}, a size of {symbol.name}, changes")


class Scheduler(Times):
    """The plan of one function on its way."""

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
        is_parallel = any(isinstance(one, Reduction) or one.axes for one in launches(steps))
        if not is_parallel and not any(isinstance(one, Scan) for one in all_steps(steps)):
            nests = [one for one in all_steps(steps) if isinstance(one, HostNest)]
            text = f"the loop of line {nests[0].line} is sequential" if nests else "no loop"
            raise CannotError(text)
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
        check_written(function)
        known = {one.name: one for one in function.parameters}
        if (hidden := _hidden(function.body, known)) is not None:
            raise CannotError(f"two variables {hidden.name} in one block")
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
        plan = Plan(
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
        steps_given = [*plan.kernels(), *plan.host_nests(), *plan.scans()]
        needed = {p.symbol for one in steps_given for p in arguments(plan, one)}
        needed |= set() if returned is None else symbols_in(returned)
        kept = tuple(one for one in plan.device_scalars if one in needed)
        return replace(plan, device_scalars=kept)

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

    def _steps(self, block: Block, following: Following) -> list[Step]:
        steps: list[Step] = []
        pending: list[tree.Statement] = []
        for position, one in enumerate(block):
            rest: Following = ((block[position + 1 :], False), *following)
            if any(isinstance(inner, tree.Loop) for inner in tree.walk(one)):
                self._flush(steps, pending)
                if isinstance(one, tree.If):
                    if not self._is_host(one.condition):
                        steps.append(self._host_nest(one, rest))
                        continue
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
            if assigned_in(one) - self._device:
                raise CannotError(f"the host's and the device's scalars in line {one.place.line}")
            last = steps[-1] if steps else None
            if isinstance(last, Kernel) and not last.axes:
                steps[-1] = replace(last, body=(*last.body, one))
            else:
                steps.append(Kernel(self._name("step"), (), (), (one,), line=one.place.line))
        pending.clear()

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
        if len(axes) < self._n_axes:
            whole = self._fission(loop)
            parts = self._distributed(whole, row, following, False)
            fewest = [len(self._axes(one, row, rest)) for one, rest in parts or ()]
            if parts is not None and min(fewest) > len(axes):
                return [step for one, rest in parts for step in self._loop(one, rest)]
        if len(axes) < min(2, self._n_axes):
            parts = self._separated(loop, row, following, len(axes))
            if parts is not None:
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
                    before = dict(self._assumptions), dict(self._snapshots)
                    steps = self._cut_steps(halves, row, following)
                    if any(map(_is_of_one_thread, launches(steps))):
                        self._assumptions, self._snapshots = before
                        continue
                    return self._without_unchanged(loop, row, steps) or steps
            if one.kind == "skewing":
                steps = self._skewed(loop, row, one.factor, following)
                if steps is not None:
                    return steps
        scan = self._scanned(loop, verdict, following)
        if scan is not None:
            return [scan]
        return self._by_time(loop, row, following) or self._host_loop(loop, row, following)

    def _host_loop(self, loop: tree.Loop, row: LoopRow, following: Following) -> list[Step]:
        if not any(isinstance(one, tree.Loop) for one in tree.walk(loop.body)):
            return [self._host_nest(loop, following)]
        if loop.test is None or loop.before or loop.after or loop.kind == "do":
            return [self._host_nest(loop, following)]
        head = (*loop.init, *loop.step)
        if not self._is_host(loop.test) or not all(map(self._is_of_host, head)):
            return [self._host_nest(loop, following)]
        again: Following = ((loop.step, True), (loop.body, True), *following)
        form = counted(loop)
        self._host_variables += [] if form is None else [form.variable]
        steps = self._side_by_side(self._steps(loop.body, again))
        if form is not None:
            self._host_variables.pop()
        return [HostLoop(loop.init, loop.test, loop.step, tuple(steps))]

    def _scanned(self, loop: tree.Loop, verdict: LoopVerdict, following: Following) -> Scan | None:
        """Return a loop whose iterations need the sum so far as one launch."""
        form = counted(loop)
        if len(verdict.scans) != 1 or verdict.copies or verdict.privates or form is None:
            return None
        (scan,) = verdict.scans
        axis = self._axis((loop,), [], loop)
        found = scanned(loop, scan.name, self._new_name(f"{scan.name}_running"))
        is_plain = form.step == 1 and not form.is_descending
        if axis is None or found is None or not is_plain or scan.operator != found.operator:
            return None
        if found.last is not None and found.last.symbol not in self._device:
            return None
        try:
            nest = self._host_nest(loop, following)
        except CannotError:
            return None
        if scan.is_floating:
            text = f"{scan.name}: floating-point results are combined in another order"
            self._assumptions[text] = None
        return Scan(
            self._name(f"{scan.name}_so_far"),
            axis,
            found.operator,
            found.term,
            found.running,
            found.first,
            found.body,
            found.last,
            nest,
            loop.place.line,
        )

    def _host_nest(self, nest: tree.Statement, following: Following) -> HostNest:
        """Return a sequential loop, or a condition on data around loops, as a step of the host."""
        line = nest.place.line
        declared = {one.symbol for one in tree.walk(nest) if isinstance(one, tree.Declare)}
        if any(one.type.kind == "array" for one in declared):
            raise CannotError(f"the sequential loop of line {line} has an array")
        forms = [counted(one) for one in tree.walk(nest) if isinstance(one, tree.Loop)]
        private = {form.variable for form in forms if form is not None} - declared
        for one in private:
            if is_live(following, one) or first_use((nest,), one) == "read":
                raise CannotError(f"{one.name} is used outside of the loop of line {line}")
        stray = assigned_in(nest) - declared - private - self._device
        if stray:
            raise CannotError(f"{min(one.name for one in stray)} is counted in line {line}")
        name = f"{self._name('host')}_{line}"
        return HostNest(name, (nest,), tuple(sorted(private, key=lambda one: one.name)), line)

    def _cut_steps(
        self,
        parts: list[tuple[tree.Loop, Range]],
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

    def _without_unchanged(
        self, loop: tree.Loop, row: LoopRow, steps: list[Step]
    ) -> list[Step] | None:
        """Return the parts of a nest, or those alone that change something, under a condition."""
        kernels = [one for one in steps if isinstance(one, Kernel) and one.name in self._touched]
        found = unchanged_of(kernels) if len(kernels) == len(steps) else None
        if found is None or self._ranges or self._write_to(found.idle, found.rest):
            return None
        if any(self._meet(one, other) for one, other in combinations(found.rest, 2)):
            return None
        covers = [(one,) for one in tree.walk((loop,)) if isinstance(one, tree.Loop)]
        axes = [self._axis(one, covers[:n], loop) for n, one in enumerate(covers)]
        forms = [counted(one) for (one,) in covers]
        for axis, form in zip(axes, forms, strict=True):
            if axis is None or form is None or (axis.low, axis.high) != (form.low, form.high):
                return None
        first = found.rest[0]
        made = [one for one in axes if one is not None]
        if [one.variable for one in made] != [one.variable for one in first.axes]:
            return None
        whole = replace(
            first,
            name=self._name("_".join(one.variable.name for one in made)),
            axes=tuple(made),
            body=(tree.If(loop.place, guard_of(found.at), first.body, ()),),
            nest=without_points(loop, found.at),
            waits=False,  # for none but those that the condition waits for
        )
        parts = self._side_by_side(list(kernels))
        return [HostIf(found.whole(made), (whole,), tuple(parts), found.element)]

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


def _is_of_one_thread(kernel: Kernel | Reduction) -> bool:
    """Return whether one thread executes a loop: it is a point of all axes, as a part of a loop."""
    is_point = all(only_value(axis) is not None for axis in kernel.axes)
    has_loops = any(isinstance(one, tree.Loop) for one in tree.walk(kernel.body))
    return bool(kernel.axes) and is_point and has_loops


def _hidden(block: Block, around: dict[str, tree.Symbol]) -> tree.Symbol | None:
    """Return a variable that would be taken for another one of its name, if `block` was printed.

    Trees have no blocks in blocks: `{ double t = 2 * u[i]; a[i] = t; } b[i] = t;` is one, in which
    the last `t` is another variable than the one that is declared there.
    """
    known, own = dict(around), set[str]()
    for statement in block:
        if isinstance(statement, tree.Declare):
            if statement.symbol.name in own:
                return statement.symbol
            own.add(statement.symbol.name)
            known[statement.symbol.name] = statement.symbol
        inner: list[Block] = []
        outer: list[object] = [statement]
        if isinstance(statement, tree.If):
            inner, outer = [statement.then, statement.otherwise], [statement.condition]
        elif isinstance(statement, tree.Loop):
            test = (
                () if statement.test is None else (tree.Evaluate(statement.place, statement.test),)
            )
            parts = (statement.before, test, statement.after, statement.body, statement.step)
            inner, outer = [(*statement.init, *(one for part in parts for one in part))], []
        for symbol in symbols_in(tuple(outer)):
            if known.setdefault(symbol.name, symbol) != symbol:
                return symbol
        for one in inner:
            if (found := _hidden(one, known)) is not None:
                return found
    return None


def _wide(value: Expression) -> Expression:
    """Return a size as a number of 64 bits: products of such do not overflow."""
    return value if value.type == _LONG else tree.Convert(_LONG, tree.NOWHERE, value)


def _product(sizes: Sequence[Expression | int]) -> Expression | int:
    total: Expression | int = 1
    for one in sizes:
        if isinstance(one, int) and isinstance(total, int):
            total *= one
            continue
        left = number(total, _LONG) if isinstance(total, int) else total
        right = number(one, _LONG) if isinstance(one, int) else _wide(one)
        is_one = isinstance(total, int) and total == 1
        total = right if is_one else tree.Binary(_LONG, tree.NOWHERE, "*", left, right)
    return total


def _joined(steps: list[Step]) -> list[Step]:
    """Return steps with those of one thread done by the reduction before or after them."""
    made: list[Step] = []
    for one in steps:
        last = made[-1] if made else None
        if (
            isinstance(one, Kernel)
            and not one.axes
            and isinstance(last, Reduction)
            and not _names_own(last, one.body)
        ):
            made[-1] = replace(last, after=(*last.after, *one.body))
            continue
        if isinstance(one, Reduction) and isinstance(last, Kernel) and not last.axes:
            touched = arrays_in(last.body, written=True)
            used = arrays_in(one.body, written=False) | symbols_in(one.body)
            is_apart = not (touched | assigned_in(last.body)) & used
            if is_apart and not _names_own(one, last.body):
                made[-1] = replace(one, before=last.body)
                continue
        made.append(one)
    return made


def _names_own(reduction: Reduction, block: Block) -> bool:
    """Return whether statements use a variable of which the threads of a reduction have copies."""
    own = {one for axis in reduction.axes for one in (axis.variable, *axis.aliases)}
    own |= {reduction.accumulator, *reduction.private}
    return bool(symbols_in(block) & own)

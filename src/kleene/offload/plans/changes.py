"""A loop in another form that has more axes: distributed, split, or by fronts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from kleene.base.expression import Expression as Size
from kleene.base.expression import Symbol as Symbol_
from kleene.codegen.plan import (
    HostLoop,
    Kernel,
    Step,
)
from kleene.codegen.text import (
    arrays_in,
    assigned_in,
    symbols_in,
)
from kleene.codegen.trees import (
    binary,
    choose,
    counted,
    first_use,
    is_live,
    number,
    places_in,
    read,
    reads,
    substituted,
    with_bounds,
)
from kleene.ir.loops import tree
from kleene.ir.loops.tables import LoopRow
from kleene.ir.loops.tree import Block, Element, Expression, Variable
from kleene.offload.plans.axes import Range, value_of
from kleene.offload.plans.launches import Launches
from kleene.offload.plans.nests import Following, loops_directly_in


class Changes(Launches):
    """Changes of the loops of a function."""

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

    def _separated(
        self, loop: tree.Loop, row: LoopRow, following: Following, n_axes: int
    ) -> list[tuple[tree.Loop, Following]] | None:
        """Return a nest as two with more axes each: one statement deep inside, and all others.

            for (i...) for (j...) {                  symm: c[k][j] gets something in iterations
              for (k < i) {                          i > k, and is scaled in iteration i = k: so
                c[k][j] += b[i][j] * a[i][k];        all c[i][j] = ... come first, and then all
                upper += b[k][j] * a[i][k]; }        c[k][j] += ..., threads of which are j and k
              c[i][j] = beta * c[i][j] + upper; }

        The statement may come after all others, if it never touches an element before another one
        does, one of the two writing it; or before all others, the other way round. It reads no
        variable that the nest assigns but counters, and so do the loops around it.
        """
        if not row.is_straight:
            return None
        accesses = [one for one in self._accesses(row, loop) if one.path != ()]
        known = self._all_places[row.place]
        if any(one.root.kind == "unknown" or one.place not in known for one in accesses):
            return None  # of a function that is called, or of any element
        for statement in _deep_statements(loop):
            own_loops = _around_statement(loop, statement)
            counters = {form.variable for one in own_loops if (form := counted(one)) is not None}
            heads = tuple(e for one in own_loops for e in (*one.init, one.test, *one.step))
            named = symbols_in((statement, *heads)) - counters
            if len(counters) < len(own_loops) or named & assigned_in(loop):
                continue
            alone, rest = _only(loop, statement), _without(loop, statement)
            if min(len(self._axes(one, row, following)) for one in (alone, rest)) <= n_axes:
                continue
            places = places_in(statement)
            moved = [one for one in accesses if one.place in places]
            others = [one for one in accesses if one.place not in places]
            pairs = [
                (first, second)
                for first, second in product(moved, others)
                if first.root is second.root and (first.is_write or second.is_write)
            ]
            if any(one.root.kind == "unknown" for one in accesses):
                return None
            for parts, ordered in (
                ((rest, alone), pairs),
                ((alone, rest), [(second, first) for first, second in pairs]),
            ):
                never = partial(self._questions.is_never, relation="", is_one=False)
                if all(never(*each, row, None) for each in ordered):
                    first, last = parts
                    return [(first, (((last,), False), *following)), (last, following)]
        return None

    def _can_distribute(self, blocks: list[Block], row: LoopRow, is_axis: bool) -> bool:
        for position, block in enumerate(blocks):
            inner = {
                form.variable
                for one in tree.walk(block)
                if isinstance(one, tree.Loop) and (form := counted(one)) is not None
            }
            own = assigned_in(block)
            own |= {one.symbol for one in tree.walk(block) if isinstance(one, tree.Declare)}
            others = [one for n, one in enumerate(blocks) if n != position]
            if any(reads(other, symbol) for other in others for symbol in own - inner):
                return False  # a scalar of one iteration is used in two parts
            if any(first_use(other, symbol) == "read" for other in others for symbol in inner):
                return False  # likewise the last value of a counter
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

    def _split(
        self, loop: tree.Loop, row: LoopRow, points: Sequence[Size]
    ) -> list[tuple[tree.Loop, Range]] | None:
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
        # The points may come in any order, for sizes for which some parts have no iterations: the
        # part before a point begins at the greatest of those before it. So every iteration is in
        # one part, the first whose point it is below, and parts follow each other as iterations do.
        made: list[tuple[tree.Loop, Range]] = []
        first, lows = form.low, tuple[Size, ...]()
        for at, point in cuts:
            part = with_bounds(loop, form.variable, first, choose("<", form.high, at))
            made.append((part, (lows, point)))
            first, lows = choose(">", first, at), (*lows, point)
        made.append((with_bounds(loop, form.variable, first, form.high), (lows, None)))
        return made

    @property
    def _ranges(self) -> dict[int, Range]:
        return self._questions.ranges

    def _tree(self, value: Size, kind: tree.Type) -> Expression | None:
        """Return a sum of variables of the function as an expression: what is added comes first.

        A number comes last of these, where `binary` adds others to it: k + 1, and not 1 + k.
        """
        changed = assigned_in(self._function.body)
        known = [one for one in self._function.parameters if one not in changed]
        by_name = {one.name: one for one in (*known, *self._host_variables)}
        total: Expression | None = None
        for monomial, factor in sorted(
            value.terms.items(), key=lambda one: (one[1] < 0, one[0] == ())
        ):
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

    def _skewed(
        self, loop: tree.Loop, row: LoopRow, factor: int, following: Following
    ) -> list[Step] | None:
        """Return a loop of the host over fronts f*(iteration) + (inner iteration)."""
        (inner,) = list(loops_directly_in(loop.body)) or (None,)
        if not isinstance(inner, tree.Loop) or inner not in loop.body:
            return None
        deeper = self._verdicts.get(inner.place)
        if deeper is not None and any(one.kind == "skewing" for one in deeper.transformations):
            return None  # fronts of the loops inside have more threads
        outer_form, inner_form = counted(loop), counted(inner)
        axis = self._axis((loop,), [], loop)
        if axis is None or outer_form is None or inner_form is None or len(loop.body) != 1:
            return None
        box = self._box(inner_form, inner, [(loop,)], loop)
        if box is None or outer_form.step != 1 or inner_form.step != 1:
            return None
        kind = axis.variable.type
        if not kind.signed:
            return None  # differences of bounds wrap where a loop has no iterations
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
            tree.If(inner.place, test, self._with_reductions(inner.body), ()),
        )
        private = self._private(loop, [(inner,)], following) | {own}
        declared = {one.symbol for one in tree.walk(body) if isinstance(one, tree.Declare)}
        # Iterations of a front have copies of local arrays, too: skewing is proved with these.
        arrays = {one for one in arrays_in(body, written=True) if one.storage == "local"}
        stray = (assigned_in(body) | arrays) - declared - {axis.variable}
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


def _deep_statements(loop: tree.Loop) -> list[tree.Assign]:
    """Return the assignments to elements in loops inside of a loop, which hang on no condition."""
    found: list[tree.Assign] = []
    for one in loop.body:
        if isinstance(one, tree.Loop):
            assigns = [each for each in one.body if isinstance(each, tree.Assign)]
            found += [each for each in assigns if isinstance(each.target, Element)]
            found += _deep_statements(one)
    return found


def _around_statement(loop: tree.Loop, statement: tree.Assign) -> list[tree.Loop]:
    """Return the loops of a nest that a statement is in."""
    listed = [one for one in tree.walk(loop) if isinstance(one, tree.Loop)]
    return [one for one in listed if any(each is statement for each in tree.walk(one.body))]


def _without(loop: tree.Loop, statement: tree.Assign) -> tree.Loop:
    """Return a nest without a statement, and without loops that would be empty."""
    body: list[tree.Statement] = []
    for one in loop.body:
        if isinstance(one, tree.Loop):
            inner = _without(one, statement)
            body += [inner] if inner.body else []
        elif one is not statement:
            body.append(one)
    return replace(loop, body=tuple(body))


def _only(loop: tree.Loop, statement: tree.Assign) -> tree.Loop:
    """Return a nest with nothing but a statement."""
    body: list[tree.Statement] = []
    for one in loop.body:
        if one is statement:
            body.append(one)
        elif isinstance(one, tree.Loop):
            inner = _only(one, statement)
            body += [inner] if inner.body else []
    return replace(loop, body=tuple(body))

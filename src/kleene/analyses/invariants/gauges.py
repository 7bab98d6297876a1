"""Templates from what iterations of loops add: x grows by l to u while a counter grows by c.

Venet, "The gauge domain: scalable analysis of linear inequality invariants", 2012. Where each
iteration of a loop adds c to a counter i, and between l and u to x, then c*x - u*i does not grow,
and c*x - l*i does not shrink. These forms become templates, which octagons bound like any other
variable; so a guess here that is wrong costs time, and no more. For a loop inside another, whose
counter j moves in a range of r, the outer loop's iterations add up to m = r*u/c to x: x - m*i, and
x - m*i - u*j in the inner loop.

What one iteration adds is found by a pass over the loop's blocks, in an order in which all but the
edges back lead onwards: bounds of what was added on any way to a block. What one edge adds is
worth templates of its own: of what is counted under a condition, as in `if (v > 0) s += v, n++;`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kleene.analyses.invariants.compile import Step
from kleene.analyses.invariants.expressions import Form
from kleene.analyses.invariants.numbers import Numbers
from kleene.analyses.invariants.octagon_packs import Range
from kleene.analyses.invariants.operations import Assign, Choose, Havoc, Operation, Wrap
from kleene.analyses.invariants.solve import Run
from kleene.analyses.invariants.transfer import assume

_LARGEST = 1 << 20  # what an iteration may add, to be worth a template
_Added = dict[int, Range | None]  # to each variable that changes; None where it is set otherwise
_NOTHING: Range = (0, 0)


def gauges(run: Run) -> Iterator[Form]:
    """Yield forms that the loops of a function keep within bounds, by what each iteration adds."""
    loops = run.code.loops
    iterations = {head: _Iterations(run, blocks, loops) for head, blocks in loops.items()}
    added = {head: one.added(head) for head, one in iterations.items()}
    for head, found in added.items():
        yield from _of_loop(found)
        for edge in iterations[head].edges:
            yield from _of_loop(edge)
        for inner in loops[head]:
            if inner != head and inner in loops:
                yield from _of_nest(run, found, added[inner], inner)


def _of_loop(added: _Added) -> Iterator[Form]:
    """Yield the templates of what is added in one iteration, or by one edge of it."""
    counters = _counters(added)
    for x, ends in added.items():
        if ends is None or ends[0] == ends[1]:
            continue
        for counter, step in counters[:1]:
            for end in ends:
                yield from _template(x, step, counter, end)


def _of_nest(run: Run, outer: _Added, inner: _Added, head: int) -> Iterator[Form]:
    """Yield the templates of what an inner loop adds, in terms of both loops' counters."""
    counters = [(key, step) for key, step in _counters(outer) if key not in inner]
    for x, ends in inner.items():
        if ends is None or x not in outer or outer[x] is not None:
            continue
        for j, step in [one for one in _counters(inner) if one[0] != x][:1]:
            if not counters:
                continue
            span = _span(run, head, j)
            i, outer_step = counters[0]
            for end in {*ends} - {0}:
                each_round = span // abs(step) * end
                if outer_step == abs(step) == 1 and 0 < abs(each_round) < _LARGEST:
                    yield Form.of({x: 1, i: -each_round})
                    yield Form.of({x: 1, i: -each_round, j: -end * step})


def _counters(added: _Added) -> list[tuple[int, int]]:
    """Return the variables to which every iteration adds the same number, and that."""
    return [
        (key, ends[0])
        for key, ends in added.items()
        if ends is not None and ends[0] == ends[1] and 0 < abs(ends[0]) < _LARGEST
    ]


def _template(x: int, step: int, counter: int, end: int) -> Iterator[Form]:
    """Yield step*x - end*counter, if octagons do not hold it and it is not absurdly steep."""
    if 0 < abs(end) < _LARGEST and abs(end) != abs(step):
        made = Form.of({x: step, counter: -end})
        yield Form(tuple((key, factor // made.divisor) for key, factor in made.terms))


def _span(run: Run, block: int, key: int) -> int:
    """Return the greatest value of a variable at a block, less its least."""
    ranges = [numbers.range(key) for numbers in run.values[block]]
    if not ranges:
        return 0
    return max(high for _, high in ranges) - min(low for low, _ in ranges)


class _Iterations:
    """What an iteration of a loop adds to variables, from its first block to each other one."""

    def __init__(
        self, run: Run, blocks: tuple[int, ...], loops: dict[int, tuple[int, ...]]
    ) -> None:
        self._run, self._blocks, self._inside = run, blocks, set(blocks)
        self._place = {block: place for place, block in enumerate(blocks)}
        self._inner = {head for head in blocks[1:] if head in loops}
        self._loops = loops
        self.edges: list[_Added] = []
        self._steps: dict[int, list[Step]] = {block: [] for block in blocks}
        for step in run.code.steps:
            if step.source in self._inside and step.target in self._inside:
                self._steps[step.source].append(step)

    def added(self, head: int) -> _Added:
        """Return what a whole iteration adds to what it changes."""
        total: dict[int, _Added] = {head: {}}
        back: _Added | None = None
        for block in self._blocks:
            if block not in total:
                continue
            here = dict(total[block])
            if block in self._inner:
                here |= dict.fromkeys(self._changed(self._loops[block]), None)
            for key, ends in self._of_block(block):
                here[key] = _sum(here.get(key, _NOTHING), ends)
            for step in self._steps[block]:
                after = dict(here)
                found = dict(self._of_step(step))
                self.edges.append(found)
                for key, ends in found.items():
                    after[key] = _sum(after.get(key, _NOTHING), ends)
                if step.target == head:
                    back = after if back is None else _hull(back, after)
                elif self._place[step.target] > self._place[block]:
                    known = total.get(step.target)
                    total[step.target] = after if known is None else _hull(known, after)
        return back or {}

    def _changed(self, blocks: tuple[int, ...]) -> set[int]:
        """Return the variables that some blocks, or edges between them, change."""
        code, inside = self._run.code, set(blocks)
        found = {key for block in blocks for one in code.operations[block] for key in _set_by(one)}
        for step in code.steps:
            if step.source in inside and step.target in inside:
                found.update(key for key, _ in (*step.assignments, *step.flags))
                found.update(step.anything)
        return found

    def _of_block(self, block: int) -> Iterator[tuple[int, Range | None]]:
        """Yield what the operations of a block add to variables, one after the other."""
        states = [one.copy() for one in self._run.values[block]]
        for operation in self._run.code.operations[block]:
            for key in _set_by(operation):
                yield key, _increment(operation, key, states)
            states = [operation.apply(one, None) for one in states]
            states = [one for one in states if not one.is_empty]

    def _of_step(self, step: Step) -> Iterator[tuple[int, Range | None]]:
        """Yield what an edge adds to the variables it sets."""
        for key in (*step.anything, *(key for key, _ in step.flags)):
            yield key, None
        if not step.assignments:
            return
        states = []
        if any(_rest(form, key).terms for key, form in step.assignments):
            states = list(self._run.after(step.source, self._run.values[step.source]))
            if step.condition is not None:
                states = [assume(one.copy(), step.condition) for one in states]
        for key, form in step.assignments:
            yield key, _of_form(form, key, states)


def _set_by(operation: Operation) -> tuple[int, ...]:
    if isinstance(operation, Havoc):
        return operation.variables
    return () if operation.sets is None else (operation.sets,)


def _increment(operation: Operation, key: int, states: list[Numbers]) -> Range | None:
    """Return what an operation adds to a variable; None if it sets it to something else."""
    if isinstance(operation, Assign | Wrap):
        return _of_form(operation.form, key, states)
    if isinstance(operation, Choose):
        one, other = (_of_form(form, key, states) for form in (operation.left, operation.right))
        return None if one is None or other is None else _around(one, other)
    return None


def _of_form(form: Form, key: int, states: list[Numbers]) -> Range | None:
    """Return what is added by setting a variable to a form; None if it is set to something else."""
    rest = _rest(form, key)
    return None if key in rest.keys else _bounds(states, rest)


def _rest(form: Form, key: int) -> Form:
    return form.plus(Form(((key, 1),)), -1)


def _bounds(states: list[Numbers], form: Form) -> Range:
    """Return the least and the greatest value of a form in some states."""
    if not form.terms or not states:
        return form.constant, form.constant
    found = [one.bounds(form) for one in states]
    return min(low for low, _ in found), max(high for _, high in found)


def _sum(one: Range | None, other: Range | None) -> Range | None:
    return None if one is None or other is None else (one[0] + other[0], one[1] + other[1])


def _around(one: Range, other: Range) -> Range:
    return min(one[0], other[0]), max(one[1], other[1])


def _hull(one: _Added, other: _Added) -> _Added:
    """Return what is added on one of two ways."""
    made: _Added = {}
    for key in one.keys() | other.keys():
        a, b = one.get(key, _NOTHING), other.get(key, _NOTHING)
        made[key] = None if a is None or b is None else _around(a, b)
    return made

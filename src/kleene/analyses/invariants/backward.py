"""Backward from a check that may fail: does any path lead to a failure, and what was lost there?

A path is walked from the failure to the entry with what must hold for the rest of it to be taken: a
conjunction of conditions, over the values that variables have where the walk stands. An assignment
is substituted, a test is added, and what an operation makes of unknown things is dropped, so the
conjunction holds of every run that takes the path. If it contradicts what forward analysis found at
a block, no run does.

Around a loop, with head h and body B: a run that comes to h for the last time with R

    has come in with R, if it iterates no more;
    or has iterated: then some way ends with R at h, from h or from where B was come in to; and
    when it came in, the conditions of R held that have no variable which B changes.

Bourdoncle's weak topological order gives heads, so that every cycle has one and walks end. A jump
into a loop comes in to B at another block than h.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from time import perf_counter

from kleene.analyses.invariants.checks import NOTHING_KNOWN
from kleene.analyses.invariants.compile import Step
from kleene.analyses.invariants.expressions import (
    Always,
    Both,
    Condition,
    Form,
    Same,
    Unknown,
    keys_of,
    negation,
    replaced,
)
from kleene.analyses.invariants.numbers import Numbers
from kleene.analyses.invariants.operations import (
    Assign,
    Check,
    Choose,
    Guard,
    Havoc,
    Operation,
    Wrap,
)
from kleene.analyses.invariants.solve import Run
from kleene.analyses.invariants.transfer import always, assume
from kleene.graphs import weak_topological_order

_MOST_STEPS = 600  # edges of one walk; then the check is left as it is
_ASSIGNED = "the value assigned here may violate it"
_MOST_CASES = 8  # of one block
_SIGNS = {
    "mul": "*", "and": "&", "or": "|", "xor": "^", "shl": "<<", "lshr": ">>", "ashr": ">>",
    "udiv": "/", "sdiv": "/", "urem": "%", "srem": "%", "add": "+", "sub": "-",
}  # fmt: skip

Conditions = tuple[Condition, ...]  # each once; all hold


class _GiveUpError(Exception):
    """There are too many paths, or there is no time."""


class Backward:
    """Walks backward over what one run of the analysis found."""

    def __init__(self, run: Run, deadline_s: float) -> None:
        self._run, self._deadline_s = run, deadline_s
        self._into: dict[int, list[Step]] = {}
        for step in run.code.steps:
            self._into.setdefault(step.target, []).append(step)
        order = weak_topological_order(run.graph)
        nodes = order.order.tolist()
        self._loops = {
            node: frozenset(nodes[place:end])
            for place, (node, end) in enumerate(zip(nodes, order.end.tolist(), strict=True))
            if end > place and (end > place + 1 or node in run.graph.successors(node).tolist())
        }
        self._changed = {head: self._changes(inside) for head, inside in self._loops.items()}
        self._entries = {
            head: [
                one for one in run.code.steps if one.target in inside and one.source not in inside
            ]
            for head, inside in self._loops.items()
        }
        self._between: dict[int, list[list[Numbers]]] = {}
        self._steps_left = _MOST_STEPS

    def _changes(self, inside: frozenset[int]) -> frozenset[int]:
        """Return the variables that the blocks and edges of a loop change."""
        found: set[int] = set()
        for block in inside:
            for one in self._run.code.operations[block]:
                found.update(one.variables if isinstance(one, Havoc) else ())
                if one.sets is not None:
                    found.add(one.sets)
        for step in self._run.code.steps:
            if step.source in inside and step.target in inside:
                found.update(key for key, _ in (*step.assignments, *step.flags))
                found.update(step.anything)
        return frozenset(found)

    def may_fail(self, check: int) -> bool:
        """Return whether some path leads to a failure of a check, as far as is known."""
        if perf_counter() > self._deadline_s:
            return True
        self._steps_left = _MOST_STEPS
        self._known: dict[tuple[int, int, Conditions], bool] = {}
        try:
            return any(
                self._fails_at(block, place, one) for block, place, one in self.places(check)
            )
        except (_GiveUpError, RecursionError):
            return True

    def places(self, check: int) -> Iterator[tuple[int, int, Check]]:
        """Yield where a check stands: a block, a position, the operation."""
        for block, operations in enumerate(self._run.code.operations):
            if self._run.values[block].is_bottom():
                continue
            for place, one in enumerate(operations):
                if isinstance(one, Check) and one.check == check:
                    yield block, place, one

    def _fails_at(self, block: int, place: int, check: Check) -> bool:
        goal = _with((), _parts(negation(check.condition)))
        if not self._is_possible(self._states(block)[place], goal):
            return False
        before = self._before(block, goal, place)
        return any(self._is_reached(block, one, -1) for one in before)

    # States

    def _states(self, block: int) -> list[list[Numbers]]:
        """Return what holds before each operation of a block, and at its end."""
        if block not in self._between:
            operations = self._run.code.operations[block]
            found: list[list[Numbers]] = [[] for _ in range(len(operations) + 1)]
            for numbers in self._run.values[block]:
                made = numbers.copy()
                found[0].append(numbers)
                for place, operation in enumerate(operations, 1):
                    made = operation.apply(made.copy(), None)
                    if made.is_empty:
                        break
                    found[place].append(made)
            self._between[block] = found
        return self._between[block]

    def _is_possible(self, states: Iterable[Numbers], conditions: Conditions) -> bool:
        for numbers in states:
            made = numbers.copy()
            for condition in (*conditions, *conditions):  # the second time with what others say
                made = assume(made, condition)
                if made.is_empty:
                    break
            else:
                return True
        return False

    # Paths

    def _is_reached(self, block: int, conditions: Conditions, stop: int) -> bool:
        """Return whether a run may come from the entry, or from `stop`, to a block so."""
        if not self._is_possible(self._run.values[block], conditions):
            return False
        if block in (0, stop):
            return True
        key = (block, stop, conditions)
        if key not in self._known:
            self._known[key] = True  # met again on this path: nothing is excluded
            self._known[key] = self._is_reached_by_an_edge(block, conditions, stop)
        return self._known[key]

    def _is_reached_by_an_edge(self, block: int, conditions: Conditions, stop: int) -> bool:
        steps = self._into.get(block, [])
        inside = self._loops.get(block, frozenset())
        entries = [one for one in steps if one.source not in inside]
        back_edges = [one for one in steps if one.source in inside]
        if any(self._comes_along(one, conditions, stop) for one in entries):
            return True
        if not any(self._comes_along(one, conditions, block) for one in back_edges):
            return False
        kept = _without(conditions, self._changed[block])
        return self._is_possible(self._run.values[block], kept) and any(
            self._comes_along(one, kept, stop) for one in self._entries[block]
        )

    def _comes_along(self, step: Step, conditions: Conditions, stop: int) -> bool:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise _GiveUpError
        source = step.source
        states = self._states(source)[-1]
        for before in _before_step(step, conditions):
            if not self._is_possible(states, before):
                continue
            for one in self._before(source, before, len(self._run.code.operations[source])):
                if self._is_reached(source, one, stop):
                    return True
        return False

    def _before(self, block: int, conditions: Conditions, place: int) -> list[Conditions]:
        """Return what must hold where a block begins, for each of several cases."""
        cases = [conditions]
        states = self._states(block)
        for position in reversed(range(place)):
            if perf_counter() > self._deadline_s:
                raise _GiveUpError
            operation = self._run.code.operations[block][position]
            found = dict.fromkeys(
                made for one in cases for made in before_operation(operation, one, states[position])
            )
            cases = [one for one in found if self._is_possible(states[position], one)]
            if len(cases) > _MOST_CASES:
                raise _GiveUpError
        return cases


def _parts(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, (Both, Same)):
        yield from _parts(condition.left)
        yield from _parts(condition.right)
    elif not isinstance(condition, Unknown) and condition != Always(True):
        yield condition


def _without(conditions: Conditions, keys: Iterable[int]) -> Conditions:
    """Drop what is said of variables whose values before are not known from those after."""
    gone = frozenset(keys)
    return tuple(one for one in conditions if not gone.intersection(keys_of(one)))


def _with(conditions: Conditions, more: Iterable[Condition]) -> Conditions:
    return tuple(dict.fromkeys((*conditions, *more)))


def _replaced(conditions: Conditions, forms: dict[int, Form]) -> Conditions:
    return _with((), (part for one in conditions for part in _parts(replaced(one, forms.get))))


def before_operation(
    operation: Operation, conditions: Conditions, states: Iterable[Numbers]
) -> Iterator[Conditions]:
    """Yield what must hold before an operation for conditions to hold behind it, by cases."""
    if isinstance(operation, Guard) or (isinstance(operation, Check) and operation.is_stop):
        yield _with(conditions, _parts(operation.condition))
    elif isinstance(operation, Havoc):
        yield _without(conditions, operation.variables)
    elif operation.sets is None or not any(operation.sets in keys_of(one) for one in conditions):
        yield conditions
    elif isinstance(operation, Assign):
        yield _replaced(conditions, {operation.target: operation.form})
    elif isinstance(operation, Choose):
        for wanted, form in (
            (operation.condition, operation.left),
            (negation(operation.condition), operation.right),
        ):
            yield _with(_replaced(conditions, {operation.target: form}), _parts(wanted))
    elif isinstance(operation, Wrap) and (made := _unwrapped(operation, states)) is not None:
        yield _replaced(conditions, {operation.target: made})
    else:
        yield _without(conditions, (operation.sets,))


def _unwrapped(operation: Wrap, states: Iterable[Numbers]) -> Form | None:
    """Return the form that a variable is set to where all values wrap around equally often."""
    kind = operation.kind
    times: set[int] = set()
    for numbers in states:
        low, high = numbers.bounds(operation.form)
        times.update(((low - kind.low) >> kind.width, (high - kind.low) >> kind.width))
    return operation.form.shifted(-times.pop() << kind.width) if len(times) == 1 else None


def _before_step(step: Step, conditions: Conditions) -> Iterator[Conditions]:
    """Yield what must hold before an edge is taken; flags, which are 0 or 1, one case each."""
    conditions = _without(conditions, step.anything)
    used = [one for one in step.flags if any(one[0] in keys_of(c) for c in conditions)]
    for values in product((1, 0), repeat=min(len(used), 3)):
        forms: dict[int, Form] = {}
        extra: list[Condition] = [] if step.condition is None else [step.condition]
        for (flag, wanted), value in zip(used, values, strict=False):
            forms[flag] = Form((), value)
            extra.append(wanted if value else negation(wanted))
        left = _replaced(_without(conditions, (flag for flag, _ in used[3:])), forms)
        for key, form in reversed(step.assignments):
            left = _replaced(left, {key: form})
        yield _with(left, (part for one in extra for part in _parts(one)))


# What was lost


@dataclass(frozen=True, slots=True)
class Loss:
    """Where a constraint that a check needs is known no more.

    Attributes:
        needed: the constraint.
        reason: what happens there.
        block: where, in the code.
        position: the operation of the block; -1 where it begins.
    """

    needed: Condition
    reason: str
    block: int
    position: int


def first_loss(run: Run, check: int) -> Loss | None:
    """Return where the first constraint was lost that would prove a check.

    The walk goes backward with what is needed, as long as it is not known: through assignments, and
    along an edge behind which it is not known. Where every edge brings it and the block does not
    have it, it was lost in joining or widening; where the walk comes to an operation that makes any
    value, or round a loop, it never was there.
    """
    walk = Backward(run, float("inf"))
    for block, place, condition in _needed(walk, run, check):
        for part in _parts(condition):
            states = walk._states(block)[place]
            if any(True for _ in keys_of(part)) and not all(always(one, part) for one in states):
                return _Search(walk, run).back(block, place, part)
    return None


def _needed(walk: Backward, run: Run, check: int) -> Iterator[tuple[int, int, Condition]]:
    """Yield what is needed, and where; for a report of an error, that it is not gone to."""
    for block, place, one in walk.places(check):
        if one.condition != Always(False):
            yield block, place, one.condition
            continue
        for step in walk._into.get(block, []):
            if step.condition is not None:
                yield step.source, len(run.code.operations[step.source]), negation(step.condition)


class _Search:
    def __init__(self, walk: Backward, run: Run) -> None:
        self._walk, self._run = walk, run
        self._seen: set[int] = set()

    def back(self, block: int, place: int, needed: Condition) -> Loss:
        """Go back from an operation of a block."""
        states = self._walk._states(block)
        for position in reversed(range(place)):
            operation = self._run.code.operations[block][position]
            cases = list(before_operation(operation, (needed,), states[position]))
            found = [one for one in cases[0] if not _is_test(operation, one)] if cases else []
            if len(cases) != 1 or len(found) != 1:
                is_given = self._run.code.origins[block][position][1] < 0
                reason = NOTHING_KNOWN if is_given else _made_by(operation)
                return Loss(needed, reason, 0 if is_given else block, -1 if is_given else position)
            if not any(True for _ in keys_of(found[0])):
                return Loss(needed, _ASSIGNED, block, position)
            needed = found[0]
        return self._into(block, needed)

    def _into(self, block: int, needed: Condition) -> Loss:
        """Go on along an edge behind which the constraint is not known."""
        if block == 0:
            return Loss(needed, NOTHING_KNOWN, 0, -1)
        is_head = block in self._walk._loops
        if block in self._seen:
            return Loss(needed, "an iteration of the loop may not preserve it", block, -1)
        self._seen.add(block)
        for step in self._walk._into.get(block, []):
            made = [
                one for state in self._walk._states(step.source)[-1]
                for one in self._run._step(step, state)
            ]  # fmt: skip
            if all(always(one, needed) for one in made):
                continue
            cases = list(_before_step(step, (needed,)))
            tests = set(_parts(step.condition)) if step.condition is not None else set()
            found = [one for one in cases[0] if one not in tests] if cases else []
            if len(cases) != 1 or len(found) != 1:
                return Loss(needed, "paths with different values join here", block, -1)
            place = len(self._run.code.operations[step.source])
            if not any(True for _ in keys_of(found[0])):
                return Loss(needed, _ASSIGNED, step.source, place - 1)
            return self.back(step.source, place, found[0])
        reason = "widening of the loop drops it" if is_head else "paths join here"
        return Loss(needed, reason, block, -1)


def _is_test(operation: Operation, condition: Condition) -> bool:
    """Return whether a condition is the one that an operation tests itself."""
    is_guard = isinstance(operation, (Guard, Check))
    return is_guard and condition in set(_parts(getattr(operation, "condition", Unknown())))


def _made_by(operation: Operation) -> str:
    if isinstance(operation, Havoc):
        return "code that is not followed may write to it here"
    if isinstance(operation, Wrap):
        return "it may wrap around here"
    if isinstance(operation, Choose):
        return "one of two values is chosen here"
    word = getattr(operation, "operation", "")
    word = _SIGNS.get(word, word)
    return (
        f"only bounds are known of the result of '{word}'" if word else "it may get any value here"
    )


__all__ = ["Backward", "Loss", "first_loss"]

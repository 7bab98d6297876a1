"""The fixed point of a function's code, and the verdicts on its checks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from time import perf_counter

from kleene.analyses.invariants.checks import Verdict
from kleene.analyses.invariants.compile import Code, Step
from kleene.analyses.invariants.expressions import Always, Condition, negation
from kleene.analyses.invariants.layout import Layout
from kleene.analyses.invariants.numbers import Numbers
from kleene.analyses.invariants.operations import Check
from kleene.analyses.invariants.partition import BOTTOM, MOST_STATES, Flags, Partitioned
from kleene.analyses.invariants.transfer import always, assume, forget, set_all, set_range
from kleene.graphs import Graph
from kleene.solvers.fixpoint import Forward, Strategy, solve


class OutOfTimeError(Exception):
    """The time given for one function is over."""


class TooLongError(Exception):
    """More would be executed than is allowed for."""


@dataclass
class Plan:
    """How to run the code of a function.

    Attributes:
        layout: which domains follow which variables.
        flags: the variables that states are kept apart by, for each block.
        thresholds: numbers at which widening stops.
        delay: how often a loop's value grows before it is widened.
        marks: variables of the analysis' own that an edge, source and target, sets to a number.
        splits: variables of the analysis' own that are 1 behind an edge where a condition holds,
            and 0 where it does not.
        iterations: variables of the analysis' own that an edge back to a loop's head adds 1 to, and
            the number at which they stay.
        most_states: how many states are kept apart at a block, at most.
    """

    layout: Layout
    flags: list[tuple[int, ...]]
    thresholds: tuple[int, ...] = ()
    delay: int = 2
    narrowing: int = 2
    marks: dict[tuple[int, int], list[tuple[int, int]]] = field(default_factory=dict)
    splits: dict[tuple[int, int], list[tuple[int, Condition]]] = field(default_factory=dict)
    iterations: dict[tuple[int, int], list[tuple[int, int]]] = field(default_factory=dict)
    most_states: int = MOST_STATES


class Run:
    """What holds before each block of a function."""

    def __init__(
        self, code: Code, plan: Plan, deadline_s: float = inf, most_executed: int | None = None
    ) -> None:
        self.code, self.plan, self._deadline_s = code, plan, deadline_s
        self._most_executed = most_executed
        pairs: dict[tuple[int, int], list[Step]] = defaultdict(list)
        for step in code.steps:
            pairs[step.source, step.target].append(step)
        edges = sorted(pairs)
        n_blocks = len(code.operations)
        self.graph = Graph.from_edges(n_blocks, [e[0] for e in edges], [e[1] for e in edges])
        sources, targets = self.graph.edges()
        ends = zip(sources.tolist(), targets.tolist(), strict=True)
        self._steps = [pairs[pair] for pair in ends]
        self.n_executed = 0  # blocks and operations, until all was stable
        first = Partitioned({(): Numbers(plan.layout)}, plan.most_states)
        strategy = Strategy(plan.delay, plan.thresholds, plan.narrowing)
        solution = solve(Forward(self.graph, self, {0: first}, BOTTOM), strategy)
        self.values: list[Partitioned] = list(solution.values)
        self.n_evaluations = solution.n_evaluations
        self._most_executed = None  # what is asked of the solution goes on

    # The flow of values, for the equations

    def after(self, node: int, before: Partitioned) -> Partitioned:
        """Return what holds at the end of a block."""
        if perf_counter() > self._deadline_s:
            raise OutOfTimeError
        if self._most_executed is not None and self.n_executed > self._most_executed:
            raise TooLongError
        found: dict[Flags | None, Numbers] = {}
        for place, numbers in enumerate(before):
            made = numbers.copy()
            self.n_executed += 1 + len(self.code.operations[node])
            for operation in self.code.operations[node]:
                made = operation.apply(made, None)
                if made.is_empty:
                    break
            else:
                found[(place,)] = made
        return Partitioned(found, self.plan.most_states)

    def along(self, edge: int, after: Partitioned) -> Partitioned:
        """Return what holds behind an edge."""
        steps = self._steps[edge]
        found = [made for step in steps for numbers in after for made in self._step(step, numbers)]
        return Partitioned.of(found, self.plan.flags[steps[0].target], self.plan.most_states)

    def _step(self, step: Step, numbers: Numbers) -> Iterator[Numbers]:
        made = numbers.copy()
        if step.condition is not None:
            made = assume(made, step.condition)
        if made.is_empty:
            return
        kept = self.plan.flags[step.target]
        states: list[tuple[Numbers, list[tuple[int, int, int]]]] = [(made, [])]
        for flag, condition in step.flags:
            states = list(self._split(states, flag, condition, flag in kept))
        for state, values in states:
            if step.assignments:
                set_all(state, step.assignments)
            for flag, low, high in values:
                set_range(state, flag, (low, high))
            for key in step.anything:
                kind = state.layout.kinds[key]
                set_range(state, key, (kind.low, kind.high))
            if state.is_empty:
                continue
            for mark, number in self.plan.marks.get((step.source, step.target), ()):
                set_range(state, mark, (number, number))
            for mark, most in self.plan.iterations.get((step.source, step.target), ()):
                low, high = (min(one + 1, most) for one in state.range(mark))
                set_range(state, mark, (low, high))
            if step.dead:
                forget(state, list(step.dead))
            if not state.is_empty:
                yield from self._apart(step, state)

    def _apart(self, step: Step, state: Numbers) -> Iterator[Numbers]:
        """Yield a state once for each way that the conditions of an edge's splits may be."""
        states = [state]
        for mark, condition in self.plan.splits.get((step.source, step.target), ()):
            found = []
            for one in states:
                for value, wanted in ((1, condition), (0, negation(condition))):
                    made = assume(one.copy(), wanted)
                    if not made.is_empty:
                        set_range(made, mark, (value, value))
                        found.append(made)
            states = found
        yield from states

    def _split(
        self,
        states: list[tuple[Numbers, list[tuple[int, int, int]]]],
        flag: int,
        condition: Condition,
        is_kept: bool,
    ) -> Iterator[tuple[Numbers, list[tuple[int, int, int]]]]:
        """Yield states with the value of a flag: one each where it is kept apart by it."""
        for state, values in states:
            holds = assume(state.copy(), condition)
            fails = assume(state.copy(), negation(condition))
            if is_kept or holds.is_empty or fails.is_empty:
                if not holds.is_empty:
                    yield holds, [*values, (flag, 1, 1)]
                if not fails.is_empty:
                    yield fails, [*values, (flag, 0, 0)]
            else:
                yield state, [*values, (flag, 0, 1)]

    # Verdicts

    def verdicts(self) -> tuple[dict[int, Verdict], dict[int, Numbers]]:
        """Return the answer to each check, and what was known where one may fail."""
        found: dict[int, Verdict] = {}
        states: dict[int, Numbers] = {}

        def observe(check: int, numbers: Numbers, condition: Condition | None) -> None:
            assert condition is not None
            if always(numbers, condition):
                verdict = Verdict.SAFE
            elif assume(numbers.copy(), condition).is_empty:
                verdict = Verdict.FAILS
            else:
                verdict = Verdict.MAY_FAIL
            if verdict is not Verdict.SAFE:
                states.setdefault(check, numbers.copy())
            found[check] = worst(found.get(check), verdict)

        for block, value in enumerate(self.values):
            for numbers in value:
                made = numbers.copy()
                for operation in self.code.operations[block]:
                    made = operation.apply(made, observe)
                    if made.is_empty:
                        break
        reports: dict[int, Verdict] = {}
        for check, block in self._reports():
            reports[check] = worst(reports.get(check), self._reported(block))
        unreached = dict.fromkeys(range(len(self.code.sites)), Verdict.UNREACHABLE)
        return unreached | found | reports, states

    def _reports(self) -> Iterator[tuple[int, int]]:
        """Yield the checks that an error report is not reached, and the blocks that report it."""
        for block, operations in enumerate(self.code.operations):
            for one in operations:
                if isinstance(one, Check) and one.condition == Always(False):
                    yield one.check, block

    def _reported(self, block: int) -> Verdict:
        """Return the verdict on an assertion, of which the block reports that it does not hold."""
        tests = [one for one in self._tests(block) if not self.values[one].is_bottom()]
        if self.values[block].is_bottom():
            return Verdict.SAFE if tests else Verdict.UNREACHABLE
        sources, targets = self.graph.edges()
        for edge, (source, target) in enumerate(
            zip(sources.tolist(), targets.tolist(), strict=True)
        ):
            if source in tests and target not in tests and target != block:
                after = self.after(source, self.values[source])
                if not self.along(edge, after).is_bottom():
                    return Verdict.MAY_FAIL
        return Verdict.FAILS

    def _tests(self, report: int) -> set[int]:
        """Return the blocks that test an assertion, of which the given one reports the failure.

        These are the blocks before it, and those whose tests lead to these or past the assertion,
        as `a` of `a || b` does:

            a ──► past          a block joins where all its ways go to tests, to the report, or
            │      ▲            past the assertion, where ways of the tests go too
            ▼      │
            b ─────┘
            │
            ▼
            report
        """
        forwards, backwards = self.graph, self.graph.reverse()
        found = set(backwards.successors(report).tolist())
        while True:
            known = found.union([report], *(forwards.successors(one).tolist() for one in found))
            before = {one for test in found for one in backwards.successors(test).tolist()} - found
            more = {
                one
                for one in before
                if len(ways := forwards.successors(one)) > 1 and known.issuperset(ways.tolist())
            }
            if not more:
                return found
            found |= more


def worst(known: Verdict | None, verdict: Verdict) -> Verdict:
    """Return the verdict on a check that is reached in several ways."""
    if known is None or known is Verdict.UNREACHABLE or known is verdict:
        return verdict
    if verdict is Verdict.UNREACHABLE:
        return known
    return Verdict.MAY_FAIL  # safe on one way and not on another


__all__ = ["OutOfTimeError", "Plan", "Run", "TooLongError", "worst"]

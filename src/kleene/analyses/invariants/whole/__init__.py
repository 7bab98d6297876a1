"""Whole programs: facts on values, found for all functions at once, decide checks.

Where a program is too large to be interpreted function by function with callees inlined, values are
followed sparsely: a fact belongs to a name and not to a point, calls are joined over all callers,
memory is cells by points-to (`analyses.dataflow`). Nothing here grows with calls of calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.invariants.checks import CheckResult, Verdict
from kleene.analyses.invariants.command_line import MOST_ARGUMENTS, command_line
from kleene.analyses.invariants.library import calls_by_model, character_loads, has_others, streams
from kleene.analyses.invariants.whole.causes import Causes
from kleene.analyses.invariants.whole.packs import packs_of
from kleene.analyses.invariants.whole.places import PlaceFacts, state_of
from kleene.analyses.invariants.whole.pointers import Pointers, pointers_of
from kleene.analyses.invariants.whole.problem import TOO_LONG, Packs
from kleene.analyses.invariants.whole.second_look import SecondAnswer
from kleene.analyses.invariants.whole.sites import KINDS, MAY_FAIL, SAFE, Checker, Checks
from kleene.base import progress
from kleene.base.arrays import I64
from kleene.base.device import Device
from kleene.ir import Program
from kleene.ir.codes import Opcode, ValueKind
from kleene.ir.views.base import span_of
from kleene.kernels import octagon_flow
from kleene.solvers.dataflow import Constraints, Operator, ValueFact
from kleene.solvers.dataflow.codes import HAS_VALUE, STATE, STRIDE
from kleene.solvers.dataflow.values import packed

EVALUATIONS_A_SECOND = 300_000  # of nodes of packs, by one core: 380,000 measured on sqlite3
_VERDICTS = (Verdict.SAFE, Verdict.MAY_FAIL, Verdict.FAILS, Verdict.UNREACHABLE)


@dataclass(frozen=True, eq=False)
class WholeRun:
    """What holds in a whole program.

    Attributes:
        context: its values, calls and memory.
        pointers: where pointers point inside of objects.
        checks: with verdicts.
        proved_by: the domain that decided each check; empty where it may fail.
        given_up: what was not followed, by function.
    """

    context: Context
    pointers: Pointers
    checks: Checks
    proved_by: tuple[str, ...]
    given_up: dict[str, list[str]] = field(default_factory=dict)

    @cached_property
    def causes(self) -> Causes:
        """Why checks are open."""
        return Causes(self)

    @cached_property
    def places(self) -> PlaceFacts:
        """What holds at places of the source."""
        return PlaceFacts(self.context)

    def _lost(self, check: int, inside: str) -> str:
        """Return what a function has lost, and where that came from to it."""
        return "; ".join(one for one in (inside, self.causes.lost(check)) if one)

    def notes(self, function: str) -> list[str]:
        """Return what was not followed in a function, as sentences."""
        return self.given_up.get(function, [])

    def results(self, again: Mapping[int, SecondAnswer] | None = None) -> list[CheckResult]:
        """Return the checks one by one; those of a second look with its answers, by number."""
        program, checks = self.context.program, self.checks
        functions = program.instruction_function[checks.row].tolist()
        named: dict[int, str] = {}
        for function in set(functions):
            view = program.functions[function]
            named[function] = view.source_name or view.name
        place = program.instructions.span[checks.row]
        spans = {one: span_of(program, one) for one in np.unique(place).tolist()}
        columns = (checks.kind, checks.row, checks.message, checks.verdict, place)
        found = []
        rows = zip(*(column.tolist() for column in columns), self.proved_by, functions, strict=True)
        for number, (kind, row, message, verdict, at, by, function) in enumerate(rows):
            text, answer, about = checks.messages[message], _VERDICTS[verdict], KINDS[kind]
            state = ""
            loss: str | partial[str] = ""
            second = again.get(number) if again else None
            if second is not None:
                answer, by = second.verdict, second.by
                loss = partial(self._lost, number, second.lost)
            elif answer in (Verdict.MAY_FAIL, Verdict.FAILS):
                loss = partial(self.causes.lost, number)
            if answer in (Verdict.MAY_FAIL, Verdict.FAILS):
                state = state_of(self.context, self.pointers, about, row)
            if second is not None and second.state != "true":
                state = "; ".join(one for one in (state, second.state) if one)
            found.append(
                CheckResult(about, answer, spans[at], named[function], text, by, state, row, loss)
            )
        return found


def interpret(
    program: Program,
    *,
    domain: str = "interval",
    wraps: bool = False,
    time_s: float = 0.0,
    device: Device | str = Device.AUTO,
    threads: int | None = None,
) -> WholeRun:
    """Return what holds in a whole program; without a `main`, in one that others call.

    Args:
        program: what is asked about.
        domain: "interval" or "octagon".
        wraps: whether signed overflow wraps around.
        time_s: for octagons of each function, counted as evaluations of nodes that a core makes in
            so many seconds: what is given up is the same on every machine. 0: no limit.
        device: where to compute.
        threads: of the CPU.
    """
    is_library = not any(one.name == "main" and len(one.blocks) for one in program.functions)
    context = Context(
        program,
        library=is_library,
        wraps=wraps,
        device=device,
        threads=threads,
        follows_stores=not has_others(program),
        pointers_in_bytes=False,
    ).forwarded
    with progress.task("solving"):
        constraints = _with_places(program, _without_undefined(context))
        context.__dict__["values"] = replace(context.values, constraints=constraints)
        pointers = pointers_of(context)
    with progress.task("deciding checks"):
        checks = Checker(context, pointers).run()
    by = np.where(checks.verdict == MAY_FAIL, "", "interval")
    given_up: dict[str, list[str]] = {}
    if domain != "interval":
        with progress.task("relating values"):
            most = max(int(time_s * EVALUATIONS_A_SECOND), 1) if time_s else None
            packs = packs_of(context, pointers, checks, most)
            solution = octagon_flow.solve(
                packs.problem,
                device=device,
                threads=threads,
                most_evaluations=None if most is None else _shares(packs, most),
            )
        proved = packs.check[solution.proved]
        checks.verdict[proved] = SAFE
        by[proved] = domain
        given_up = _given_up(program, packs, solution)
    return WholeRun(context, pointers, checks, tuple(by.tolist()), given_up)


def _shares(packs: Packs, most: int) -> I64:
    """Return how often nodes of each pack may be evaluated: those of a function share alike."""
    function = np.array(packs.function, np.int64)
    n_packs = np.bincount(function, minlength=1)
    return most // np.maximum(n_packs[function], 1)


def _given_up(
    program: Program, packs: Packs, solution: octagon_flow.FlowSolution
) -> dict[str, list[str]]:
    """Return where octagons were not followed to an end, and why, by function."""
    reasons = dict(packs.left_out)
    is_short = solution.n_evaluations < octagon_flow.VISITS * packs.problem.n_nodes + 16
    for pack in np.flatnonzero(solution.is_given_up).tolist():
        why = TOO_LONG if is_short[pack] else "too many iterations were needed"
        reasons[packs.function[pack]] = why
    found = {}
    for function, why in reasons.items():
        name = program.functions[function].name
        found[name] = [f"octagons were given up in {name}: {why}; intervals stand"]
    return found


def _without_undefined(context: Context) -> Constraints:
    """Return the constraints with any value for LLVM's undefined constants.

    Dataflow leaves out undefined values; a run has some bits there nevertheless, and goes on with
    them where an undefined constant is passed or returned. Storage that nobody has written stays
    undefined: each load of it is checked, and a run ends where that check fails. (A word of which
    only bits are undefined, since fields of bits are put there, is any value:
    `dataflow.constraints.instructions`.)
    """
    constraints = context.values.constraints
    given = constraints.given.reshape(-1, STRIDE)
    is_given = constraints.operator == Operator.GIVEN
    is_given[context.program.n_values :] = False
    row = np.where(is_given, constraints.attribute, 0)
    has_value = np.ones(len(row), bool)
    has_value[is_given] = given[row[is_given], STATE] & HAS_VALUE != 0
    operator = np.where(has_value, constraints.operator, Operator.ANY).astype(np.uint8)
    return replace(constraints, operator=operator)


def _with_places(program: Program, constraints: Constraints) -> Constraints:
    """Return the constraints with pointers that the C library gives, and that are not null."""
    first, given_to_main = program.bases[ValueKind.INSTRUCTION], command_line(program) or ()
    rows = [
        calls
        for model, calls in calls_by_model(program)
        if model.always_allocates or (model.place is not None and not model.may_be_null)
    ]
    table = program.instructions
    loads = np.flatnonzero(table.opcode == Opcode.LOAD)
    is_stream = np.isin(table.operands[table.offsets[loads]], list(streams(program)))
    rows += [loads[is_stream], np.array(list(character_loads(program)), np.int64)]
    names = np.concatenate([first + np.concatenate(rows), given_to_main[1:]]).astype(np.int64)
    names = names[constraints.width[names] == 64]
    present = ValueFact(64, -(1 << 63), (1 << 63) - 1, 1, (1 << 64) - 1, 0, 0)
    count = ValueFact(32, 0, MOST_ARGUMENTS, 0, MOST_ARGUMENTS, 0, 0)
    given = constraints.given.reshape(-1, STRIDE)
    operator, attribute = constraints.operator.copy(), constraints.attribute.copy()
    operator[names], attribute[names] = Operator.GIVEN, len(given)
    for argc in given_to_main[:1]:
        operator[argc], attribute[argc] = Operator.GIVEN, len(given) + 1
    more = np.concatenate([given, packed([present, count]).reshape(-1, STRIDE)])
    return replace(constraints, operator=operator, attribute=attribute, given=more.reshape(-1))

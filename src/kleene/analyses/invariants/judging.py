"""Verdicts on the checks of one function: domain by domain, then backward.

Of what stays open: what is known there, and what was lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

from kleene.analyses.invariants.backward import Backward, first_loss
from kleene.analyses.invariants.checks import Verdict
from kleene.analyses.invariants.compile import Code
from kleene.analyses.invariants.expressions import Form, show
from kleene.analyses.invariants.facts import facts_at
from kleene.analyses.invariants.flat import Base
from kleene.analyses.invariants.gauges import gauges
from kleene.analyses.invariants.instructions import PLAIN, SUPPOSED
from kleene.analyses.invariants.plan import DOMAINS, plan_of
from kleene.analyses.invariants.solve import OutOfTimeError, Run, TooLongError
from kleene.ir import Program
from kleene.ir.codes import CALLS, Opcode, ValueKind

OPEN = (Verdict.MAY_FAIL, Verdict.FAILS)  # where a more precise domain may show that no run comes
_RANKS = {Verdict.MAY_FAIL: 0, Verdict.FAILS: 1, Verdict.SAFE: 2, Verdict.UNREACHABLE: 3}
_BACKWARD_S = 1.0  # for the walks backward of one function
# Operations and blocks that domains execute, at most, which keep states apart. Loops that need it
# take up to 6,200; functions that need more took minutes, and nothing was proved.
_MOST_EXECUTED = 7_000
_KEEP_APART = DOMAINS[3:]
_STATES_S = 1.0  # at least, for what is known at the open checks of one function


class Answer(NamedTuple):
    """The answer to one check: its verdict, the domains that gave it, what is known there."""

    verdict: Verdict
    by: str = ""
    state: str = ""


@dataclass
class Judged:
    """What was found of one function.

    Attributes:
        runs: what each domain found, the most precise last.
        domain: the last domain that was run.
        answers: by the places of checks among the code's sites.
        notes: what was given up.
    """

    runs: list[Run] = field(default_factory=list)
    domain: str = ""
    answers: dict[int, Answer] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def judge(
    program: Program,
    code: Code,
    domains: Iterable[str],
    is_asked: Callable[[int], bool],
    time_s: float,
    deadline_s: float,
    *,
    is_limited: bool = False,
    unroll: int = 0,
) -> Judged:
    """Return the verdicts on the checks of a function.

    Args:
        program: where it is from.
        code: of the function.
        domains: to try, the cheapest first; each as long as a check that is asked for is open.
        is_asked: whether a check, by its place among the code's sites, is asked for.
        time_s: how long it may take, as notes say it.
        deadline_s: when that is over.
        is_limited: whether states are not kept apart where that would take long.
        unroll: how many iterations of each loop are kept apart.
    """
    found = Judged()
    templates: tuple[Form, ...] = ()
    for domain in domains:
        most = _MOST_EXECUTED if is_limited and domain in _KEEP_APART else None
        if most and domain == _KEEP_APART[0] and found.runs[-1].n_executed > most // 2:
            found.notes.append(_limited(code, domain))  # for it takes twice as long at least
            break
        try:
            if domain == "relational":
                templates = tuple(gauges(found.runs[-1]))
            run = Run(code, plan_of(code, domain, templates, unroll), deadline_s, most)
        except TooLongError:
            found.notes.append(_limited(code, domain))
            break
        except OutOfTimeError:
            name = code.flat.name
            found.notes.append(f"{name}: domain {domain} was given up after {time_s:g} s")
            break
        found.runs.append(run)
        found.domain = domain
        if _decide(run, domain, found.answers, is_asked):
            break
    if found.runs:
        _discard(found, is_asked, deadline_s)
        _add_states(program, found, is_asked, deadline_s)
    return found


def _limited(code: Code, domain: str) -> str:
    return (
        f"{code.flat.name}: domain {domain} would execute more than {_MOST_EXECUTED:,} operations:"
        " it is not tried unless --domain names one"
    )


def _decide(
    run: Run,
    domain: str,
    found: dict[int, Answer],
    is_asked: Callable[[int], bool],
) -> bool:
    """Keep the best verdicts so far; return whether all checks that are asked for are decided."""
    answers, _ = run.verdicts()
    for place, verdict in answers.items():
        known = found.get(place)
        if known is None or _RANKS[verdict] > _RANKS[known.verdict]:
            found[place] = Answer(verdict, domain if verdict is not Verdict.MAY_FAIL else "")
    open_places = [place for place, one in found.items() if one.verdict in OPEN and is_asked(place)]
    sites, reasons = run.code.sites, run.code.flat.reasons
    return all(  # suppositions and unknown objects are worth octagons, and no more
        domain != DOMAINS[0] and (sites[place].message.startswith(SUPPOSED) or place in reasons)
        for place in open_places
    )


def _discard(found: Judged, is_asked: Callable[[int], bool], deadline_s: float) -> None:
    """Call checks safe that no path, walked backward, leads to a failure of."""
    todo = [
        place for place, one in found.answers.items() if one.verdict in OPEN and is_asked(place)
    ]
    if todo:
        walk = Backward(found.runs[-1], min(deadline_s, perf_counter() + _BACKWARD_S))
        for place in todo:
            if not walk.may_fail(place):
                fails = found.answers[place].verdict is Verdict.FAILS
                verdict = Verdict.UNREACHABLE if fails else Verdict.SAFE
                found.answers[place] = Answer(verdict, f"{found.domain}, backward")


def _add_states(
    program: Program, found: Judged, is_asked: Callable[[int], bool], deadline_s: float
) -> None:
    """Say what is known in front of checks that stay open, of as many as there is time for.

    A block of thousands of operations is gone through anew for each of its checks.
    """
    until_s = max(deadline_s, perf_counter() + _STATES_S)
    for place, one in found.answers.items():
        if one.verdict in OPEN and is_asked(place) and perf_counter() < until_s:
            state = _state(program, found.runs[-1], place)
            found.answers[place] = one._replace(state=state)


def _state(program: Program, run: Run, check: int) -> str:
    """Return what is known in front of a check, as text."""
    row = run.code.sites[check].instruction
    for block, origins in enumerate(run.code.origins):
        if any(origin[1] == row for origin in origins) and not run.values[block].is_bottom():
            return str(facts_at(program, run, block, row))
    return ""


def lost_of(program: Program, run: Run, check: int) -> str:
    """Return the first constraint that a check lacks, where it was lost, and why."""
    code = run.code
    is_plain = code.sites[check].message == PLAIN
    loss = None if is_plain else first_loss(run, check)
    if loss is None:
        return code.flat.reasons.get(check, "")
    text = show(
        loss.needed,
        lambda key: code.names[key] or _described(program, code, key),
        lambda key: code.kinds[key].format if key < len(code.kinds) else None,
    )
    if loss.position >= 0:
        row = code.origins[loss.block][loss.position][1]
        span = program.instruction_view(row).span if row >= 0 else None
    else:
        first = int(program.blocks.instruction_offsets[code.flat.blocks[loss.block].row])
        spans = (one.span for one in program.instruction_view(first).block.instructions)
        span = next((one for one in spans if one is not None and one.line), None)
    place = f" at {os.path.basename(span.file)}:{span.line}" if span is not None else ""
    return f"{text} is lost{place}: {loss.reason}"


def _described(program: Program, code: Code, number: int) -> str:
    """Return what a variable is that the source has no name for: what calls it is the result of."""
    found = set()
    for key, other in code.number.items():
        if other != number or not isinstance(key, Base) or key.value < 0:
            continue
        kind, row = program.locate(key.value)
        if kind == ValueKind.INSTRUCTION and program.instructions.opcode[row] in CALLS:
            callee = int(program.instructions.operands_of(row)[0])
            view = (
                program.functions[int(program.globals.function[callee])]
                if (callee < len(program.globals) and program.globals.function[callee] >= 0)
                else None
            )
            found.add("a call" if view is None else view.source_name or view.name)
        elif kind == ValueKind.INSTRUCTION and program.instructions.opcode[row] == Opcode.LOAD:
            found.add("")
    if len(found) != 1:
        return "a value"
    name = found.pop()
    return f"the result of {name}" if name else "what is read"

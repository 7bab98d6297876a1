"""A second look at functions of a whole program: one by one, by all domains.

The first look has one fact for each name, and octagons of six values. What it leaves open is asked
again of each function by itself, as in `analysis.py`: with remainders, equalities, partitions and
predicates, and paths walked backward from what may fail. What the function gets from outside is
what the first look has found: its arguments, what it reads, results of calls. Callees are not
inlined (that took 12 times as long on GNU dc, and proved 14 checks more of 1,327).

Why that is sound. A run is followed up to the first check that fails; signed overflow is a check,
too. Until then all facts of the first look hold: each is one of a name, in all calls. By induction
on the steps that a run makes in a function, the state is one that the second look allows:

    entry, load, call    any value, cut down to the fact of that name, which holds of the value
    φ                    one of its operands, cut down likewise
    any other step       as in the analysis of a function by itself
    block                if the first look says that no run comes there, none does

So where the first failing check of a run stands, the state in front of it is allowed, and neither
look calls that check safe. What the analysis of a function by itself supposes of its callers is not
supposed here: that pointers point into their objects is what the first look says of their offsets
(`bytes_before`) and rooms; a size or a string that a parameter is guessed to have is left out;
and checks of unwritten and freed storage are not asked again, since a call that is not inlined
counts as writing all it is handed, and as freeing nothing if its body is not known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kleene.analyses.invariants.checks import CheckKind, Verdict
from kleene.analyses.invariants.compile import Code, compile_function
from kleene.analyses.invariants.expressions import (
    Always,
    Condition,
    Form,
    Key,
    Kind,
    Relation,
    only,
)
from kleene.analyses.invariants.flat import Base, Block, FlatFunction
from kleene.analyses.invariants.instructions import SUPPOSED
from kleene.analyses.invariants.judging import OPEN, Judged, judge, lost_of
from kleene.analyses.invariants.lower import lower
from kleene.analyses.invariants.operations import Guard, Operation
from kleene.analyses.invariants.outside import Outside
from kleene.analyses.invariants.rooms import MOST_ROOM, pointer_of_room, room_variable
from kleene.analyses.invariants.whole.sites import FAILS, KINDS, MAY_FAIL
from kleene.base import progress
from kleene.ir.codes import CALLS, Opcode, TypeKind, ValueKind
from kleene.solvers.dataflow import ValueFacts

if TYPE_CHECKING:
    from kleene.analyses.invariants.whole import WholeRun

_ASKED = frozenset(CheckKind) - {CheckKind.UNINITIALISED, CheckKind.FREED, CheckKind.DEAD_CODE}
_TIME_S = 10.0  # for each function, if nobody says how long: of 89 of GNU dc, 3 take longer


class SecondAnswer(NamedTuple):
    """What the second look says of a check.

    Attributes:
        verdict: the answer.
        by: the domain that gave it, if it is proved.
        state: what is known there, if it is open.
        lost: the constraint that was lost in the function; empty if it is none of one function.
    """

    verdict: Verdict
    by: str
    state: str
    lost: str


class SecondLook:
    """Looks at functions again.

    Attributes:
        answers: by the number of a check; those that it could say nothing of are left out.
        notes: by function, what was given up.
        domains: by function, the last domain that was run.
    """

    def __init__(
        self, run: WholeRun, domains: Iterable[str], time_s: float, unroll: int = 0
    ) -> None:
        self._run, self._domains, self._time_s = run, tuple(domains), time_s or _TIME_S
        self._unroll = unroll
        self._program = run.context.program
        self.answers: dict[int, SecondAnswer] = {}
        self.notes: dict[str, list[str]] = {}
        self.domains: dict[str, str] = {}

    def look(self, functions: Iterable[int], is_wanted: Callable[[CheckKind], bool]) -> None:
        """Look at functions again, for checks that are open and of a kind that is wanted."""
        checks = self._run.checks
        is_open = np.isin(checks.verdict, (MAY_FAIL, FAILS))
        asked = [number for number, kind in enumerate(KINDS) if kind in _ASKED and is_wanted(kind)]
        chosen = np.flatnonzero(is_open & np.isin(checks.kind, asked))
        of_function = self._program.instruction_function[checks.row[chosen]]
        todo: dict[int, list[int]] = defaultdict(list)
        for check, function in zip(chosen.tolist(), of_function.tolist(), strict=True):
            todo[function].append(check)
        order = [function for function in functions if function in todo]
        with progress.task("looking at functions again", len(order)) as advance:
            for function in order:
                self._look(function, todo[function])
                advance(1)

    def _look(self, function: int, checks: list[int]) -> None:
        deadline_s = perf_counter() + self._time_s
        name = self._program.functions[function].name
        code = code_of(self._run, function)
        self.notes[name] = []
        if code.flat.refused:
            self.notes[name].append(f"{name} was not looked at again: {code.flat.refused}")
            return
        sites = self._sites(code, checks)
        asked = {place for places in sites.values() for place in places}
        judged = judge(
            self._program, code, self._domains, asked.__contains__, self._time_s, deadline_s,
            unroll=self._unroll,
        )  # fmt: skip
        self.notes[name] += judged.notes
        self.domains[name] = judged.domain
        for check, places in sites.items():
            found = self._answer(judged, check, places, deadline_s)
            if found is not None:
                self.answers[check] = found

    def _sites(self, code: Code, checks: list[int]) -> dict[int, list[int]]:
        """Return where the code asks what checks ask: all sites of that kind and instruction.

        What one call reads and writes are several sites, and several checks: each is safe if all
        sites are.
        """
        by_place: dict[tuple[CheckKind, int], list[int]] = defaultdict(list)
        for place, site in enumerate(code.sites):
            if not site.message.startswith(SUPPOSED):
                by_place[site.kind, site.instruction].append(place)
        table = self._run.checks
        found = {}
        for check in checks:
            key = (KINDS[int(table.kind[check])], int(table.row[check]))
            if key in by_place:
                found[check] = by_place[key]
        return found

    def _answer(
        self, judged: Judged, check: int, places: list[int], deadline_s: float
    ) -> SecondAnswer | None:
        answers = [judged.answers[place] for place in places if place in judged.answers]
        if len(answers) < len(places) or not judged.runs:
            return None
        is_open = [one.verdict in OPEN for one in answers]
        if not any(is_open):
            is_reached = any(one.verdict is Verdict.SAFE for one in answers)
            by = max((one.by for one in answers), key=self._order)
            verdict = Verdict.SAFE if is_reached else Verdict.UNREACHABLE
            return SecondAnswer(verdict, f"{by}, second look", "", "")
        place, answer = next(
            (place, one) for place, one in zip(places, answers, strict=True) if one.verdict in OPEN
        )
        lost, run = "", judged.runs[-1]
        if perf_counter() < deadline_s and place not in run.code.flat.reasons:
            lost = lost_of(self._program, run, place)
        fails = len(places) == 1 and answer.verdict is Verdict.FAILS
        fails |= self._run.checks.verdict[check] == FAILS
        return SecondAnswer(
            Verdict.FAILS if fails else Verdict.MAY_FAIL,
            (answer.by or self._run.proved_by[check]) if fails else "",
            answer.state, lost,
        )  # fmt: skip

    def _order(self, by: str) -> tuple[int, int]:
        """Return how far up a domain is, as answers name it."""
        domain = by.split(",")[0]
        return self._domains.index(domain) if domain in self._domains else -1, len(by)


def code_of(run: WholeRun, function: int) -> Code:
    """Return the code of one function, with what the first look has found of it."""
    program = run.context.program
    outside = WholeFacts(run)
    wraps = run.context.wraps
    flat = lower(program, function, wraps=wraps, follows_calls=False, outside=outside)
    if not flat.refused:
        _suppose(run, flat, outside)
    return compile_function(program, flat)


class WholeFacts(Outside):
    """What the first look has found of values, for a function by itself."""

    least_room = -(1 << 63)

    def __init__(self, run: WholeRun) -> None:
        self._context, self._places = run.context, run.places
        self._offset, self._room = run.pointers.offset, run.pointers.room

    def bytes_before(self, pointer: Base, row: int) -> int | None:
        """Return how many bytes of its object are at least in front of where a pointer points."""
        found = max(self._lows(self._offset, pointer, row), default=-MOST_ROOM)
        return found if found > -MOST_ROOM else None

    def bytes_behind(self, pointer: Base, row: int) -> int:
        """Return how many bytes of its object are at least from where a pointer points on."""
        return max(self._lows(self._room, pointer, row), default=0)

    def _lows(self, facts: ValueFacts, pointer: Base, row: int) -> Iterator[int]:
        """Yield the lower ends of all names that a pointer has in front of an instruction."""
        value = pointer.value
        if 0 <= value < self._context.program.n_values and self._context.values.width[value]:
            names = self._places.names_at(value, row)
            yield from facts.low[names[facts.has_value[names]]].tolist()

    def is_reached(self, block: int) -> bool:
        """Return whether a run may come to a block."""
        return bool(self._context.block_is_reached[block])

    def of_value(self, key: Base, kind: Kind) -> Iterator[Condition]:
        """Yield what holds of a number, or of whether a pointer is not null."""
        program, value = self._context.program, key.value
        width = int(self._context.values.width[value])
        fact = self._context.facts[value] if width else None
        if fact is None or kind.format is not None:
            return
        is_pointer = program.types.kind[program.value_types[value]] == TypeKind.POINTER
        if not fact.has_value:
            yield Always(False)
        elif is_pointer and fact.least > 0:
            yield Relation(only(key), "ne")
        elif is_pointer and fact.most == 0:
            yield Relation(only(key), "eq")
        elif not is_pointer and kind.width == width:
            ends = (fact.least, fact.most) if kind.is_unsigned else (fact.low, fact.high)
            yield from _between(only(key), *ends, kind.low, kind.high)

    def of_room(self, key: Key, pointer: Base) -> Iterator[Condition]:
        """Yield what holds of the bytes behind a pointer."""
        if self._context.values.width[pointer.value] and self._room.has_value[pointer.value]:
            fact = self._room[pointer.value]
            yield from _between(only(key), fact.low, fact.high, self.least_room, MOST_ROOM)


def _between(form: Form, low: int, high: int, least: int, most: int) -> Iterator[Condition]:
    """Yield that a form is at least `low` and at most `high`, where that says something."""
    if low > least:
        yield Relation(form.scaled(-1).shifted(low), "le")
    if high < most:
        yield Relation(form.shifted(-high), "le")


def _suppose(run: WholeRun, flat: FlatFunction, outside: WholeFacts) -> None:
    """Add what the first look has found: behind definitions, and where blocks begin."""
    program = run.context.program
    first = program.bases[ValueKind.INSTRUCTION]
    opcodes = program.instructions.opcode
    seen: set[int] = set()
    for block in flat.blocks:
        begin = list(_at_begin(run, flat, block, outside, is_first=block.row not in seen))
        seen.add(block.row)
        operations: list[Operation] = [Guard(one) for one in begin]
        origins = [(block.context, -1)] * len(begin)
        before: object = None
        for operation, origin in zip(block.operations, block.origins, strict=True):
            operations.append(operation)
            origins.append(origin)
            key: Any = operation.sets
            found: list[Condition] = []
            pointer = pointer_of_room(key)
            if pointer is not None:
                found += outside.of_room(key, pointer) if pointer == before else ()
            elif isinstance(key, Base) and key.value >= 0:
                row = key.value - first
                if row < 0 or opcodes[row] == Opcode.LOAD or opcodes[row] in CALLS:
                    found += outside.of_value(key, flat.kinds[key])
            operations += [Guard(one) for one in found]
            origins += [origin] * len(found)
            before = key if pointer is None else before
        block.operations, block.origins = operations, origins


def _at_begin(
    run: WholeRun, flat: FlatFunction, block: Block, outside: WholeFacts, *, is_first: bool
) -> Iterator[Condition]:
    """Yield what holds where a block begins: of φ, if it is the first part of a block of the IR."""
    if not outside.is_reached(block.row):
        yield Always(False)
    program = run.context.program
    begin, end = program.blocks.instruction_offsets[block.row : block.row + 2].tolist()
    for row in range(begin, end if is_first else begin):
        if program.instructions.opcode[row] != Opcode.PHI:
            break
        key = Base(block.context, program.bases[ValueKind.INSTRUCTION] + row)
        if key in flat.kinds:
            yield from outside.of_value(key, flat.kinds[key])
            room = room_variable(key)
            if room in flat.kinds:
                yield from outside.of_room(room, key)

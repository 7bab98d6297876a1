"""Whether what the analysis says holds on real runs."""

from __future__ import annotations

import random
from functools import lru_cache
from math import inf
from typing import Any

from kleene.algebra import Octagon
from kleene.analyses.invariants.backward import Backward
from kleene.analyses.invariants.checks import Verdict
from kleene.analyses.invariants.compile import Code
from kleene.analyses.invariants.expressions import Form, Key
from kleene.analyses.invariants.flat import Base, Cell, freed
from kleene.analyses.invariants.numbers import Numbers
from kleene.analyses.invariants.solve import Run
from kleene.analyses.invariants.strings import LENGTH, pointer_of
from kleene.ir import Program
from tests.seeds import IS_DEEP

from .interpreter import Execution, Frame, Pointer

N_STEPS = 3000 if IS_DEEP else 1000


def chooser(seed: int) -> Any:
    """Return what gives unknown integers: mostly small ones, now and then extremes."""
    source = random.Random(seed)

    def choose(width: int) -> int:
        kind = source.random()
        if kind < 0.45:
            return source.randrange(-3, 4) % (1 << width)
        if kind < 0.8:
            return source.randrange(-20, 150) % (1 << width)
        if kind < 0.9:
            return source.choice((1 << width - 1, (1 << width - 1) - 1, (1 << width) - 1))
        return source.getrandbits(width)

    return choose


def with_backward(run: Run) -> dict[int, Verdict]:
    """Return the verdicts of a run, those of checks that no path fails changed."""
    found, walk = run.verdicts()[0], Backward(run, inf)
    for check, verdict in found.items():
        if verdict in (Verdict.MAY_FAIL, Verdict.FAILS) and not walk.may_fail(check):
            is_may = verdict is Verdict.MAY_FAIL
            found[check] = Verdict.SAFE if is_may else Verdict.UNREACHABLE
    return found


class Oracle:
    """Runs a program many times beside what was found; raises where something is wrong."""

    def __init__(self, program: Program, function: int, code: Code, runs: list[Run]) -> None:
        self.program, self.function, self.code, self.runs = program, function, code, runs
        ends = (runs[0], runs[-1])  # walks backward over all of them would take too long
        self.verdicts = [with_backward(run) if run in ends else run.verdicts()[0] for run in runs]
        self.contexts = {
            (call, parent): place for place, (_, call, parent) in enumerate(code.flat.contexts)
        }
        self.places: dict[tuple[int, int], int] = {}
        for place, block in enumerate(code.flat.blocks):
            self.places.setdefault((block.context, block.row), place)
        self.sites_at: dict[int, list[int]] = {}
        for place, site in enumerate(code.sites):
            self.sites_at.setdefault(site.instruction, []).append(place)
        self.noticed: set[int] = set()  # what failed at the instruction that runs
        self.seen: set[tuple[object, ...]] = set()  # places with values that were looked at
        self.n_entered = 0
        self.failed: set[int] = set()

    def run(self, seed: int) -> None:
        """Run once; every state that is seen must be one that each run of the analysis has."""
        self.execution = Execution(
            self.program, chooser(seed), self.enter, self.fail, N_STEPS, self.passed
        )
        self.execution.run(self.function)

    def context(self, frame: Frame | None) -> int:
        if frame is None:
            return -1
        parent = self.context(frame.parent)
        if frame.parent is not None and parent < 0:
            return -1
        return self.contexts.get((frame.call, parent), -1)

    def enter(self, frame: Frame, block: int) -> None:
        context = self.context(frame)
        place = self.places.get((context, block))
        if context < 0 or place is None:
            assert context < 0, f"block {block} was called unreachable"
            return
        self.n_entered += 1
        point = {key: self.concrete(frame, context, key) for key in self.code.live_keys[place]}
        numbers = {
            self.code.number[key]: value for key, value in point.items() if value is not None
        }
        seen = (place, *numbers.items())
        if seen in self.seen:
            return
        self.seen.add(seen)
        for run in self.runs:
            states = list(run.values[place])
            assert any(holds(one, numbers) for one in states), (
                f"block {place}: {numbers} is in none of {len(states)} states"
            )

    def concrete(self, frame: Frame, context: int, key: Key) -> int | None:
        """Return the value that a variable has, as its kind reads it; None if it has none."""
        kind = self.code.flat.kinds[key]
        if isinstance(key, Cell):
            return self.cell(frame, context, key)
        assert isinstance(key, Base)
        at: Frame | None = frame
        here = context
        while at is not None and here != key.context:
            here = self.code.flat.contexts[here][2]
            at = at.parent
        pointer = pointer_of(key)
        if at is not None and pointer is not None:
            return self.length(at.values.get(pointer.value))
        if at is not None and key.value < 0 and ~key.value in at.values:
            return self.offset(at.values[~key.value])
        if at is None or key.value not in at.values:
            return None
        value = at.values[key.value]
        if isinstance(value, Pointer):
            return int(value.object >= 0)
        return kind.wrap(value) if kind.format is None else kind.format.rank(value)

    def cell(self, frame: Frame, context: int, cell: Cell) -> int | None:
        """Return what some bytes of a global or local variable hold."""
        if cell.is_aspect:  # accesses through a pointer that was read tell whether these are right
            return None
        storage = self.code.flat.objects[cell.object]
        if storage.value >= 0:
            object = self.execution.global_object(storage.value)
        else:
            at: Frame | None = frame
            here = context
            base = storage.base
            while base is not None and at is not None and here != base.context:
                here = self.code.flat.contexts[here][2]
                at = at.parent
            pointer = at.values.get(base.value) if at is not None and base is not None else None
            if not isinstance(pointer, Pointer) or pointer.object < 0:
                return None
            object = pointer.object
        if cell.offset == LENGTH and cell.size == 0:
            return self.length(Pointer(object, 0))
        if cell == freed(cell.object):
            return int(object in self.execution.freed)
        content = self.execution.objects[object][cell.offset : cell.offset + cell.size]
        if cell.size <= 0 or not all(isinstance(one, int) for one in content):
            return None
        found, kind = int.from_bytes(bytes(content), "little"), self.code.flat.kinds[cell]
        return kind.wrap(found) if kind.format is None else kind.format.rank_of_bits(found)

    def offset(self, value: object) -> int | None:
        """Return the offset of a pointer that is chosen; of an unknown object it is not known."""
        if not isinstance(value, Pointer) or value.object < 0:
            return None
        return value.offset

    def length(self, pointer: object) -> int | None:
        """Return how many bytes are in front of the first 0; None if some were never written."""
        if not isinstance(pointer, Pointer) or pointer.object < 0 or pointer.offset < 0:
            return None
        content = self.execution.objects[pointer.object][pointer.offset :]
        end = content.index(0) if 0 in content else len(content)
        return end if None not in content[:end] and end < len(content) + 1 else None

    def passed(self, frame: Frame, row: int) -> None:
        """No check that fails always, or is unreachable, stands where a run goes on."""
        for site in self.sites_at.get(row, ()):
            kind = self.code.sites[site].kind
            if self.context(frame) < 0 or kind.value == "assert" or site in self.noticed:
                continue
            for verdicts in self.verdicts:
                said = verdicts[site]
                assert said in (Verdict.MAY_FAIL, Verdict.SAFE), (
                    f"{self.code.sites[site]} is {said}"
                )
        self.noticed.clear()

    def fail(self, kind: str, row: int) -> None:
        """One of the checks of an instruction for this, of what it reads or writes, is not safe."""
        sites = [
            one for one in self.sites_at.get(row, ()) if self.code.sites[one].kind.value == kind
        ]
        self.failed.update(sites)
        self.noticed.update(sites)
        for verdicts in self.verdicts if sites else ():
            said = {verdicts[one] for one in sites}
            assert said & {Verdict.MAY_FAIL, Verdict.FAILS}, f"{self.code.sites[sites[0]]}: {said}"


def holds(numbers: Numbers, point: dict[int, int]) -> bool:
    """Return whether a point, which may lack variables, can be one of the numbers."""
    layout = numbers.layout
    full = dict(point)
    for key, form in layout.templates.items():
        if all(one in full for one in form.keys):
            full[key] = _value(form, full)
    for key, value in full.items():
        low, high = numbers.range(key)
        if not low <= value <= high:
            return False
        if key in numbers.packs.gaps and numbers.packs.gaps[key] < value < layout.kinds[key].high:
            return False
        if key in numbers.residues:
            modulus, rest = numbers.residues[key]
            if value % modulus != rest:
                return False
    for octagon in numbers.packs.octagons:
        for row in _rows(octagon):
            if any(name not in full for name, _ in row.terms):
                continue
            if sum(factor * full[name] for name, factor in row.terms) > row.bound:
                return False
    modulus = 1 << layout.modular_bits
    if any(
        _value(form, full) % modulus
        for form in numbers.modular.rows.values()
        if all(key in full for key in form.keys)
    ):
        return False
    if any(
        _value(form, full) == 0
        for form in numbers.not_zero
        if all(key in full for key in form.keys)
    ):
        return False
    return all(
        _value(form, full) == 0
        for form in numbers.equalities.rows.values()
        if all(key in full for key in form.keys)
    )


@lru_cache(4096)
def _rows(octagon: Octagon) -> list[Any]:
    return [one.row for one in octagon.constraints()]


def _value(form: Form, point: dict[int, int]) -> int:
    return form.constant + sum(factor * point[key] for key, factor in form.terms)  # type: ignore[index]

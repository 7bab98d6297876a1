"""What is said of a whole program holds on every run: facts on values, pointers and checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kleene import load
from kleene.analyses.invariants.whole import WholeRun, interpret
from kleene.analyses.invariants.whole.packs import packs_of
from kleene.analyses.invariants.whole.sites import FAILS, KINDS, MAY_FAIL, SAFE
from kleene.ir import Program
from kleene.ir.codes import ValueKind
from kleene.kernels import octagon_flow
from kleene.kernels.octagon_flow.codes import INFINITE
from tests.seeds import IS_DEEP, seeds

from . import composed
from .generator import generated
from .interpreter import Execution, Frame, Pointer, signed
from .sanitized import write
from .truth import N_STEPS, chooser

N_RUNS = 100 if IS_DEEP else 2
N_RUNS_OF_GENERATED = 8 if IS_DEEP else 2
COPIED = "what is copied was written before"
FUNCTIONS = seeds(5, deep=500)
COMPOSED = seeds(6, deep=400)


class PackOracle:
    """What holds of packs before blocks, matrix by matrix."""

    def __init__(self, program: Program) -> None:
        run = interpret(program)  # intervals leave all open that octagons are asked
        packs = packs_of(run.context, run.pointers, run.checks)
        solution = octagon_flow.solve(packs.problem, device="cpu", keeps_states=True)
        assert solution.before is not None
        assert solution.reached is not None
        self.at: dict[int, list[tuple[tuple[int, ...], np.ndarray | None]]] = {}
        problem, state, node = packs.problem, 0, 0
        for pack, values in enumerate(packs.values):
            blocks, w = packs.blocks[pack], 2 * len(values)
            for place, block in enumerate(blocks):
                begin = state + place * w * w
                matrix = solution.before[begin : begin + w * w].reshape(w, w)
                is_there = solution.reached[node + place] and not solution.is_given_up[pack]
                self.at.setdefault(block, []).append((values, matrix if is_there else None))
            state += int(problem.state_sizes[pack])
            node += len(blocks)
        self.n_bounds = 0

    def enter(self, frame: Frame, block: int, width: np.ndarray) -> None:
        for values, matrix in self.at.get(block, ()):
            assert matrix is not None, f"a pack does not come to block {block}"
            known = [
                k for k, value in enumerate(values) if isinstance(frame.values.get(value), int)
            ]
            numbers = [signed(frame.values[values[k]], int(width[values[k]])) for k in known]
            ends = np.array([sign * one for one in numbers for sign in (1, -1)], object)
            places = [2 * k + sign for k in known for sign in (0, 1)]
            bounds = matrix[np.ix_(places, places)]
            wrong = (bounds < INFINITE) & (ends[None, :] - ends[:, None] > bounds)
            self.n_bounds += int((bounds < INFINITE).sum())
            assert not wrong.any(), f"block {block}: {dict(zip(values, numbers, strict=False))}"


class WholeOracle:
    """Runs functions of a program beside what was found for all of them."""

    def __init__(self, program: Program, run: WholeRun) -> None:
        self.program, self.run = program, run
        self.context = run.context
        checks = run.checks
        columns = zip(
            checks.kind.tolist(), checks.row.tolist(), checks.verdict.tolist(), strict=True
        )
        is_copy = np.array([text == COPIED for text in checks.messages], bool)[checks.message]
        self.copies = frozenset(checks.row[is_copy].tolist())
        self.verdicts: dict[tuple[str, int], set[int]] = {}
        for kind, row, verdict in columns:
            self.verdicts.setdefault((KINDS[kind].value, row), set()).add(verdict)
        self.n_values = 0
        self.seen: set[tuple[int, object]] = set()  # names with numbers that were looked at
        self.failed: set[tuple[str, int]] = set()
        self._names: dict[tuple[int, int], list[int]] = {}  # by value and block
        self.is_reached = self.context.block_is_reached
        self.packs = PackOracle(program)

    def execute(
        self,
        function: int,
        seed: int,
        choose: Callable[[int], int] | None = None,
        **options: bool,
    ) -> None:
        self.execution = Execution(
            self.program, choose or chooser(seed), self.enter, self.fail, N_STEPS,
            ends_locals=True, strings_end=True, ends_unwritten=True,
            checked_copies=self.copies, **options,
        )  # fmt: skip
        self.execution.run(function)

    def enter(self, frame: Frame, block: int) -> None:
        assert self.is_reached[block], f"block {block} was called unreachable"
        self.packs.enter(frame, block, self.context.values.width)
        for value, concrete in frame.values.items():
            if concrete is None:
                continue
            key = (value, block)
            names = self._names.get(key)
            if names is None:
                names = self._names[key] = self.names(value, block)
            for name in names:
                self.n_values += 1
                if (name, concrete) not in self.seen:
                    self.holds(name, concrete)

    def names(self, value: int, block: int) -> list[int]:
        """Return the names of a value that hold where a block begins; none if it may be old."""
        row, program = value - self.program.bases[ValueKind.INSTRUCTION], self.program
        if not self.context.values.width[value]:
            return []
        tree = self.context.split.flow.tree
        if row >= 0 and not tree.dominates(int(program.instructions.block[row]), block):
            return []
        first = int(program.blocks.instruction_offsets[block])
        return self.run.places.names_at(value, first).tolist()

    def holds(self, name: int, concrete: object) -> None:
        if not isinstance(concrete, Pointer):
            assert isinstance(concrete, int)
            self.seen.add((name, concrete))
            fact = self.context.fact(name)
            assert fact.holds(concrete), f"name {name} is {concrete}, not {fact}"
            return
        fact = self.context.fact(name)
        if concrete.object < 0:
            assert fact.has_value, f"name {name} is null"
            assert fact.least == 0, f"name {name} is null, not {fact}"
            return
        offset, size = self.run.pointers.offset[name], self.run.pointers.size[name]
        assert offset.holds(concrete.offset), f"name {name}: {concrete} not {offset}"
        total = len(self.execution.objects[concrete.object])
        assert size.holds(total), f"name {name} has {total} bytes, not {size}"
        room, behind = self.run.pointers.room[name], total - concrete.offset
        assert room.holds(behind), f"name {name} has {behind} bytes behind it, not {room}"

    def fail(self, kind: str, row: int) -> None:
        self.failed.add((kind, row))
        said = self.verdicts.get((kind, row), set())
        assert said & {MAY_FAIL, FAILS}, f"{kind} at {row} was called safe"


def watched(program: Program, seeds: range, **options: bool) -> WholeOracle:
    oracle = WholeOracle(program, interpret(program, domain="octagon"))
    for function in entries(oracle):
        for seed in seeds:
            oracle.execute(function, seed, **options)
    return oracle


def entries(oracle: WholeOracle) -> list[int]:
    """Return the functions that others may call."""
    is_open = oracle.context.calls.is_open
    return [row for row in np.flatnonzero(is_open).tolist() if oracle.program.functions[row].blocks]


def test_runs_of_the_checked_functions(program: Program) -> None:
    oracle = watched(program, range(N_RUNS))
    assert oracle.n_values > 1000
    assert len(oracle.failed) >= 10
    assert oracle.packs.n_bounds > 100
    assert "octagon" in oracle.run.proved_by


def test_runs_of_generated_functions(tmp_path: Path) -> None:
    file = tmp_path / "generated.c"
    file.write_text(generated(FUNCTIONS, seed=2))
    oracle = watched(load(file), range(N_RUNS_OF_GENERATED))
    assert oracle.n_values > 10 * len(FUNCTIONS)
    assert oracle.failed


@pytest.mark.parametrize("seed", COMPOSED)
def test_runs_of_composed_programs(tmp_path: Path, seed: int) -> None:
    """Parts that share the heap, strings and tables of functions."""
    file = write(tmp_path, "composed", seed, 0, text=composed.program_of(seed))
    oracle = watched(load(file), range(30 if IS_DEEP else 8), ends_outside=True)
    assert oracle.n_values


def test_a_wrong_fact_is_noticed(program: Program) -> None:
    oracle = WholeOracle(program, interpret(program))
    oracle.context.facts.rows[program.bases[ValueKind.ARGUMENT] :, :2] = 5  # low and high

    def run_all() -> None:
        for function in entries(oracle):
            oracle.execute(function, 1)

    with pytest.raises(AssertionError, match=r"not \S+"):
        run_all()


def test_a_wrong_verdict_is_noticed(program: Program) -> None:
    oracle = WholeOracle(program, interpret(program))
    oracle.verdicts = {key: {SAFE} for key in oracle.verdicts}

    def run_all() -> None:
        for function in entries(oracle):
            oracle.execute(function, 1)

    with pytest.raises(AssertionError, match="was called safe"):
        run_all()

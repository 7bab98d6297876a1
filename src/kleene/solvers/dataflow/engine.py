"""Solving: the compiled loops, and for lattices of the caller's own plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, I64, U64
from kleene.base.device import Device
from kleene.base.errors import SourceError
from kleene.kernels import compiled, launch
from kleene.kernels.threads import Threads
from kleene.solvers.dataflow.codes import STRIDE
from kleene.solvers.dataflow.compiled import UNIT
from kleene.solvers.dataflow.constraints import Constraints, Schedule, checked
from kleene.solvers.dataflow.values import ValueFacts

if TYPE_CHECKING:
    from kleene.algebra import Lattice

Fact = TypeVar("Fact", bound="Lattice")
_INTERPRETED_S_A_NAME = 1e-4
_NARROWING = 2
# Names from which on a GPU is faster, unless more than this share of them are in one component,
# which is one block's work: see benchmarks/results/dataflow_cuda.md.
_WORTH_A_GPU, _LARGEST_SHARE = 1_000_000, 0.05
_WORTH_THREADS = 20_000  # names: some milliseconds


def solve(
    constraints: Constraints,
    *,
    narrowing: int = _NARROWING,
    device: Device | str = Device.CPU,
    threads: int | None = None,
) -> ValueFacts:
    """Return facts that satisfy all constraints on values: the least ones but for rounding.

    Upwards, the result is the least solution of the constraints with bounds rounded to thresholds
    where cycles close (`Constraints.thresholds`); it does not depend on the order. From there,
    each component is evaluated `narrowing` times in the order of the schedule without rounding,
    and only gets smaller.

    Args:
        constraints: what to solve.
        narrowing: how often a component is evaluated again after it has become stable.
        device: where. "auto" takes a GPU, if one answers, from a million names on that are not in
            one large cycle. The facts are the same.
        threads: of the CPU, at most; one by default, and one where more would not pay. They share
            names that no operands join, such as those of functions looked at alone; the largest
            cycle of a whole program is for one of them. Facts and counts are the same.

    Raises:
        SourceError: no GPU can be used (`kernels/no-gpu`), or the device has too little memory
            (`dataflow/gpu-memory`).
    """
    checked(constraints)
    if _is_for_gpu(constraints, Device(device)):
        from kleene.solvers.dataflow import cuda

        rows, evaluated = cuda.solve(constraints, narrowing)
        up, down = evaluated.tolist()
        return ValueFacts(constraints, rows, (up, down))
    return _solve_cpu(constraints, narrowing, threads)


def _solve_cpu(constraints: Constraints, narrowing: int, threads: int | None) -> ValueFacts:
    """Solve on one thread or, where there are shares of the work, on several."""
    from kleene.solvers.dataflow import cpu, shares

    n = constraints.n_names
    # Interpreting holds Python's lock.
    threads = 1 if n < _WORTH_THREADS or compiled.is_interpreting() else threads or 1
    schedule = constraints.scheduled(threads)
    units, n_shares = ((UNIT, shares.UNIT), 4 * threads) if threads > 1 else ((UNIT,), 1)
    with compiled.sized(n * _INTERPRETED_S_A_NAME, *units), Threads(threads) as several:
        thresholds, by_place, parts = several.run(
            (
                lambda: constraints.thresholds,
                lambda: constraints.by_place,
                partial(shares.parts_of, schedule, n_shares),
            )
        )
        threshold_set, threshold_offsets, signed, unsigned = thresholds
        columns = (
            *by_place, schedule.user_offsets, schedule.users, schedule.component_offsets,
            schedule.is_cyclic, threshold_set[schedule.order], threshold_offsets, signed, unsigned,
            narrowing, np.zeros(2 * n, np.uint8),
        )  # fmt: skip
        run: Any = cpu.solve  # which takes the columns one by one
        leaves, *parts = parts or [np.arange(len(schedule.is_cyclic), dtype=np.int32)]
        facts: I64 = np.zeros((n + 1 + len(parts)) * STRIDE, np.int64)
        counts: I64 = np.zeros((1 + len(parts), STRIDE), np.int64)  # a line of the cache each

        def work(nth: int, components: I32) -> None:
            run(facts, *columns, components, (n + nth) * STRIDE, counts[nth])

        work(0, leaves)  # which others read
        several.run(partial(work, nth, part) for nth, part in enumerate(parts, 1))
        rows: I64 = np.empty((n, STRIDE), np.int64)
        found, ends = facts.reshape(-1, STRIDE), np.linspace(0, n, threads + 1).astype(int)

        def gather(start: int, end: int) -> None:
            place = schedule.place_of[start:end]
            np.take(found, place, axis=0, out=rows[start:end], mode="clip")

        several.run(partial(gather, *pair) for pair in itertools.pairwise(ends.tolist()))
    up, down = counts.sum(axis=0)[:2].tolist()
    return ValueFacts(constraints, rows, (up, down))


def _is_for_gpu(constraints: Constraints, device: Device) -> bool:
    """Return whether constraints are solved on a GPU."""
    if device == Device.CPU:
        return False
    is_free = device == Device.AUTO
    if is_free and (constraints.n_names < _WORTH_A_GPU or launch.gpu_problem() is not None):
        return False
    largest = np.diff(constraints.schedule.component_offsets).max(initial=0)
    if is_free and largest > _LARGEST_SHARE * constraints.n_names:
        return False
    from kleene.solvers.dataflow import cuda

    if launch.chosen() is None and launch.gpu_problem() is None:
        needed, free = cuda.needed_bytes(constraints), launch.gpu_free_bytes()
        if needed > free:
            if is_free:
                return False
            message = f"solving needs {needed >> 20:,} MiB of the GPU, and {free >> 20:,} are free"
            raise SourceError(None, "dataflow/gpu-memory", message, "use the device 'cpu'")
    return True


@dataclass(frozen=True, eq=False)
class BitConstraints:
    """Constraints on sets of bits, one for each name, all with unions or all with intersections.

        fact[name] = gen[name] | (fact[first operand] | fact[second] | …) & ~kill[name]

    or with & between operands; without operands a fact is `gen`. The least solution is asked for,
    and for intersections the greatest. Bits may stand for whatever the caller likes: sources of
    taint, "may be null", definitions, classes. Nothing says which way information flows: a backward
    analysis makes those names operands that come after.

        # x = input(); y = x; z = clean(y)      bit 0: tainted
        BitConstraints(gen=[1, 0, 0], kill=[0, 0, 1], offsets=[0, 0, 1, 2], operands=[0, 1])

    Attributes:
        gen: bits that a name has in any case; one word of 64 bits for each, or a row of words.
        kill: bits that it does not take over from operands.
        offsets: where the operands of each name begin.
        operands: names.
        is_union: whether bits come from any operand, or else only those that all have.
    """

    gen: U64
    kill: U64
    offsets: I64
    operands: I32
    is_union: bool = True
    schedule: Schedule = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, dtype in (("gen", np.uint64), ("kill", np.uint64), ("offsets", np.int64),
                            ("operands", np.int32)):  # fmt: skip
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype))
        assert self.gen.shape == self.kill.shape
        assert len(self.offsets) == len(self.gen) + 1
        schedule = Schedule.of(len(self.gen), self.offsets, self.operands)
        object.__setattr__(self, "schedule", schedule)


def solve_bits(constraints: BitConstraints) -> U64:
    """Return the set of each name, in the shape of `gen`."""
    from kleene.solvers.dataflow import cpu

    gen, schedule = constraints.gen, constraints.schedule
    order = schedule.order
    n = len(gen)
    n_words = gen.size // n if n else 1
    facts: I64 = np.full(gen.size, 0 if constraints.is_union else -1, np.int64)
    with compiled.sized(n * n_words * _INTERPRETED_S_A_NAME / 10, UNIT):
        cpu.solve_bits(
            facts, n_words, int(constraints.is_union), gen[order].ravel().view(np.int64),
            (~constraints.kill[order]).ravel().view(np.int64), schedule.offsets, schedule.operands,
            schedule.user_offsets, schedule.users, schedule.component_offsets, schedule.is_cyclic,
            np.zeros(2 * n, np.uint8),
        )  # fmt: skip
    found: NDArray[np.uint64] = facts.view(np.uint64).reshape(gen.shape)[schedule.place_of]
    return found


def solve_lattice(
    offsets: I64,
    operands: I32,
    evaluate: Callable[[int, Sequence[Fact]], Fact],
    bottom: Fact,
    *,
    narrowing: int = _NARROWING,
    delay: int = 2,
) -> list[Fact]:
    """Return facts of any lattice, in plain Python; widened where cycles close, if it can widen.

    Args:
        offsets: where the operands of each name begin.
        operands: names.
        evaluate: returns the fact of a name, given those of all: monotone in those of its operands.
        bottom: the least fact.
        narrowing: how often a component is evaluated again after it has become stable.
        delay: how often a fact may grow before it is widened.
    """
    schedule = Schedule.of(len(offsets) - 1, offsets, operands)
    place_of = schedule.place_of
    facts: list[Fact] = [bottom] * len(place_of)
    bounds = schedule.component_offsets.tolist()
    order = schedule.order.tolist()
    for component, (start, end) in enumerate(itertools.pairwise(bounds)):
        names = order[start:end]
        if not schedule.is_cyclic[component]:
            facts[names[0]] = evaluate(names[0], facts)
            continue
        closes = {
            name
            for name in names
            if any(place_of[o] >= place_of[name] and place_of[o] < end
                   for o in operands[offsets[name] : offsets[name + 1]].tolist())
        }  # fmt: skip
        n_growths = dict.fromkeys(closes, 0)
        is_stable = False
        while not is_stable:
            is_stable = True
            for name in names:
                new = evaluate(name, facts)
                if new <= facts[name]:
                    continue
                is_stable, new = False, facts[name].join(new)
                if name in closes and hasattr(new, "widen"):
                    n_growths[name] += 1
                    if n_growths[name] > delay:
                        new = facts[name].widen(new)
                facts[name] = new
        for _ in range(narrowing):
            for name in names:
                facts[name] = facts[name].meet(evaluate(name, facts))
    return facts

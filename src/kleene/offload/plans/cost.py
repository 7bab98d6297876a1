"""How long would a generated function take on a GPU, and does it pay to move its data there?

For sizes, the host's part of a plan is executed without launching anything: that tells how often
each kernel is launched, and with how many threads. The work of some threads is counted. A launch
takes what one takes that is queued already, and the longest of

memory      bytes of distinct elements that are read and written, by what memory moves in a second;
            by what the second-level cache moves, if that holds them
cache       lines that warps ask for, one a cycle and multiprocessor, and sectors of 32 bytes that
            blocks do, by what the second-level cache moves
arithmetic  operations by the peak of the type; of tiles, reads from shared memory too
latency     iterations of a thread one after the other, a few loads waiting at a time; times how
            often the GPU is filled by the blocks that its registers and shared memory have room for
atomics     atomic operations

Launches of many are as fast as the host queues them, at the most; a loop that is one launch has a
barrier for each of its steps instead. Sections that go in and come out are added at the speed of
the link. The CPU's time counts the function as it is written: operations side by side or each
waiting for the one before, bytes, lines far from each other; on one core, and on all with what
starting a loop there takes. All speeds are measured, once for each GPU: `machine`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kleene.codegen import python, runtime
from kleene.codegen.plan import Plan, launches
from kleene.codegen.resident import loops_of
from kleene.kernels.launch.compile import Resources
from kleene.offload.plans.host_cost import host_s
from kleene.offload.plans.kernel_cost import (
    LEAST_DEVICE_S,
    SUFFIXES,
    KernelCost,
    Model,
    all_launches,
)
from kleene.offload.plans.machine import Machine, known_machine
from kleene.offload.plans.recorded import BLOCK_BARRIER_S, Launch, Recorder
from kleene.offload.plans.resources import resources_of
from kleene.offload.plans.work import pieces_of

_DIRECT = 1 << 20  # bytes of an array up to which the driver moves it
_STEP_S = 1.0e-6  # of the host's Python, for each launch


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a call would take.

    Attributes:
        machine: whose speeds these are.
        kernels: one after the other.
        transfer_s: arrays of NumPy to the GPU and back.
        kernels_s: on the GPU, with arrays there.
        core_s: on one core of the CPU, as the function is written.
        threads_s: on all cores.
    """

    machine: Machine
    kernels: tuple[KernelCost, ...]
    transfer_s: float
    kernels_s: float
    core_s: float
    threads_s: float

    @property
    def cpu_s(self) -> float:
        """The time on the CPU: on one core, or on all if that is faster."""
        return min(self.core_s, self.threads_s)

    @property
    def gpu_s(self) -> float:
        """The time on the GPU with arrays of NumPy: transfers and kernels."""
        return self.transfer_s + self.kernels_s

    @property
    def pays(self) -> bool:
        """Whether a call with arrays of NumPy is faster on the GPU."""
        return self.gpu_s < self.cpu_s

    @property
    def choice(self) -> str:
        """Where a call with arrays of NumPy is fastest: "cuda", "core" or "threads"."""
        if self.pays:
            return "cuda"
        return "core" if self.core_s <= self.threads_s else "threads"

    def lines(self) -> list[str]:
        """Return the answer and its numbers as text."""
        answer = "pays" if self.pays else "does not pay"
        host = "one core" if self.core_s <= self.threads_s else f"{self.machine.n_cores} cores"
        basis = "measured here" if self.machine.is_measured else "not measured here"
        found = [
            f"moving arrays to the GPU and back {answer}: {_time(self.gpu_s)} there"
            f" ({_time(self.kernels_s)} of kernels, {_time(self.transfer_s)} of transfers),"
            f" {_time(self.cpu_s)} on {host} of the host",
            f"speeds of {self.machine.name} and its host, {basis}",
        ]
        for one in self.kernels:
            times = f"{one.n_launches} launches" if one.n_launches > 1 else "1 launch"
            used = one.resources
            told = (
                f"{one.name}: {_time(one.seconds)} by {one.bound}; {times}, {one.n_threads} threads"
            )
            if used is not None:
                spilled = used.spill_store_bytes + used.spill_load_bytes
                told += (
                    f"; {used.registers} registers, {used.shared_bytes} bytes shared,"
                    f" {spilled} spilled, occupancy {one.occupancy:.0%}"
                )
            found.append(told)
        return found


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def predict(
    plan: Plan,
    sizes: Mapping[str, float],
    machine: Machine | None = None,
    *,
    least_tiled: int | None = None,
    blocks: Mapping[int, tuple[int, ...]] | None = None,
    is_quick: bool = False,
) -> Prediction:
    """Return what a call takes.

    Args:
        plan: of the function.
        sizes: the values of the scalar parameters by name.
        machine: whose speeds to take; those of the GPU that answers, else of an H200.
        least_tiled: the length of sums from which on they are by tiles or warps.
        blocks: shapes of blocks by their dimensions.
        is_quick: whether the answer is all that matters. Kernels are not compiled to know their
            registers, and launches are not counted any further when they take longer than the CPU.

    Raises:
        OverflowError: there would be more than 300,000 launches.
    """
    on = machine or known_machine()
    names: dict[str, Any] = dict(runtime.NAMESPACE)
    exec(python.source(plan), names)
    symbols = {one.name: one for one in plan.parameters}
    env = {symbols[name]: value for name, value in sizes.items() if name in symbols}
    core_s = host_s(pieces_of(plan.body, env), on, "core")
    transfer_s = _transfers(plan, names, sizes, on)
    recorder = Recorder()
    if least_tiled is not None:
        recorder.least_tiled = least_tiled
        recorder.most_resident = -1 if least_tiled > 1 << 30 else recorder.most_resident
    recorder.blocks |= dict(blocks or {})
    if is_quick:
        recorder.most = int(core_s / BLOCK_BARRIER_S) + 1000
    try:
        names["steps"](recorder, *(sizes.get(one.name) for one in plan.parameters))
    except OverflowError:
        if not is_quick:
            raise
        return Prediction(on, (), transfer_s, math.inf, core_s, core_s)
    inside = {
        kernel.name: recorder.whole[one.name]
        for one in loops_of(plan)
        if one.name in recorder.whole
        for kernel in launches((one.loop,))
    }
    for place, launch in enumerate(recorder.launches):
        n_threads = inside.get(launch.name, (0.0, 1 << 62))[1]
        if launch.kind == "columns" and n_threads < 8 * launch.counts[0]:  # too few for warps
            recorder.launches[place] = replace(launch, kind="grid")
    costs = _costs(plan, recorder, on, {} if is_quick else resources_of(plan))
    n_launches = sum(one.n_launches for one in costs if _plain_name(one) not in inside)
    n_launches += len(recorder.whole)
    busy = sum(one.seconds for one in costs)
    for one in costs:
        if (known := inside.get(_plain_name(one))) is not None:
            busy += one.n_launches * (known[0] - LEAST_DEVICE_S)
    queued = n_launches * (on.launch_s + _STEP_S)
    # If the host waits for elements, it queues nothing meanwhile.
    kernels_s = busy + queued if recorder.n_fetched else max(busy, queued)
    kernels_s += (recorder.n_fetched + 1) * on.sync_s
    threads_s = sum(one.threads_s for one in costs)
    return Prediction(on, costs, transfer_s, kernels_s, core_s, threads_s)


def _plain_name(one: KernelCost) -> str:
    for suffix in SUFFIXES.values():
        if one.name.endswith(suffix):
            return one.name.removesuffix(suffix)
    return one.name


def _costs(
    plan: Plan, recorder: Recorder, on: Machine, used: Mapping[str, Resources]
) -> tuple[KernelCost, ...]:
    kernels = {one.name: one for one in (*plan.kernels(), *plan.scans())}
    by_name: dict[str, list[Launch]] = {}
    for one in recorder.launches:
        by_name.setdefault(one.name, []).append(one)
    return tuple(
        all_launches(Model(plan, kernels[name], on, used, recorder.blocks), ones)
        for name, ones in by_name.items()
    )


def _transfers(plan: Plan, names: dict[str, Any], sizes: Mapping[str, float], on: Machine) -> float:
    integers = [int(sizes[one.name]) for one in plan.parameters if one.type.kind == "int"]
    sections = list(names["sections"](*integers).values())
    seconds = 0.0
    for way, speed in enumerate((on.to_device_bytes_s, on.from_device_bytes_s)):
        sizes_moved = [one[way][1] - one[way][0] for one in sections if one[way] is not None]
        seconds += sum(on.move_s + size / speed for size in sizes_moved if size > 0)
        if any(size > _DIRECT for size in sizes_moved):
            seconds += on.transfer_s
    return seconds

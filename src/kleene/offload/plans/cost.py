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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np

from kleene.base.cache import Cache, default_folder, key_of
from kleene.codegen import cuda, python, runtime
from kleene.codegen.arguments import arguments
from kleene.codegen.contractions import Contraction, contraction_of, depth_of
from kleene.codegen.plan import HostIf, HostLoop, Kernel, Plan, Reduction, Scan, Step, launches
from kleene.codegen.resident import loops_of
from kleene.ir.loops.tree import Element, Symbol, Variable, walk
from kleene.kernels.launch import Source
from kleene.kernels.launch.compile import Resources
from kleene.offload.plans.machine import H200, Machine, known_machine
from kleene.offload.plans.work import (
    Inside,
    Piece,
    address,
    base_of,
    footprint,
    pieces_in,
    pieces_of,
    value_of,
)

__all__ = [
    "KernelCost",
    "Machine",
    "Prediction",
    "chosen",
    "occupancy",
    "predict",
    "ranked_mappings",
]

_SECTOR = 32
_LINE = 128
_DIRECT = 1 << 20  # bytes of an array up to which the driver moves it
_WARP = 32
_MAX_ON_HOST = 4  # loops in a call: with more, the call is the CPU's
_MAX_LAUNCHES = 300_000
_MAX_SAMPLES = 24  # launches of a kernel that are looked at
_LEAST_DEVICE_S = 1.5e-6  # of a kernel that does next to nothing
_BARRIER_S = 1.8e-6  # of all blocks, between steps of a loop that is one launch
_BLOCK_BARRIER_S = 0.3e-6  # the same if there is one block
_STEP_S = 1.0e-6  # of the host's Python, for each launch
_BINS = 256  # of a histogram, where it is not known
_SHARED_ATOMICS = 8.0  # in shared memory, for one on the device
_SLOW_S = 45e-9  # a division or a root, for what waits for it
_NOMINAL = 2000.0  # of a size that is not known
_SECOND_CACHE = 2 << 20  # bytes, of a core
_THIRD_CACHE = 24 << 20  # bytes, of a CPU
_PAGES = 4096  # pages whose places a core remembers


_SUFFIXES = {"tiles": "_tiled", "rows": "_rows", "columns": "_columns", "bins": "_bins"}


@dataclass(frozen=True, slots=True)
class KernelCost:
    """One kernel in all its launches; seconds by bound, and in all."""

    name: str
    n_launches: int
    n_threads: int  # of the largest launch
    flops: float
    bytes: float
    by_bound: dict[str, float]
    seconds: float
    threads_s: float = 0.0  # on all cores of the CPU
    resources: Resources | None = None
    occupancy: float = 1.0

    @property
    def bound(self) -> str:
        """What takes longest."""
        return max(self.by_bound, key=lambda one: self.by_bound[one])


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


def occupancy(machine: Machine, resources: Resources, n_threads: int) -> float:
    """Return the share of a multiprocessor's threads that blocks of a kernel can fill.

    Registers are given to warps, 256 at a time; a block also takes 1024 bytes of shared memory.
    """
    return (
        _blocks_at_once(machine, resources, n_threads)
        * _warps(n_threads)
        * _WARP
        / (machine.n_threads)
    )


def _warps(n_threads: int) -> int:
    return -(-n_threads // _WARP)


def _blocks_at_once(machine: Machine, resources: Resources | None, n_threads: int) -> int:
    warps = _warps(n_threads)
    limits = [machine.n_blocks, machine.n_threads // (warps * _WARP)]
    if resources is not None:
        per_warp = -(-resources.registers * _WARP // 256) * 256
        if per_warp:
            limits.append(machine.registers // (per_warp * warps))
        limits.append(machine.shared_bytes // (resources.shared_bytes + 1024))
    return min(limits)


# Launches


@dataclass(frozen=True, slots=True)
class _Launch:
    """A launch that was noted."""

    name: str
    kind: str  # grid, tiles, rows or reduce
    counts: tuple[int, ...]
    args: tuple[Any, ...]


class _Recorder(runtime.Run):
    """A place that notes launches instead of executing them."""

    def __init__(self) -> None:
        super().__init__(self._note, None)
        self.launches: list[_Launch] = []
        self.most = _MAX_LAUNCHES
        self.n_on_host = self.n_fetched = 0
        self.whole: dict[str, tuple[float, int]] = {}  # loops that are one launch: the seconds
        # of a barrier, and the most threads that a step has work for

    def _note(self, *given: Any) -> None:
        raise AssertionError(given)

    def _add(self, name: str, kind: str, counts: Sequence[int], args: Sequence[Any]) -> None:
        if all(count > 0 for count in counts):
            self.launches.append(_Launch(name, kind, tuple(counts), tuple(args)))
        if len(self.launches) > self.most:
            raise OverflowError(f"more than {self.most} launches")

    def grid(self, name: str, counts: Sequence[int], args: Sequence[Any]) -> None:
        self._add(name, "grid", counts, args)

    def tiles(self, name: str, counts: Any, depth: int, tile: Any, args: Any) -> None:
        is_tiled = min(*counts, depth) >= self.least_tiled
        self._add(name, "tiles" if is_tiled else "grid", counts, args)

    def rows(self, name: str, counts: Any, depth: int, args: Any) -> None:
        self._add(name, "rows" if depth >= self.least_tiled else "grid", counts, args)

    def columns(self, name: str, counts: Any, depth: int, args: Any) -> None:
        self._add(name, "columns" if depth >= self.least_tiled else "grid", counts, args)

    def resident(self, name: str, points: int, has_loops: bool, args: Sequence[Any]) -> bool:
        """Note a loop that is one launch; its steps are counted as if they were launched."""
        if points <= self.most_resident:
            is_one = points <= runtime.ONE_RESIDENT and not has_loops
            self.whole[name] = (_BLOCK_BARRIER_S if is_one else _BARRIER_S, points)
        return False

    def reduce(
        self,
        name: str,
        counts: Sequence[int],
        args: Sequence[Any],
        dtype: Any,
        is_located: bool = False,
    ) -> None:
        self._add(name, "reduce", [max(one, 1) for one in counts], args)

    def scan(self, name: str, count: int, args: Sequence[Any], dtype: Any) -> None:
        self._add(name, "scan", (count,), args)

    def bins(self, name: str, counts: Sequence[int], array: Any, args: Sequence[Any]) -> None:
        self._add(name, "bins", counts, args)

    def host(self, name: str, args: Sequence[Any], written: str) -> None:
        """Count what the host does between launches: each time, arrays are copied twice."""
        self.n_on_host += 1
        if self.n_on_host > _MAX_ON_HOST:
            raise OverflowError(f"more than {_MAX_ON_HOST} copies to the host and back")

    def scalar(self, value: Any, dtype: Any) -> Any:
        return None

    def empty(self, size: int, dtype: Any) -> Any:
        return None

    def like(self, array: Any) -> Any:
        return None

    def copy(self, to: Any, array: Any) -> None:
        return None

    def fetch(self, scalar: Any) -> Any:
        return 0

    def element(self, array: Any, index: int) -> Any:
        """Count the wait for the device; elements count as 0."""
        self.n_fetched += not self.whole
        return 0


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
    core_s = _host(pieces_of(plan.body, env), on, "core")
    transfer_s = _transfers(plan, names, sizes, on)
    recorder = _Recorder()
    if least_tiled is not None:
        recorder.least_tiled = least_tiled
        recorder.most_resident = -1 if least_tiled > 1 << 30 else recorder.most_resident
    recorder.blocks |= dict(blocks or {})
    if is_quick:
        recorder.most = int(core_s / _BLOCK_BARRIER_S) + 1000
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
            busy += one.n_launches * (known[0] - _LEAST_DEVICE_S)
    queued = n_launches * (on.launch_s + _STEP_S)
    # If the host waits for elements, it queues nothing meanwhile.
    kernels_s = busy + queued if recorder.n_fetched else max(busy, queued)
    kernels_s += (recorder.n_fetched + 1) * on.sync_s
    threads_s = sum(one.threads_s for one in costs)
    return Prediction(on, costs, transfer_s, kernels_s, core_s, threads_s)


def _plain_name(one: KernelCost) -> str:
    for suffix in _SUFFIXES.values():
        if one.name.endswith(suffix):
            return one.name.removesuffix(suffix)
    return one.name


def _costs(
    plan: Plan, recorder: _Recorder, on: Machine, used: Mapping[str, Resources]
) -> tuple[KernelCost, ...]:
    kernels = {one.name: one for one in (*plan.kernels(), *plan.scans())}
    by_name: dict[str, list[_Launch]] = {}
    for one in recorder.launches:
        by_name.setdefault(one.name, []).append(one)
    return tuple(
        _kernel(_Model(plan, kernels[name], on, used, recorder.blocks), ones)
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


def resources_of(plan: Plan) -> dict[str, Resources]:
    """Return what ptxas says of each kernel of a plan, kept by its text; none where it is not."""
    from kleene.kernels.launch import compile as compiling

    if compiling.problem() is not None or not plan.steps:
        return {}
    return dict(_resources(cuda.source([plan])))


@cache
def _resources(text: str) -> tuple[tuple[str, Resources], ...]:
    import json
    from dataclasses import asdict

    from kleene.base import tidy
    from kleene.kernels.launch import compile as compiling

    kept, key = Cache(default_folder()), key_of("resources", text)
    found = kept.get("resources", key)
    if found is not None:
        return tuple((name, Resources(**one)) for name, one in json.loads(found).items())
    with tidy.scratch() as folder:
        path = folder / "kernels.cu"
        path.write_text(text, encoding="utf-8")
        made = compiling.resources(Source.of(path))
    kept.put("resources", key, json.dumps({n: asdict(one) for n, one in made.items()}).encode())
    return tuple(made.items())


def _kernel(model: _Model, launches: list[_Launch]) -> KernelCost:
    """Return all launches of a kernel; of many, some stand for their neighbours."""
    chosen = launches[:: max(1, len(launches) // _MAX_SAMPLES)]
    ones = [model.launch(one) for one in chosen]
    scale = len(launches) / len(chosen)
    return replace(
        ones[-1],
        n_launches=len(launches),
        n_threads=max(one.n_threads for one in ones),
        flops=scale * sum(one.flops for one in ones),
        bytes=scale * sum(one.bytes for one in ones),
        by_bound={n: scale * sum(one.by_bound[n] for one in ones) for n in ones[0].by_bound},
        seconds=scale * sum(one.seconds for one in ones),
        threads_s=scale * sum(one.threads_s for one in ones),
    )


# One launch


@dataclass(frozen=True, slots=True)
class _Model:
    """A kernel on a machine."""

    plan: Plan
    kernel: Kernel | Reduction | Scan
    machine: Machine
    resources: Mapping[str, Resources]
    blocks: Mapping[int, tuple[int, ...]]

    def launch(self, one: _Launch) -> KernelCost:
        """Return what one launch takes."""
        passed = arguments(self.plan, self.kernel)
        pairs = zip(passed, one.args, strict=True)
        values = {p.symbol: float(value) for p, value in pairs if p.kind == "host"}
        found = self.cost(one.kind, one.counts, values)
        nest, on = self._nest(values), self.machine
        threads_s = _host(nest, on, "core")
        if not isinstance(self.kernel, Scan):  # of which one thread does all
            threads_s = min(threads_s, on.region_s + _host(nest, on, "cores"))
        return replace(found, threads_s=threads_s)

    def _nest(self, values: Mapping[Symbol, float]) -> list[Piece]:
        """Return the statements with the loops around them as threads of the CPU execute them."""
        if isinstance(self.kernel, Kernel) and self.kernel.nest is not None:
            return pieces_of((self.kernel.nest,), values)
        if isinstance(self.kernel, Scan):
            return pieces_of(self.kernel.nest.body, values)
        axes, body = self.kernel.axes, self.kernel.body
        if isinstance(self.kernel, Reduction):
            axes, body = axes[:1], self.kernel.nest
        env, loops = dict(values), []
        for axis in axes:
            low, high = value_of(axis.low, env), value_of(axis.high, env)
            for symbol in (axis.variable, *axis.aliases):
                env[symbol] = np.floor((low + high) / 2)
            loops.append(Inside(axis.variable, max(float(high - low) / axis.step, 0.0), axis.step))
        return pieces_in(body, env, tuple(loops))

    def cost(
        self, kind: str, counts: tuple[int, ...], values: Mapping[Symbol, float]
    ) -> KernelCost:
        """Return what a launch of so many threads along x, y, z takes."""
        sampled = pieces_of(self.kernel.body, {**values, **self._sample(counts, values)})
        around = {
            symbol: float(count)
            for axis, count in self._axes(counts)
            for symbol in (axis.variable, *axis.aliases)
        }
        read, written = footprint(sampled, around)
        if kind == "scan" and counts[0] > runtime.ONE_SCAN:
            read *= 2  # once for the totals of blocks
        n_points = math.prod(counts)
        flops = n_points * _mean(sampled, lambda p: p.flops)
        block = self._block(kind, counts)
        n_blocks, n_threads = self._threads(kind, counts, block)
        name = self.kernel.name + _SUFFIXES.get(kind, "")
        used = self.resources.get(name)
        at_once = max(1, _blocks_at_once(self.machine, used, math.prod(block)))
        waves = max(1.0, n_blocks / (self.machine.n_multiprocessors * at_once))
        bounds = {
            "memory": self._memory(read, written),
            **self._caches(kind, counts, values, sampled, (n_blocks, block)),
            "arithmetic": self._arithmetic(sampled, n_points),
            "latency": waves * self._latency(kind, sampled, n_points, n_threads, read + written),
            "atomics": n_points
            * _mean(sampled, lambda p: float(p.is_atomic))
            / (self.machine.atomics_s * (_SHARED_ATOMICS if kind == "bins" else 1.0)),
        }
        sums = contraction_of(self.plan, self.kernel) if kind == "tiles" else None  # type: ignore[arg-type]
        if sums is not None:
            bounds |= self._tiled(sums, counts, values, sampled, at_once)
        seconds = max(bounds.values()) + _LEAST_DEVICE_S
        share = 1.0 if used is None else occupancy(self.machine, used, math.prod(block))
        total = read + written
        told = (name, 1, n_threads, flops, total, bounds, seconds)
        return KernelCost(*told, resources=used, occupancy=share)

    # How it is launched

    def _axes(self, counts: tuple[int, ...]) -> Iterator[tuple[Any, int]]:
        """Yield the axes on x, y, z with their counts."""
        if isinstance(self.kernel, Scan):
            yield self.kernel.axis, counts[0]
            return
        for position, count in zip(self.kernel.mapping, counts, strict=False):
            yield self.kernel.axes[position], count

    def _sample(self, counts: tuple[int, ...], values: Mapping[Symbol, float]) -> dict[Symbol, Any]:
        """Return the axes' variables of some points that stand for all, evenly apart."""
        n = {1: 32, 2: 16, 3: 5}.get(len(counts), 1)
        points = np.meshgrid(*(np.floor((np.arange(n) + 0.5) * c / n) for c in counts))
        return self._at([one.ravel() for one in points], counts, values)

    def _at(
        self, points: Sequence[Any], counts: tuple[int, ...], values: Mapping[Symbol, float]
    ) -> dict[Symbol, Any]:
        found: dict[Symbol, Any] = {}
        for (axis, _), point in zip(self._axes(counts), points, strict=True):
            at = value_of(axis.low, values) + axis.step * point
            found |= dict.fromkeys((axis.variable, *axis.aliases), at)
        return found

    def _block(self, kind: str, counts: tuple[int, ...]) -> tuple[int, ...]:
        if kind in ("tiles", "rows", "reduce", "scan", "bins"):
            return (256,)
        if kind == "columns":
            return (1024,)
        if not counts:
            return (1,)
        return runtime.block_of(counts, self.blocks)

    def _threads(
        self, kind: str, counts: tuple[int, ...], block: tuple[int, ...]
    ) -> tuple[int, int]:
        """Return how many blocks there are, and how many threads that have work."""
        if kind == "rows":
            return -(-counts[0] // 8), counts[0] * _WARP
        if kind == "columns":
            return -(-counts[0] // 32), counts[0] * _WARP
        if kind in ("reduce", "scan", "bins"):
            count = math.prod(counts)
            n_blocks = {
                "reduce": runtime.reduction_blocks(counts),
                "scan": runtime.scan_blocks(count),
                "bins": max(1, runtime.bins_blocks(counts, _BINS, 4)),
            }[kind]
            return n_blocks, min(count, n_blocks * 256)
        sizes = zip(counts, block, strict=False)
        return math.prod(-(-count // size) for count, size in sizes), math.prod(counts)

    # Bounds

    def _memory(self, read: float, written: float) -> float:
        on = self.machine
        if read + written < 0.6 * on.cache_bytes:
            return (read + written) / on.cache_bytes_s
        return read / on.memory_bytes_s + written / on.memory_write_bytes_s

    def _caches(
        self,
        kind: str,
        counts: tuple[int, ...],
        values: Mapping[Symbol, float],
        sampled: list[Piece],
        launched: tuple[int, tuple[int, ...]],
    ) -> dict[str, float]:
        """Return the time for lines of warps and sectors of blocks, of a block in the middle.

        A loop whose accesses move by less than a sector finds it in the first-level cache again;
        what stays the same, or was read before in the same iteration, is in a register.
        """
        if kind != "grid" or not counts:
            return {"cache": 0.0}
        n_blocks, block = launched
        sizes = [min(size, count) for size, count in zip(block, counts, strict=False)]
        each = [np.arange(size) for size in sizes]
        points = [one.ravel(order="F") for one in np.meshgrid(*each, indexing="ij")]
        first = [count // size // 2 * size for count, size in zip(counts, sizes, strict=True)]
        env = self._at([p + f for p, f in zip(points, first, strict=True)], counts, values)
        n_warps = n_blocks * _warps(math.prod(block))
        lines = sectors = 0.0
        block_of = pieces_of(self.kernel.body, {**values, **env})
        touched: dict[Any, list[tuple[float, Any]]] = {}
        written = {base_of(one) for piece in block_of for one in piece.writes}
        known: set[Any] = set()
        for piece, all_of in zip(block_of, sampled, strict=True):
            times = float(np.mean(all_of.times))
            loops = tuple(one.variable for one in piece.loops)
            for one in (*piece.reads, *piece.writes):
                if (loops, one) in known:
                    continue
                known |= set() if base_of(one) in written else {(loops, one)}
                at = np.broadcast_to(address(one, piece.env), points[0].shape)
                step = piece.step_bytes(one)
                often = times / max(piece.trips, 1.0) if step == 0 and piece.loops else times
                asked = _per_warp(at)
                lines += often * asked * (0.6 if asked <= 8 else 1.15) * n_warps
                near = min(1.0, step / _SECTOR) if step else 1.0
                touched.setdefault((loops, base_of(one)), []).append((often * near, at // _SECTOR))
        for ones in touched.values():  # neighbours of one array find each other's sectors
            all_at = np.unique(np.concatenate([at for _, at in ones]))
            sectors += max(often for often, _ in ones) * len(all_at) * n_blocks
        cycles = lines / (self.machine.n_multiprocessors * self.machine.clock_s)
        return {"cache": cycles + sectors * _SECTOR / self.machine.cache_bytes_s}

    def _arithmetic(self, sampled: list[Piece], n_points: int) -> float:
        on = self.machine
        is_double = any(one.type.bits == 64 for p in sampled for one in (*p.reads, *p.writes))
        flops = n_points * _mean(sampled, lambda p: p.flops + 16 * p.n_slow)
        whole = n_points * _mean(sampled, lambda p: p.n_whole)
        peak = on.double_flops if is_double else on.single_flops
        return flops / (0.5 * peak) + whole / on.integer_ops

    def _latency(
        self, kind: str, sampled: list[Piece], n_points: int, n_threads: int, n_bytes: float
    ) -> float:
        """Return how long a thread takes that nobody else holds up."""
        on = self.machine
        is_near = n_bytes < 0.6 * on.cache_bytes
        load = on.cache_latency_s / 2 if is_near else on.latency_s / 2.3
        longest: dict[tuple[Symbol, ...], list[float]] = {}
        for piece in sampled:
            key = tuple(one.variable for one in piece.loops)
            moves = not key or any(piece.step_bytes(one) for one in piece.reads)
            wait = (load if piece.reads and moves else 0.0) + _SLOW_S * min(piece.n_slow, 2)
            if key and waits_for_writes(piece):
                wait = max(wait, on.cache_latency_s) + _SLOW_S * min(piece.n_slow, 2)
            known = longest.setdefault(key, [0.0, 0.0])
            known[0] = max(known[0], float(np.max(piece.times)))
            known[1] = max(known[1], wait)
        seconds = sum(times * wait for times, wait in longest.values())
        if kind in ("rows", "columns"):
            return seconds / _WARP
        if kind in ("reduce", "bins"):
            return seconds * max(1.0, n_points / n_threads) + 0.4e-6
        if kind == "scan":  # four terms wait together, and then for those of other warps
            return seconds * max(1.0, n_points / n_threads) / 2 + 2.0e-6
        return seconds

    def _tiled(
        self,
        sums: Contraction,
        counts: tuple[int, ...],
        values: Mapping[Symbol, float],
        sampled: list[Piece],
        at_once: int,
    ) -> dict[str, float]:
        """Return the bounds of tiles: multiply-adds, and what they read from shared memory.

        A thread of m rows and n columns reads m + n elements for m * n multiply-adds. A block
        alone on a multiprocessor has all of it; the last ones leave others idle.
        """
        on = self.machine
        deep = max(float(np.mean(value_of(depth_of(sums), values))), 0.0)
        (tall, wide), (m, n) = sums.tile, sums.per_thread
        inner = [piece for piece in sampled if piece.loops]
        share = max((float(np.mean(piece.times > 0)) for piece in inner), default=1.0)
        n_terms = max((piece.n_sums for piece in inner), default=1)
        columns, rows = counts
        n_blocks = math.ceil(share * -(-columns // wide) * -(-rows // tall)) or 1
        size = sums.target.type.bits // 8
        peak = on.double_flops if size == 8 else on.single_flops
        adds = n_terms * 2 * tall * wide * deep / (peak / on.n_multiprocessors)
        operands = len(sums.of_row) * m + len(sums.of_column) * n
        reads = tall * wide * deep * operands / (m * n) * size
        shared = reads / (on.clock_s * _LINE) * (16 / _WARP if size == 8 else 1.0)
        rounds = math.ceil(n_blocks / on.n_multiprocessors)
        moved = tall * wide * deep * size * (len(sums.of_row) / wide + len(sums.of_column) / tall)
        here = dict.fromkeys((*sums.rows.aliases, *sums.columns.aliases, sums.rows.variable), 0.0)
        here |= values
        first, second = (
            address(sums.target, {**here, sums.columns.variable: at}) for at in (0.0, 1.0)
        )
        is_along = abs(float(np.mean(second - first))) <= size  # threads write side by side
        return {
            "arithmetic": rounds * 1.25 * (adds + shared) * (1.0 if is_along else 1.4),
            "cache": n_blocks * moved / on.cache_bytes_s,
            "latency": math.ceil(n_blocks / (on.n_multiprocessors * at_once)) * deep / 16 * 1.0e-6,
        }


def waits_for_writes(piece: Piece) -> bool:
    """Return whether loads of an array wait until the iteration before has written to it."""
    written = {base_of(one) for one in piece.writes}
    return not piece.is_sum and any(base_of(one) in written for one in piece.reads)


def _per_warp(at: Any) -> float:
    """Return the mean number of lines that a warp's threads ask for."""
    lines = at // _LINE
    warps = [lines[n : n + _WARP] for n in range(0, len(lines), _WARP)]
    return float(np.mean([len(np.unique(one)) for one in warps]))


def _mean(pieces: Sequence[Piece], quantity: Callable[[Piece], float]) -> float:
    """Return a quantity of a thread, summed over what it executes."""
    return float(sum(np.mean(piece.times) * quantity(piece) for piece in pieces))


# The host


def _host(pieces: Sequence[Piece], on: Machine, prefix: str) -> float:
    """Return the seconds of statements, on one core ("core") or on all together ("cores")."""
    return sum(float(np.mean(one.times)) * _iteration(one, on, prefix) for one in pieces)


def _iteration(piece: Piece, on: Machine, prefix: str) -> float:
    """Return the seconds of one execution of a statement: of its operations, or of its accesses.

    An access that goes on by one element takes its bytes, another one a line. What the loop around
    comes back to, and what the second-level cache holds, takes nothing; what the third holds, half.
    """

    def speed(name: str) -> float:
        return float(getattr(on, f"{prefix}_{name}"))

    steps: dict[Any, tuple[Element, float, bool]] = {}
    for is_write, listed in ((False, piece.reads), (True, piece.writes)):
        for one in listed:
            step = piece.step_bytes(one)
            known = steps.get((base_of(one), is_write))
            if known is None or known[1] < step:
                steps[base_of(one), is_write] = (one, step, is_write)
    apart = [step for one, step, _ in steps.values() if step > one.type.bits // 8]
    n_accesses = len(piece.reads) + len(piece.writes)
    flops = (piece.flops + piece.n_whole + 0.5 * n_accesses) * (
        4.0 if apart else 1.0
    ) + 10 * piece.n_slow
    arithmetic = flops / speed("flops")
    if waits_for_writes(piece):  # each division for the one before
        arithmetic += 8 * piece.n_slow / speed("chain_flops")
    if piece.is_sum:
        arithmetic = max(arithmetic, 2 / speed("chain_flops"))
    memory = 0.0
    for one, step, is_write in steps.values():
        held = footprint([replace(piece, reads=(one,), writes=())], {})[0]
        if not step or held < _SECOND_CACHE or _comes_back(piece, one, step):
            continue
        size = one.type.bits // 8
        if step <= size:
            seconds = size / (2 * speed("bytes_s"))
        elif is_write and (base_of(one), False) in steps:
            seconds = 0.0  # its line is there by the read
        else:
            seconds = speed("page_s" if piece.trips > _PAGES else "line_s")
        memory += seconds * (0.5 if held < _THIRD_CACHE else 1.0)
    return max(arithmetic, memory)


def _comes_back(piece: Piece, one: Element, step: float) -> bool:
    """Return whether the loop around the innermost one touches the same elements, and few."""
    if len(piece.loops) < 2 or piece.trips * min(step, 64.0) > _SECOND_CACHE / 4:
        return False
    names = {p.symbol for p in walk(one) if isinstance(p, Variable)}
    return piece.loops[-2].variable not in names


# Choices


def ranked_mappings(
    plan: Plan,
    kernel: Kernel,
    counts: Sequence[int],
    values: Mapping[Symbol, float],
    machine: Machine | None = None,
) -> list[tuple[float, tuple[int, ...]]]:
    """Return the orders of a kernel's axes on x, y, z with their seconds, fastest first.

    `counts` are the threads along each axis, in the order of the axes.
    """
    found = []
    blocks = dict(runtime.BLOCKS)
    for order in permutations(range(len(kernel.axes))):
        model = _Model(plan, replace(kernel, mapping=order), machine or H200, {}, blocks)
        shape = tuple(counts[position] for position in order)
        found.append((model.cost("grid", shape, values).seconds, order))
    return sorted(found)


def chosen(plan: Plan) -> Plan:
    """Return a plan whose kernels have their axes in the order that is predicted to be fastest.

    Sizes are not known yet: each counts as 2000, and variables of the host's loops as half of that.
    A change must promise a tenth: else the order stays.
    """
    sizes = {one: _NOMINAL for one in plan.parameters if one.type.kind == "int"}

    def changed(step: Step, env: Mapping[Symbol, float]) -> Step:
        match step:
            case Kernel() if len(step.axes) > 1:
                return _reordered(plan, step, env)
            case HostLoop(steps=steps):
                names = {
                    one.target.symbol: _NOMINAL / 2
                    for one in step.init
                    if hasattr(one, "target") and hasattr(one.target, "symbol")
                }
                return replace(step, steps=tuple(changed(s, {**env, **names}) for s in steps))
            case HostIf(then=then, otherwise=otherwise):
                parts = (tuple(changed(s, env) for s in part) for part in (then, otherwise))
                then, otherwise = parts
                return replace(step, then=then, otherwise=otherwise)
        return step

    return replace(plan, steps=tuple(changed(step, sizes) for step in plan.steps))


def _reordered(plan: Plan, kernel: Kernel, env: Mapping[Symbol, float]) -> Kernel:
    counts = []
    for axis in kernel.axes:
        trips = (value_of(axis.high, env) - value_of(axis.low, env)) / axis.step
        counts.append(max(int(np.max(trips)), 1))
    ranked = ranked_mappings(plan, kernel, counts, env)
    now = next(seconds for seconds, order in ranked if order == kernel.mapping)
    best, order = ranked[0]
    return replace(kernel, mapping=order) if best < 0.9 * now else kernel

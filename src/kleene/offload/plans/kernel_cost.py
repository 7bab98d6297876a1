"""How long does a launch take on a GPU, and by what?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kleene.codegen import runtime
from kleene.codegen.arguments import arguments
from kleene.codegen.bins import is_of_one_thread
from kleene.codegen.contractions import Contraction, contraction_of, depth_of
from kleene.codegen.plan import Kernel, Plan, Reduction, Scan
from kleene.ir.loops.tree import Symbol
from kleene.kernels.launch.compile import Resources
from kleene.offload.plans.host_cost import host_s, waits_for_writes
from kleene.offload.plans.machine import Machine
from kleene.offload.plans.recorded import Launch
from kleene.offload.plans.resources import blocks_at_once, occupancy, warps_of
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

_SECTOR = 32
_LINE = 128
_WARP = 32
_MAX_SAMPLES = 24  # launches of a kernel that are looked at
LEAST_DEVICE_S = 1.5e-6  # of a kernel that does next to nothing
_SLOW_S = 45e-9  # a division or a root, for what waits for it
_BINS = 256  # of a histogram, where it is not known
_SHARED_ATOMICS = 20.0  # in shared memory, for one on the device
SUFFIXES = {"tiles": "_tiled", "rows": "_rows", "columns": "_columns", "bins": "_bins"}


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
class Model:
    """A kernel on a machine."""

    plan: Plan
    kernel: Kernel | Reduction | Scan
    machine: Machine
    resources: Mapping[str, Resources]
    blocks: Mapping[int, tuple[int, ...]]

    def launch(self, one: Launch) -> KernelCost:
        """Return what one launch takes."""
        passed = arguments(self.plan, self.kernel)
        pairs = zip(passed, one.args, strict=True)
        values = {p.symbol: float(value) for p, value in pairs if p.kind == "host"}
        found = self.cost(one.kind, one.counts, values)
        nest, on = self._nest(values), self.machine
        threads_s = host_s(nest, on, "core")
        is_alone = isinstance(self.kernel, Kernel) and is_of_one_thread(self.kernel)
        if not isinstance(self.kernel, Scan) and not is_alone:  # of which one thread does all
            threads_s = min(threads_s, on.region_s + host_s(nest, on, "cores"))
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
        name = self.kernel.name + SUFFIXES.get(kind, "")
        used = self.resources.get(name)
        at_once = max(1, blocks_at_once(self.machine, used, math.prod(block)))
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
        seconds = max(bounds.values()) + LEAST_DEVICE_S
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
        n_warps = n_blocks * warps_of(math.prod(block))
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


def all_launches(model: Model, launches: list[Launch]) -> KernelCost:
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


def _per_warp(at: Any) -> float:
    """Return the mean number of lines that a warp's threads ask for."""
    lines = at // _LINE
    warps = [lines[n : n + _WARP] for n in range(0, len(lines), _WARP)]
    return float(np.mean([len(np.unique(one)) for one in warps]))


def _mean(pieces: Sequence[Piece], quantity: Callable[[Piece], float]) -> float:
    """Return a quantity of a thread, summed over what it executes."""
    return float(sum(np.mean(piece.times) * quantity(piece) for piece in pieces))

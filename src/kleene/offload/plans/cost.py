"""How long would a generated function take on a GPU, and does it pay to move its data there?

For sizes, the host's part of a plan is executed without launching anything: that tells how often
each kernel is launched, and with how many threads. The time of a launch is the longest of

| bound | quantity |
|---|---|
| memory | bytes of distinct elements, by what the device's memory moves in a second |
| cache | sectors that warps ask for, 32 bytes each, by what the second-level cache moves |
| arithmetic | floating-point operations, by the peak of the type |
| latency | loads that a thread makes one after the other, if too few threads hide them |

plus what a launch costs. Loops of a thread are counted with the other variables in the middle of
their ranges. Sections that go in and come out are added at the speed of the link. The CPU's time is
the longest of memory and arithmetic on all cores. A `Machine` has these speeds: `calibrated`
measures them once for each GPU, and keeps them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

from kleene.base.cache import Cache, default_folder, key_of
from kleene.codegen import python, runtime
from kleene.codegen.arguments import arguments
from kleene.codegen.contractions import contraction_of, depth_of
from kleene.codegen.plan import Kernel, Plan, Reduction
from kleene.codegen.rows import sums_of
from kleene.codegen.text import flattened
from kleene.codegen.trees import counted
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Element, Expression, Symbol, Variable
from kleene.kernels.launch.compile import Resources

_SECTOR = 32
_WARP = 32
_IN_FLIGHT = 4  # loads of one thread that wait at the same time
_MAX_LAUNCHES = 2_000_000
_MAX_SAMPLES = 32  # launches of a kernel that are looked at


@dataclass(frozen=True, slots=True)
class Machine:
    """The speeds of a GPU and of its host; those of an H200 until it is calibrated."""

    name: str = "H200"
    n_multiprocessors: int = 132
    double_flops: float = 33.5e12  # a second, multiply-add as two
    single_flops: float = 67e12
    memory_bytes_s: float = 4.1e12
    cache_bytes_s: float = 7.0e12
    link_bytes_s: float = 45e9
    latency_s: float = 0.7e-6
    launch_s: float = 2.5e-6
    registers: int = 65536  # of a multiprocessor, and so on
    shared_bytes: int = 228 * 1024
    n_threads: int = 2048
    n_blocks: int = 32
    cpu_flops: float = 16 * 4e9
    cpu_bytes_s: float = 100e9


@dataclass(frozen=True, slots=True)
class KernelCost:
    """One kernel in all its launches; seconds by bound, and in all."""

    name: str
    n_launches: int
    n_threads: int  # of the largest launch
    flops: float
    bytes: float
    traffic_bytes: float
    by_bound: dict[str, float]
    seconds: float

    @property
    def bound(self) -> str:
        """What takes longest."""
        return max(self.by_bound, key=lambda one: self.by_bound[one])


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a call would take."""

    kernels: tuple[KernelCost, ...]
    transfer_s: float
    kernels_s: float
    cpu_s: float

    @property
    def gpu_s(self) -> float:
        """The time on the GPU with arrays of NumPy: transfers and kernels."""
        return self.transfer_s + self.kernels_s

    @property
    def pays(self) -> bool:
        """Whether a call with arrays of NumPy is faster on the GPU."""
        return self.gpu_s < self.cpu_s


def occupancy(machine: Machine, resources: Resources, n_threads: int) -> float:
    """Return the share of a multiprocessor's threads that blocks of a kernel can fill.

    Registers are given to warps, 256 at a time; a block also takes 1024 bytes of shared memory.
    """
    warps = -(-n_threads // _WARP)
    per_warp = -(-resources.registers * _WARP // 256) * 256
    limits = [machine.n_blocks, machine.n_threads // (warps * _WARP)]
    if per_warp:
        limits.append(machine.registers // (per_warp * warps))
    limits.append(machine.shared_bytes // (resources.shared_bytes + 1024))
    return min(limits) * warps * _WARP / machine.n_threads


class _Recorder(runtime.Run):
    """A place that notes launches instead of executing them."""

    def __init__(self) -> None:
        super().__init__(self._note, None)
        self.launches: list[tuple[str, tuple[int, ...], tuple[Any, ...]]] = []

    def _note(self, *given: Any) -> None:
        raise AssertionError(given)

    def _add(self, name: str, counts: Sequence[int], args: Sequence[Any]) -> None:
        if all(count > 0 for count in counts):
            self.launches.append((name, tuple(counts), tuple(args)))
        if len(self.launches) > _MAX_LAUNCHES:
            raise OverflowError("too many launches to count")

    def grid(self, name: str, counts: Sequence[int], args: Sequence[Any]) -> None:
        self._add(name, counts, args)

    def tiles(self, name: str, counts: Any, depth: int, tile: Any, args: Any) -> None:
        self._add(name, counts, args)

    def rows(self, name: str, counts: Any, depth: int, args: Any) -> None:
        self._add(name, counts, args)

    def columns(self, name: str, counts: Any, depth: int, args: Any) -> None:
        self._add(name, counts, args)

    def resident(self, name: str, points: int, has_loops: bool, args: Sequence[Any]) -> bool:
        return False

    def reduce(self, name: str, count: int, args: Sequence[Any], dtype: Any) -> None:
        self._add(name, (max(count, 1),), args)

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


def predict(plan: Plan, sizes: Mapping[str, float], machine: Machine | None = None) -> Prediction:
    """Return what a call takes; `sizes` are the values of the scalar parameters by name.

    Raises:
        OverflowError: there would be more than two million launches.
    """
    on = machine or Machine()
    names: dict[str, Any] = dict(runtime.NAMESPACE)
    exec(python.source(plan), names)
    recorder = _Recorder()
    names["steps"](recorder, *(sizes.get(one.name) for one in plan.parameters))
    kernels = {one.name: one for one in plan.kernels()}
    by_name: dict[str, list[tuple[tuple[int, ...], tuple[Any, ...]]]] = {}
    for name, counts, args in recorder.launches:
        by_name.setdefault(name, []).append((counts, args))
    costs = tuple(_kernel(plan, kernels[name], ones, on) for name, ones in by_name.items())
    integers = [int(sizes[one.name]) for one in plan.parameters if one.type.kind == "int"]
    moved = 0
    for one in names["sections"](*integers).values():
        moved += sum(end - first for first, end in (s for s in one[:2] if s is not None))
    flops, n_bytes = (sum(getattr(one, what) for one in costs) for what in ("flops", "bytes"))
    cpu_s = max(flops / on.cpu_flops, n_bytes / on.cpu_bytes_s)
    kernels_s = sum(one.seconds for one in costs)
    return Prediction(costs, moved / on.link_bytes_s, kernels_s, cpu_s)


def _kernel(
    plan: Plan,
    kernel: Kernel | Reduction,
    launches: list[tuple[tuple[int, ...], tuple[Any, ...]]],
    machine: Machine,
) -> KernelCost:
    """Return all launches of a kernel; of many, some stand for their neighbours."""
    passed = arguments(plan, kernel)
    chosen = launches[:: max(1, len(launches) // _MAX_SAMPLES)]
    ones = []
    for counts, args in chosen:
        pairs = zip(passed, args, strict=True)
        values = {p.symbol: float(value) for p, value in pairs if p.kind == "host"}
        ones.append(_launch(plan, kernel, counts, values, machine))
    scale = len(launches) / len(chosen)
    return KernelCost(
        kernel.name,
        len(launches),
        max(one.n_threads for one in ones),
        scale * sum(one.flops for one in ones),
        scale * sum(one.bytes for one in ones),
        scale * sum(one.traffic_bytes for one in ones),
        {name: scale * sum(one.by_bound[name] for one in ones) for name in ones[0].by_bound},
        scale * sum(one.seconds for one in ones),
    )


def ranked_mappings(
    plan: Plan, kernel: Kernel, counts: Sequence[int], values: Mapping[Symbol, float]
) -> list[tuple[float, tuple[int, ...]]]:
    """Return the orders of a kernel's axes on x, y, z with their seconds, fastest first.

    `counts` are the threads along each axis, in the order of the axes.
    """
    found = []
    for order in permutations(range(len(kernel.axes))):
        plain = Kernel(kernel.name, kernel.axes, order, kernel.body, kernel.private)
        shape = tuple(counts[position] for position in order)
        cost = _launch(plan, plain, shape, values, Machine(), is_plain=True)
        found.append((cost.seconds, order))
    return sorted(found)


# One launch


@dataclass
class _Work:
    """What one thread does, on average: operations, loads one after the other, accesses."""

    flops: float = 0
    chain: float = 0
    accesses: list[tuple[Element, float, dict[Symbol, float]]] | None = None


def _launch(
    plan: Plan,
    kernel: Kernel | Reduction,
    counts: Sequence[int],
    values: Mapping[Symbol, float],
    machine: Machine,
    is_plain: bool = False,
) -> KernelCost:
    axes = kernel.axes if isinstance(kernel, Kernel) else (kernel.axis,)
    mapping = kernel.mapping if isinstance(kernel, Kernel) else (0,)
    env = dict(values)
    ranges: dict[Symbol, float] = {}
    for position, count in zip(mapping, counts, strict=False):
        axis = axes[position]
        low = _value(axis.low, env)
        for symbol in (axis.variable, *axis.aliases):
            env[symbol] = low + axis.step * (count - 1) / 2
            ranges[symbol] = count
    found = _Work(accesses=[])
    _count(kernel.body, env, ranges, 1.0, found)
    n_threads = math.prod(counts) if counts else 1
    x = {axes[mapping[0]].variable, *axes[mapping[0]].aliases} if mapping else set()
    footprint = _footprint(found)
    traffic = sum(times * n_threads * _sectors(one, x) for one, times, _ in found.accesses or [])
    chain = found.chain
    if isinstance(kernel, Kernel) and not is_plain:
        traffic, chain = _with_sharing(plan, kernel, counts, env, (traffic, chain))
    is_double = any(one.type.bits == 64 for one, _, _ in found.accesses or [])
    peak = machine.double_flops if is_double else machine.single_flops
    flops = found.flops * n_threads
    waves = max(1.0, n_threads / (machine.n_multiprocessors * machine.n_threads))
    bounds = {
        "memory": footprint / machine.memory_bytes_s,
        "cache": traffic / machine.cache_bytes_s,
        "arithmetic": flops / peak,
        "latency": waves * chain / _IN_FLIGHT * machine.latency_s,
    }
    seconds = max(bounds.values()) + machine.launch_s
    return KernelCost(kernel.name, 1, n_threads, flops, footprint, traffic, bounds, seconds)


def _with_sharing(
    plan: Plan,
    kernel: Kernel,
    counts: Sequence[int],
    env: Mapping[Symbol, float],
    plain: tuple[float, float],
) -> tuple[float, float]:
    """Return traffic and chain with tiles in shared memory, or with a warp for each row."""
    traffic, chain = plain
    sums = contraction_of(plan, kernel)
    if sums is not None and min(counts) >= 64:
        deep = max(_value(depth_of(sums), env), 0.0)
        tall, wide = sums.tile
        each = math.prod(counts) * deep * (sums.target.type.bits // 8)
        return each * (len(sums.of_row) / wide + len(sums.of_column) / tall), chain / 16
    by_warps = sums_of(plan, kernel)
    if by_warps is not None:
        return traffic / (8 if by_warps.way == "rows" else 1), chain / _WARP
    return traffic, chain


def _footprint(work: _Work) -> float:
    """Return the bytes of distinct elements: of each array, the largest set that an access has."""
    found: dict[str, float] = {}
    for one, _, ranges in work.accesses or []:
        base, terms = flattened(one)
        symbols = {
            part.symbol
            for index, _ in terms
            for part in tree.walk(index)
            if isinstance(part, Variable) and part.symbol in ranges
        }
        size = (one.type.bits // 8) * math.prod(max(ranges[s], 0.0) for s in symbols)
        found[base.name] = max(found.get(base.name, 0.0), size)
    return sum(found.values())


def _sectors(one: Element, x: set[Symbol]) -> float:
    """Return the bytes that one thread's share of a warp's access moves, whole sectors counted."""
    size = one.type.bits // 8
    _, terms = flattened(one)
    named = [{p.symbol for p in tree.walk(i) if isinstance(p, Variable)} for i, _ in terms]
    if not any(names & x for names in named):
        return _SECTOR / _WARP
    is_side_by_side = bool(named[-1] & x) and not any(names & x for names in named[:-1])
    return float(size) if is_side_by_side and not terms[-1][1] else float(_SECTOR)


def _count(
    block: Sequence[Any],
    env: dict[Symbol, float],
    ranges: dict[Symbol, float],
    times: float,
    work: _Work,
) -> None:
    for node in block:
        match node:
            case tree.Loop():
                form = counted(node)
                if form is None:
                    continue
                low, high = _value(form.low, env), _value(form.high, env)
                trips = max(0.0, (high - low) / form.step)
                inner = env | {form.variable: (low + high) / 2}
                reach = ranges | {form.variable: trips}
                _count(node.body, inner, reach, times * trips, work)
            case tree.If(condition=condition, then=then, otherwise=otherwise):
                _note((condition,), ranges, times, work)
                _count(then, env, ranges, times * (0.5 if otherwise else 1.0), work)
                _count(otherwise, env, ranges, times * 0.5, work)
            case _:
                _note((node,), ranges, times, work)


def _note(nodes: Sequence[Any], ranges: dict[Symbol, float], times: float, work: _Work) -> None:
    assert work.accesses is not None
    n_loads = 0
    for one in tree.walk(tuple(nodes)):
        if isinstance(one, tree.Binary) and one.type.kind == "float":
            work.flops += times
        elif isinstance(one, tree.Call):
            work.flops += 20 * times
        elif isinstance(one, Element):
            work.accesses.append((one, times, ranges))
            n_loads += 1
    work.chain += times * (1.0 if n_loads else 0.0)


def _value(value: Expression, env: Mapping[Symbol, float]) -> float:
    """Return a number for an expression; what is not known counts as 0."""
    match value:
        case tree.Literal(value=number):
            return float(number)
        case tree.Read(location=Variable(symbol=symbol)):
            return env.get(symbol, 0.0)
        case tree.Convert(operand=operand):
            return _value(operand, env)
        case tree.Unary(operator="-", operand=operand):
            return -_value(operand, env)
        case tree.Binary(operator=operator, left=left, right=right) if operator in _OPERATIONS:
            return _OPERATIONS[operator](_value(left, env), _value(right, env))
        case tree.Choose(condition=condition, then=then, otherwise=otherwise):
            return _value(then if _value(condition, env) else otherwise, env)
    return 0.0


_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else 0.0,
    "<": lambda a, b: float(a < b),
    ">": lambda a, b: float(a > b),
    "<=": lambda a, b: float(a <= b),
    ">=": lambda a, b: float(a >= b),
}


# Calibration


def calibrated(measure: Callable[[], Machine] | None = None, name: str | None = None) -> Machine:
    """Return the speeds of the GPU that answers, measured once and kept by its name.

    Args:
        measure: what measures them, instead of CuPy.
        name: that of the GPU, instead of what CuPy says.
    """
    if measure is None or name is None:
        from kleene.kernels.launch import gpu

        name = gpu.Gpu().name
        measure = _measured
    cache, key = Cache(default_folder()), key_of("machine", name)
    kept = cache.get("machine", key)
    if kept is not None:
        return Machine(**json.loads(kept))
    found = measure()
    cache.put("machine", key, json.dumps(asdict(found)).encode())
    return found


def _measured() -> Machine:
    """Measure the GPU by CuPy: a launch, copies to it and on it."""
    import cupy

    device = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    small, large = cupy.zeros(1), cupy.zeros(1 << 27)
    other = cupy.empty_like(large)
    page = cupy.asnumpy(large[: 1 << 24])
    launch = min(_timed(lambda: cupy.add(small, 1, out=small), 200))
    copy = min(_timed(lambda: cupy.copyto(other, large), 5))
    link = min(_timed(lambda: large[: page.size].set(page), 3))
    base = Machine()
    return Machine(
        device["name"].decode(),
        int(device["multiProcessorCount"]),
        launch_s=launch,
        memory_bytes_s=2 * large.nbytes / copy,
        link_bytes_s=page.nbytes / link,
        double_flops=2 * 64 * device["multiProcessorCount"] * device["clockRate"] * 1e3,
        cache_bytes_s=base.cache_bytes_s,
    )


def _timed(call: Callable[[], Any], n: int) -> Iterator[float]:
    import time

    import cupy

    for _ in range(3):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        for _ in range(n):
            call()
        cupy.cuda.Device().synchronize()
        yield (time.perf_counter() - start) / n

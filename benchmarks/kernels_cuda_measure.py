"""The times of generated kernels, compared with the C: where the GPU is."""

from __future__ import annotations

import ctypes
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import harness
import numpy as np
from kernels_cuda_programs import (
    BOUND,
    BUDGET_S,
    BY_HAND,
    N_BINS,
    ONE_CORE,
    RANKED,
    RANKED_SIZES,
    ROOT,
    SIZES,
    SMALL,
)
from kernels_cuda_rivals import by_library, hand_written


def arguments(one: dict[str, Any], sizes: tuple[int, ...]) -> dict[str, Any]:
    """Return random arguments; the first extent of an array is the greatest size that may be."""
    rng = np.random.default_rng(0)
    given: dict[str, Any] = {}
    values = iter(sizes)
    numbers: dict[str, int] = {}
    for name, kind, dtype in one["parameters"]:
        if kind == "scalar":
            is_whole = np.dtype(dtype).kind == "i"
            given[name] = next(values) if is_whole else 1.2
            if is_whole:
                numbers[name] = given[name]
    most = max(value for name, value in numbers.items() if name != "steps")
    for name, kind, dtype in one["parameters"]:
        if kind == "array":
            n = max(numbers.values()) if not one["rows"][name] else most
            for extent in one["rows"][name]:
                n *= numbers[extent] if isinstance(extent, str) else int(extent)
            if name == "filter":
                n = numbers["size"] ** 2
            if name == "counts":
                n = N_BINS
            few = min(n, 1_000_003)  # a prime: rows differ though the numbers come again
            is_float = np.dtype(dtype).kind == "f"
            below = N_BINS if name == "keys" else 4
            some = rng.random(few) + 0.5 if is_float else rng.integers(0, below, few)
            given[name] = np.resize(some.astype(dtype), n)
    if one["file"] in ("cholesky", "lu", "ludcmp", "trisolv"):  # well conditioned
        name = next(n for n, _, _ in one["parameters"] if one["rows"].get(n))
        size = sizes[0]
        matrix = given[name][: size * size].reshape(size, size)
        matrix += matrix.T.copy()
        matrix[np.arange(size), np.arange(size)] += 4 * size
    return {name: given[name] for name, _, _ in one["parameters"]}


def copies(given: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with arrays of their own."""
    return {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in given.items()}


def call_c(library: Any, name: str, one: dict[str, Any], given: dict[str, Any]) -> float:
    """Call a C function; return the seconds."""
    args = []
    for own, kind, dtype in one["parameters"]:
        value = given[own]
        if kind == "array":
            args.append(ctypes.c_void_p(value.ctypes.data))
        else:
            args.append(np.ctypeslib.as_ctypes_type(np.dtype(dtype))(value))
    function = library[name]
    function.restype = None
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start


def difference(given: dict[str, Any], wanted: dict[str, Any]) -> float:
    """Return the greatest difference: relative to the array's largest element; whole ones by 1."""
    import cupy

    worst = 0.0
    for name, value in wanted.items():
        if not hasattr(value, "dtype"):
            continue
        one, other = cupy.asarray(value), cupy.asarray(given[name])
        if value.dtype.kind == "f":
            apart = cupy.nan_to_num(cupy.abs(one - other), nan=0.0, posinf=0.0)
            scale = float(cupy.nan_to_num(cupy.abs(one), nan=0.0, posinf=0.0).max()) or 1.0
            is_same = bool((cupy.isfinite(one) == cupy.isfinite(other)).all())
            worst = max(worst, float(apart.max()) / scale, 0.0 if is_same else 1.0)
        else:
            worst = max(worst, float((one != other).any()))
    return worst


def on_device(given: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with arrays of their own on the GPU."""
    import cupy

    return {n: cupy.array(v) if hasattr(v, "dtype") else v for n, v in given.items()}


def waited(call: Callable[[], Any]) -> float:
    """Return the seconds of a call and of what it queues on the GPU."""
    import cupy

    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    call()
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - start


def several(call: Callable[[], float], first: float) -> list[float]:
    """Return the times of a few calls within the budget; of long ones, the first stands alone."""
    n = min(5, int(BUDGET_S / max(first, 1e-4)))
    return [call() for _ in range(n)] or [first]


class Measured:
    """One computation on the GPU's machine: everything is compared with the C's result."""

    def __init__(self, folder: Path, name: str, one: dict[str, Any], libraries: Any) -> None:
        self.folder, self.name, self.one = folder, name, one
        self.written, self.threads = libraries
        self.found: dict[str, Any] = {"sizes": SIZES[name]}

    def called(self, kind: str) -> Any:
        """Return a variant as its users call it."""
        from kleene.codegen import runtime

        made = self.one["variants"][kind]
        names = dict(runtime.NAMESPACE)
        exec((self.folder / f"{made['stem']}.py").read_text(), names)
        source = (self.folder / f"{made['stem']}.cu").read_text()
        given = (self.one["parameters"], self.one["overlaps"])
        found = runtime.Called(self.name, *given, names["sections"], names["steps"], source)
        if not made["is_tiled"]:
            found.run().least_tiled = 1 << 62  # neither tiles nor warps
            found.run().most_resident = -1  # nor loops as one launch
        if made["block"] is not None:
            found.run().blocks[len(made["block"])] = tuple(made["block"])
        return found

    def check(self, label: str, given: dict[str, Any], wanted: dict[str, Any]) -> None:
        """Note how far a result is from the C's; refuse one that is wrong."""
        apart = difference(given, wanted)
        self.found[f"{label}_difference"] = apart
        if not apart < BOUND:
            raise ValueError(f"{self.name}: {label} differs from C by {apart}")

    def measure(self, parts: set[str]) -> None:
        """Fill in what is asked for."""
        one, found = self.one, self.found
        start = time.perf_counter()
        best = self.called("best")
        best.run()
        found["compile_s"] = time.perf_counter() - start
        kinds = [kind for kind in ("best", "naive") if kind in parts]
        variants = {"best": best, **{k: self.called(k) for k in kinds if k != "best"}}
        if "small" in parts:
            self.small(variants)
        given = arguments(one, SIZES[self.name])
        wanted = self.on_host(given, parts)
        there, wanted = on_device(given), on_device(wanted)
        for kind in kinds:
            moved = on_device(there)
            call = variants[kind]
            again = partial(waited, partial(call, *moved.values()))
            first = again()
            self.check(kind, moved, wanted)
            times = several(again, first)
            found[f"{kind}_s"] = statistics.median(times)
            found[f"{kind}_times"] = [first, *times]
            if kind == "best" and "library" in parts:
                self.library(moved)
            if kind == "best" and "kernels" in parts:
                found["kernels"] = by_kernel(call, moved)
            del moved, again
        if "transfers" in parts:
            times = []
            for _ in range(3):
                own = copies(given)
                times.append(waited(partial(best, *own.values())))
            self.check("transfers", own, wanted)
            found["transfers_s"], found["transfers_first_s"] = min(times[1:]), times[0]
            sections = best.arguments.prepared(tuple(own.values())).sections
            found["moved_bytes"] = [
                sum(end - first for first, end in [s[n] or (0, 0) for s in sections.values()])
                for n in (0, 1)
            ]
        if "hand" in parts and self.name in BY_HAND:
            self.by_hand(there, wanted)
        if "ranked" in parts and self.name in RANKED:
            self.ranked()

    def on_host(self, given: dict[str, Any], parts: set[str]) -> dict[str, Any]:
        """Time C on all cores and on one; return what it computes."""
        one, found = self.one, self.found
        wanted = copies(given)
        if "threads" in parts or "core" not in parts or self.name in ONE_CORE:
            times = [call_c(self.threads, self.name, one, wanted)]
            if times[0] < 0.5:
                times += [call_c(self.threads, self.name, one, copies(given)) for _ in range(2)]
            found["threads_s"] = min(times)
        if "core" in parts:
            sizes = ONE_CORE.get(self.name, SIZES[self.name])
            alone = copies(given) if self.name not in ONE_CORE else arguments(one, sizes)
            found["core_sizes"] = sizes
            found["core_s"] = call_c(self.written, self.name, one, alone)
            if self.name not in ONE_CORE:
                if "threads_s" in found:
                    self.check("threads", wanted, alone)
                wanted = alone
                if found["core_s"] < 0.3:
                    again = call_c(self.written, self.name, one, copies(given))
                    found["core_s"] = min(found["core_s"], again)
        return wanted

    def small(self, variants: dict[str, Any]) -> None:
        """Compare all forms with the C as it is written, on a small size."""
        given = arguments(self.one, tuple(SMALL if n > 10 else n for n in SIZES[self.name]))
        wanted = copies(given)
        call_c(self.written, self.name, self.one, wanted)
        for kind, call in variants.items():
            moved = on_device(given)
            waited(partial(call, *moved.values()))
            self.check(f"{kind}_small", moved, wanted)
        on_threads = copies(given)
        call_c(self.threads, self.name, self.one, on_threads)
        self.check("threads_small", on_threads, wanted)

    def library(self, moved: dict[str, Any]) -> None:
        """Time the CuPy calls that compute the same, where a few do."""
        call = by_library(self.name, moved, self.one)
        if call is not None:
            call()
            self.found["library_s"] = statistics.median(waited(call) for _ in range(5))

    def by_hand(self, given: dict[str, Any], wanted: dict[str, Any]) -> None:
        """Compare and time the kernels that were written by hand."""
        from kleene.codegen import runtime

        launch = runtime.Launcher((ROOT / "benchmarks" / "kernels_by_hand.cu").read_text())
        moved = on_device(given)
        call = hand_written(self.name, moved, launch)
        first = waited(call)
        self.check("hand", moved, wanted)
        self.found["hand_s"] = statistics.median(several(partial(waited, call), first))

    def ranked(self) -> None:
        """Compare and time every order of loops and shape of blocks."""
        sizes = RANKED_SIZES.get(self.name, SIZES[self.name])
        given = arguments(self.one, sizes)
        wanted = copies(given)
        call_c(self.threads, self.name, self.one, wanted)
        given, wanted = on_device(given), on_device(wanted)
        self.found["ranked_sizes"] = sizes
        times = self.found["ranked"] = {}
        for kind in self.one["variants"]:
            if kind in ("best", "naive"):
                continue
            call = self.called(kind)
            moved = on_device(given)
            first = waited(partial(call, *moved.values()))
            if not difference(moved, wanted) < BOUND:
                raise ValueError(f"{self.name}: {kind} differs from C")
            again = [waited(partial(call, *moved.values())) for _ in range(1 if first > 0.3 else 5)]
            times[kind] = statistics.median(again)


def free() -> None:
    """Give the GPU's memory back."""
    import cupy

    cupy.get_default_memory_pool().free_all_blocks()


def by_kernel(call: Any, moved: dict[str, Any]) -> dict[str, Any]:
    """Return of each kernel how often it is launched, and the GPU's seconds, by some launches."""
    import cupy

    run = call.run()
    real = run._launch
    n_launches: dict[str, int] = {}
    taken: dict[str, list[Any]] = {}

    def launch(name: str, grid: Any, block: Any, args: Any, together: bool = False) -> None:
        n = n_launches[name] = n_launches.get(name, 0) + 1
        if n & (n - 1) and n % 500 and n > 8:
            real(name, grid, block, args, together)
            return
        ends = (cupy.cuda.Event(), cupy.cuda.Event())
        ends[0].record()
        real(name, grid, block, args, together)
        ends[1].record()
        taken.setdefault(name, []).append((ends, tuple(grid), tuple(block)))

    run._launch = launch
    waited(lambda: call(*moved.values()))
    run._launch = real
    found = {}
    for name, ones in taken.items():
        times = [cupy.cuda.get_elapsed_time(*ends) / 1e3 for ends, _, _ in ones]
        found[name] = {
            "n_launches": n_launches[name],
            "median_s": statistics.median(times),
            "times": times[:12],
            "grid": ones[-1][1],
            "block": ones[-1][2],
        }
    return found


def run(folder: Path, out: Path, parts: set[str], only: set[str]) -> None:
    """Check and time everything on the GPU."""
    import cupy

    programs = json.loads((folder / "programs.json").read_text())
    libraries = [ctypes.CDLL(str(folder / f"{stem}.so")) for stem in ("written", "threads")]
    device = cupy.cuda.runtime.getDeviceProperties(0)
    report: dict[str, Any] = {"device": device["name"].decode(), "programs": {}}
    report["where"] = harness.machine()
    if "machine" in parts:
        from kleene.offload.plans import machine

        start = time.perf_counter()
        report["machine"] = asdict(machine.measured(ctypes.CDLL(str(folder / "speeds.so"))))
        print("machine", time.perf_counter() - start, json.dumps(report["machine"]), flush=True)
    for name, one in programs.items():
        if only and name not in only:
            continue
        start = time.perf_counter()
        it = Measured(folder, name, one, libraries)
        report["programs"][name] = it.found
        try:
            it.measure(parts)
        except (ArithmeticError, MemoryError, RuntimeError, ValueError) as error:
            it.found["error"] = f"{type(error).__name__}: {str(error)[:600]}"
        free()
        shown = {k: v for k, v in it.found.items() if k not in ("kernels", "best_times")}
        print(f"{time.perf_counter() - start:.1f} s", name, json.dumps(shown), flush=True)
        out.write_text(json.dumps(report, indent=1))
    if failed := [name for name, one in report["programs"].items() if "error" in one]:
        sys.exit(f"failed: {', '.join(failed)}")

"""How fast are generated kernels, beside C, kernels written by hand, cuBLAS and a naive mapping?

    python benchmarks/kernels_cuda.py write FOLDER             where kleene and its packages are
    python benchmarks/kernels_cuda.py run FOLDER OUT.json ...  where the GPU is: NumPy, CuPy suffice
    python benchmarks/kernels_cuda.py table OUT.json ...       predicts, and writes the results

`write` generates the thirty computations and six more (kernels, the Python that launches them, the
C compiled for any x86-64 with AVX2), the same with the outermost parallel loop alone on the grid,
and some with every order of loops on the grid and several shapes of blocks. `run` compares each
with the C as it is written, and times it. `--only best,hand` chooses what to time, `--programs
gemm,atax` what to write or run.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import harness
import numpy as np

ROOT = Path(__file__).parents[1]
PROGRAMS = ROOT / "tests" / "programs" / "polybench"
SIZES: dict[str, tuple[int, ...]] = {  # integer parameters in their order
    "two_products": (2048,) * 4,
    "three_products": (2048,) * 5,
    "adi": (10, 1024),
    "atax": (8192, 8192),
    "bicg": (8192, 8192),
    "cholesky": (400,),
    "correlation": (2048, 2048),
    "covariance": (2048, 2048),
    "deriche": (4096, 4096),
    "doitgen": (64, 64, 256),
    "durbin": (4000,),
    "fdtd_2d": (50, 4096, 4096),
    "floyd_warshall": (1024,),
    "gemm": (4096, 4096, 4096),
    "gemver": (8192,),
    "gesummv": (8192,),
    "gramschmidt": (1024, 512),
    "heat_3d": (50, 256),
    "jacobi_1d": (200, 4_000_000),
    "jacobi_2d": (100, 4096),
    "lu": (400,),
    "ludcmp": (400,),
    "mvt": (8192,),
    "nussinov": (1024,),
    "seidel_2d": (4, 1024),
    "symm": (1024, 1024),
    "syr2k": (2048, 2048),
    "syrk": (2048, 2048),
    "trisolv": (4000,),
    "trmm": (1024, 1024),
    "matrix_add": (8192,),
    "prefix_sums": (1 << 26,),
    "greatest": (8192,),
    "place": (8192,),
    "histogram": (1 << 26,),
    "convolve": (4096, 4096, 5),
}
# One core would need more than some seconds for these: it gets smaller ones.
ONE_CORE: dict[str, tuple[int, ...]] = {
    "two_products": (512,) * 4,
    "three_products": (512,) * 5,
    "correlation": (512, 512),
    "covariance": (512, 512),
    "gemm": (1024, 1024, 1024),
    "syr2k": (768, 768),
    "syrk": (768, 768),
    "heat_3d": (10, 256),
    "fdtd_2d": (10, 4096, 4096),
    "jacobi_1d": (40, 4_000_000),
    "jacobi_2d": (20, 4096),
}
RANKED = ("matrix_add", "gemm", "syrk", "jacobi_2d", "heat_3d", "gesummv", "floyd_warshall")
RANKED_SIZES: dict[str, tuple[int, ...]] = {
    "gemm": (1024, 1024, 1024),
    "syrk": (1024, 1024),
    "jacobi_2d": (10, 4096),
    "heat_3d": (4, 256),
    "floyd_warshall": (512,),
}
BLOCKS = {2: [(32, 8), (16, 16), (64, 4), (128, 2)], 3: [(32, 4, 2), (64, 2, 2), (16, 4, 4)]}
BY_HAND = ("gemm", "jacobi_2d", "atax", "correlation", "floyd_warshall", "convolve")
SMALL = 37
BUDGET_S = 1.5  # of the repeats of one variant of one computation
BOUND = 1e-6  # of a difference, relative to the largest element: durbin's is the greatest
ADDED = {  # besides the thirty
    "matrix_add": """
void matrix_add(int n, const int a[restrict n][n], const int b[restrict n][n],
                int c[restrict n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      c[i][j] = a[i][j] + b[i][j];
}
""",
    "prefix_sums": """
void prefix_sums(int n, const int *restrict a, int *restrict b) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    s += a[i];
    b[i] = s;
  }
}
""",
    "greatest": """
void greatest(int n, const double a[restrict n][n], double *restrict most) {
  double m = a[0][0];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (a[i][j] > m) m = a[i][j];
  most[0] = m;
}
""",
    "place": """
void place(int n, const double a[restrict n][n], int *restrict at) {
  double m = a[0][0];
  int row = 0, column = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (a[i][j] > m) {
        m = a[i][j];
        row = i;
        column = j;
      }
  at[0] = row;
  at[1] = column;
}
""",
    "histogram": """
void histogram(int n, const int *restrict keys, int *restrict counts) {
  for (int i = 0; i < n; i++) counts[keys[i]]++;
}
""",
}
N_BINS = 256  # of the histogram
PARTS = ["small", "best", "kernels", "naive", "threads", "core", "library", "transfers", "hand"]
PARTS += ["ranked", "calls"]


# Where kleene is


def functions_of(folder: Path) -> list[tuple[Path, Any, Any]]:
    """Return the file, the tree and the verdicts of every computation."""
    from kleene.frontends.c.loops import read
    from kleene.frontends.c.source import Source
    from kleene.offload.kernels import Kernels

    files = sorted(PROGRAMS.glob("*.c"))
    for name, text in ADDED.items():
        files.append(folder / f"{name}.c")
        files[-1].write_text(text)
    files.append(ROOT / "examples" / "loops" / "convolution.c")
    units = read([Source(str(one), "c") for one in files])
    verdicts = Kernels(("size > 0",)).verdicts_on(units[-1:]).functions
    verdicts = [*Kernels().verdicts_on(units[:-1]).functions, *verdicts]
    by_name = {one.table.function: one for one in verdicts}
    found = []
    for file, unit in zip(files, units, strict=True):
        (function,) = unit.functions
        found.append((file, function, by_name[function.name]))
    return found


def orders_of(plan: Any) -> list[Any]:
    """Return a plan with its kernels' axes in every order on x, y and z."""
    from kleene.codegen.plan import HostIf, HostLoop, Kernel

    def changed(steps: Any, number: int) -> Any:
        found = []
        for one in steps:
            if isinstance(one, Kernel) and len(one.axes) > 1:
                orders = list(itertools.permutations(range(len(one.axes))))
                one = replace(one, mapping=orders[number % len(orders)])
            elif isinstance(one, HostLoop):
                one = replace(one, steps=changed(one.steps, number))
            elif isinstance(one, HostIf):
                then, otherwise = (changed(part, number) for part in (one.then, one.otherwise))
                one = replace(one, then=then, otherwise=otherwise)
            found.append(one)
        return tuple(found)

    n_axes = max(len(one.axes) if isinstance(one, Kernel) else 1 for one in plan.kernels())
    count = len(list(itertools.permutations(range(n_axes))))
    return [replace(plan, steps=changed(plan.steps, n)) for n in range(count)]


def variants_of(plan: Any) -> dict[str, tuple[Any, tuple[int, ...] | None, bool]]:
    """Return plans by name, each with the shape of its blocks and whether sums are by tiles."""
    found: dict[str, tuple[Any, tuple[int, ...] | None, bool]] = {}
    source = set()
    for order in orders_of(plan):
        axes = max((one.mapping for one in order.kernels() if hasattr(one, "mapping")), key=len)
        if axes in source:
            continue
        source.add(axes)
        name = "order " + "".join(map(str, axes))
        from kleene.codegen import python

        text = python.source(order)
        if re.search(r"run\.(tiles|rows|columns|resident)\(", text):
            found[f"{name}, tiles"] = (order, None, True)
        for block in BLOCKS.get(len(axes), [None]):
            shape = "" if block is None else " " + "x".join(map(str, block))
            found[f"{name}, threads{shape}"] = (order, block, False)
    return found


def write(folder: Path, only: set[str]) -> None:
    """Generate everything into a folder, or `only` some computations."""
    from kleene.codegen import cuda, python, threads
    from kleene.codegen.text import extents_of
    from kleene.offload.plans import plan_of
    from kleene.offload.plans.call import parameters_of
    from kleene.offload.plans.machine import host_source

    folder.mkdir(parents=True, exist_ok=True)
    described: dict[str, Any] = {}
    plans, texts = [], []
    started = time.perf_counter()
    for file, function, verdicts in functions_of(folder):
        name = function.name
        if only and name not in only:
            continue
        start = time.perf_counter()
        plan = plan_of(function, verdicts)
        kinds = {"best": (plan, None, True), "naive": (naive_of(function, verdicts), None, False)}
        if name in RANKED:
            kinds |= variants_of(plan)
        written = {}
        for kind, (one, block, is_tiled) in kinds.items():
            stem = f"{name}_{len(written)}"
            (folder / f"{stem}.cu").write_text(cuda.source([one]))
            (folder / f"{stem}.py").write_text(python.source(one))
            written[kind] = {"stem": stem, "block": block, "is_tiled": is_tiled}
        generate_s = time.perf_counter() - start
        rows = {}
        for one in function.parameters:
            if one.type.kind == "pointer" and one.type.target is not None:
                extents = extents_of(one.type.target)
                rows[one.name] = [
                    e if isinstance(e, int) else e.location.symbol.name for e in extents
                ]
        plans.append(plan)
        texts.append(file.read_text())
        described[name] = {
            "file": file.stem,
            "parameters": parameters_of(plan),
            "overlaps": plan.overlaps,
            "rows": rows,
            "variants": written,
            "generate_s": generate_s,
            "axes": max((len(k.axes) for k in plan.kernels() if hasattr(k, "axes")), default=1),
        }
    print(f"{len(described)} programs, {time.perf_counter() - started:.1f} s")
    from kleene.offload.plans.files import file_of

    for one in plans:
        if one.function == "gemm":
            (folder / "gemm_file.py").write_text(file_of([one], "python")[0])
            described["gemm"]["first_generate_s"] = first_generated()
    (folder / "threads.c").write_text(threads.source(plans))
    (folder / "written.c").write_text("\n".join(texts))
    (folder / "speeds.c").write_text(host_source())
    for stem in ("threads", "written", "speeds"):
        compile_c(folder, stem)
    (folder / "programs.json").write_text(json.dumps(described, indent=1))


def first_generated() -> float:
    """Return the seconds from a C file to its CUDA in a new process, imports included."""
    code = "import kleene; assert kleene.load({!r}).kernels().gemm.cuda"
    command = [sys.executable, "-c", code.format(str(PROGRAMS / "gemm.c"))]
    times = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run(command, check=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


FIRST_CALL = """
import sys, time
start = time.perf_counter()
sys.path.insert(0, sys.argv[1])
import numpy as np
from gemm_file import gemm
n = 1024
a, b, c = np.ones((n, n)), np.ones((n, n)), np.zeros((n, n))
gemm(n, n, n, 1.0, 0.0, c, a, b)
assert (c == n).all()
print(time.perf_counter() - start)
"""


def first_call(folder: Path) -> float:
    """Return the seconds from a generated file to its first result in a new process.

    Imports are included, and the compilation: CuPy's folder of compiled kernels is empty.
    """
    with tempfile.TemporaryDirectory() as empty:
        command = [sys.executable, "-c", FIRST_CALL, str(folder)]
        given = {**os.environ, "CUPY_CACHE_DIR": empty}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=given)
    return float(done.stdout)


def naive_of(function: Any, verdicts: Any) -> Any:
    """Return the plan with the outermost parallel loop of each nest alone on the grid."""
    from kleene.offload.plans import plan_of

    return plan_of(function, verdicts, n_axes=1)


def compile_c(folder: Path, stem: str) -> None:
    """Compile a file as a library for any machine with AVX2."""
    from kleene.kernels.launch.host_build import compiler

    command = [str(compiler()), "cc", "-target", "x86_64-linux-gnu.2.17", "-mcpu=x86_64_v3"]
    command += ["-O3", "-shared", "-fPIC", "-w", "-fno-sanitize=all", str(folder / f"{stem}.c")]
    command += ["-o", str(folder / f"{stem}.so"), "-lm", "-lpthread"]
    subprocess.run(command, check=True)


# Where the GPU is


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


def hand_written(name: str, m: dict[str, Any], launch: Any) -> Callable[[], None]:
    """Return the call of kernels that were written by hand."""
    i32, p = np.int32, m

    def parts(count: int, size: int) -> int:
        return -(-count // size)

    def gemm() -> None:
        ni, nj, nk = m["ni"], m["nj"], m["nk"]
        sizes = (i32(ni), i32(nj), i32(nk), np.float64(m["alpha"]), np.float64(m["beta"]))
        launch("gemm", (parts(nj, 64), parts(ni, 128)), (256,), (*sizes, p["c"], p["a"], p["b"]))

    def jacobi_2d() -> None:
        n = m["n"]
        grid = (parts(n - 2, 32), parts(n - 2, 8))
        for _ in range(m["steps"]):
            launch("jacobi", grid, (32, 8), (i32(n), p["a"], p["b"]))
            launch("jacobi", grid, (32, 8), (i32(n), p["b"], p["a"]))

    def atax() -> None:
        rows, columns = m["m"], m["n"]
        m["y"][:columns] = 0
        sizes = (i32(rows), i32(columns))
        launch("atax_rows", (parts(rows, 8),), (256,), (*sizes, p["a"], p["x"], p["ax"]))
        grid = (parts(columns, 256), parts(rows, 128))
        launch("atax_columns", grid, (256,), (*sizes, p["a"], p["ax"], p["y"]))

    def correlation() -> None:
        columns, rows = m["m"], m["n"]
        m["mean"][:columns] = 0
        m["deviation"][:columns] = 0
        sizes, grid = (i32(columns), i32(rows)), (parts(columns, 128), parts(rows, 128))
        args = (p["data"], p["mean"])
        launch("column_sums", grid, (128,), (*sizes, i32(0), *args, p["mean"]))
        launch("column_sums", grid, (128,), (*sizes, i32(1), *args, p["deviation"]))
        grid = (parts(columns, 32), parts(rows, 8))
        args = (*sizes, p["data"], p["mean"], p["deviation"])
        launch("standardise", grid, (32, 8), args)
        launch("finish", (parts(columns, 128),), (128,), (*sizes, p["mean"], p["deviation"]))
        n_tiles = parts(columns, 64)
        launch("products", (n_tiles, n_tiles), (256,), (*sizes, p["data"], p["corr"]))

    def floyd_warshall() -> None:
        n = m["n"]
        grid = (parts(n, 32), parts(n, 8))
        for k in range(n):
            launch("floyd_round", grid, (32, 8), (i32(n), i32(k), p["path"]))

    def convolve() -> None:
        height, width, size = m["height"], m["width"], m["size"]
        grid = (parts(width - size + 1, 32), parts(height - size + 1, 8))
        sizes = (i32(height), i32(width), i32(size))
        launch("convolve", grid, (32, 8), (*sizes, p["picture"], p["filter"], p["out"]))

    calls = (gemm, jacobi_2d, atax, correlation, floyd_warshall, convolve)
    return {one.__name__: one for one in calls}[name]


def by_library(name: str, m: dict[str, Any], one: dict[str, Any]) -> Any:
    """Return the CuPy calls that compute the same, if a few do."""
    import cupy

    shaped = {}
    for own, kind, _ in one["parameters"]:
        if kind == "array":
            extents = [m[e] if isinstance(e, str) else int(e) for e in one["rows"][own]]
            shaped[own] = m[own] if not extents else m[own].reshape(-1, *extents)
    s = type("Shaped", (), shaped)
    calls = {
        "gemm": lambda: 1.2 * (s.a[: m["ni"]] @ s.b[: m["nk"]]) + 1.2 * s.c[: m["ni"]],
        "two_products": lambda: 1.2 * (s.a @ s.b) @ s.c + 1.2 * s.d,
        "atax": lambda: s.a[: m["m"]].T @ (s.a[: m["m"]] @ s.x[: m["n"]]),
        "bicg": lambda: (s.a[: m["n"]].T @ s.r[: m["n"]], s.a[: m["n"]] @ s.p[: m["m"]]),
        "mvt": lambda: (s.a @ s.y1, s.a.T @ s.y2),
        "gesummv": lambda: 1.2 * (s.a @ s.x) + 1.2 * (s.b @ s.x),
        "syrk": lambda: 1.2 * (s.a @ s.a.T) + 1.2 * s.c,
        "syr2k": lambda: 1.2 * (s.a @ s.b.T + s.b @ s.a.T) + 1.2 * s.c,
        "covariance": lambda: cupy.cov(s.data, rowvar=False),
        "correlation": lambda: cupy.corrcoef(s.data, rowvar=False),
        "cholesky": lambda: cupy.linalg.cholesky(s.a[: m["n"]]),
        "prefix_sums": lambda: cupy.cumsum(s.a, dtype=s.a.dtype),
        "greatest": lambda: s.a.max(),
        "place": lambda: s.a.argmax(),
        "histogram": lambda: cupy.bincount(s.keys, minlength=N_BINS),
    }
    return calls.get(name)


def calls(folder: Path, programs: dict[str, Any], libraries: Any) -> dict[str, Any]:
    """Return what calls cost over their kernels, and how long a first call takes."""
    import cupy

    found: dict[str, Any] = {
        "first_generate_s": programs["gemm"]["first_generate_s"],
        "first_call_s": first_call(folder),
    }
    for name in ("gesummv", "jacobi_1d", "gemm"):
        sizes = {"gesummv": (64,), "jacobi_1d": (1, 64), "gemm": (48, 48, 48)}[name]
        one = Measured(folder, name, programs[name], libraries)
        given = on_device(arguments(one.one, sizes))
        start = time.perf_counter()
        call = one.called("best")
        waited(partial(call, *given.values()))
        first_s = time.perf_counter() - start
        args = tuple(given.values())
        ends = (cupy.cuda.Event(), cupy.cuda.Event())
        wall, device = [], []
        for _ in range(200):
            cupy.cuda.Device().synchronize()
            start = time.perf_counter()
            call(*args)
            cupy.cuda.Device().synchronize()
            wall.append(time.perf_counter() - start)
        known = call.arguments.prepared(args)
        for _ in range(50):
            cupy.cuda.Device().synchronize()
            ends[0].record()
            call.steps(call.run(), *known.given(args))
            ends[1].record()
            ends[1].synchronize()
            device.append(cupy.cuda.get_elapsed_time(*ends) / 1e3)
        start = time.perf_counter()
        for _ in range(1000):
            call(*args)
        queued = (time.perf_counter() - start) / 1000
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        for _ in range(1000):
            call.arguments.prepared(args)
        checks = (time.perf_counter() - start) / 1000
        found[name] = {
            "first_s": first_s,
            "wall_s": statistics.median(wall),
            "kernels_s": statistics.median(device),
            "call_s": queued,
            "checks_s": checks,
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
    if "calls" in parts:
        report["calls"] = calls(folder, programs, libraries)
        print("calls", json.dumps(report["calls"]), flush=True)
    for name, one in programs.items():
        if only and name not in only:
            continue
        start = time.perf_counter()
        it = Measured(folder, name, one, libraries)
        report["programs"][name] = it.found
        try:
            it.measure(parts)
        except Exception as error:
            it.found["error"] = f"{type(error).__name__}: {str(error)[:600]}"
        free()
        shown = {k: v for k, v in it.found.items() if k not in ("kernels", "best_times")}
        print(f"{time.perf_counter() - start:.1f} s", name, json.dumps(shown), flush=True)
        out.write_text(json.dumps(report, indent=1))
    if failed := [name for name, one in report["programs"].items() if "error" in one]:
        sys.exit(f"failed: {', '.join(failed)}")


# The results


def predictions(report: dict[str, Any]) -> dict[str, Any]:
    """Return what the model says of every program, and of the ranked variants."""
    from kleene.offload.plans import plan_of
    from kleene.offload.plans.cost import predict
    from kleene.offload.plans.machine import H200

    machine = H200  # these speeds are from a run of this benchmark
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _, function, verdicts in functions_of(Path(folder)):
            measured = report["programs"].get(function.name)
            if measured is None or "best_s" not in measured:
                continue
            plan = plan_of(function, verdicts)

            def sizes(numbers: Any, plan: Any = plan) -> dict[str, float]:
                whole = iter(numbers)
                kinds = [one for one in plan.parameters if one.type.kind in ("int", "float")]
                return {o.name: next(whole) if o.type.kind == "int" else 1.2 for o in kinds}

            told = predict(plan, sizes(measured["sizes"]), machine)
            found[function.name] = {
                "kernels_s": told.kernels_s,
                "transfer_s": told.transfer_s,
                "core_s": told.core_s,
                "threads_s": told.threads_s,
                "pays": told.pays,
                "axes": max((len(k.axes) for k in plan.kernels() if hasattr(k, "axes")), default=1),
                "bounds": {one.name: one.bound for one in told.kernels},
            }
            if "ranked" in measured:
                ranked = found[function.name]["ranked"] = {}
                for kind, (one, block, is_tiled) in variants_of(plan).items():
                    told = predict(
                        one,
                        sizes(measured["ranked_sizes"]),
                        machine,
                        least_tiled=None if is_tiled else 1 << 62,
                        blocks={len(block): block} if block else None,
                    )
                    # Launches that the host is too slow for are told apart by the GPU's time.
                    ranked[kind] = told.kernels_s + 0.01 * sum(k.seconds for k in told.kernels)
    return found


def fastest_cpu(one: dict[str, Any]) -> float:
    """Return the time of C on all cores, or on one if that is faster and the sizes are the same."""
    times = [one["threads_s"]] if "threads_s" in one else []
    if one.get("core_sizes") == one["sizes"]:
        times.append(one["core_s"])
    return min(times)


def summary(report: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers that the question asks for."""
    done = {n: one for n, one in report["programs"].items() if n in told}
    bench = {n: one for n, one in done.items() if n not in (*ADDED, "convolve")}
    found: dict[str, Any] = {"programs": len(bench), "right": len(bench)}
    ratios = [
        one["naive_s"] / one["best_s"]
        for name, one in bench.items()
        if "naive_s" in one and told[name]["axes"] > 1
    ]
    if ratios:
        found["naive_over_best"] = statistics.geometric_mean(ratios)
        found["naive_over_best_programs"] = len(ratios)
    faster = [one["threads_s"] / one["best_s"] for one in bench.values() if "threads_s" in one]
    if faster:
        found["threads_over_best"] = statistics.geometric_mean(faster)
    found["hand_over_best"] = {
        n: one["hand_s"] / one["best_s"] for n, one in done.items() if "hand_s" in one
    }
    if "gemm" in done:
        flops = 2 * 4096**3 / done["gemm"]["best_s"]
        found["gemm_flops"] = flops
        found["gemm_share_of_peak"] = flops / report["machine"]["double_flops"]
        found["gemm_share_of_data_sheet"] = flops / 33.5e12
        found["gemm_library_flops"] = 2 * 4096**3 / done["gemm"]["library_s"]
    if "ranked" in done.get("matrix_add", {}):
        times = done["matrix_add"]["ranked"]
        default = times["order 01, threads 32x8"]
        found["matrix_add_default_over_best"] = default / done["matrix_add"]["best_s"]
    errors = {n: told[n]["kernels_s"] / one["best_s"] - 1 for n, one in done.items()}
    found["predicted_median_error"] = statistics.median(abs(e) for e in errors.values())
    found["predicted_errors"] = errors
    answers = {
        n: told[n]["pays"] == (one["transfers_s"] < fastest_cpu(one))
        for n, one in done.items()
        if "transfers_s" in one
    }
    found["pays_right"] = sum(answers.values()) / max(len(answers), 1)
    found["pays_wrong"] = [n for n, is_right in answers.items() if not is_right]
    found["ranked"] = {n: ranking(one, told[n]) for n, one in done.items() if "ranked" in one}
    found["calls"] = report.get("calls")
    return found


def ranking(one: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Return how well variants were ordered: those that differ by a tenth, and the first one."""
    times, predicted = one["ranked"], told["ranked"]
    pairs = [
        (predicted[a] < predicted[b]) == (times[a] < times[b])
        for a, b in itertools.combinations(times, 2)
        if abs(times[a] / times[b] - 1) > 0.1
    ]
    first = min(times, key=lambda kind: predicted[kind])
    return {
        "variants": len(times),
        "pairs": len(pairs),
        "right": sum(pairs),
        "chosen_over_best": times[first] / min(times.values()),
    }


def table(*outs: Path) -> None:
    """Predict, and write the results of one or several runs beside the other benchmarks'."""
    reports = [json.loads(one.read_text()) for one in outs]
    programs = {n: one for report in reports for n, one in report["programs"].items()}
    report = {**reports[0], "programs": dict(sorted(programs.items()))}
    told = predictions(report)
    rows = harness.Table(
        "kernels_cuda",
        "How fast are generated kernels, beside C on 16 threads? (arrays on the GPU)",
        machine=report["where"],
    )
    for name, one in report["programs"].items():
        if name not in told:
            continue
        guess = told[name]
        extra: dict[str, Any] = {
            "predicted": harness.seconds(guess["kernels_s"]),
            "with transfers": harness.seconds(one["transfers_s"]),
            "predicted with transfers": harness.seconds(guess["kernels_s"] + guess["transfer_s"]),
            "pays, predicted": "yes" if guess["pays"] else "no",
            "one core": _core(one),
        }
        for label, key in (
            ("naive mapping", "naive_s"),
            ("CuPy", "library_s"),
            ("by hand", "hand_s"),
        ):
            extra[label] = harness.seconds(one[key]) if key in one else "-"
        times = one["best_times"]
        later = times[1:] or times
        ours = harness.Measurement(times[0], statistics.median(later), min(later), max(later))
        c = one.get("threads_s")
        theirs = None if c is None else harness.Measurement(c, c, c, c)
        rival = None if c is None else "C, 16 threads"
        size = " x ".join(map(str, one["sizes"]))
        rows.row(
            input=name, size=size, ours=ours, rival=rival, theirs=theirs,
            agree=one["best_difference"] < BOUND, **extra,
        )  # fmt: skip
    rows.save()
    found = summary(report, told)
    (harness.RESULTS / "kernels_cuda_summary.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps({k: v for k, v in found.items() if k != "calls"}, indent=1))


def _core(one: dict[str, Any]) -> str:
    if "core_s" not in one:
        return "-"
    text = harness.seconds(one["core_s"])
    sizes = " x ".join(map(str, one["core_sizes"]))
    return text if one["core_sizes"] == one["sizes"] else f"{text} for {sizes}"


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["write", "run", "table"])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--programs", default="")
    given = parser.parse_args()
    only = {one for one in given.programs.split(",") if one}
    if given.mode == "write":
        write(*given.paths, only)
    elif given.mode == "run":
        run(*given.paths, set(given.only.split(",")), only)
    else:
        table(*given.paths)


if __name__ == "__main__":
    main()

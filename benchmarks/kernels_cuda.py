"""How fast are generated kernels, beside the C on threads, cuBLAS, and the naive mapping?

    python benchmarks/kernels_cuda.py write FOLDER        where kleene and its packages are
    python benchmarks/kernels_cuda.py run FOLDER OUT.json where the GPU is: NumPy and CuPy suffice

`write` generates the thirty computations (kernels, the Python that launches them, the C compiled
for any x86-64 with AVX2) and the same with the outermost parallel loop alone on the grid. `run`
compares each with the C as it is written on small sizes, with the C on threads on real ones, and
times it.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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
}
SMALL = 37
BUDGET_S = 6.0  # of one variant of one computation


def write(folder: Path) -> None:
    """Generate everything into a folder."""
    from kleene.codegen import cuda, python, threads
    from kleene.codegen.text import element_of, extents_of
    from kleene.frontends.c.loops import read
    from kleene.frontends.c.source import Source
    from kleene.offload.kernels import Kernels
    from kleene.offload.plans import plan_of
    from kleene.offload.plans.call import parameters_of
    from kleene.offload.plans.cost import predict

    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(PROGRAMS.glob("*.c"))
    described: dict[str, Any] = {}
    plans = []
    units = read([Source(str(one), "c") for one in files])
    by_name = {one.table.function: one for one in Kernels().verdicts_on(units).functions}
    for file, unit in zip(files, units, strict=True):
        (function,) = unit.functions
        name = function.name
        for variant, n_axes in (("best", 3), ("naive", 1)):
            plan = plan_of(function, by_name[name], n_axes=n_axes)
            (folder / f"{name}_{variant}.cu").write_text(cuda.source([plan]))
            (folder / f"{name}_{variant}.py").write_text(python.source(plan))
            if variant == "best":
                plans.append(plan)
        shapes = {}
        for one in function.parameters:
            if one.type.kind == "pointer" and one.type.target is not None:
                extents = extents_of(one.type.target)
                shapes[one.name] = [e.location.symbol.name for e in extents]
                element_of(one.type)
        numbers = iter(SIZES[name])
        sizes = {
            one.name: next(numbers) if one.type.kind == "int" else 1.2
            for one in function.parameters
            if one.type.kind in ("int", "float")
        }
        predicted = predict(plans[-1], sizes)
        described[name] = {
            "predicted": {
                "kernels_s": predicted.kernels_s,
                "transfer_s": predicted.transfer_s,
                "cpu_s": predicted.cpu_s,
                "pays": predicted.pays,
            },
            "file": file.stem,
            "parameters": parameters_of(plans[-1]),
            "rows": shapes,
            "axes": max(
                (len(k.axes) for k in plans[-1].kernels() if hasattr(k, "axes")), default=1
            ),
        }
    (folder / "threads.c").write_text(threads.source(plans))
    (folder / "written.c").write_text("\n".join(one.read_text() for one in files))
    from kleene.kernels.launch.host_build import compiler

    for stem in ("threads", "written"):
        target = ["-target", "x86_64-linux-gnu.2.17", "-mcpu=x86_64_v3"]
        command = [str(compiler()), "cc", *target, "-O3", "-shared", "-fPIC", "-w"]
        command += [
            "-fno-sanitize=all",
            str(folder / f"{stem}.c"),
            "-o",
            str(folder / f"{stem}.so"),
        ]
        subprocess.run([*command, "-lm", "-lpthread"], check=True)
    (folder / "programs.json").write_text(json.dumps(described, indent=1))
    print(f"{len(described)} programs in {folder}")


def load(path: Path) -> Any:
    """Return a Python file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
                n *= numbers[extent]
            if np.dtype(dtype).kind == "f":
                given[name] = (rng.random(n) + 0.5).astype(dtype)
            else:
                given[name] = rng.integers(0, 4, n).astype(dtype)
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


class Variant:
    """One computation's kernels on the GPU."""

    def __init__(self, folder: Path, name: str, variant: str, runtime: Any) -> None:
        import cupy

        start = time.perf_counter()
        self.module = cupy.RawModule(
            code=(folder / f"{name}_{variant}.cu").read_text(), options=("-std=c++17",)
        )
        kernels: dict[str, Any] = {}

        def launch(kernel: str, grid: Any, block: Any, args: Any, together: bool = False) -> None:
            found = kernels.get(kernel)
            if found is None:
                found = kernels[kernel] = self.module.get_function(kernel)
            if together:
                found.kernel(grid, block, tuple(args), 0, None, True)
            else:
                found(grid, block, args)

        self.run = runtime.Run(launch, cupy)
        if variant == "naive":
            self.run.least_tiled = 1 << 62  # neither tiles nor warps
            self.run.most_resident = -1  # nor loops as one launch
        names = dict(runtime.NAMESPACE)
        exec((folder / f"{name}_{variant}.py").read_text(), names)
        self.sections, self.steps = names["sections"], names["steps"]
        self.compile_s = time.perf_counter() - start

    def on_device(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return arguments with arrays on the GPU."""
        import cupy

        return {n: cupy.asarray(v) if isinstance(v, np.ndarray) else v for n, v in given.items()}

    def timed(self, moved: dict[str, Any]) -> float:
        """Return the seconds of one call whose arrays are on the GPU."""
        import cupy

        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        self.steps(self.run, *moved.values())
        cupy.cuda.Device().synchronize()
        return time.perf_counter() - start


def difference(given: dict[str, Any], wanted: dict[str, Any]) -> float:
    """Return the greatest difference: relative to the array's largest element; whole ones by 1."""
    worst = 0.0
    for name, value in wanted.items():
        if not isinstance(value, np.ndarray):
            continue
        other = given[name]
        other = other if isinstance(other, np.ndarray) else other.get()
        if value.dtype.kind == "f":
            with np.errstate(invalid="ignore", over="ignore"):
                apart = np.nan_to_num(np.abs(value - other), nan=0.0, posinf=0.0)
                scale = np.nan_to_num(np.abs(value), nan=0.0, posinf=0.0).max() or 1.0
            is_same = np.isfinite(value) == np.isfinite(other)
            worst = max(worst, float(apart.max() / scale), 0.0 if is_same.all() else 1.0)
        else:
            worst = max(worst, float((value != other).any()))
    return worst


def by_library(name: str, m: dict[str, Any], one: dict[str, Any]) -> Any:
    """Return the CuPy calls that compute the same, if a few do."""
    import cupy

    shaped = {}
    for own, kind, _ in one["parameters"]:
        if kind == "array":
            extents = [m[e] for e in one["rows"][own]]
            shaped[own] = m[own] if not extents else m[own].reshape(-1, *extents)
    s = type("Shaped", (), shaped)

    def square(a: Any, n: int) -> Any:
        return a[:n]

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
        "cholesky": lambda: cupy.linalg.cholesky(square(s.a, m.get("n", 0))),
    }
    return calls.get(name)


def median_of(call: Any, first: float) -> tuple[float, int]:
    """Return the median of a few repeats within the budget, and how many."""
    n = max(1, min(5, int(BUDGET_S / max(first, 1e-4))))
    return statistics.median(call() for _ in range(n)), n


def run(folder: Path, out: Path, only: list[str]) -> None:
    """Check and time everything on the GPU."""
    import cupy

    runtime = load(ROOT / "src" / "kleene" / "codegen" / "runtime.py")
    programs = json.loads((folder / "programs.json").read_text())
    written = ctypes.CDLL(str(folder / "written.so"))
    threads = ctypes.CDLL(str(folder / "threads.so"))
    device = cupy.cuda.runtime.getDeviceProperties(0)
    report: dict[str, Any] = {"device": device["name"].decode(), "programs": {}}
    for name, one in programs.items():
        if only and name not in only:
            continue
        found: dict[str, Any] = {"sizes": SIZES[name], "predicted": one["predicted"]}
        report["programs"][name] = found
        try:
            measure_one(folder, name, one, (written, threads), runtime, found)
        except Exception as error:
            found["error"] = f"{type(error).__name__}: {str(error)[:600]}"
        cupy.get_default_memory_pool().free_all_blocks()
        print(name, json.dumps(found), flush=True)
        out.write_text(json.dumps(report, indent=1))
    ratios = [
        one["naive_s"] / one["best_s"]
        for name, one in report["programs"].items()
        if one.get("naive_s") and one.get("best_s") and programs[name]["axes"] > 1
    ]
    done = {n: one for n, one in report["programs"].items() if one.get("with_transfers_s")}
    errors = [abs(one["predicted"]["kernels_s"] / one["best_s"] - 1) for one in done.values()]
    answers = [
        one["predicted"]["pays"] == (one["with_transfers_s"] < one["threads_s"])
        for one in done.values()
    ]
    if done:
        report["predicted_median_error"] = statistics.median(errors)
        report["pays_right"] = sum(answers) / len(answers)
    if ratios:
        report["naive_over_best"] = statistics.geometric_mean(ratios)
    out.write_text(json.dumps(report, indent=1))
    if failed := [name for name, one in report["programs"].items() if "error" in one]:
        sys.exit(f"failed: {', '.join(failed)}")


def measure_one(
    folder: Path,
    name: str,
    one: dict[str, Any],
    libraries: Any,
    runtime: Any,
    found: dict[str, Any],
) -> None:
    """Fill in what is measured of one computation."""
    import cupy

    written, threads = libraries
    variants = {v: Variant(folder, name, v, runtime) for v in ("best", "naive")}
    found["compile_s"] = variants["best"].compile_s
    small = arguments(one, tuple(SMALL if n > 10 else n for n in SIZES[name]))
    wanted = copies(small)
    call_c(written, name, one, wanted)
    for variant, it in variants.items():
        moved = it.on_device(copies(small))
        it.timed(moved)
        found[f"{variant}_small_difference"] = difference(moved, wanted)
    on_threads = copies(small)
    call_c(threads, name, one, on_threads)
    found["threads_small_difference"] = difference(on_threads, wanted)
    given = arguments(one, SIZES[name])
    wanted = copies(given)
    found["threads_s"] = call_c(threads, name, one, wanted)
    for variant, it in variants.items():
        moved = it.on_device(given)
        first = it.timed(moved)
        found[f"{variant}_difference"] = difference(moved, wanted)
        found[f"{variant}_s"], found[f"{variant}_repeats"] = median_of(
            lambda it=it, moved=moved: it.timed(moved), first
        )
        found[f"{variant}_first_s"] = first
        if variant == "best":
            again = copies(given)
            sections = it.sections(*(v for v in again.values() if isinstance(v, int)))
            start = time.perf_counter()
            there = dict(again)
            for own, section in sections.items():
                there[own] = runtime.moved_in(it.run, again[own], section)
            it.steps(it.run, *there.values())
            for own, section in sections.items():
                runtime.moved_out(it.run, again[own], there[own], section)
            cupy.cuda.Device().synchronize()
            found["with_transfers_s"] = time.perf_counter() - start
            found["with_transfers_difference"] = difference(again, wanted)
            library = by_library(name, moved, one)
            if library is not None:
                library()
                times = []
                for _ in range(3):
                    cupy.cuda.Device().synchronize()
                    start = time.perf_counter()
                    library()
                    cupy.cuda.Device().synchronize()
                    times.append(time.perf_counter() - start)
                found["library_s"] = min(times)
        del moved
        cupy.get_default_memory_pool().free_all_blocks()
    wanted = copies(given)
    found["threads_s"] = min(found["threads_s"], call_c(threads, name, one, wanted))


if __name__ == "__main__":
    mode, where, *rest = sys.argv[1:]
    if mode == "write":
        write(Path(where))
    else:
        run(Path(where), Path(rest[0]), rest[1:])

"""How long does it take from a C file to its first result on a GPU, and in which parts?

    python benchmarks/kernels_first_result.py write FOLDER           where kleene's packages are
    python benchmarks/kernels_first_result.py run FOLDER OUT.json    where the GPU is
    python benchmarks/kernels_first_result.py table FOLDER OUT.json  writes the results

`write` generates from a copy of each file that no cache knows, in processes of their own whose
modules are compiled, and times the import, the bitcode (`load`), the verdicts on loops and the
generation. `run` calls what was generated in processes of their own, with no kernel compiled
before: the import of CuPy, the context, NVRTC, and the call with arrays of NumPy. Both times are
added, but for NumPy's import, which is in both: the second machine has no compiler of C, the first
no GPU. A tiny call has arrays of the GPU, of 48 elements along each dimension: its time by the
clock, until the GPU is done, less the time between events around its launches, is what a call costs
over its kernels.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import harness

ROOT = Path(__file__).parents[1]
POLYBENCH = ROOT / "tests" / "programs" / "polybench"
SQUARE, PICTURE = (1024, 1024), (2048, 2048, 3)
# The file, scalars, and shapes of arrays of ones.
PROGRAMS: dict[str, tuple[Path, list[Any], list[tuple[int, ...]]]] = {
    "gemm": (POLYBENCH / "gemm.c", [1024, 1024, 1024, 1.0, 0.0], [SQUARE] * 3),
    "convolve": (
        ROOT / "examples" / "loops" / "convolution.c",
        [2048, 2048, 5],
        [PICTURE, (5, 5), PICTURE],
    ),
    "jacobi_2d": (POLYBENCH / "jacobi-2d.c", [20, 1024], [SQUARE] * 2),
    "correlation": (
        POLYBENCH / "correlation.c",
        [1024, 1024],
        [SQUARE, SQUARE, (1024,), (1024,)],
    ),
}
N_TIMES = 5
GENERATE = """
import sys, time
times = [time.perf_counter()]
import kleene
times.append(time.perf_counter())
program = kleene.load(sys.argv[1])
times.append(time.perf_counter())
result = program.kernels()
times.append(time.perf_counter())
made = result.generated(sys.argv[2])
times.append(time.perf_counter())
print([b - a for a, b in zip(times, times[1:])])
"""
GENERATED = ["import kleene", "load", "verdicts", "generate"]
CALL = """
import json, sys, time
times = [time.perf_counter()]
sys.path.insert(0, sys.argv[1])
import numpy as np
times.append(time.perf_counter())
module = __import__(sys.argv[2] + "_file")
times.append(time.perf_counter())
import cupy
times.append(time.perf_counter())
cupy.cuda.runtime.free(0)
times.append(time.perf_counter())
call = getattr(module, sys.argv[2])
call.run()
times.append(time.perf_counter())
scalars, shapes = json.loads(sys.argv[3])
kinds = [kind for _, way, kind in call.arguments.parameters if way == "array"]
args = [*scalars, *(np.ones(shape, kind) for shape, kind in zip(shapes, kinds))]
given = time.perf_counter()
call(*args)
cupy.cuda.Device().synchronize()
ended = time.perf_counter()
call(*args)
cupy.cuda.Device().synchronize()
parts = [b - a for a, b in zip(times, times[1:])] + [ended - given, time.perf_counter() - ended]
scalars = [min(one, 48) if isinstance(one, int) else one for one in scalars]  # tiny, on the GPU
shapes = [[min(n, 48) for n in shape] for shape in shapes]
args = [*scalars, *(cupy.ones(shape, kind) for shape, kind in zip(shapes, kinds))]
known = call.arguments.prepared(args)
ends = cupy.cuda.Event(), cupy.cuda.Event()
wall, kernels = [], []
for _ in range(300):
    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    call(*args)
    cupy.cuda.Device().synchronize()
    wall.append(time.perf_counter() - start)
    ends[0].record()
    call.steps(call.run(), *known.given(args))
    ends[1].record()
    ends[1].synchronize()
    kernels.append(cupy.cuda.get_elapsed_time(*ends) / 1e3)
print(parts + [sorted(wall)[150], sorted(kernels)[150]])
"""
CALLED = [
    "import NumPy",
    "import the file",
    "import CuPy",
    "context",
    "NVRTC",
    "first call",
    "later call",
    "tiny call",
    "tiny kernels",
]


def write(folder: Path) -> None:
    """Generate every program in new processes, and write the files that are called."""
    import kleene
    from kleene.offload.plans.files import file_of

    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str((folder / "compiled").resolve())
    for name, (file, _, _) in PROGRAMS.items():
        made = kleene.load(str(file)).kernels().generated(name)
        (folder / f"{name}_file.py").write_text(file_of([made.plan], "python")[0])
        rows = []
        for number in range(N_TIMES + 1):  # the first compiles kleene's modules
            with tempfile.TemporaryDirectory() as own:
                copy = Path(own) / file.name
                copy.write_text(f"{file.read_text()}// {os.getpid()} {number}\n")
                rows.append(_printed([GENERATE, str(copy), name], environment))
        found[name] = dict(
            zip(GENERATED, map(statistics.median, zip(*rows[1:], strict=True)), strict=True)
        )
        print(name, found[name], flush=True)
    found["machine"] = harness.machine()
    (folder / "generated.json").write_text(json.dumps(found, indent=1))


def _printed(command: list[str], environment: dict[str, str]) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", *command],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def run(folder: Path, out: Path) -> None:
    """Call every program in new processes, where the GPU is."""
    found: dict[str, Any] = {"machine": harness.machine()}
    for name, (_, *call) in PROGRAMS.items():
        rows = []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as empty:
                environment = {**os.environ, "CUPY_CACHE_DIR": empty}
                rows.append(_printed([CALL, str(folder), name, json.dumps(call)], environment))
        found[name] = dict(
            zip(CALLED, map(statistics.median, zip(*rows, strict=True)), strict=True)
        )
        print(name, found[name], flush=True)
        out.write_text(json.dumps(found, indent=1))


def table(folder: Path, out: Path) -> None:
    """Write both machines' times, and their sum."""
    generated, called = (json.loads(one.read_text()) for one in (folder / "generated.json", out))
    rows = harness.Table(
        "kernels_first_result",
        "How long does it take from a C file to its first result on a GPU, in a new process?",
        machine=f"{generated['machine']} (to CUDA C++), and {called['machine']} (from there on)",
    )
    for name in PROGRAMS:
        parts = {**generated[name], **called[name]}
        later = parts.pop("later call")
        del parts["import NumPy"]  # a process that generates has imported it
        tiny, kernels = parts.pop("tiny call"), parts.pop("tiny kernels")
        total = sum(parts.values())
        rows.row(
            input=name,
            size=" x ".join(str(one) for one in PROGRAMS[name][1] if isinstance(one, int)),
            ours=harness.Measurement(total, total, total, total),
            **{one: harness.seconds(value) for one, value in parts.items()},
            **{
                "later call": harness.seconds(later),
                "tiny call (wall)": harness.seconds(tiny),
                "over its kernels (events)": harness.seconds(tiny - kernels),
            },
        )
    rows.save()


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["write", "run", "table"])
    parser.add_argument("paths", nargs="+", type=Path)
    given = parser.parse_args()
    {"write": write, "run": run, "table": table}[given.mode](*given.paths)


if __name__ == "__main__":
    main()

"""Functions nobody here wrote: each that is generated is called, and compared with the original.

    python -m tests.offload.plans.outside FILE.c ... -- -I include -D NAME=1

Every file is compiled as it is, with the flags after `--`. A function with loops that is generated
is called with small random sizes and arrays: as it is in its file, on threads, in order, and as
kernels that the host runner executes with races flagged; a second time with arrays that overlap,
through the call from Python. Each call is made in a process of its own: one in which the original
crashes tells nothing. What is wrong is listed, and the exit code is then 1.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kleene.base import tidy
from kleene.base.errors import SourceError
from kleene.codegen import cuda, python, runtime, threads
from kleene.codegen.plan import CannotError, Plan
from kleene.frontends.c.compiler import Options
from kleene.frontends.c.loops import read
from kleene.frontends.c.source import Source
from kleene.kernels import launch
from kleene.kernels.launch import api, host
from kleene.kernels.launch import compile as nvrtc
from kleene.kernels.launch.host_build import compiler
from kleene.offload.kernels import Kernels
from kleene.offload.plans import FallbackWarning, GeneratedFunction, plan_of
from kleene.offload.plans.built import compiled, written
from kleene.offload.plans.call import call_c, call_nest, parameters_of, result_of
from kleene.offload.plans.files import file_of

N_TRIALS = 6
N_ELEMENTS = 1 << 13  # of every array: sizes are small
MARGIN = 64
LIMIT_S = 20
SIZES = (0, 1, 2, 3, 5, 8, 12)
CRASHED = "the original crashes"


@dataclass
class Found:
    """What was seen of all files."""

    reasons: Counter[str] = field(default_factory=Counter)
    n_functions: int = 0
    n_parallel: int = 0
    n_compared: int = 0
    n_overlapping: int = 0
    wrong: list[str] = field(default_factory=list)


class Original:
    """The functions of a file as they are, static ones too."""

    def __init__(self, file: str, flags: list[str], plans: list[Plan], folder: Path) -> None:
        names = [plan.function for plan in plans]
        lines = [f'#include "{Path(file).resolve()}"']
        lines += [f"void *kleene_at_{name}(void) {{ return (void *){name}; }}" for name in names]
        (folder / "original.c").write_text("\n".join(lines) + "\n")
        command = [str(compiler()), "cc", "-O1", "-fwrapv", "-ffp-contract=off", "-w", "-shared"]
        command += ["-fPIC", "-fno-sanitize=all", "-fno-strict-aliasing", *flags, "original.c"]
        # What overlaps though it must not has a meaning if the compiler makes nothing of it.
        command += [f"-D{word}=" for word in ("restrict", "__restrict", "__restrict__")]
        missing: list[str] = []
        while True:
            lines = [f"char {name}[1 << 16] __attribute__((aligned(64)));" for name in missing]
            (folder / "missing.c").write_text("\n".join(lines))
            name = f"original{len(missing)}.so"
            done = tidy.run(
                [*command, "missing.c", "-o", name, "-Wl,-z,lazy", "-lm"], cwd=str(folder)
            )
            if done.returncode:
                raise SourceError(None, "c/compile", done.stderr.decode(errors="replace")[:500])
            try:
                self._library = ctypes.CDLL(str(folder / name), os.RTLD_LAZY)
                return
            except OSError as error:  # a variable of another file: zeros stand for it
                told = re.search(r"undefined symbol: (\w+)$", str(error))
                if told is None or len(missing) > 20:
                    raise SourceError(None, "c/compile", str(error)) from None
                missing.append(told[1])

    def function(self, plan: Plan) -> Callable[..., Any]:
        """Return a function that is called with the values of its parameters."""
        at = self._library[f"kleene_at_{plan.function}"]
        at.restype = ctypes.c_void_p
        kinds: list[Any] = []
        for _, kind, dtype in parameters_of(plan):
            is_array = kind == "array"
            as_type = np.ctypeslib.as_ctypes_type
            kinds.append(ctypes.c_void_p if is_array else as_type(np.dtype(dtype)))
        result = result_of(plan)
        answer = None if not result else np.ctypeslib.as_ctypes_type(np.dtype(result))
        return ctypes.CFUNCTYPE(answer, *kinds)(at())


def arguments(plan: Plan, seed: int) -> list[Any]:
    """Return random arguments; the types of integers up to 16 bits are used whole."""
    rng = np.random.default_rng(seed)
    is_same, is_wide = seed % 2 == 0, seed % 3 == 2
    size = int(rng.choice(SIZES))
    made: list[Any] = []
    for _, kind, dtype in parameters_of(plan):
        form = np.dtype(dtype)
        if kind == "scalar" and form.kind == "f":
            made.append(float(rng.integers(-8, 9)) / 4)
        elif kind == "scalar" and form.kind == "b":
            made.append(int(rng.integers(0, 2)))
        elif kind == "scalar":
            made.append(size if is_same else int(rng.choice(SIZES)))
        elif form.kind == "f":
            made.append(_inside((rng.integers(-64, 65, N_ELEMENTS) / 8).astype(form)))
        elif form.kind == "b":
            made.append(_inside(rng.integers(0, 2, N_ELEMENTS).astype(form)))
        else:
            low, high = (0, 8)
            if is_wide:
                limits = np.iinfo(form)
                low, high = max(int(limits.min), -1000), min(int(limits.max), 1000) + 1
                if form.itemsize <= 2:
                    low, high = int(limits.min), int(limits.max) + 1
            made.append(_inside(rng.integers(low, high, N_ELEMENTS).astype(form)))
    return made


def _inside(whole: np.ndarray) -> np.ndarray:
    """Return an array with elements before it and behind, which some functions use."""
    return whole[MARGIN:-MARGIN]


def copies(args: list[Any]) -> list[Any]:
    """Return arguments with arrays of their own."""
    return [_inside(one.base.copy()) if isinstance(one, np.ndarray) else one for one in args]


def difference(plan: Plan, form: str, left: list[Any], right: list[Any]) -> str | None:
    """Return where what two calls left differs: floating-point numbers by more than rounding."""
    for symbol, one, other in zip((*plan.parameters, None), left, right, strict=True):
        name = "its result" if symbol is None else symbol.name
        a, b = np.asarray(one), np.asarray(other)
        if symbol is None and result_of(plan):
            a, b = a.astype(result_of(plan)), b.astype(result_of(plan))
        if a.dtype.kind == "f":
            with np.errstate(invalid="ignore", over="ignore"):
                finite = np.isfinite(a) & np.isfinite(b)
                scale = max(float(np.abs(a[finite]).max(initial=1.0)), 1.0)
                near = np.abs(a - b) <= scale * (1e-9 if a.dtype.itemsize == 8 else 1e-3)
            is_same = near | (a == b) | (np.isnan(a) & np.isnan(b))
        else:
            is_same = a == b
        if not np.all(is_same):
            at = int(np.flatnonzero(~np.atleast_1d(is_same))[0])
            values = np.atleast_1d(a)[at], np.atleast_1d(b)[at]
            return f"{name}[{at}] is {values[0]} {form}, {values[1]} in the original"
    return None


@dataclass
class Generated:
    """The functions of a file in all their forms."""

    plans: list[Plan]
    made: dict[str, GeneratedFunction]
    original: Original

    def __post_init__(self) -> None:
        self.library = compiled(threads.source(self.plans))
        self.file = None
        with_steps = [one for one in self.plans if one.steps]
        if with_steps and host.problem() is None:
            self.file = written(cuda.source(with_steps), ".cu")
            with launch.on_host():
                launch.load(self.file)  # compiled once, before processes part

    def called(self, plan: Plan, args: list[Any]) -> list[Any]:
        """Return what the original leaves, and returns."""
        given = copies(args)
        values = [one.ctypes.data if isinstance(one, np.ndarray) else one for one in given]
        return [*given, self.original.function(plan)(*values)]

    def check(self, plan: Plan, seed: int) -> str | None:
        """Call all forms of a function; return what is wrong."""
        args = arguments(plan, seed)
        self.made[plan.function]._arguments.prepared(args)
        print("begun", flush=True)
        wanted = self.called(plan, args)
        print("ended", flush=True)
        forms = ["_sequential", "_parallel"] if plan.steps else ["_sequential"]
        for form in forms:
            given = copies(args)
            by_name = {one.name: value for one, value in zip(plan.parameters, given, strict=True)}
            kinds = (parameters_of(plan), result_of(plan))
            answer = call_c(self.library, plan.function + form, *kinds, by_name)
            if told := difference(plan, f"by {form[1:]} C", [*given, answer], wanted):
                return told
        if not plan.steps or self.file is None:
            return None
        for least in (1 << 30, 0):
            given = copies(args)
            answer = self._kernels(plan, given, seed, least)
            if told := difference(plan, "by kernels", [*given, answer], wanted):
                return told
        return None

    def _kernels(self, plan: Plan, args: list[Any], seed: int, least_tiled: int) -> Any:
        names: dict[str, Any] = dict(runtime.NAMESPACE)
        exec(python.source(plan), names)
        assert self.file is not None
        with launch.on_host(seed=seed):
            run = runtime.Run(launch.load(self.file).launch, np)
            run.on_cpu = partial(call_nest, self.library)
            run.least_tiled = least_tiled
            run.most_resident = -1 if least_tiled else run.most_resident
            run.one_scanned = run.one_scanned if least_tiled else 0
            return names["steps"](run, *args)

    def check_overlapping(self, plan: Plan, seed: int) -> str | None:
        """Call a function with arrays that overlap, by the original and from Python."""
        rng = np.random.default_rng(seed)
        args = arguments(plan, seed)
        first, second = plan.overlaps[seed % len(plan.overlaps)]
        places = {one.name: n for n, one in enumerate(plan.parameters)}
        one, other = args[places[first]], args[places[second]]
        if one.dtype != other.dtype:
            return None
        away = int(rng.integers(0, 4))
        print("begun", flush=True)
        results = []
        for is_original in (True, False):
            both = one.base.copy()
            given = copies(args)
            given[places[first]] = both[MARGIN + away : -MARGIN]
            given[places[second]] = both[MARGIN : -MARGIN - away]
            if is_original:
                values = [x.ctypes.data if isinstance(x, np.ndarray) else x for x in given]
                answer = self.original.function(plan)(*values)
                print("ended", flush=True)
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FallbackWarning)
                    answer = self.made[plan.function](*given, device="cpu")
            results.append([*given, answer])
        return difference(plan, "with arrays that overlap", results[1], results[0])


def apart(check: Callable[[], str | None]) -> str | None:
    """Return what a check in a process of its own returns, or how it died."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():  # of Python 3.12: this process may have threads
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        os.close(reading)
        os.dup2(writing, 1)
        signal.alarm(LIMIT_S)
        told: str | None
        try:
            told = check()
        except runtime.ArgumentError as error:
            told = f"refused: {error.id}"
        except BaseException:
            told = traceback.format_exc(limit=-3)
        os.write(1, f"told {json.dumps(told)}\n".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    lines = text.splitlines()
    answers = [json.loads(line[5:]) for line in lines if line.startswith("told ")]
    if answers:
        found: str | None = answers[-1]
        return found
    if "ended" not in lines:
        return CRASHED
    return f"dies by signal {status & 127}"


def check_file(file: str, flags: list[str], found: Found) -> None:
    """Check the functions of a file."""
    units = read([Source(file, "c")], Options(flags=tuple(flags)))
    verdicts = Kernels().verdicts_on(units)
    by_name = {one.table.function: one for one in verdicts.functions}
    plans: list[Plan] = []
    made: dict[str, GeneratedFunction] = {}
    for function in units[0].functions:
        analysed = by_name.get(function.name)
        if analysed is None or os.path.realpath(function.place.file) != os.path.realpath(file):
            continue
        found.n_functions += 1
        try:
            plan = plan_of(function, analysed)
            one = GeneratedFunction(plan, analysed, plan_of)
            assert one.c
            if plan.steps:
                assert one.cuda
                assert one.python
        except CannotError as error:
            found.reasons[" ".join(str(error).split()[:3])] += 1
            continue
        plans.append(plan)
        made[plan.function] = one
    if not plans:
        return
    found.n_parallel += sum(bool(plan.steps) for plan in plans)
    for kind in ("python", "cuda", "c"):
        text, _ = file_of(plans, kind)
        if kind == "python":
            compile(text, file, "exec")
    with tempfile.TemporaryDirectory() as folder:
        with_steps = [one for one in plans if one.steps]
        if with_steps and nvrtc.problem() is None:
            path = Path(folder) / "kernels.cu"
            path.write_text(cuda.source(with_steps))
            nvrtc.ptx(api.Source.of(path))
        generated = Generated(plans, made, Original(file, flags, plans, Path(folder)))
        for plan in plans:
            _check_plan(file, plan, generated, found)


def _check_plan(file: str, plan: Plan, generated: Generated, found: Found) -> None:
    told: list[tuple[str, str | None]] = []
    for seed in range(N_TRIALS):
        told.append(("apart", apart(partial(generated.check, plan, seed))))
        if plan.overlaps and seed < 3:
            told.append(("overlap", apart(partial(generated.check_overlapping, plan, seed))))
    for kind, one in told:
        if one is None:
            found.n_compared += kind == "apart"
            found.n_overlapping += kind == "overlap"
        elif one.startswith("refused"):
            found.reasons[f"({one})"] += 1
        elif one == CRASHED:
            found.reasons[f"({CRASHED})"] += 1
        else:
            found.wrong.append(f"{file}: {plan.function}: {one}")


def main(given: list[str]) -> int:
    """Check files; return the exit code."""
    at = given.index("--") if "--" in given else len(given)
    files, flags = given[:at], given[at + 1 :]
    found = Found()
    n_files = 0
    for file in files:
        n_wrong = len(found.wrong)
        try:
            check_file(file, flags, found)
            n_files += 1
        except SourceError as error:
            print(f"{file}: left out: {error.message[:200]}", flush=True)
        except Exception:  # what breaks on one file is a finding, and others are still asked
            found.wrong.append(f"{file}: {traceback.format_exc(limit=-4)}")
        for one in found.wrong[n_wrong:]:
            print(f"WRONG {one}", flush=True)
    print(f"{n_files} files, {found.n_functions} functions with loops, {found.n_parallel} parallel")
    print(f"{found.n_compared} calls compared, {found.n_overlapping} with arrays that overlap")
    for reason, count in found.reasons.most_common(12):
        print(f"  {count:5} {reason}")
    print(f"{len(found.wrong)} wrong")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

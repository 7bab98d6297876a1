"""Functions nobody here wrote: each that is generated is called, and compared with the original.

    python -m tests.offload.plans.outside FILE.c ... -- -I include -D NAME=1
    python -m tests.offload.plans.outside --count FILE.c ... -- -I include -D NAME=1

Every file is compiled as it is, with the flags after `--`. A function with loops that is generated
is called with small random sizes and arrays: as it is in its file, on threads, in order, and as
kernels that the host runner executes with races flagged; a second time with arrays that overlap,
through the call from Python. Each call is made in a process of its own: one in which the original
crashes tells nothing. What is wrong is listed, and the exit code is then 1. `--count` calls none:
it says how many functions with proved loops have kernels, and why the others have none.
"""

from __future__ import annotations

import ctypes
import json
import mmap
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
from kleene.codegen.plan import Given, Plan
from kleene.frontends.c.compiler import Options
from kleene.frontends.c.loops import read
from kleene.frontends.c.source import Source
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Symbol
from kleene.kernels import launch
from kleene.kernels.launch import api, host
from kleene.kernels.launch import compile as nvrtc
from kleene.kernels.launch.host_build import compiler
from kleene.offload.kernels import Kernels
from kleene.offload.plans import FallbackWarning, GeneratedFunction
from kleene.offload.plans.built import compiled, written
from kleene.offload.plans.call import call_c, call_nest, parameters_of, result_of
from kleene.offload.plans.files import file_of

N_TRIALS = 6
N_ELEMENTS = 1 << 13  # of every array: sizes are small
MARGIN = 1088  # some tables of libwebp are used from -1020 on
LIMIT_S = 20
SIZES = (0, 1, 2, 3, 5, 8, 12)
PROVED = ("PAR", "PRIV", "COPY", "RED")
CRASHED = "the original crashes"
RECORD = 1 << 17  # bytes
as_type = np.ctypeslib.as_ctypes_type


class UnknownLayoutError(Exception):
    """A record that cannot be made here: it has bit-fields, say."""


@dataclass
class Found:
    """What was seen of all files."""

    reasons: Counter[str] = field(default_factory=Counter)
    proved_reasons: Counter[str] = field(default_factory=Counter)  # of functions with proved loops
    n_functions: int = 0
    n_proved: int = 0  # functions with a loop that is proved parallel
    n_proved_parallel: int = 0  # of those, with kernels
    n_parallel: int = 0
    n_compared: int = 0
    n_overlapping: int = 0
    wrong: list[str] = field(default_factory=list)
    crashed: set[str] = field(default_factory=set)


class Original:
    """The functions of a file as they are, static ones too."""

    def __init__(self, file: str, flags: list[str], plans: list[Plan], folder: Path) -> None:
        names = [plan.function for plan in plans]
        names += [f"&{name}" for name in sorted({one.name for p in plans for one in _globals(p)})]
        lines = [f'#include "{Path(file).resolve()}"']
        for name in names:
            own = f"void *kleene_at_{name.strip('&')}(void)"
            lines.append(f"{own} {{ return (void *){name}; }}")
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

    def _at(self, name: str) -> Any:
        at = self._library[f"kleene_at_{name}"]
        at.restype = ctypes.c_void_p
        return at()

    def __call__(self, plan: Plan, values: list[Any]) -> Any:
        """Call a function as it is, with a value for each parameter of the generated one.

        Records are made of their fields, and global variables get their values, before; arrays
        that are inside of these are read after.
        """
        by_symbol = dict(zip(plan.parameters, values, strict=True))
        kinds: list[Any] = []
        passed: list[Any] = []
        kept: list[Any] = []
        inside: list[tuple[int, np.ndarray]] = []
        for one in plan.given or tuple(Given(e.name, e) for e in plan.parameters):
            if one.is_global:
                self._set_global(one, by_symbol, kept, inside)
            elif one.parameter is not None:
                value = by_symbol[one.parameter]
                if one.is_behind_pointer:
                    value = np.array([value], python.dtype_name(one.parameter.type))
                    kept.append(value)
                is_array = isinstance(value, np.ndarray)
                dtype = python.dtype_name(one.parameter.type) if not is_array else ""
                kinds.append(ctypes.c_void_p if is_array else as_type(np.dtype(dtype)))
                passed.append(value.ctypes.data if is_array else value)
            else:
                storage = np.zeros(RECORD, np.uint8)
                kept.append(storage)
                kinds.append(ctypes.c_void_p)
                passed.append(storage.ctypes.data)
                self._set_fields(one, storage.ctypes.data, by_symbol, kept, inside)
        result = result_of(plan)
        answer = None if not result else as_type(np.dtype(result))
        found = ctypes.CFUNCTYPE(answer, *kinds)(self._at(plan.function))(*passed)
        for address, array in inside:
            ctypes.memmove(array.ctypes.data, address, array.nbytes)
        return found

    def _set_global(
        self, one: Given, by_symbol: dict[Symbol, Any], kept: list[Any], inside: list[Any]
    ) -> None:
        if one.initial:
            return
        at = self._at(one.name)
        if one.parameter is None:
            self._set_fields(one, at, by_symbol, kept, inside)
        else:
            value = by_symbol[one.parameter]
            self._store(at, one.parameter, value, one.n_elements is None, inside)

    def _set_fields(
        self,
        one: Given,
        record: int,
        by_symbol: dict[Symbol, Any],
        kept: list[Any],
        inside: list[Any],
    ) -> None:
        behind: dict[tuple[str, ...], int] = {}
        for field_ in one.fields:
            symbol = field_.symbol
            at, names = record, ()
            for position, step in enumerate(field_.path):
                if step.offset is None:
                    raise UnknownLayoutError("a record of unknown layout")
                if position and step.is_behind:
                    if names not in behind:
                        storage = np.zeros(RECORD, np.uint8)
                        kept.append(storage)
                        behind[names] = storage.ctypes.data
                        ctypes.c_void_p.from_address(at).value = behind[names]
                    at = behind[names]
                at, names = at + step.offset, (*names, step.name)
            if field_.is_result:
                inside.append((at, by_symbol[symbol]))
                continue
            self._store(at, symbol, by_symbol[symbol], field_.n_elements is None, inside)

    def _store(
        self, at: int, symbol: Symbol, value: Any, is_pointer: bool, inside: list[Any]
    ) -> None:
        if not isinstance(value, np.ndarray):
            as_type(np.dtype(python.dtype_name(symbol.type))).from_address(at).value = value
        elif is_pointer:
            ctypes.c_void_p.from_address(at).value = value.ctypes.data
        else:
            ctypes.memmove(at, value.ctypes.data, value.nbytes)
            inside.append((at, value))


def _globals(plan: Plan) -> list[Given]:
    return [one for one in plan.given if one.is_global and not one.initial]


def arguments(plan: Plan, seed: int) -> list[Any]:
    """Return random arguments; the types of integers up to 16 bits are used whole."""
    rng = np.random.default_rng(seed)
    is_same, is_wide = seed % 2 == 0, seed % 3 == 2
    size = int(rng.choice(SIZES))
    made: list[Any] = []
    known = {one.parameter: one for one in plan.given if one.parameter is not None}
    fields = [each for one in plan.given for each in one.fields]
    n_inside = {one.symbol: one.n_elements for one in fields if one.n_elements is not None}
    n_inside |= {s: one.n_elements for s, one in known.items() if one.n_elements is not None}
    for symbol, (_, kind, dtype) in zip(plan.parameters, parameters_of(plan), strict=True):
        form = np.dtype(dtype)
        n_elements = n_inside.get(symbol, N_ELEMENTS - 2 * MARGIN) + 2 * MARGIN
        if symbol in known and known[symbol].initial:
            values = np.zeros(len(known[symbol].initial) + 2 * MARGIN, form)
            values[MARGIN:-MARGIN] = known[symbol].initial
            made.append(_inside(values))
            continue
        if kind == "scalar" and form.kind == "f":
            made.append(float(rng.integers(-8, 9)) / 4)
        elif kind == "scalar" and form.kind == "b":
            made.append(int(rng.integers(0, 2)))
        elif kind == "scalar":
            made.append(size if is_same else int(rng.choice(SIZES)))
        elif form.kind == "f":
            made.append(_inside((rng.integers(-64, 65, n_elements) / 8).astype(form)))
        elif form.kind == "b":
            made.append(_inside(rng.integers(0, 2, n_elements).astype(form)))
        else:
            low, high = (0, 8)
            if is_wide:
                limits = np.iinfo(form)
                low, high = max(int(limits.min), -1000), min(int(limits.max), 1000) + 1
                if form.itemsize <= 2:
                    low, high = int(limits.min), int(limits.max) + 1
            made.append(_inside(rng.integers(low, high, n_elements).astype(form)))
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
        return [*given, self.original(plan, given)]

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

    def check_outside(self, plan: Plan, seed: int, *, is_before: bool) -> str | None:
        """Call the original with arrays beside pages that nobody may use: it dies if it does."""
        print("begun", flush=True)
        args = arguments(plan, seed)
        given = [_guarded(x, is_before) if isinstance(x, np.ndarray) else x for x in args]
        self.original(plan, given)
        return None

    def check_overlapping(self, plan: Plan, seed: int) -> str | None:
        """Call a function with arrays that overlap, by the original and from Python."""
        rng = np.random.default_rng(seed)
        args = arguments(plan, seed)
        pairs = _overlaps(plan)
        first, second = pairs[seed % len(pairs)]
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
                answer = self.original(plan, given)
                print("ended", flush=True)
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FallbackWarning)
                    answer = self.made[plan.function].with_values(given, device="cpu")
            results.append([*given, answer])
        return difference(plan, "with arrays that overlap", results[1], results[0])


def _guarded(array: np.ndarray, is_before: bool) -> np.ndarray:
    """Return an array with a page before it, or behind, that cannot be used."""
    libc = ctypes.CDLL(None, use_errno=True)
    page = mmap.PAGESIZE
    n_bytes = -(-array.base.nbytes // page) * page
    storage = mmap.mmap(-1, n_bytes + page)
    _STORED.append(storage)
    whole = np.frombuffer(storage, np.uint8)
    at = whole.ctypes.data + (0 if is_before else n_bytes)
    assert not libc.mprotect(ctypes.c_void_p(at), page, 0)
    start = page if is_before else n_bytes - array.nbytes
    made = whole[start : start + array.nbytes].view(array.dtype)
    made[:] = array
    return made


_STORED: list[mmap.mmap] = []


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
        except UnknownLayoutError as error:
            told = f"refused: {error}"
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
    plans, made = generated_of(file, flags, found)
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


def _overlaps(plan: Plan) -> list[tuple[str, str]]:
    """Return the pairs of arrays that may overlap in C: none is inside of a record, or global."""
    fields = [each for one in plan.given for each in one.fields]
    inside = {one.symbol.name for one in fields if one.n_elements is not None}
    inside |= {one.name for one in plan.given if one.is_global}
    return [pair for pair in plan.overlaps if not inside & set(pair)]


def _is_copied(plan: Plan) -> bool:
    """Return whether a function has a `memcpy`: then its arrays must not overlap, in C too."""
    counters = (one.symbol for one in tree.walk(plan.body) if isinstance(one, tree.Declare))
    return any(one.name.startswith("copied") for one in counters)


def generated_of(
    file: str, flags: list[str], found: Found
) -> tuple[list[Plan], dict[str, GeneratedFunction]]:
    """Return the functions of a file that are generated; note why the others are not."""
    units = read([Source(file, "c")], Options(flags=tuple(flags)))
    result = Kernels().verdicts_on(units)
    plans: list[Plan] = []
    made: dict[str, GeneratedFunction] = {}
    for analysed in result.functions:
        name = analysed.table.function
        is_own = not analysed.table.place.file.endswith(".h")
        if not is_own or name not in {one.name for one in units[0].functions}:
            continue
        found.n_functions += 1
        is_proved = any(one.verdict.value in PROVED for one in analysed.verdicts)
        found.n_proved += is_proved
        try:
            one = result.generated(name)
        except SourceError as error:
            reason = " ".join(error.message.partition("generated: ")[2].split()[:3])
            found.reasons[reason] += 1
            found.proved_reasons[reason] += is_proved
            continue
        found.n_proved_parallel += is_proved and bool(one.plan.steps)
        if not one.plan.steps:
            reason = "only C: " + " ".join(one.plan.reason.split()[:3])
            found.proved_reasons[reason] += is_proved
        plans.append(one.plan)
        made[name] = one
    return plans, made


def _check_plan(file: str, plan: Plan, generated: Generated, found: Found) -> None:
    told: list[tuple[str, int, str | None]] = []
    for seed in range(N_TRIALS):
        told.append(("apart", seed, apart(partial(generated.check, plan, seed))))
        if _overlaps(plan) and seed < 3 and not _is_copied(plan):
            wrong = apart(partial(generated.check_overlapping, plan, seed))
            told.append(("overlap", seed, wrong))
    for kind, seed, one in told:
        if one is not None and one != CRASHED and not one.startswith("refused"):
            calls = [
                partial(generated.check_outside, plan, seed, is_before=b) for b in (True, False)
            ]
            if any(apart(call) == CRASHED for call in calls):
                found.reasons["(the original uses an array outside of it)"] += 1
                continue
        if one is None:
            found.n_compared += kind == "apart"
            found.n_overlapping += kind == "overlap"
        elif one.startswith("refused"):
            found.reasons[f"({one})"] += 1
        elif one == CRASHED:
            found.reasons[f"({CRASHED})"] += 1
            found.crashed.add(plan.function)
        else:
            found.wrong.append(f"{file}: {plan.function}: {one}")


def count(files: list[str], flags: list[str]) -> None:
    """Print how many functions with proved loops have kernels, and why the others have none."""
    found = Found()
    for file in files:
        try:
            generated_of(file, flags, found)
        except SourceError as error:
            print(f"{file}: left out: {error.message[:200]}", flush=True)
    print("with loops | with proved loops | with kernels")
    print(f"{found.n_functions:10} | {found.n_proved:17} | {found.n_proved_parallel:12}")
    for reason, n in found.proved_reasons.most_common(20):
        print(f"  {n:5} {reason}")


def main(given: list[str]) -> int:
    """Check files; return the exit code."""
    if given[:1] == ["--count"]:
        at = given.index("--") if "--" in given else len(given)
        count(given[1:at], given[at + 1 :])
        return 0
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
    counts = f"{found.n_proved} with proved ones, {found.n_parallel} with kernels"
    print(f"{n_files} files, {found.n_functions} functions with loops, {counts}")
    print(f"{found.n_compared} calls compared, {found.n_overlapping} with arrays that overlap")
    for reason, n in found.reasons.most_common(12):
        print(f"  {n:5} {reason}")
    print(f"{len(found.wrong)} wrong")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

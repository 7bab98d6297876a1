"""Compiling a `.cu` with `zig c++` into a library the host runner can call, cached by content."""

from __future__ import annotations

import ctypes
import re
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kleene.base import tidy
from kleene.base.cache import Cache, default_folder, key_of
from kleene.kernels.launch.api import Source

_HERE = Path(__file__).parent
_RUNNER = [_HERE / name for name in ("host.h", "host_watch.h", "host.cpp")]
_DYNAMIC_BYTES = 227 << 10  # the most a block can ask for on sm_90
_MAX_PARAMETERS = 64
_TARGET = ["-target", "x86_64-linux-gnu"]
_COMMON = [
    "-std=c++17",
    "-O1",
    "-g1",
    "-gdwarf-4",
    "-fPIC",
    "-Wno-unknown-pragmas",
    "-fno-sanitize=undefined",
]
# Every load and store calls out; volatile ones apart. Loops are not turned into memset.
_WATCHED = [
    *("-fsanitize=thread", "-mllvm", "-tsan-distinguish-volatile=1"),
    *("-mllvm", "-tsan-instrument-func-entry-exit=0", "-mllvm", "-disable-loop-idiom-all"),
    "-fno-strict-aliasing",
]
# Nothing of C++'s library is called: zig would first build it, for a minute.
_LINKED = ["-shared", "-nostdlib++", "-Wl,-Bsymbolic", "-Wl,-z,defs"]
_KERNEL = re.compile(
    r"__global__\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?void\s+"
    r"(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)"
)
_DYNAMIC = re.compile(
    r"extern\s+__shared__\s+(?:__align__\s*\(\s*\d+\s*\)\s+)?"
    r"([\w\s]+?)\s*\b(\w+)\s*\[\s*\]"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Library:
    """A compiled `.cu`: its kernels, their parameters, and where its shared memory lies."""

    path: Path
    raw: Any
    parameters: dict[str, list[str]]  # by kernel: parameter names

    def entry(self, kernel: str) -> Any:
        """Return the address of the function that calls `kernel` with an array of pointers."""
        if kernel not in self.parameters:
            raise ValueError(f"no kernel {kernel} among {sorted(self.parameters)}")
        return ctypes.cast(self.raw[f"kleene_call_{kernel}"], ctypes.c_void_p)

    def signature(self, kernel: str) -> list[tuple[int, int]]:
        """Return each parameter's bytes, and its pointee's (0 for a scalar)."""
        self.entry(kernel)
        table = (ctypes.c_uint32 * (2 * _MAX_PARAMETERS))()
        n_parameters = self.raw[f"kleene_describe_{kernel}"](table)
        return [(table[2 * i], table[2 * i + 1]) for i in range(n_parameters)]

    def dynamic_shared(self) -> tuple[int, int]:
        """Return address and capacity of this thread's dynamic shared memory."""
        pair = (ctypes.c_uint64 * 2)()
        self.raw.kleene_dynamic(pair)
        return pair[0], pair[1]

    def line_of(self, offset: int) -> str | None:
        """Return `file:line` of the call that returns to `offset`, if the tools can tell."""
        command = ["addr2line", "-e", str(self.path), hex(offset - 1)]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        place = answer.stdout.split(" ")[0].strip()
        return None if "?" in place else Path(place).name


def build(source: Source) -> Library:
    """Return the library made from `source`; raise ValueError with the message if not."""
    text = _COMMENT.sub(" ", source.text())
    kernels = {name: _names(parameters) for name, parameters in _KERNEL.findall(text)}
    unit = _unit(source, kernels, _DYNAMIC.findall(text))
    parts = [source.path, *source.headers(), *_RUNNER]
    contents = (part.read_bytes() for part in parts)
    key = key_of(
        version("ziglang"),
        *_TARGET,
        *_COMMON,
        *_WATCHED,
        *_LINKED,
        *source.options(),
        unit,
        *contents,
    )
    cache_ = Cache(default_folder())
    payload = cache_.get("host-runner", key)
    if payload is None:
        payload = _compile(source, unit)
        cache_.put("host-runner", key, payload)
    path = Path(_folder().name) / f"{key}.so"
    if not path.exists():  # never write under a library that is loaded
        path.write_bytes(payload)
    return Library(path, ctypes.CDLL(str(path)), kernels)


def _names(parameters: str) -> list[str]:
    return [part.split()[-1].lstrip("*&") for part in parameters.split(",") if part.strip()]


def _unit(source: Source, kernels: dict[str, list[str]], dynamic: list[tuple[str, str]]) -> str:
    """Return the C++ around the `.cu`: dynamic shared memory gets storage, kernels an entry."""
    lines = ['#include "host.h"', f'#include "{source.path.name}"']
    lines += ["thread_local char kleene_anchor;"]  # touching it makes this thread's segment exist
    names = {name: kind for kind, name in dynamic}
    if len(names) > 1:
        raise ValueError(f"{source.path.name}: give dynamic shared memory one name, not {names}")
    start, n_bytes = "0", "0"
    for name, kind in names.items():
        count = f"{_DYNAMIC_BYTES} / sizeof({kind})"
        lines.append(f"alignas(128) thread_local {kind} {name}[{count}];")
        start, n_bytes = f"uint64_t(&{name}[0])", f"sizeof({name})"
    lines.append('extern "C" KLEENE_QUIET void kleene_dynamic(uint64_t* out) {')
    lines.append(f"  kleene_anchor = 1; out[0] = {start}; out[1] = {n_bytes};\n}}")
    return "\n".join(lines + [f"KLEENE_KERNEL({name})" for name in kernels]) + "\n"


def _compile(source: Source, unit: str) -> bytes:
    with tidy.scratch() as folder:
        for part in (source.path, *source.headers(), *_RUNNER):
            (folder / part.name).write_bytes(part.read_bytes())
        (folder / "unit.cpp").write_text(unit)
        (folder / "host.o").write_bytes(_runner())
        _run([*_COMMON, *_WATCHED, *source.options(), "-c", "unit.cpp"], folder)
        _run([*_LINKED, "unit.o", "host.o", "-o", "unit.so"], folder)
        return (folder / "unit.so").read_bytes()


@cache
def _runner() -> bytes:
    """Return `host.cpp` as an object, which every library of this process has a copy of."""
    with tidy.scratch() as folder:
        _run([*_COMMON, "-c", str(_HERE / "host.cpp"), "-o", "host.o"], folder)
        return (folder / "host.o").read_bytes()


def _run(arguments: list[str], folder: Path) -> None:
    done = tidy.run([str(compiler()), "c++", *_TARGET, *arguments], cwd=str(folder))
    if done.returncode:
        raise ValueError(f"zig c++ {' '.join(arguments)}\n{done.stderr.decode(errors='replace')}")


@cache
def compiler() -> Path | None:
    """Return `zig` of the package ziglang, a clang with its own headers, if it is installed."""
    found = find_spec("ziglang")
    folders = found.submodule_search_locations if found else None
    return Path(folders[0]) / "zig" if folders else None


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return this process's folder of loaded libraries; it goes when the process does."""
    return tempfile.TemporaryDirectory(prefix="kleene-host-")

"""Compiling CUDA without a GPU: NVRTC to PTX, ptxas to what a kernel costs.

Both come from PyPI wheels (`nvidia-cuda-nvrtc-cu12`, `nvidia-cuda-nvcc-cu12`); no driver is asked.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kleene.base import tidy
from kleene.kernels.launch.api import Source


@dataclass(frozen=True, slots=True)
class Resources:
    """What ptxas says one kernel takes of a multiprocessor; bytes except the registers."""

    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int
    shared_bytes: int
    constant_bytes: int


def problem() -> str | None:
    """Return why CUDA cannot be compiled here, or None if it can."""
    if _wheel_file("cuda_nvrtc", "lib/libnvrtc.so.*") is None:
        return "the wheel nvidia-cuda-nvrtc-cu12 is not installed"
    if _wheel_file("cuda_nvcc", "bin/ptxas") is None:
        return "the wheel nvidia-cuda-nvcc-cu12 is not installed"
    return None


def ptx(source: Source, architecture: str = "compute_90") -> str:
    """Return the PTX of `source`; raise ValueError with NVRTC's log if it does not compile."""
    nvrtc = _nvrtc()
    program = ctypes.c_void_p()
    name = source.path.name.encode()
    text = source.text().encode()
    _check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, name, 0, None, None))
    try:
        folder = f"-I{source.path.parent}"
        options = [*source.options(), folder, f"--gpu-architecture={architecture}"]
        raw = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        failed = nvrtc.nvrtcCompileProgram(program, len(options), raw)
        if failed:
            raise ValueError(_text(nvrtc, "nvrtcGetProgramLog", program))
        return _text(nvrtc, "nvrtcGetPTX", program)
    finally:
        _check(nvrtc.nvrtcDestroyProgram(ctypes.byref(program)))


def resources(source: Source, architecture: str = "sm_90") -> dict[str, Resources]:
    """Return what each kernel of `source` takes on `architecture`, by kernel name."""
    ptxas = _wheel_file("cuda_nvcc", "bin/ptxas")
    assert ptxas is not None, problem()
    with tidy.scratch() as folder:
        path = folder / "kernel.ptx"
        path.write_text(ptx(source, architecture.replace("sm_", "compute_")))
        command = [str(ptxas), "-v", f"-arch={architecture}", "-o", f"{path}.cubin", str(path)]
        done = tidy.run(command)
    report = done.stderr.decode(errors="replace")
    if done.returncode:
        raise ValueError(report)
    return _parse(report)


def _parse(report: str) -> dict[str, Resources]:
    """Return the resources in ptxas's own words, which come in one paragraph a kernel."""
    parts = re.split(r"Compiling entry function '(\w+)'.*\n", report)
    return {name: _parse_one(part) for name, part in zip(parts[1::2], parts[2::2], strict=True)}


def _parse_one(part: str) -> Resources:
    def number(pattern: str) -> int:
        found = re.search(pattern, part)
        return int(found[1]) if found else 0

    return Resources(
        registers=number(r"Used (\d+) registers"),
        spill_store_bytes=number(r"(\d+) bytes spill stores"),
        spill_load_bytes=number(r"(\d+) bytes spill loads"),
        stack_bytes=number(r"(\d+) bytes stack frame"),
        shared_bytes=number(r"(\d+) bytes smem"),
        constant_bytes=sum(int(found) for found in re.findall(r"(\d+) bytes cmem\[", part)),
    )


def _wheel_file(part: str, pattern: str) -> Path | None:
    """Return a file of NVIDIA's wheels, which share the namespace package `nvidia`."""
    spec = find_spec("nvidia")
    folders = spec.submodule_search_locations if spec else None
    found = (path for folder in folders or () for path in Path(folder, part).glob(pattern))
    return next(found, None)


@cache
def _nvrtc() -> Any:
    path = _wheel_file("cuda_nvrtc", "lib/libnvrtc.so.*")
    assert path is not None, problem()
    return ctypes.CDLL(str(path))


def _check(status: int) -> None:
    assert status == 0, f"NVRTC answers {status}"


def _text(nvrtc: Any, getter: str, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    _check(nvrtc[f"{getter}Size"](program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(nvrtc[getter](program, buffer))
    return buffer.value.decode()

"""An instrumented module built and run: its facts come back as a table."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.base import tidy

NOWHERE = -1  # a kind: no storage that the trace knows; equal bytes, if not 0, are one address
NOTHING = -2  # a kind: the address has no second reading

_PLACE = [("kind", "<i4"), ("site", "<i4"), ("byte", "<i8")]
_FACT = np.dtype([("what", "<i4"), ("value", "<i4"), ("at", _PLACE), ("or_at", _PLACE)])


class About(IntEnum):
    """What a fact is about."""

    VALUE = 0  # `value` held this address
    CALL = 1  # the call `value` went to this function
    ENTRY = 2  # the function `value` was entered from outside of the program


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What a run showed. `facts` has the columns what, value, at and or_at (kind, site, byte).

    An address where one piece of storage ends and another starts may be meant as either's: `or_at`
    is the second reading, of kind NOTHING where there is none.
    """

    status: int
    output: bytes
    complaints: bytes
    facts: NDArray[Any]


def build(text: str, program: Path, *, cxx: bool = False, flags: Sequence[str] = ()) -> None:
    """Make the executable `program` of an instrumented module, with the clang in `ziglang`.

    Args:
        text: what `instrument` returned.
        program: where to put it; the module is put beside it.
        cxx: whether the C++ library is needed; the first time on a machine, that takes a minute.
        flags: further words for the compiler, such as libraries.
    """
    module = program.with_suffix(".ll")
    module.write_text(text)
    arch = "aarch64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
    compiler = [sys.executable, "-m", "ziglang", "c++" if cxx else "cc"]
    options = ["-target", f"{arch}-linux-gnu", "-fno-sanitize=undefined", "-O0", "-w"]
    with as_file(files(__package__).joinpath("trace.c")) as trace:
        command = [*compiler, *options, str(module), str(trace), *flags, "-o", str(program)]
        done = tidy.run(command)
    assert not done.returncode, done.stderr.decode(errors="replace")


def run(program: Path, *arguments: str, limit_s: float = 60, given: bytes = b"") -> Run:
    """Return what a run of the executable that `build` made shows."""
    with tidy.scratch() as folder:
        file = folder / "facts"
        done = tidy.run(
            [str(program.resolve()), *arguments],
            input=given,
            timeout=limit_s,
            env=os.environ | {"KLEENE_TRACE": str(file)},
        )
        raw = file.read_bytes() if file.exists() else b""
    whole = len(raw) - len(raw) % _FACT.itemsize
    return Run(done.returncode, done.stdout, done.stderr, np.frombuffer(raw[:whole], _FACT))

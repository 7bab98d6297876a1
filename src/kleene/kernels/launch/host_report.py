"""The host runner's findings, as `host.cpp` writes them and as a person reads them."""

from __future__ import annotations

import ctypes
from enum import IntEnum

from kleene.kernels.launch.api import Dim
from kleene.kernels.launch.host_build import Library


class Region(ctypes.Structure):
    """An array argument: where it starts, its bytes, the bytes watched as one word."""

    _fields_ = (
        ("start", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("word_bytes", ctypes.c_uint64),
    )


class _Side(ctypes.Structure):
    _fields_ = (
        ("block", ctypes.c_uint32),
        ("thread", ctypes.c_uint32),
        ("kind", ctypes.c_uint32),
        ("line", ctypes.c_uint32),
        ("caller", ctypes.c_uint64),
    )


class Report(ctypes.Structure):
    """The first fault of a launch; `fault` is 0 if there was none."""

    _fields_ = (
        ("fault", ctypes.c_int32),
        ("place", ctypes.c_int32),
        ("offset", ctypes.c_int64),
        ("bytes", ctypes.c_uint32),
        ("sides", _Side * 2),
    )


class Fault(IntEnum):
    """What went wrong; the numbers are `host.cpp`'s."""

    RACE = 1
    BOUNDS = 2
    BARRIER = 3
    UNINITIALISED = 4
    TRAP = 5
    NO_MEMORY = 6


class KernelError(Exception):
    """A kernel did what CUDA forbids: our fault, never the user's."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


_ACCESS = ("reads", "writes", "reads (marked)", "updates (marked)")
_WAIT = ("runs", "waits at a block barrier", "waits at a warp intrinsic", "has left the kernel")
_SHARED = {-1: "shared memory", -2: "dynamic shared memory"}


def fault_of(
    report: Report, kernel: str, positions: list[int], grid: Dim, block: Dim, library: Library
) -> KernelError:
    """Return the fault as an exception whose message says what, where and who."""
    fault = Fault(report.fault)
    names = [library.parameters[kernel][position] for position in positions]
    place = names[report.place] if report.place >= 0 else _SHARED.get(report.place, "any array")
    word = f"{place}, byte {report.offset}"
    first, second = (_Teller(side, grid, block, library) for side in report.sides)
    match fault:
        case Fault.RACE:
            message = f"race on {word}: {first.access()}; {second.access()}"
        case Fault.BOUNDS:
            message = f"{first.access()} {report.bytes} bytes outside {word}"
        case Fault.BARRIER:
            message = f"threads never meet: {first.wait()}; {second.wait()}"
        case Fault.UNINITIALISED:
            message = f"{first.access()} {word} before any thread wrote it"
        case Fault.TRAP:
            message = f"{first.who()} trapped at line {report.sides[0].line}"
        case Fault.NO_MEMORY:
            message = "not enough memory to watch this launch"
    return KernelError(fault, f"{kernel}: {message}")


class _Teller:
    """One of the two threads of a report, in words."""

    def __init__(self, side: _Side, grid: Dim, block: Dim, library: Library) -> None:
        self.side, self.grid, self.block, self.library = side, grid, block, library

    def who(self) -> str:
        block, thread = _index(self.side.block, self.grid), _index(self.side.thread, self.block)
        return f"block {block} thread {thread}"

    def access(self) -> str:
        line = self.library.line_of(self.side.caller)
        return f"{self.who()} {_ACCESS[self.side.kind]}{f' at {line}' if line else ''}"

    def wait(self) -> str:
        where = f" at line {self.side.line}" if self.side.line else ""
        return f"{self.who()} {_WAIT[self.side.kind]}{where}"


def _index(linear: int, size: Dim) -> str:
    """Return a linear index as `x` or `(x, y)` or `(x, y, z)`, as `size` has dimensions."""
    index = []
    for extent in size:
        index.append(linear % extent)
        linear //= extent
    return str(index[0]) if len(index) == 1 else str(tuple(index))

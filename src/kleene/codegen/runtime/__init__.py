"""What generated Python needs to run: launches, and arrays that are checked and moved.

These modules need NumPy alone, and CuPy for a GPU; they are part of every file that is written to
stand alone.
"""

from __future__ import annotations

from importlib.resources import files

from kleene.codegen.runtime.arithmetic import FUNCTIONS, NAMESPACE, hull
from kleene.codegen.runtime.binding import Binding
from kleene.codegen.runtime.called import Called
from kleene.codegen.runtime.checks import ArgumentError, Arguments, Prepared, address_of, is_on_gpu
from kleene.codegen.runtime.launching import (
    BINS_BYTES,
    BLOCKS,
    MOST_RESIDENT,
    ONE_BLOCK,
    ONE_RESIDENT,
    ONE_SCAN,
    REDUCTION_THREADS,
    SCAN_TILES,
    GridTooLargeError,
    Launcher,
    Run,
    UnusableGpuError,
    bins_blocks,
    block_of,
    device_run,
    reduction_blocks,
    scan_blocks,
)
from kleene.codegen.runtime.transfers import (
    NotExecutedError,
    executed,
    moved_in,
    moved_out,
    parts_executed,
)

__all__ = [
    "BINS_BYTES",
    "BLOCKS",
    "FUNCTIONS",
    "MOST_RESIDENT",
    "NAMESPACE",
    "ONE_BLOCK",
    "ONE_RESIDENT",
    "ONE_SCAN",
    "REDUCTION_THREADS",
    "SCAN_TILES",
    "ArgumentError",
    "Arguments",
    "Binding",
    "Called",
    "GridTooLargeError",
    "Launcher",
    "NotExecutedError",
    "Prepared",
    "Run",
    "UnusableGpuError",
    "address_of",
    "bins_blocks",
    "block_of",
    "device_run",
    "executed",
    "hull",
    "is_on_gpu",
    "moved_in",
    "moved_out",
    "parts_executed",
    "reduction_blocks",
    "scan_blocks",
    "text",
]  # fmt: skip
_MODULES = ("arithmetic", "launching", "checks", "binding", "transfers", "called")


def text() -> str:
    """Return all modules as the beginning of one file, without imports of each other."""
    lines = ["from __future__ import annotations", ""]
    for name in _MODULES:
        source = files(__package__).joinpath(f"{name}.py").read_text(encoding="utf-8")
        for line in source.splitlines():
            if not line.startswith(("from __future__", "from kleene.")):
                lines.append(line)
    return "\n".join(lines) + "\n"

"""Options that every command takes, and those of every command that solves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from kleene.base.device import Device
from kleene.cli.options import UsageError, option

PANEL = "Every command"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMGT]?)(?:i?B)?", re.IGNORECASE)


def bytes_of(text: str) -> int:
    """Return the bytes of a size such as 500M or 1.5G; K, M, G, T are powers of 1024."""
    found = _SIZE.fullmatch(text.strip())
    n_bytes = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if n_bytes <= 0:
        raise UsageError(f"'{text}' is no size: write 500M or 4G")
    return n_bytes


AsJson = Annotated[
    bool, option("--json", help="Print JSON, errors included.", rich_help_panel=PANEL)
]
OnDevice = Annotated[
    Device, option("--device", help="Where to solve: a GPU pays for large programs.")
]
Threads = Annotated[int | None, option("--threads", min=1, help="Solve with so many CPU threads.")]


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What every command can be told besides its own options."""

    quiet: Annotated[
        bool, option("--quiet", "-q", help="Print no notes and no bars.", rich_help_panel=PANEL)
    ] = False
    timeout: Annotated[
        float | None,
        option(
            "--timeout",
            min=0.001,
            metavar="SECONDS",
            help="Give up after so long.",
            rich_help_panel=PANEL,
        ),
    ] = None
    memory: Annotated[
        int | None,
        option(
            "--memory",
            parser=bytes_of,
            metavar="SIZE",
            help="Give up above so much memory: 500M, 4G.",
            rich_help_panel=PANEL,
        ),
    ] = None
